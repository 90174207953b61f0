import type { Hex } from "viem";

/** What a source can ask for that may differ in a repeat. */
export type Touch = "time" | "randomness" | "http" | "imports";

/** A source to run again. */
export interface SourceRun {
  /** JavaScript, as the function request carries it. */
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  /** Longest result, in bytes. */
  readonly maxResponseBytes: number;
  /** Fairness key: callers take turns when runs wait. */
  readonly caller: string;
  /** Cancels the run, which then rejects. */
  readonly signal?: AbortSignal;
}

/**
 * How a run ended: with bytes, with the error text that a node reports, or cut short by a time or memory limit; or skipped with a
 * reason, if the source can't run here.
 */
export type SourceOutcome = (
  | { readonly kind: "result"; readonly bytes: Uint8Array }
  | { readonly kind: "error"; readonly message: string }
  | { readonly kind: "cut" }
  | { readonly kind: "skipped"; readonly reason: string }
) & {
  /** Everything that the source asked for, whether or not it got it. */
  readonly touched: readonly Touch[];
  /**
   * Set by a runner whose environment only resembles a node's, such as a browser's. A source can tell the two apart, so that another
   * result than the report's proves nothing.
   */
  readonly isApproximate?: boolean;
};

/** Runs a source as a node does, without network. */
export type RunSource = (run: SourceRun) => Promise<SourceOutcome>;
