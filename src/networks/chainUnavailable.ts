import { TycheError } from "../lib/errors.ts";

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
