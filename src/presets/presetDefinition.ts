import type { ReturnType } from "../domain/vocabulary.ts";
import type { Hex } from "viem";
import type { PresetShow } from "../domain/presetShow.ts";

/** The contents of `preset.json`, once `findDefinitionErrors` has found no errors in it. */
export interface PresetDefinition {
  /** Same as the folder's name. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, ParameterSchema>>;
    readonly required?: readonly string[];
  };
  /** Every parameter's name, in the order in which the source gets them as `args`. */
  readonly args: readonly string[];
  readonly returnType: ReturnType;
  /**
   * Bound on the result's size in bytes: see `parseResultBound`. Required for `string` and allowed only there; other
   * results take 32 bytes.
   */
  readonly maxResultBytes?: string;
  /** How the text of a result is read. Default: as it is. */
  readonly show?: PresetShow;
  /** JSON Schema of the value that {@link readValue} reads. Default: what follows from `show`. */
  readonly value?: ValueSchema;
  readonly examples: readonly PresetExample[];
  readonly distributions?: readonly PresetDistribution[];
}

/** A parameter's JSON Schema, limited to the keywords that presets may use. */
export type ParameterSchema = ScalarSchema & {
  readonly items?: ScalarSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
};

/** A value's JSON Schema, limited to the keywords that presets may use. */
export interface ValueSchema {
  readonly type: "boolean" | "string" | "array";
  readonly items?: { readonly type: "integer" | "string"; readonly [keyword: string]: unknown };
  readonly [keyword: string]: unknown;
}

export interface ScalarSchema {
  readonly type?: "string" | "boolean" | "array";
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly decimal?: DecimalRule;
}

/** A whole number of up to 78 digits, sent as a decimal string or a JSON integer. */
export interface DecimalRule {
  /** Default `"0"`. */
  readonly minimum?: string | number;
  /** Default `2^256 - 1`. */
  readonly maximum?: string | number;
  /** Name of another parameter that this one must not exceed: its value, or its length if it is an array. */
  readonly atMost?: string;
}

/** A word and the result that it must produce. */
export interface PresetExample {
  readonly params: Readonly<Record<string, unknown>>;
  readonly word: Hex;
  readonly parsedResult: string;
  /** Bytes of the result, if they say more than `parsedResult`. */
  readonly result?: Hex;
}

/** How results are distributed over all words for given parameters. Exactly one of `outcomes` and `bounds` is set. */
export interface PresetDistribution {
  readonly params: Readonly<Record<string, unknown>>;
  /** Every possible `parsedResult` and its relative weight. */
  readonly outcomes?: Readonly<Record<string, number>>;
  /** For whole numbers: ascending b0, b1, …, bn. Every result is in [b0, bn), each as likely as any other. */
  readonly bounds?: readonly string[];
}

/** One error in a `preset.json`. */
export interface DefinitionError {
  /** JSON Pointer to the value. */
  readonly pointer: string;
  readonly reason: string;
}
