import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "./world.ts";

/** Networks that are called: faults strike the first, the second must not notice. */
export const STRUCK = "sepolia";
export const BYSTANDER = "fuji";

/** Something that goes wrong under load. */
export interface Fault {
  /** First column of the table in `docs/faults.md`. */
  readonly name: string;
  /** How long it lasts in the long run, in ms. 0: it is over at once. */
  readonly lastsMs: number;
  /** How long in the test that runs with all others; absent: another test has it, or it is too slow or takes root. */
  readonly testLastsMs?: number;
  /** Whether the other network's callers must go on being served while it lasts. */
  readonly sparesOthers: boolean;
  /** What `/readyz` must say of the struck network before it is over: that it is not ready, or a warning that matches. */
  readonly told?: "not ready" | RegExp;
  /** Whether it takes a data directory on a disk of its own, small enough to be filled. */
  readonly onSmallDisk?: boolean;
  strike(world: World): Promise<void>;
  mend?(world: World): Promise<void>;
  /** What else must have come of it once it is over; throws when it has not. */
  check?(world: World): Promise<void>;
}

/** Sends a signal to processes; one that has ended is as good as one that was struck. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** Calls a method of the struck chain. */
export const rpc =
  (method: string, params: readonly unknown[] = []) =>
  async (world: World): Promise<void> => {
    await world.rpc(STRUCK, method, params);
  };

/** Address of one of the struck network's contracts. */
export async function contractOf(
  world: World,
  contract: "vrfCoordinator" | "presetConsumer" | "subscriptionOwner" | "link",
): Promise<string> {
  return (await world.networks()).find(({ name }) => name === STRUCK)!.contracts[contract];
}

/** Who sends the service's transactions: the account that may call the consumer of presets. */
export async function operatorOf(world: World): Promise<string> {
  // PresetConsumer.OPERATOR()
  const call = { to: await contractOf(world, "presetConsumer"), data: "0x983d2737" };
  const answer = String(await world.rpc(STRUCK, "eth_call", [call, "latest"]));
  return `0x${answer.slice(-40)}`;
}

/** Sends a transaction in somebody else's name, as every user of a development chain can. */
export async function sendAs(
  world: World,
  from: string,
  transaction: { readonly to: string; readonly data?: string },
): Promise<void> {
  await world.rpc(STRUCK, "anvil_impersonateAccount", [from]);
  const params = [{ from, value: "0x0", gasPrice: "0x3b9aca00", gas: "0x30d40", ...transaction }];
  await world.rpc(STRUCK, "eth_sendTransaction", params);
  await world.rpc(STRUCK, "anvil_stopImpersonatingAccount", [from]);
}

/** Waits until a condition holds; says whether it came to hold in time. */
export async function holdsWithin(timeoutMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(100))
    if (await condition()) return true;
  return false;
}
