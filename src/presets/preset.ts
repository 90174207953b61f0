import type { ReturnType } from "../domain/vocabulary.ts";
import type { Hex } from "viem";
import type { TextPosition } from "../lib/parseJson.ts";
import type { SchemaCheck } from "../lib/schemaCheck.ts";
import type { PresetDefinition } from "./presetDefinition.ts";
import type { ResultBound } from "./resultBound.ts";
import type { ValueCheck } from "./valueSchema.ts";

/** A preset that was read from its folder and can be served. Never changes: an edited folder produces a new one. */
export interface Preset {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the parameters for callers: an object schema that refuses unknown members, with defaults. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Names of the parameters in the order in which the source gets them as `args`. */
  readonly parameterOrder: readonly string[];
  readonly returnType: ReturnType;
  /** JSON Schema (draft 2020-12) of the value of a result, for callers. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly checkValue: ValueCheck;
  readonly examples: PresetDefinition["examples"];
  /** The source that goes on chain and that the dry run runs: `source.js` with its imports, minified. */
  readonly source: string;
  /** keccak256 of the UTF-8 bytes of `source`. */
  readonly sourceHash: Hex;
  /** Size of `source` in UTF-8 bytes. */
  readonly sourceBytes: number;
  /** Largest size of the result in bytes, depending on the parameters. */
  readonly resultBound: ResultBound;
  /** `preset.json` as its author wrote it. */
  readonly definition: PresetDefinition;
  readonly validate: SchemaCheck;
  /** The files as their author wrote them, for messages that point into them. */
  readonly written: {
    /** `source.js` preceded by the modules that it imports, which take the first `preludeLines` lines. */
    readonly source: string;
    readonly preludeLines: number;
    /** Place of a JSON Pointer in `preset.json`. */
    readonly positionOf: (pointer: string) => TextPosition;
  };
}

/** Runs a source where it can do no harm, such as a sandbox pool's `run`. Rejects only if the sandbox is unusable. */
export type RunSource = (request: {
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  readonly limits: { readonly maxResponseBytes: number };
}) => Promise<PresetRunOutcome>;

export type PresetRunOutcome =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | {
      readonly ok: false;
      /** Line and column are 1-based; `stack` has frames as `source.js:line:column`, innermost first. */
      readonly error: {
        /** `timeout`: the source used up its time. */
        readonly kind?: string;
        readonly message: string;
        readonly line?: number;
        readonly column?: number;
        readonly stack?: string;
      };
    };
