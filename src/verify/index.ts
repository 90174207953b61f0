/** The exports of `tyche/verify`: the check of a result from chain data. It also runs in browsers. */
export type { ChainReader } from "./chainFacts.ts";
export type { RunSource, SourceOutcome, SourceRun } from "./runSource.ts";
export type { RequestVerification, Verification, VerificationStep } from "../api/types.ts";
export { verifyTransaction, type VerifyOptions } from "./verifyTransaction.ts";
