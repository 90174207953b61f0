import { TycheError } from "../lib/errors.ts";
import type { RpcError } from "../lib/nodeAnswers.ts";

/**
 * What a node's refusal of a raw transaction means:
 * - `waiting`: it already has the transaction;
 * - `nonce_spent`: the account has spent that nonce, with this transaction or another one;
 * - `underpriced`: it pays too little for the block, or to replace the one with the same nonce;
 * - `too_large`: no block or pool accepts it, whatever it pays; fewer requests in it may help;
 * - `unreachable`: nothing is known about the transaction, because the node can't work at the moment;
 * - `unfunded`: the account lacks the coin, whatever is in the transaction;
 * - `refused`: the transaction is invalid as it is;
 * - `unknown`: a text that tells nothing: the node may have the transaction all the same.
 */
export type RefusalMeaning =
  | "waiting"
  | "nonce_spent"
  | "underpriced"
  | "too_large"
  | "unreachable"
  | "unfunded"
  | "refused"
  | "unknown";

/** The first match counts. Texts of geth, Anvil, Erigon, Nethermind, Besu and Reth; the names are those of geth's `txpool` and `core`. */
const MEANINGS: readonly (readonly [RefusalMeaning, RegExp])[] = [
  [
    "waiting",
    /already known|already imported|\bknown transaction|alreadyknown|already exists|already in (?:the )?(?:mem)?pool|timeout.*transaction|transaction.*timeout|not (?:added|confirmed).*in time/,
  ],
  [
    "nonce_spent",
    /nonce too low|nonce is too low|old nonce|oldnonce|nonce has already been used|nonce below/,
  ],
  [
    "underpriced",
    /underpriced|replacement (?:fee|transaction)|fee too low|feetoolow|max fee per gas less than block base fee|gas price (?:below|too low)|less than (?:the )?base ?fee/,
  ],
  [
    "too_large",
    /exceeds (?:the )?block gas limit|gas_limit > env\.block\.gas_limit|intrinsic gas too high|gas limit too high|exceeds.*gas (?:limit )?cap|oversized data|size limit|too large/,
  ],
  ["unfunded", /insufficient (?:funds|balance)|insufficientfunds|upfront cost exceeds account balance/],
  [
    "unreachable",
    /rate limit|too many requests|try again|internal error|header not found|limit exceeded|temporarily|timed? ?out|status (?:429|5\d\d)|pool is full|txpool is full|nonce gap|nonce too high/,
  ],
  [
    "refused",
    /intrinsic gas|invalid (?:sender|signature|transaction|chain ?id)|chain ?id (?:mismatch|is invalid)|incorrect chain|(?:transaction|tx) type (?:is )?not supported|(?:unsupported|unknown) (?:transaction|tx) type|exceeds the configured cap|initcode|sender not an eoa|replay-protected/,
  ],
];

/** Classifies a refusal. Nodes return only text: this is the only place that interprets it, and a test pins it. */
export function meaningOf(error: RpcError): RefusalMeaning {
  const text = error.message.toLowerCase();
  return (
    MEANINGS.find(([, pattern]) => pattern.test(text))?.[0] ?? (error.answered ? "unknown" : "unreachable")
  );
}

/** A transaction will never be on chain: nothing of it is there, and its nonce is free or spent by another one. */
export class TransactionError extends TycheError {
  /**
   * `too_large`: fewer requests in it may help. `unfunded`: no transaction of the account can be paid for. `nonce_taken`: another one of
   * the account was mined in its place.
   */
  readonly meaning: "refused" | "too_large" | "unfunded" | "nonce_taken";

  constructor(meaning: TransactionError["meaning"], reason: string, cause?: unknown) {
    super(`the transaction was refused: ${reason}`, {
      code: "transaction_refused",
      blame: "upstream",
      retryable: true,
      cause,
    });
    this.meaning = meaning;
  }
}
