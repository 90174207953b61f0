import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "./world.ts";

/** Networks that get calls: faults strike the first; the second must not be affected. */
export const STRUCK = "sepolia";
export const BYSTANDER = "fuji";

/** Something that goes wrong under load. */
export interface Fault {
  /** First column of the table in `docs/faults.md`. */
  readonly name: string;
  /** How long it lasts in the long run, in ms. 0: it is instantaneous. */
  readonly lastsMs: number;
  /** How long it lasts in the regular test suite, in ms; absent if another test covers it, or it is too slow or needs root. */
  readonly testLastsMs?: number;
  /** Whether the other network's callers must be served while it lasts. */
  readonly sparesOthers: boolean;
  /** What `/readyz` must report about the struck network before it is over: that it is not ready, or a matching warning. */
  readonly told?: "not ready" | RegExp;
  /** Whether it needs a data directory on a disk of its own, small enough to fill. */
  readonly onSmallDisk?: boolean;
  strike(world: World): Promise<void>;
  mend?(world: World): Promise<void>;
  /** Checks further consequences once it is over; throws if they are missing. */
  check?(world: World): Promise<void>;
}

/** Sends a signal to processes, ignoring those that have exited. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** Returns a strike that calls a method of the struck chain. */
export const rpc =
  (method: string, params: readonly unknown[] = []) =>
  async (world: World): Promise<void> => {
    await world.rpc(STRUCK, method, params);
  };

/** Returns the address of one of the struck network's contracts. */
export async function contractOf(
  world: World,
  contract: "vrfCoordinator" | "presetConsumer" | "subscriptionOwner" | "link",
): Promise<string> {
  return (await world.networks()).find(({ name }) => name === STRUCK)!.contracts[contract];
}

/** Returns the account that sends the service's transactions: the one that may call PresetConsumer. */
export async function operatorOf(world: World): Promise<string> {
  // PresetConsumer.OPERATOR()
  const call = { to: await contractOf(world, "presetConsumer"), data: "0x983d2737" };
  const answer = String(await world.rpc(STRUCK, "eth_call", [call, "latest"]));
  return `0x${answer.slice(-40)}`;
}

/** Sends a transaction while impersonating an account, as any user of a development chain can. */
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

/** Waits until a condition holds; returns whether it did in time. */
export async function holdsWithin(timeoutMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(100))
    if (await condition()) return true;
  return false;
}
