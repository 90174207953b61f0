import { Type, type TProperties } from "typebox";
import type { Hex } from "viem";
import { EXPECTED } from "../lib/schemaCheck.ts";

/** The name of an environment variable, for what must not stand in the file. */
export const variableName = (description: string) =>
  Type.String({
    pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
    [EXPECTED]: "the name of a variable",
    description,
  });

/** Bytes in hex digits of either case, such as an address or a hash. */
export const hex = (bytes: number, description: string) =>
  Type.Unsafe<Hex>({
    type: "string",
    pattern: `^0x[0-9a-fA-F]{${bytes * 2}}$`,
    [EXPECTED]: `0x and ${bytes * 2} hex digits`,
    description,
  });

/** An object takes no members that its schema does not name. */
export const STRICT = { additionalProperties: false } as const;

/** A whole number with its range and default; both are named in the error. */
export const integer = (
  description: string,
  [minimum, maximum]: readonly [number, number],
  fallback?: number,
) =>
  Type.Integer({
    minimum,
    maximum,
    [EXPECTED]: `a whole number from ${minimum} to ${maximum}`,
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });

/** An object whose members all have defaults. */
export const section = <Properties extends TProperties>(properties: Properties, description: string) =>
  Type.Object(properties, { ...STRICT, default: {}, [EXPECTED]: "an object", description });
