import type { Hex } from "viem";
import type { Receipt } from "../lib/nodeAnswers.ts";
import type { SignedTransaction } from "./signedTransaction.ts";

/**
 * The record that a sender persists before it acts. The service's is in its store; the oracle needs none, because its duplicates are refused
 * on chain.
 */
export interface SenderJournal<Payload> {
  /** Persists a signed transaction, which is broadcast only afterwards. */
  signed(transaction: SignedTransaction, payload: Payload): Promise<void>;
  /** Records how a transaction ended, and what its receipt says if it was mined. */
  ended(
    transaction: SignedTransaction,
    end: "mined" | "replaced" | "failed",
    mined?: Pick<Receipt, "gasUsed" | "succeeded">,
  ): Promise<void>;
  /** Returns everything signed for this nonce and later ones that may be, or have been, in a node's pool, oldest first. */
  from(nonce: number): Promise<readonly SignedTransaction[]>;
  /**
   * Called when others may use the account: before a nonce is used that the chain reported, when a pool holds another transaction for one,
   * and when another transaction has used one.
   *
   * @param spender hash of that transaction, if known.
   */
  doubt?(spender?: Hex): void;
  /** Whether others may use the account. Nothing is then signed on top of a transaction in flight, which may lose its nonce. */
  isInDoubt?(): boolean;
  /** The payload of a transaction that only uses up a nonce. */
  readonly noPayload: Payload;
}
