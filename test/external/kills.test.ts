import { afterAll, beforeAll, expect, test } from "vitest";
import { createChainClient } from "../../src/evm/client.ts";
import { decodeLog } from "../../src/chainlink/events.ts";
import { readContractsFile } from "../../src/networks/external/contractsFile.ts";
import { startOracleProcess, startTycheProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { deployByCommands, NETWORK, prepareParties, type TwoParties } from "./support/world.ts";

/** Requests sent before each kill. */
const WAVE = 4;

let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;

const startService = (): Promise<TycheProcess> => {
  const { TYCHE_DATA_DIR, ...env } = parties.service;
  return startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env, timeoutMs: 240_000 });
};

beforeAll(async () => {
  chain = await startIntervalAnvil();
  parties = prepareParties(chain);
  await deployByCommands(parties);
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService()]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop("SIGKILL"), oracle?.stop("SIGKILL")]);
  await chain?.close();
  parties?.remove();
});

async function sendWave(name: string): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: WAVE }, (_, i) =>
      tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
        body: {},
        headers: { prefer: "respond-async", "idempotency-key": `${name}-${i}` },
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  return answers.map(({ data }) => data.id as string);
}

test("behaviour: kill -9 of service and oracle under load loses no request, and doubles none", async () => {
  const ids = await sendWave("service");
  await tyche.stop("SIGKILL");
  tyche = await startService();
  ids.push(...(await sendWave("oracle")));
  await oracle.stop("SIGKILL");
  ids.push(...(await sendWave("alone")));
  oracle = await startOracleProcess(parties.oracle);

  const states = async (): Promise<string[]> =>
    await Promise.all(ids.map(async (id) => (await tyche.call("GET", `/api/requests/${id}`)).data.state));
  await expect.poll(states, { timeout: 90_000, interval: 500 }).toEqual(ids.map(() => "fulfilled"));

  // Each was accepted on chain once, and delivered once.
  const { contracts, blockNumber } = readContractsFile(parties.contractsFile, {
    network: NETWORK,
    chainId: 31_337,
  });
  const client = createChainClient(chain.httpUrl);
  try {
    const logs = await client.getLogs({
      addresses: [contracts.presetConsumer, contracts.functionsRouter],
      fromBlock: BigInt(blockNumber),
      toBlock: (await client.getHead("latest"))!.number,
    });
    const names = logs.map((log) => decodeLog(log)?.name);
    expect(names.filter((name) => name === "PresetSent")).toHaveLength(ids.length);
    expect(names.filter((name) => name === "RequestProcessed")).toHaveLength(ids.length);
  } finally {
    await client.close();
  }
});
