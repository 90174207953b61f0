import { createPublicClient, createWalletClient, http, parseAbiItem, type AbiEvent } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createClient, type LogRun } from "../../src/client/index.ts";
import { connectOperator } from "../support/signIn.ts";
import {
  makeDataDir,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";
import { CLOSED, EMITTER_CODE, encodeClose } from "./emitter.ts";

const TRIGGERS = 20;
const EVENTS = 500;

// Its waits take longer together than the default.
vi.setConfig({ testTimeout: 600_000 });

let dataDir: string;
let tyche: TycheProcess;
beforeAll(() => {
  dataDir = makeDataDir();
});
afterAll(async () => {
  await tyche?.stop();
  removeDataDir(dataDir);
});

const start = () => startTycheProcess({ dataDir, networks: ["sepolia"] });
const client = () => createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });

/** Connects to the embedded chain as a user's tool would. */
async function connect() {
  const { rpcUrl, chainId } = (await client().networks())[0]!;
  const operator = connectOperator(tyche);
  const { secretKey } = (await operator.fundedAccounts())[0]!;
  const common = { chain: { ...anvil, id: chainId }, transport: http(rpcUrl) };
  const account = privateKeyToAccount(secretKey);
  return {
    reader: createPublicClient({ ...common, pollingInterval: 20 }),
    wallet: createWalletClient({ ...common, account }),
  };
}

/** Reads all pages of a list. */
async function readAll<Item>(
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<{
    readonly items: readonly Item[];
    readonly nextCursor: string | null;
  }>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await read({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    cursor = page.nextCursor;
  }
}

test("a service killed amid a burst of logs makes one request for each once it is back", async () => {
  tyche = await start();
  let { reader, wallet } = await connect();
  const deployed = await wallet.sendTransaction({ data: EMITTER_CODE });
  const { contractAddress: emitter } = await reader.waitForTransactionReceipt({ hash: deployed });
  const actionOf = (round: number) =>
    round === 0
      ? { preset: "range", min: "1", max: { event: "players" } }
      : round === 1
        ? {
            function: { source: "return Functions.encodeString(args.join());", args: [{ event: "players" }] },
          }
        : { random: { numWords: 1 } };
  const ids: string[] = [];
  for (let round = 0; round < TRIGGERS; round += 1) {
    const which = { addresses: [emitter!], event: CLOSED, filters: { round } };
    const { id } = await client().triggers.create({
      name: `round ${round}`,
      ...which,
      action: actionOf(round),
    });
    ids.push(id);
  }
  const runsOf = (id: string): Promise<readonly LogRun[]> =>
    readAll((page) => client().triggers.runs(id, page));

  const nonce = await reader.getTransactionCount({ address: wallet.account.address });
  const perTransaction = 5;
  let lastBlock = 0n;
  for (let i = 0; i < EVENTS / perTransaction; i += 1) {
    const data = encodeClose(i % TRIGGERS, 10 + i, perTransaction);
    const hash = await wallet.sendTransaction({ to: emitter!, data, nonce: nonce + i, gas: 200_000n });
    lastBlock = (await reader.waitForTransactionReceipt({ hash })).blockNumber;
  }
  await vi.waitFor(
    async () => expect((await client().requests({ limit: 20 })).items.length).toBeGreaterThan(10),
    { timeout: 120_000, interval: 5 },
  );
  await tyche.stop("SIGKILL");

  tyche = await start();
  ({ reader, wallet } = await connect());
  const event = parseAbiItem(CLOSED) as AbiEvent;
  // The service's own blocks follow: the logs of a range that ends in the newest one may not be stored yet.
  const logs = await reader.getLogs({ address: emitter!, event, fromBlock: 0n, toBlock: lastBlock });
  expect(logs).toHaveLength(EVENTS);
  await vi.waitFor(
    async () => {
      const requests = await readAll((page) => client().requests(page));
      expect(requests).toHaveLength(EVENTS);
      expect(requests.map(({ state }) => state)).toEqual(requests.map(() => "fulfilled"));
    },
    { timeout: 240_000, interval: 500 },
  );
  const runs = (await Promise.all(ids.map(runsOf))).flat();
  expect(runs.map(({ state }) => state)).toEqual(runs.map(() => "requested"));
  const keyOf = (one: {
    readonly transactionHash: string | null;
    readonly logIndex: number | null;
  }): string => `${one.transactionHash} ${one.logIndex}`;
  expect(runs.map(({ log }) => keyOf(log)).toSorted()).toEqual(logs.map(keyOf).toSorted());
  const requested = (await readAll((page) => client().requests(page))).map(({ id }) => id);
  expect(runs.map(({ requestId }) => requestId!).toSorted()).toEqual(requested.toSorted());
  const [filled] = await runsOf(ids[1]!);
  expect(await client().request(filled!.requestId!)).toMatchObject({
    params: { args: [filled!.log.values["players"]] },
    triggerId: ids[1],
  });

  const env = { TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
  const run = async (...words: string[]) => (await runTyche(["trigger", ...words], env)).output;
  const action = '{"random": {"numWords": 1}}';
  const added = await run("add", "Any", "--address", emitter!, "--event", CLOSED, "--action", action);
  const id = /trg_\w+/.exec(added)![0];
  expect(added).toContain("safe");
  expect(await run("pause", id)).toContain("paused");
  expect(await run("resume", id)).toContain("read to");
  expect(await run("runs", ids[2]!, "--limit", "1")).toMatch(
    / {2}block \d+ {2}0x\w+ {2}log \d+ {2}round = \d+, players = \d+ {2}req_\w+/,
  );
  expect(await run("list")).toContain(id);
  expect(await run("remove", id)).toContain(`removed ${id}`);
  const unnamed = ["add", "No", "--address", emitter!, "--event", CLOSED, "--action", '{"random": 5}'];
  expect(await run(...unnamed)).toContain("action.random");
});
