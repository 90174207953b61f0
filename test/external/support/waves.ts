import { expect } from "vitest";
import { createChainClient } from "../../../src/evm/client.ts";
import { readContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { presetIdsOf } from "../../support/presetEvents.ts";
import { readLogs } from "../../support/readLogs.ts";
import type { TycheProcess } from "../../support/tyche.ts";
import type { StrangersChain } from "./chain.ts";
import { NETWORK, type TwoParties } from "./world.ts";

/** Sends presets without waiting for their results, and returns their ids once all are accepted. */
export async function sendWave(tyche: TycheProcess, name: string, count: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
        body: {},
        headers: { prefer: "respond-async", "idempotency-key": `${name.replaceAll(/\W/g, "-")}-${i}` },
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  return answers.map(({ data }) => data.id as string);
}

/** Waits until all of these requests are fulfilled. */
export async function expectFulfilled(tyche: TycheProcess, ids: readonly string[]): Promise<void> {
  const look = async (): Promise<object[]> =>
    await Promise.all(
      ids.map(async (id) => {
        const { data } = await tyche.call("GET", `/api/requests/${id}`);
        return { state: data.state, why: data.why };
      }),
    );
  const fulfilled = ids.map(() => ({ state: "fulfilled", why: null }));
  await expect.poll(look, { timeout: 90_000, interval: 250 }).toEqual(fulfilled);
}

/** Counts, on the chain itself, how many presets were sent since the deployment and how many results were delivered. */
export async function countDeliveries(
  chain: StrangersChain,
  parties: TwoParties,
): Promise<{ readonly sent: number; readonly delivered: number }> {
  const ofNetwork = { network: NETWORK, chainId: 31_337 };
  const { contracts, blockNumber } = readContractsFile(parties.contractsFile, ofNetwork);
  const client = createChainClient(chain.httpUrl);
  try {
    const logs = await readLogs(client, [contracts.presetConsumer], BigInt(blockNumber));
    const { requested, answered } = presetIdsOf(logs);
    return { sent: requested.length, delivered: answered.length };
  } finally {
    await client.close();
  }
}
