import { Type, type TProperties } from "typebox";
import { EXPECTED } from "../../lib/schemaErrors.ts";
import type { Keep } from "../../requests/retention.ts";

const STRICT = { additionalProperties: false } as const;
const FOREVER = "forever";
const MAX_DAYS = 36_500;
const EXPECTED_DAYS = `a whole number of days from 1 to ${MAX_DAYS}, or "${FOREVER}"`;

/** Days, or for ever: an own type, so that one error names both. */
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
        "Ended requests, with their results: a call that is repeated with the Idempotency-Key of a deleted one is a new request.",
        FOREVER,
      ),
      payloadDays: days(
        "What callers sent with ended requests: parameters of presets, source and arguments of functions. Results stay.",
        payloadDays,
      ),
      transactionDays: days(
        "Transactions of the service that are mined, replaced or refused, but for the newest thousand nonces.",
        FOREVER,
      ),
      ...more,
    },
    { ...STRICT, default: {}, [EXPECTED]: "an object", description },
  );

/** How long the database keeps what has ended, in days since its acceptance. */
export const KeepChoice = Type.Object(
  {
    embedded: kinds("Of networks whose chain is inside the service.", 30, {
      blockDays: days(
        "Blocks of the chain, by their timestamps: what was requested in them can't be verified any more.",
        FOREVER,
      ),
    }),
    external: kinds("Of networks with nodes of their own.", FOREVER, {}),
  },
  {
    ...STRICT,
    default: {},
    [EXPECTED]: "an object",
    description:
      "How long the database keeps what has ended, in days since its acceptance, or `forever`. Sums of usage stay, and so does what is on a chain.",
  },
);

/** Translates what is configured for one sort of networks. */
export function parseKeep(kept: {
  readonly [Name in keyof Keep]: number | typeof FOREVER;
}): Keep {
  const daysOf = (value: number | typeof FOREVER | undefined): number | undefined =>
    value === FOREVER ? undefined : value;
  return {
    requestDays: daysOf(kept.requestDays),
    payloadDays: daysOf(kept.payloadDays),
    transactionDays: daysOf(kept.transactionDays),
    blockDays: daysOf(kept.blockDays),
  };
}
