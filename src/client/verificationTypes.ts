import type { Hex } from "./types.ts";

/** One check of a verification. */
export interface VerificationStep {
  readonly name: string;
  /** `notApplicable`: can't be checked, for the reason in `detail`. */
  readonly outcome: "ok" | "failed" | "notApplicable";
  readonly detail: string;
  readonly compared: readonly { readonly what: string; readonly expected: string; readonly found: string }[];
}

/**
 * `valid`: no check failed, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are
 * the operator's. `unconfirmed`: no check failed, but the source could not give the result again, for the reason in the step `execution`, or the node doesn't
 * show what it follows from.
 * `incomplete`: there is no result (yet). `invalid`: a check failed.
 */
export type Verdict = "valid" | "conditional" | "unconfirmed" | "incomplete" | "invalid";

/** What the service found when it checked a result against chain data. To check without trusting the service, use `tyche/verify`. */
export interface Verification {
  readonly network: string;
  readonly chainId: number;
  readonly transactionHash: Hex;
  readonly valid: boolean;
  readonly verdict: Verdict;
  readonly requests: readonly {
    readonly kind: "preset" | "function" | "random";
    readonly requestId: Hex;
    readonly vrfRequestId: Hex | null;
    readonly verdict: Verdict;
    readonly failed: string | null;
    readonly transactions: {
      readonly request: Hex | null;
      readonly randomness: Hex | null;
      readonly report: Hex | null;
    };
    readonly result: string | null;
    readonly err: string | null;
    readonly randomNumber: readonly string[];
    readonly steps: readonly VerificationStep[];
  }[];
  readonly contracts: Readonly<Record<string, string>>;
  /** What no check can prove. */
  readonly trust: readonly string[];
}
