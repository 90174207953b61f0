import { Type, type TSchema } from "typebox";

/** Schema annotation: the TypeScript type, where JSON Schema can't say it. */
export const TYPE = "x-type";

/** `0x` and an even number of lower-case hex digits; any number of bytes when `bytes` is absent. */
export function hexBytes(description: string, bytes?: number) {
  const digits = bytes === undefined ? "([0-9a-f]{2})*" : `[0-9a-f]{${bytes * 2}}`;
  return Type.String({ pattern: `^0x${digits}$`, description });
}

/** `0x` and hex digits in any case. */
export function hex(description: string) {
  return Type.String({ pattern: "^0x[0-9a-fA-F]*$", description });
}

export const ADDRESS_PATTERN = "^0x[0-9a-fA-F]{40}$";
/** 32 bytes, such as a hash. */
export const WORD_PATTERN = "^0x[0-9a-fA-F]{64}$";
export const ADDRESS = new RegExp(ADDRESS_PATTERN);
export const WORD = new RegExp(WORD_PATTERN);

/** An address in any case. */
export function address(description: string) {
  return Type.String({ pattern: ADDRESS_PATTERN, description });
}

/** A whole number in decimal digits, for amounts and for numbers above 2^53. */
export function decimal(description: string) {
  return Type.String({ pattern: "^[0-9]+$", description });
}

/** ISO 8601. */
export function time(description: string) {
  return Type.String({ format: "date-time", description });
}

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** A list as an answer. */
export function listOf(item: TSchema) {
  return Type.Object({ items: Type.Array(item) });
}

/** A page of a list, newest first. */
export function pageOf(item: TSchema) {
  return Type.Object({
    items: Type.Array(item, { description: "Newest first." }),
    nextCursor: nullable(Type.String(), "Give it as `cursor` for the next page; null on the last one."),
  });
}

/** How a label was spelled. */
export const givenLabel = Type.Optional(
  Type.String({
    description:
      "The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that.",
  }),
);
