import { messageOf, TycheError } from "../lib/errors.ts";

/** The network can't take requests at the moment. */
export class ChainUnavailableError extends TycheError {
  constructor(network: string, why: string, cause?: unknown) {
    super(`${network} can't take requests now: ${why}; try again later`, {
      code: "chain_unavailable",
      blame: "upstream",
      retryable: true,
      cause,
    });
  }
}

/** Says that a chain can't be queried, to callers whose requests wait and to the operator. */
export function describeUnreachable(error: unknown): string {
  return `the chain can't be reached: ${messageOf(error)}`;
}
