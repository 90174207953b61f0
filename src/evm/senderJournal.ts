import type { SignedTransaction } from "./signedTransaction.ts";

/** Where a sender leaves word before it acts; the service's is in its store, the oracle needs none (its duplicates are refused on chain). */
export interface SenderJournal<Payload> {
  /** Stores a signed transaction; it is broadcast only after this. */
  signed(transaction: SignedTransaction, payload: Payload): Promise<void>;
  /** How it ended; with the gas that it used where it was mined. */
  ended(
    transaction: SignedTransaction,
    end: "mined" | "replaced" | "failed",
    gasUsed?: bigint,
  ): Promise<void>;
  /** Everything signed for this nonce and later ones that may be, or have been, in a node's pool: oldest first. */
  from(nonce: number): Promise<readonly SignedTransaction[]>;
  /** The payload of a transaction that does nothing but use up a nonce. */
  readonly noPayload: Payload;
}
