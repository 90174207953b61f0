import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeNodeUrls } from "../../../src/chainlink/offchainConfig.ts";
import { checkNodes } from "../../../src/networks/external/checkNetwork.ts";
import { testAccount } from "../../support/anvil.ts";

const NODES = [0, 1, 2, 3];
const signers = NODES.map((index) => testAccount(index).address);
const TRANSACTION = `0x${"ab".repeat(32)}` as const;
const time = (minute: number): string => `2026-11-22T18:0${minute}:00.000Z`;

/** Text of each node's answer, at any path; `undefined` for a node that breaks the connection. */
let texts: (string | undefined)[];
let paths: string[];
let servers: Server[];
let urls: string[];
let lines: string[];

beforeEach(async () => {
  lines = [];
  paths = [];
  texts = NODES.map((from) => readiness(NODES.map((of) => view(of, { minute: from }))));
  servers = await Promise.all(
    NODES.map(async (index) => {
      const server = createServer((request, response) => {
        paths.push(request.url!);
        if (texts[index] === undefined) response.destroy();
        else response.writeHead(503).end(texts[index]);
      });
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      return server;
    }),
  );
  urls = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

interface ViewOptions {
  readonly minute?: number;
  readonly agreement?: object;
  readonly contradictions?: number;
  readonly lastTransmission?: string;
}

function view(of: number, { minute = 0, ...more }: ViewOptions = {}): object {
  const rest = { contradictions: 0, agreement: { same: 9, of: 10 }, ...more };
  return { signer: signers[of], lastSeen: time(minute), ...rest };
}

const readiness = (nodes: unknown): string => JSON.stringify({ networks: { amoy: { nodes } } });

async function check(offchainConfig: Hex | undefined = encodeNodeUrls(urls)): Promise<readonly string[]> {
  const transmitters = signers;
  await checkNodes(
    { signers, transmitters, ...(offchainConfig === undefined ? {} : { offchainConfig }) },
    (isOk, text, remedy) => void lines.push(`${isOk ? "✓" : "✗"} ${text}${isOk ? "" : ` → ${remedy}`}`),
  );
  return lines.map((line) => urls.reduce((text, url, index) => text.replaceAll(url, `NODE${index}`), line));
}

test("a line for each node, with what the others say of it", async () => {
  texts[1] = readiness(NODES.map((of) => view(of, { minute: 9, lastTransmission: TRANSACTION })));
  expect(await check()).toEqual([
    `✓ node NODE0 (${signers[0]}): last seen ${time(3)}; agreed with 90.0 % of the answers; last transmission ${TRANSACTION}`,
    `✓ node NODE1 (${signers[1]}): last seen ${time(2)}; agreed with 90.0 % of the answers; no transmission yet`,
    `✓ node NODE2 (${signers[2]}): last seen ${time(3)}; agreed with 90.0 % of the answers; last transmission ${TRANSACTION}`,
    `✓ node NODE3 (${signers[3]}): last seen ${time(2)}; agreed with 90.0 % of the answers; last transmission ${TRANSACTION}`,
  ]);
});

test("an oracle that holds all keys has no nodes to ask", async () => {
  await checkNodes({ signers, transmitters: signers }, () => lines.push("told"));
  expect([lines, paths]).toEqual([[], []]);
});

test("a node behind a path of a proxy is asked there", async () => {
  await check(encodeNodeUrls(urls.map((url, index) => `${url}/tyche/${index}/`)));
  expect(paths.toSorted()).toEqual(NODES.map((index) => `/tyche/${index}/readyz`));
});

test("one liar among the others does not move what is said of a node", async () => {
  texts[3] = readiness([view(0, { minute: 9, agreement: { same: 0, of: 1e6 } })]);
  expect((await check())[0]).toContain(`last seen ${time(2)}; agreed with 90.0 % of the answers`);
});

test("a node that is down, or says something else, is told with what the others know of it", async () => {
  texts[0] = undefined;
  texts[1] = "<html>";
  texts[2] = "null";
  texts[3] = "x".repeat(1_000_001);
  const told = await check();
  expect(told.map((line) => line.split(": ")[0])).toEqual(
    NODES.map((index) => `✗ node NODE${index} (${signers[index]}) does not answer`),
  );
  expect(told[2]).toContain("its /readyz is not that of a node");
  expect(told[3]).toContain("its /readyz has more than 1000000 bytes");
  expect(
    told.every((line) => line.endsWith("none of the others reports on it → its operator has to start it")),
  ).toBe(true);
});

test("a node that does not count itself to the set is told", async () => {
  texts[0] = readiness([]);
  expect((await check())[0]).toMatch(/^✗ node NODE0 .*its keys are different, or its chain is behind$/);
});

test("a contradiction that others found is told", async () => {
  for (const from of [1, 2]) texts[from] = readiness([view(from), view(0, { contradictions: 1 })]);
  expect((await check())[0]).toContain("contradicted itself, as 2 others say: see their /evidence");
});

test.each<[string, unknown]>([
  ["no list", { nodes: 7 }],
  ["views that are none", [null, 1, "x", [], {}]],
  ["text for the terminal", [{ ...view(0), lastSeen: "\u001B[31m", lastTransmission: "\u001B]0;x\u0007" }]],
  ["counts that are none", [{ ...view(0), lastSeen: undefined, agreement: { same: "9", of: -1 } }]],
])("%s in an answer counts for nothing", async (_, nodes) => {
  for (const from of [1, 2, 3]) texts[from] = readiness(nodes);
  expect((await check())[0]).toMatch(
    /(?:none of the others reports on it|not seen yet; no answers to compare yet|not seen yet; agreed with 90\.0 % of the answers; no transmission yet)/,
  );
});
