import { TycheError } from "../lib/errors.ts";

/** The database can't be used. */
export class StoreError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "store_unusable", blame: "us", cause });
  }
}

/** A request was to be changed from a version that is not the stored one: another writer has changed it. */
export class StaleRequestError extends TycheError {
  constructor(id: string) {
    super(`request ${id} was changed by somebody else meanwhile`, {
      code: "store_conflict",
      blame: "us",
      retryable: true,
    });
  }
}
