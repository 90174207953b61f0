import { setTimeout as sleep } from "node:timers/promises";
import { STRUCK, contractOf, operatorOf, rpc, sendAs, type Fault } from "../fault.ts";
import type { World } from "../world.ts";

/** Number of blocks that one step mines, in addition to the load's own, on the way to a deep revert. */
const STEP_BLOCKS = 5;
let coordinatorCode: unknown;

/** What the user of a development chain can do to it through its RPC port. */
export const CHAIN_FAULTS: readonly Fault[] = [
  ...[40, 400, 1_000].map((blocks): Fault => ({
    name: `evm_revert of ${blocks.toLocaleString("en")} blocks under load`,
    lastsMs: 0,
    sparesOthers: true,
    strike: (world) => revert(world, blocks),
  })),
  {
    name: "anvil_reorg of 12 blocks",
    lastsMs: 0,
    sparesOthers: true,
    strike: rpc("anvil_reorg", [12, []]),
  },
  {
    name: "evm_increaseTime of a day",
    lastsMs: 0,
    testLastsMs: 0,
    sparesOthers: true,
    strike: rpc("evm_increaseTime", [86_400]),
  },
  {
    name: "evm_setAutomine false for a minute",
    lastsMs: 60_000,
    testLastsMs: 1_500,
    sparesOthers: true,
    strike: rpc("evm_setAutomine", [false]),
    mend: rpc("evm_setAutomine", [true]),
  },
  {
    name: "nonce of the operator spent by somebody else",
    lastsMs: 0,
    testLastsMs: 0,
    sparesOthers: true,
    async strike(world) {
      const operator = await operatorOf(world);
      await sendAs(world, operator, { to: operator });
    },
  },
  {
    name: "code of the VRF coordinator removed (anvil_setCode) and put back",
    lastsMs: 15_000,
    testLastsMs: 1_500,
    sparesOthers: true,
    async strike(world) {
      const address = await contractOf(world, "vrfCoordinator");
      coordinatorCode = await world.rpc(STRUCK, "eth_getCode", [address, "latest"]);
      await world.rpc(STRUCK, "anvil_setCode", [address, "0x"]);
    },
    async mend(world) {
      const address = await contractOf(world, "vrfCoordinator");
      await world.rpc(STRUCK, "anvil_setCode", [address, coordinatorCode]);
    },
  },
];

/** Takes a snapshot and reverts to it after a number of blocks. */
async function revert(world: World, blocks: number): Promise<void> {
  const height = async (): Promise<number> => Number(await world.rpc(STRUCK, "eth_blockNumber"));
  const snapshot = await world.rpc(STRUCK, "evm_snapshot");
  const began = await height();
  const deadline = Date.now() + 90_000;
  while ((await height()) < began + blocks) {
    if (Date.now() > deadline) throw new Error(`fewer than ${blocks} blocks came within 90 s`);
    // The load produces some 40 by itself in a second or two.
    if (blocks > 40) await world.rpc(STRUCK, "anvil_mine", [`0x${STEP_BLOCKS.toString(16)}`]);
    await sleep(50);
  }
  if ((await world.rpc(STRUCK, "evm_revert", [snapshot])) !== true)
    throw new Error("the chain refused to go back");
}
