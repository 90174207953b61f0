import { Interface } from "ethers";
import { STRUCK, contractOf, holdsWithin, operatorOf, rpc, sendAs, type Fault } from "../fault.ts";
import type { World } from "../world.ts";

const LINK = new Interface([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
]);
const JUELS = 10n ** 18n;
/** Below 20 million LINK the reserve is minted again. */
const LOW_RESERVE_JUELS = 20_000_000n * JUELS;
const NOBODY = "0x000000000000000000000000000000000000dEaD";

/** Coin and LINK running out. */
export const MONEY_FAULTS: readonly Fault[] = [
  {
    name: "coin of the operator at zero (anvil_setBalance)",
    lastsMs: 40_000,
    testLastsMs: 3_000,
    sparesOthers: true,
    told: /the operator .* holds 0 wei/,
    strike: async (world) => rpc("anvil_setBalance", [await operatorOf(world), "0x0"])(world),
    mend: async (world) =>
      rpc("anvil_setBalance", [await operatorOf(world), "0xd3c21bcecceda1000000"])(world),
  },
  ...[
    { what: "at zero", leftJuels: 0n, testLastsMs: 0 },
    { what: "below 20 million", leftJuels: LOW_RESERVE_JUELS - 1n },
  ].map(({ what, leftJuels, ...lengths }): Fault => ({
    name: `LINK reserve ${what}`,
    lastsMs: 0,
    ...lengths,
    sparesOthers: true,
    strike: (world) => drainReserve(world, leftJuels),
    async check(world) {
      if (!(await holdsWithin(30_000, async () => (await readReserve(world)) >= LOW_RESERVE_JUELS)))
        throw new Error("the reserve of LINK was not minted anew within 30 s");
    },
  })),
];

async function readReserve(world: World): Promise<bigint> {
  const data = LINK.encodeFunctionData("balanceOf", [await contractOf(world, "subscriptionOwner")]);
  const call = { to: await contractOf(world, "link"), data };
  return BigInt(String(await world.rpc(STRUCK, "eth_call", [call, "latest"])));
}

/** Sends the reserve's LINK away, impersonating the contract that holds it. */
async function drainReserve(world: World, leftJuels: bigint): Promise<void> {
  const holder = await contractOf(world, "subscriptionOwner");
  const amount = (await readReserve(world)) - leftJuels;
  await world.rpc(STRUCK, "anvil_setBalance", [holder, "0xde0b6b3a7640000"]);
  const data = LINK.encodeFunctionData("transfer", [NOBODY, amount]);
  await sendAs(world, holder, { to: await contractOf(world, "link"), data });
}
