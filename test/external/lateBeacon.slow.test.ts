import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { drandChainHash } from "../../src/beacon/drand.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { runCli } from "../cli/runCli.ts";
import { clockModule } from "../support/clock.ts";
import { DEAD_RELAY, ownDrandChain, pathOf, signOwnRound } from "../support/drandRelay.ts";
import { findFreePorts } from "../support/freePorts.ts";
import {
  makeDataDir,
  removeDataDir,
  startOracleProcess,
  startTycheProcess,
  type OracleChild,
  type TycheProcess,
} from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

const CHAIN = ownDrandChain();
/** Far more than a request takes to be mined. */
const MARGIN_SECONDS = 120;
/** Moves a clock to where the requests' rounds are late, which they are a minute after their time. */
const LATER = { NODE_OPTIONS: `--import=${clockModule((MARGIN_SECONDS + 120) * 1_000, "SIGUSR2")}` };

/** A preset whose round no relay has. */
interface Draw {
  readonly id: string;
  readonly round: string;
}
let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let service: TycheProcess;
let embedded: TycheProcess;
let dataDir: string;
let serviceDraw: Draw;
let embeddedDraw: Draw;

beforeAll(async () => {
  const [port] = await findFreePorts(1);
  const beacon = { chain: CHAIN, marginSeconds: MARGIN_SECONDS };
  // The oracle asks the service; that nothing else listens there, the service itself finds, too.
  const relays = [DEAD_RELAY, `http://127.0.0.1:${port}/beacon`];
  chain = await startIntervalAnvil();
  parties = prepareParties(chain, { network: { beacon: { ...beacon, relays } } });
  parties = {
    ...parties,
    service: { ...parties.service, ...LATER, PORT: String(port) },
    oracle: { ...parties.oracle, ...LATER },
  };
  dataDir = makeDataDir();
  const networks = { sepolia: { embedded: true, beacon: { ...beacon, relays: [DEAD_RELAY] } } };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks }));
  await deployByCommands(parties);
  [oracle, service, embedded] = await Promise.all([
    startOracleProcess(parties.oracle),
    startService(parties),
    startTycheProcess({ dataDir, env: LATER }),
  ]);
  [serviceDraw, embeddedDraw] = await Promise.all([draw(service, NETWORK), draw(embedded, "sepolia")]);
  for (const { pid } of [oracle, service, embedded]) process.kill(pid, "SIGUSR2");
});
afterAll(async () => {
  await Promise.all([service?.stop(), oracle?.stop(), embedded?.stop()]);
  await chain?.close();
  parties?.remove();
  if (dataDir !== undefined) removeDataDir(dataDir);
});

async function draw(tyche: TycheProcess, network: string): Promise<Draw> {
  const { status, data } = await tyche.call("POST", `/api/vrfv2/presets?network=${network}`, {
    body: { beacon: "drand" },
    headers: { prefer: "respond-async" },
  });
  expect(status).toBe(202);
  const { id, params } = data;
  await isWaiting(tyche, id, /waiting for .* due at /);
  return { id, round: params.beacon.round };
}

/** Waits until a request says that it waits for a reason. */
const isWaiting = (tyche: TycheProcess, id: string, why: RegExp) =>
  vi.waitFor(async () => expect((await tyche.call("GET", `/api/requests/${id}`)).data.why).toMatch(why), {
    timeout: 200_000,
  });
const isLate = (tyche: TycheProcess, { id }: Draw) => isWaiting(tyche, id, /^no relay has/);
const put = async (tyche: TycheProcess, round: string, signature: Uint8Array) =>
  (
    await fetch(`${tyche.url}/beacon${pathOf(CHAIN, BigInt(round))}`, {
      method: "PUT",
      body: JSON.stringify({ signature: toHexText(signature).slice(2) }),
    })
  ).status;

/** Waits for a draw's result, and returns its check with the given means. */
async function verified(tyche: TycheProcess, network: string, { id, round }: Draw) {
  await expect
    .poll(async () => (await tyche.call("GET", `/api/requests/${id}`)).data.state, { timeout: 200_000 })
    .toBe("fulfilled");
  const { data } = await tyche.call("GET", `/api/requests/${id}`);
  const hash = String(data.outcome.url).split("/").pop()!;
  const { data: verification } = await tyche.call("GET", `/api/verify?network=${network}&tx=${hash}`);
  expect(verification).toMatchObject({ verdict: "valid", requests: [{ beacon: { round } }] });
  return hash;
}

test("relays are down: anybody hands the round in, and an oracle in a process of its own gets it from the service", async () => {
  await isLate(service, serviceDraw);
  const { round } = serviceDraw;
  expect(await put(service, String(BigInt(round) + 1n), signOwnRound(BigInt(round) + 1n))).toBe(404);
  expect(await put(service, round, signOwnRound(BigInt(round) + 1n))).toBe(400);
  expect(await put(service, round, signOwnRound(BigInt(round)))).toBe(200);
  await verified(service, NETWORK, serviceDraw);
});

test("relays are down: tyche beacon settles the round of the oracle in the service's process", async () => {
  await isLate(embedded, embeddedDraw);
  const { round } = embeddedDraw;
  const handIn = (signature: Uint8Array, hash = drandChainHash(CHAIN)) =>
    runCli(["beacon", round, toHexText(signature), "--chain", hash, "--url", embedded.url], "", {});
  const signature = signOwnRound(BigInt(round));
  expect(await handIn(signature, `0x${"99".repeat(32)}`)).toMatchObject({ code: 1 });
  expect(await handIn(signOwnRound(BigInt(round) - 1n))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`it is not that of round ${round}`),
  });
  expect(await handIn(signature)).toMatchObject({
    code: 0,
    stdout: `round ${round} is taken: the requests that wait for it are answered\n`,
  });
  const hash = await verified(embedded, "sepolia", embeddedDraw);
  expect(await runCli(["verify", "sepolia", hash], "", { TYCHE_DATA_DIR: dataDir })).toMatchObject({
    code: 0,
  });
});
