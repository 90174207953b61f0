/**
 * What do log triggers cost while nothing happens?
 *
 * Question: processor time of a service with one embedded network, idle, without triggers, with one and with a hundred; and with a hundred on a chain that
 * mines a block a second, none of which has a log of theirs, against the same chain without triggers. Each figure is the service's own process over
 * `--seconds`, in per cent of a core, the conditions in turns. Left out: Anvil, and requests, which cost what any other does.
 *
 * Run: `node bench/idleTriggers.ts`; `-- --seconds 60 --turns 2`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "../src/client/index.ts";
import { startTycheProcess } from "../test/support/tyche.ts";
import { readCpuTimes, subtractCpuTimes } from "./support/processes.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, turns: { type: "string", default: "2" } },
});
const seconds = Number(values.seconds);

const tyche = await startTycheProcess({ networks: ["sepolia"] });
try {
  const client = createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });
  const { rpcUrl, chainId } = (await client.networks())[0]!;
  const mine = async (): Promise<void> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] });
    await fetch(rpcUrl!, { method: "POST", headers: { "content-type": "application/json" }, body });
  };
  const ids: string[] = [];
  for (let i = 0; i < 100; i += 1) {
    const { id } = await client.triggers.create({
      name: `trigger ${i}`,
      addresses: [`0x${(i + 1).toString(16).padStart(40, "0")}`],
      event: "event Closed(uint256 indexed round)",
      action: { random: { numWords: 1 } },
      paused: true,
    });
    ids.push(id);
  }
  for (let turn = 0; turn < Number(values.turns); turn += 1)
    for (const blocks of [0, seconds])
      for (const count of [0, 1, 100]) {
        for (const [i, id] of ids.entries()) await client.triggers.change(id, { paused: i >= count });
        // What the changes themselves cause is over.
        await sleep(5_000);
        const before = readCpuTimes(tyche.pid, chainId);
        const end = performance.now() + seconds * 1_000;
        for (let i = 0; i < blocks; i += 1) {
          await mine();
          await sleep(1_000);
        }
        await sleep(Math.max(0, end - performance.now()));
        const { service } = subtractCpuTimes(readCpuTimes(tyche.pid, chainId), before);
        const percent = (service / (seconds * 10)).toFixed(2);
        console.log(
          `${count} triggers, ${blocks > 0 ? "a block a second" : "no blocks"}: ${percent} % of a core`,
        );
      }
} finally {
  await tyche.stop();
}
