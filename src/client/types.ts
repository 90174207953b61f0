import type { PresetResult as AnyPresetResult, PresetValue } from "../api/types.ts";

export type * from "../api/types.ts";

/** A whole number: a string of decimal digits, a bigint, or a number that is a safe integer. */
export type Decimal = string | number | bigint;

/** Outcome of a preset. */
export interface PresetResult<Value = PresetValue> extends Omit<AnyPresetResult, "value"> {
  /**
   * The result as its preset types it. In an array, a whole number beyond 2^53 - 1 is a decimal string. `null` after a failure, and when
   * a list's entries contain its separator and can't be told apart.
   */
  readonly value: Value | null;
}
