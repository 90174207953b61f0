import { TycheError } from "../lib/errors.ts";

/** The database can't be used. */
export class StoreError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "store_unusable", blame: "us", cause });
  }
}
