import type { Receipt } from "./client.ts";
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
  /** The payload of a transaction that only uses up a nonce. */
  readonly noPayload: Payload;
}
