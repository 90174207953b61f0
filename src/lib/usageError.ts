import { TycheError } from "./errors.ts";

/** A command can't be run as it was called. */
export class UsageError extends TycheError {
  constructor(message: string) {
    super(message, { code: "invalid_parameter", blame: "caller" });
  }
}
