import { Type, type TProperties } from "typebox";
import { STRICT } from "./schemaParts.ts";
import { EXPECTED } from "../lib/schemaCheck.ts";
import type { Keep } from "../store/retention.ts";

const FOREVER = "forever";
const MAX_DAYS = 36_500;
const EXPECTED_DAYS = `a whole number of days from 1 to ${MAX_DAYS}, or "${FOREVER}"`;

/** Days or forever, as a type of its own, so that one error names both. */
const days = (description: string, fallback: number | typeof FOREVER) =>
  Type.Unsafe<number | typeof FOREVER>({
    if: { type: "string" },
    // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and nobody awaits a schema
    then: { type: "string", pattern: `^${FOREVER}$`, [EXPECTED]: EXPECTED_DAYS },
    else: { type: "integer", minimum: 1, maximum: MAX_DAYS, [EXPECTED]: EXPECTED_DAYS },
    description,
    default: fallback,
  });

const kinds = <More extends TProperties>(
  description: string,
  payloadDays: number | typeof FOREVER,
  more: More,
) =>
  Type.Object(
    {
      requestDays: days(
        "Ended requests, with their results. A call that repeats the Idempotency-Key of a deleted request creates a new one.",
        FOREVER,
      ),
      payloadDays: days(
        "What callers sent with ended requests: parameters of presets, source and arguments of functions, spelling of labels. Results stay.",
        payloadDays,
      ),
      transactionDays: days(
        "Mined, replaced and refused transactions of the service, except those of the newest thousand nonces.",
        FOREVER,
      ),
      ...more,
    },
    { ...STRICT, default: {}, [EXPECTED]: "an object", description },
  );

/** How many days the database keeps what is over: ended requests and their payloads, counted from acceptance, transactions and blocks. */
export const KeepChoice = Type.Object(
  {
    embedded: kinds("For networks whose chain is inside the service.", 30, {
      blockDays: days(
        "Blocks of the chain, by their timestamps. Requests in deleted blocks can no longer be verified.",
        FOREVER,
      ),
    }),
    external: kinds("For networks with their own nodes.", FOREVER, {}),
    auditDays: days("Entries of the audit log.", 365),
  },
  {
    ...STRICT,
    default: {},
    [EXPECTED]: "an object",
    description:
      "How long the database keeps ended requests, in days since they were accepted, or `forever`. Usage totals and everything on chain remain.",
  },
);

/** Translates the configuration for one kind of network. */
export function parseKeep(kept: {
  readonly [Name in keyof Keep]: number | typeof FOREVER;
}): Keep {
  return {
    requestDays: parseDays(kept.requestDays),
    payloadDays: parseDays(kept.payloadDays),
    transactionDays: parseDays(kept.transactionDays),
    blockDays: parseDays(kept.blockDays),
  };
}

/** Returns a number of days; `undefined` for forever. */
export function parseDays(value: number | typeof FOREVER | undefined): number | undefined {
  return value === FOREVER ? undefined : value;
}
