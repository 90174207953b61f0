import type { Hex } from "viem";

/**
 * Returns the name of the group of runs that may share an isolate, each with its own global object: those that one Functions
 * subscription pays for, which are one customer's code. Dry runs and nodes use the same name, so that a child process that
 * serves both need not create a new isolate in between (about 1 ms).
 *
 * @param router address of the FunctionsRouter that holds the subscription.
 */
export function sandboxGroup(router: Hex, functionsSubscriptionId: bigint): string {
  return `subscription ${functionsSubscriptionId} of ${router.toLowerCase()}`;
}
