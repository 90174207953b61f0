/**
 * How long after its round is the result of a preset there?
 *
 * Question: presets with `beacon: "local"`, whose rounds come every 3 s like drand's, one after the other on an embedded chain: the time from the round's own time to
 * the answer, and how often the result is in the first block after the round. Left out: what relays take to have a round, and to send it.
 *
 * Run: `node bench/beaconLatency.ts`; `-- --draws 12`.
 */
import { parseArgs } from "node:util";
import { createChainClient } from "../src/evm/client.ts";
import { createClient } from "../src/client/index.ts";
import { startTycheProcess } from "../test/support/tyche.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { median } from "./support/median.ts";

const { values } = parseArgs({ options: { draws: { type: "string", default: "12" } } });
const machine = readMachine();
const tyche = await startTycheProcess({ networks: ["sepolia"] });
try {
  const client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
  const chain = createChainClient((await client.networks())[0]!.rpcUrl!);
  const late: number[] = [];
  let first = 0;
  for (let i = 0; i < Number(values.draws); i += 1) {
    const { beacon, url } = await client.preset("coinflip", {}, { network: "sepolia", beacon: "local" });
    const due = Date.parse(beacon!.time);
    late.push(Date.now() - due);
    const hash = url.split("/").at(-1);
    const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as { blockNumber: string };
    const before = `0x${(BigInt(receipt.blockNumber) - 1n).toString(16)}`;
    const block = (await chain.request("eth_getBlockByNumber", [before, false])) as { timestamp: string };
    if (Number(block.timestamp) * 1_000 < due) first += 1;
  }
  await chain.close();
  console.log(describeMachine(machine));
  console.log(
    `answers after their round: ${Math.min(...late)} to ${Math.max(...late)} ms, median ${median(late)}`,
  );
  console.log(`results in the first block after it: ${first} of ${late.length}`);
} finally {
  await tyche.stop();
}
