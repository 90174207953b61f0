import type { Hex } from "viem";
import type { Account } from "./account.ts";
import type { ChainClient, Receipt } from "./client.ts";
import { NonceGapError, createDelivery } from "./delivery.ts";
import type { Fees } from "./fees.ts";
import { createGapFiller } from "./gapFiller.ts";
import { TransactionError } from "./refusal.ts";
import type { SenderJournal } from "./senderJournal.ts";
import { signCall } from "./signedTransaction.ts";
import type { Call, SignedTransaction } from "./signedTransaction.ts";

export { fixedFees, type Fees } from "./fees.ts";
export type { SenderJournal } from "./senderJournal.ts";

const DEFAULT_POLL_MS = 1_000;

/** Sends transactions of one account, one at a time: no nonce is ever skipped or used twice. */
export interface Sender<Payload = undefined> {
  readonly address: Hex;
  /**
   * Signs, stores, broadcasts and waits for the receipt.
   *
   * @throws {TransactionError} when it will never be on chain. Anything else leaves that open: the transaction may be signed.
   */
  send(call: Call, payload: Payload): Promise<Receipt>;
  /**
   * Broadcasts a transaction that an earlier process signed, reprices it when it is stuck, and waits for its receipt.
   *
   * @param versions everything that was signed for one nonce, the dearest last.
   * @throws {TransactionError} as {@link send}.
   */
  resume(versions: readonly SignedTransaction[], payload: Payload): Promise<Receipt>;
  /** Looks for receipts at once: call it with each new head. */
  poke(): void;
  /**
   * Broadcasts again what the chain has lost and the journal has: call it after a reorganisation, and before {@link resume} when
   * a process starts, for a chain may have gone back meanwhile. Without a journal the next transaction takes the first free
   * nonce. Throws {@link RpcError} when the node can't be asked.
   *
   * @returns whether there was any.
   */
  reconcile(): Promise<boolean>;
}

/** Options of {@link createSender}. */
export interface SenderOptions<Payload> {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
  readonly fees: Fees;
  readonly journal?: SenderJournal<Payload>;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** How often a transaction that waits is looked for, besides what new heads tell, and what failed is tried again. Default 1,000. */
  readonly pollMs?: number;
}

/** Creates the sender of one account. */
export function createSender<Payload = undefined>(options: SenderOptions<Payload>): Sender<Payload> {
  const { client, account, chainId, fees, journal, signal, onError, pollMs = DEFAULT_POLL_MS } = options;
  const gaps = journal && createGapFiller({ client, account, chainId, fees, journal, onError });
  const delivery = createDelivery({
    ...options,
    journal,
    pollMs,
    fillGaps: gaps && ((nonce) => gaps.fill(nonce)),
  });
  let tail: Promise<unknown> = Promise.resolve();
  let nextNonce: number | undefined;
  /** How often the chain is known to have lost transactions: what was known of the nonce before counts no more. */
  let losses = 0;

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => {});
    return result;
  };

  const sendOnce = async (call: Call, payload: Payload): Promise<Receipt> => {
    const lossesBefore = losses;
    const nonce = (nextNonce ??= await client.getNonce(account.address, "latest"));
    const gasPriceWei = await fees.gasPriceWei(client);
    const transaction = await signCall(account, call, { chainId, nonce, gasPriceWei });
    await journal?.signed(transaction, payload);
    const receipt = await delivery.deliver([transaction], payload);
    if (journal !== undefined || losses === lossesBefore) nextNonce = nonce + 1;
    return receipt;
  };

  return {
    address: account.address,
    send: (call, payload) =>
      inTurn(async () => {
        for (;;) {
          signal.throwIfAborted();
          try {
            return await sendOnce(call, payload);
          } catch (error) {
            const isTaken = error instanceof TransactionError && error.meaning === "nonce_taken";
            const isOff = isTaken || error instanceof NonceGapError;
            if (isOff) nextNonce = undefined;
            // Whoever keeps a journal looks first which of its transactions it was that took the nonce.
            if (!isOff || journal !== undefined) throw error;
          }
        }
      }),
    resume: (versions, payload) =>
      inTurn(async () => {
        const receipt = await delivery.deliver(versions, payload).catch((error: unknown) => {
          nextNonce = undefined;
          throw error;
        });
        const after = versions[0]!.nonce + 1;
        if (nextNonce === undefined || nextNonce < after) nextNonce = after;
        return receipt;
      }),
    poke: () => delivery.poke(),
    async reconcile() {
      losses += 1;
      if (gaps === undefined) {
        nextNonce = undefined;
        return false;
      }
      const known = await gaps.fillKnown();
      if (known === undefined) return false;
      if (nextNonce === undefined || nextNonce < known) nextNonce = known;
      return true;
    },
  };
}
