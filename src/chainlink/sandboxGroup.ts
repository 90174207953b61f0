import type { Hex } from "viem";

/**
 * Names the group of runs that may share an isolate, each with a global object of its own: those that one Functions subscription
 * pays for, which are one customer's code. The dry run and the nodes name it alike, so that a child that serves both need not
 * make a new isolate in between (about 1 ms).
 *
 * @param router address of the FunctionsRouter that keeps the subscription.
 */
export function sandboxGroup(router: Hex, functionsSubscriptionId: bigint): string {
  return `subscription ${functionsSubscriptionId} of ${router.toLowerCase()}`;
}
