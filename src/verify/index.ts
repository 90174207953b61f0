/** What `tyche/verify` exports: the check of a result from chain data. It runs in browsers, too. */
export type { ChainReader } from "./chainFacts.ts";
export type { RunSource, SourceOutcome, SourceRun } from "./runSource.ts";
export type { RequestVerification, Verification, VerificationStep } from "./verification.ts";
export { verifyTransaction, type VerifyOptions } from "./verifyTransaction.ts";
