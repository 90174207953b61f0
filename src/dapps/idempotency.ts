import { createHash } from "node:crypto";
import { TycheError } from "../lib/errors.ts";

/** Returns the SHA-256 of a JSON value as hex, whatever the order of its members: calls with the same key must have the same hash. */
export function hashBody(body: object): string {
  return createHash("sha256").update(JSON.stringify(body, sortMembers)).digest("hex");
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The idempotency key was used before with a different body. */
export class IdempotencyConflictError extends TycheError {
  constructor(key: string) {
    super(`the Idempotency-Key "${key}" was used for another request; use a new key`, {
      code: "idempotency_conflict",
      blame: "caller",
    });
  }
}
