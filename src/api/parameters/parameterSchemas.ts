import { Type } from "typebox";
import type { Hex } from "viem";
import { ADDRESS_PATTERN, WORD_PATTERN } from "../common.ts";
import { EXPECTED, DECIMAL_PATTERN } from "../../lib/schemaCheck.ts";

export const STRICT = { additionalProperties: false } as const;

/** 32 bytes in hex. */
export function hash(description: string) {
  return Type.Unsafe<Hex>({
    type: "string",
    pattern: WORD_PATTERN,
    [EXPECTED]: "0x and 64 hex digits",
    description,
  });
}

/** 20 bytes in hex; whoever uses the address verifies its checksum. */
export function addressParameter(description: string) {
  return Type.Unsafe<Hex>({
    type: "string",
    pattern: ADDRESS_PATTERN,
    [EXPECTED]: "an address: 0x and 40 hex digits",
    description,
  });
}

/** A string from a list; the default applies only if the list contains it. */
export function oneOf(values: readonly string[], description: string, fallback?: string) {
  return Type.Unsafe<string>({
    type: "string",
    // An empty enumeration is not a valid schema; a pattern that nothing matches means the same.
    ...(values.length > 0 ? { enum: [...values] } : { pattern: "^(?!)" }),
    ...(fallback !== undefined && values.includes(fallback) ? { default: fallback } : {}),
    description,
  });
}

/** What the schemas of requests depend on: the names of the service's networks, of those that are embedded, and of its presets. */
export interface SchemaTerms {
  readonly networks: readonly string[];
  readonly embedded: readonly string[];
  readonly presets: readonly string[];
  readonly maxWords: number;
}

/** The name of a network; the only one there is needs no name. */
export function networkParameter(
  { networks }: Pick<SchemaTerms, "networks">,
  description = "Network on which the request runs.",
  fallback?: string,
) {
  return oneOf(networks, description, networks.length === 1 ? networks[0] : fallback);
}

/** `YYYY-MM-DD`. */
export function day(description: string) {
  return Type.String({
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    [EXPECTED]: "a day such as 2026-11-22",
    description,
  });
}

/** A whole number, as a JSON integer or as its decimal string. */
export function integer(
  bounds: { readonly minimum: number; readonly maximum: number; readonly default?: number },
  description: string,
) {
  return Type.Unsafe<number>({
    type: ["integer", "string"],
    pattern: DECIMAL_PATTERN,
    ...bounds,
    [EXPECTED]: `a whole number from ${bounds.minimum} to ${bounds.maximum} in decimal`,
    description,
  });
}

/** The parameter `confirmations` of a request that draws words; `drawn` names them. */
export function confirmationsParameter(drawn: string) {
  return Type.Optional(
    integer(
      { minimum: 1, maximum: 200 },
      `Block confirmations before ${drawn} drawn. Default: 1, or the network's minimum if that is higher. ` +
        "`GET /api/networks` lists each network's range.",
    ),
  );
}

/** The parameters that say what a request is for. */
export const LABEL_PARAMETERS = {
  label: Type.Optional(
    Type.String({
      [EXPECTED]: "text of 1 to 100 characters",
      description:
        "What the request is for, such as `raffle-2026-12-24`: 1 to 100 characters, fixed on chain with it for all to see. Upper and lower case are the same letter by letter.",
    }),
  ),
  once: Type.Optional(
    Type.Boolean({
      [EXPECTED]: "true or false",
      description:
        "Whether this must be the dapp's only request with this label on the network: it is refused if there is another, and so is every later one.",
    }),
  ),
};
