import type { Hex } from "viem";

/** What a source can ask for that a repeat need not get again. */
export type Touch = "time" | "randomness" | "http" | "imports";

/** A source to be run again. */
export interface SourceRun {
  /** JavaScript, as the function request carries it. */
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  /** Longest result, in bytes. */
  readonly maxResponseBytes: number;
  /** Whose turn it is where runs wait. */
  readonly caller: string;
}

/**
 * How a run ended: with bytes, with the error text that a node reports, or cut short by a limit of time or memory; skipped, where the
 * source can't run in this place, with the reason.
 */
export type SourceOutcome = (
  | { readonly kind: "result"; readonly bytes: Uint8Array }
  | { readonly kind: "error"; readonly message: string }
  | { readonly kind: "cut" }
  | { readonly kind: "skipped"; readonly reason: string }
) & {
  /** Everything that the source asked for, whether it got it or not. */
  readonly touched: readonly Touch[];
};

/** Runs a source as a node does, without network. */
export type RunSource = (run: SourceRun) => Promise<SourceOutcome>;
