import { TycheError } from "../lib/errors.ts";

/** The service can't start; the message says why and what to do. */
export class StartError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "start_failed", blame: "caller", cause });
  }
}
