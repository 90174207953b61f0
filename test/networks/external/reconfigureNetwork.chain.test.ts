import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { identityOfOracle } from "../../../src/app/oracle/oracleKeys.ts";
import { deriveOracleKeys } from "../../../src/app/network/networkKeys.ts";
import { decodeLog } from "../../../src/chainlink/events.ts";
import { CONFIG_SET_TOPIC, decodeConfigSet } from "../../../src/chainlink/nodeConfig.ts";
import type { ChainClient } from "../../../src/evm/client.ts";
import { fixedFees } from "../../../src/evm/fees.ts";
import { readContractsFile, type ContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { deployNetwork } from "../../../src/networks/external/deployNetwork.ts";
import type { OracleIdentity } from "../../../src/networks/external/oracleIdentity.ts";
import {
  reconfigureNetwork,
  type ReconfigurationEnd,
} from "../../../src/networks/external/reconfigureNetwork.ts";
import { profileOf } from "../../../src/networks/profiles.ts";
import { startTestChain, testAccount, type TestChain } from "../../support/anvil.ts";
import { readLogs } from "../../support/readLogs.ts";

const NETWORK = { network: "mychain", chainId: 31_337 };
const OPERATOR = testAccount(1);
let chain: TestChain;
let folder: string;
let file: string;
let deployed: ContractsFile;
/** Block after which a test reads logs. */
let fromBlock: bigint;
let oracles = 0;

const newOracle = (): OracleIdentity =>
  identityOfOracle(31_337, deriveOracleKeys(Buffer.alloc(32, (oracles += 1)), 31_337));
const fees = () => fixedFees(chain.gasPriceWei, { synchronous: false });
const profile = profileOf({ name: NETWORK.network, chainId: NETWORK.chainId });

beforeAll(async () => {
  chain = await startTestChain();
  folder = mkdtempSync(path.join(tmpdir(), "tyche-reconfigure-"));
  file = path.join(folder, "contracts.json");
  await deployNetwork({
    profile,
    client: chain.client,
    operator: OPERATOR,
    fees: fees(),
    oracle: newOracle(),
    file,
    confirm: async () => true,
    onStep: () => {},
  });
});
afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  deployed = readContractsFile(file, NETWORK);
  fromBlock = (await chain.client.getHead("latest"))!.number + 1n;
});

const reconfigure = (
  functions: OracleIdentity["functions"],
  client: ChainClient = chain.client,
): Promise<ReconfigurationEnd> =>
  reconfigureNetwork({
    profile,
    client,
    operator: OPERATOR,
    fees: fees(),
    contracts: deployed,
    file,
    functions,
    confirm: async () => true,
  });

/** Creates a node that fails for good once it took a number of transactions, and takes no more, as if the process had been killed. */
function goneAfter(transactions: number): ChainClient {
  let sent = 0;
  let isGone = false;
  const guard = <T>(work: () => Promise<T>): Promise<T> =>
    isGone ? Promise.reject(new Error("the process has died")) : work();
  return {
    ...chain.client,
    async request(method, parameters) {
      const isSending = method === "eth_sendRawTransaction";
      if (isSending && sent === transactions) isGone = true;
      const answer = await guard(() => chain.client.request(method, parameters));
      if (isSending) isGone = ++sent === transactions;
      return answer;
    },
    getReceipt: (hash) => guard(() => chain.client.getReceipt(hash)),
    getNonce: (account, block) => guard(() => chain.client.getNonce(account, block)),
    getHead: (block) => guard(() => chain.client.getHead(block)),
  };
}

/** Returns the configurations that were set and adopted in this test. */
async function readChanges() {
  const { functionsCoordinator, presetConsumer } = deployed.contracts;
  const logs = await readLogs(chain.client, [functionsCoordinator, presetConsumer], fromBlock);
  return {
    set: logs
      .filter(({ topics }) => topics[0] === CONFIG_SET_TOPIC)
      .map(({ data }) => decodeConfigSet(data).configDigest),
    adopted: logs
      .map((one) => decodeLog(one))
      .flatMap((event) => (event?.name === "NodesAdopted" ? [event.configDigest] : [])),
  };
}

test("the nodes are set, adopted and noted; once more changes nothing", async () => {
  const { functions } = newOracle();
  expect(await reconfigure(functions)).toMatchObject({ end: "reconfigured" });
  const { set, adopted } = await readChanges();
  expect([set.length, adopted]).toEqual([1, set]);
  expect(readContractsFile(file, NETWORK).oracle.functions).toEqual(functions);
  expect(await reconfigure(functions)).toEqual({ end: "present" });
  expect(await readChanges()).toEqual({ set, adopted });
});

test.each([
  ["before anything is sent", 0, "reconfigured"],
  ["after setConfig, before adoptNodes", 1, "reconfigured"],
  ["after adoptNodes, before it is noted", 2, "present"],
])("killed %s, run again it does the rest, and nothing twice", async (_name, sent, end) => {
  const { functions } = newOracle();
  const minedCount = () => chain.client.getNonce(OPERATOR.address, "latest");
  const before = await minedCount();
  await expect(reconfigure(functions, goneAfter(sent))).rejects.toThrow("died");
  // Anvil may take a transaction some time before it mines it.
  await expect.poll(minedCount).toBe(before + sent);
  expect(readContractsFile(file, NETWORK).oracle.functions).not.toEqual(functions);
  expect(await reconfigure(functions)).toMatchObject({ end });
  const { set, adopted } = await readChanges();
  expect([set.length, adopted]).toEqual([1, set]);
  expect(readContractsFile(file, NETWORK).oracle.functions).toEqual(functions);
});

test("killed while setConfig waits in the pool, run again it waits for that one", async () => {
  const { functions } = newOracle();
  await chain.client.request("evm_setAutomine", [false]);
  await expect(reconfigure(functions, goneAfter(1))).rejects.toThrow("died");
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  const again = reconfigure(functions, {
    ...chain.client,
    async request(method, parameters) {
      const answer = chain.client.request(method, parameters);
      if (method === "eth_sendRawTransaction") void answer.finally(resolve).catch(() => {});
      return await answer;
    },
  });
  await isSent;
  await chain.client.request("evm_setAutomine", [true]);
  await chain.client.request("evm_mine", []);
  expect(await again).toMatchObject({ end: "reconfigured" });
  const { set, adopted } = await readChanges();
  expect([set.length, adopted]).toEqual([1, set]);
});
