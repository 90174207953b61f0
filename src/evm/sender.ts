import type { ChainClient } from "./client.ts";
import { createMutex } from "../lib/mutex.ts";
import type { Hex } from "viem";
import { RpcError, type Receipt } from "../lib/nodeAnswers.ts";
import { NonceGapError, createFlights, createPauses } from "./flight.ts";
import { PriceAboveCapError, quote, type GasPrice, type PriceTerms } from "./fees.ts";
import { createGapFiller, type GapFillerOptions } from "./gapFiller.ts";
import { TransactionError } from "./refusal.ts";
import {
  type SenderJournal,
  assertSignedBy,
  signCall,
  type Call,
  type SignedTransaction,
} from "./signedTransaction.ts";

const DEFAULT_POLL_MS = 1_000;

/** Why a sender isn't signing, or isn't raising a price. */
export interface SenderWait {
  readonly reason: "price_above_cap";
  /** The current price of one gas, and the highest that may be paid. */
  readonly priceWei: bigint;
  readonly capWei: bigint;
  /** Explanation in words. */
  readonly message: string;
}

/** Sends transactions of one account in call order: no nonce is ever skipped or used twice. */
export interface Sender<Payload = undefined> {
  readonly address: Hex;
  /**
   * Signs, stores and broadcasts a transaction, and waits for its receipt. While gas costs more than the cap, it waits before
   * signing.
   *
   * @throws {TransactionError} when it will never be on chain. Any other error leaves that open: the transaction may be signed.
   */
  send(call: Call, payload: Payload): Promise<Receipt>;
  /**
   * Broadcasts a transaction that an earlier process signed, reprices it when it is stuck, and waits for its receipt.
   *
   * @param versions everything that was signed for one nonce, with the dearest last.
   * @throws {TransactionError} as {@link send}.
   * @throws {ForeignTransactionError} when the account didn't sign them.
   */
  resume(versions: readonly SignedTransaction[], payload: Payload): Promise<Receipt>;
  /**
   * Returns the receipt to act on: one that reports a revert is confirmed first, by every node and after further blocks, because a node may
   * correct it. `undefined` when no node has it any more.
   */
  confirm(receipt: Receipt): Promise<Receipt | undefined>;
  /** Returns what it is waiting for; `undefined` while it is held up by nothing but the network. */
  waitsFor(): SenderWait | undefined;
  /** Checks for receipts at once; to be called with each new head. */
  poke(): void;
  /**
   * Rebroadcasts what the journal has but the chain has lost. To be called after a reorg, and before {@link resume} when a process
   * starts, because the chain may have been rolled back meanwhile. Without a journal the next transaction takes the first free nonce.
   * Throws {@link RpcError} when the node can't be asked.
   *
   * @returns whether there was any.
   */
  reconcile(): Promise<boolean>;
}

export interface SenderOptions<Payload> extends Omit<GapFillerOptions<Payload>, "journal" | "inFlight"> {
  readonly journal?: SenderJournal<Payload>;
  readonly signal: AbortSignal;
  /** Interval for checking a waiting transaction, in addition to new heads, and for retrying what failed. Default 1,000. */
  readonly pollMs?: number;
  /**
   * Maximum number of transactions in flight; the next one is signed once a node has responded to the previous one. Default 1, which
   * is best when blocks come at once.
   */
  readonly maxInFlight?: number;
}

/** Creates the sender of one account. */
export function createSender<Payload = undefined>(options: SenderOptions<Payload>): Sender<Payload> {
  const { client, account, chainId, fees, signal, onError, pollMs = DEFAULT_POLL_MS } = options;
  const assertOwn = (transaction: SignedTransaction): Promise<void> =>
    assertSignedBy(account.address, transaction, chainId);
  const journal = options.journal && withoutForeign(options.journal, assertOwn, onError);
  const inFlight = new Set<number>();
  const pauses = createPauses(signal);
  const slots = createSlots(options.maxInFlight ?? 1);
  const gaps = journal && createGapFiller({ client, account, chainId, fees, journal, onError, inFlight });
  let wait: SenderWait | undefined;
  const onTooDear = ({ priceWei, capWei, message }: PriceAboveCapError): void => {
    wait = { reason: "price_above_cap", priceWei, capWei, message };
  };
  const refusals = createRefusals<Payload>();
  const flights = createFlights({
    ...options,
    journal,
    pollMs,
    pauses,
    inFlight,
    onTooDear,
    isRefused: refusals.has,
    fillGaps: gaps && ((nonce) => gaps.fill(nonce)),
  });
  /** Nonce of the next transaction; `undefined` means that the chain is asked. */
  let nextNonce: number | undefined;
  const inTurn = createMutex();

  /** Waits until gas costs no more than the cap; no nonce is claimed meanwhile. */
  const findPrice = async (call: Call): Promise<GasPrice> => {
    for (;;) {
      signal.throwIfAborted();
      try {
        const price = await quote(fees, client, termsOf(call));
        wait = undefined;
        return price;
      } catch (error) {
        if (!(error instanceof PriceAboveCapError)) throw error;
        onTooDear(error);
        await pauses.wait(pollMs);
      }
    }
  };

  /** Returns the first nonce from the next one on that no transaction in flight has; waits for those while others may use the account. */
  const claimNonce = async (): Promise<number> => {
    if (nextNonce === undefined) journal?.doubt?.();
    await waitInDoubt();
    let nonce = nextNonce ?? (await client.getNonce(account.address, "latest"));
    while (inFlight.has(nonce)) nonce += 1;
    return nonce;
  };

  /**
   * While others may use the account, waits until none of our transactions is in flight and pools have none of others: for those, no longer
   * than until ours would be repriced.
   */
  const waitInDoubt = async (): Promise<void> => {
    let endMs = performance.now() + fees.repriceAfterMs;
    while (journal?.isInDoubt?.() === true) {
      if (inFlight.size > 0) endMs = performance.now() + fees.repriceAfterMs;
      else if (performance.now() >= endMs || !(await isAnyPending(client, account.address))) return;
      await pauses.wait(pollMs);
      signal.throwIfAborted();
    }
  };

  /** Signs a call; if the same bytes were refused with another payload, asks for slightly more gas than any of those. */
  const signAnew = async (
    call: Call,
    payload: Payload,
    terms: GasPrice & { readonly nonce: number },
  ): Promise<SignedTransaction> => {
    const sign = (gas: bigint): Promise<SignedTransaction> =>
      signCall(account, { ...call, gas }, { chainId, ...terms });
    const transaction = await sign(call.gas);
    return refusals.isOfAnother(transaction, payload) ? await sign(call.gas + refusals.count()) : transaction;
  };

  /** Completes the flight of a nonce; the next caller may sign once a node has responded. Returns the pending receipt. */
  const launch = async (
    versions: readonly SignedTransaction[],
    payload: Payload,
    terms?: PriceTerms,
  ): Promise<{ readonly receipt: Promise<Receipt> }> => {
    const { nonce } = versions[0]!;
    inFlight.add(nonce);
    let isInTurn = true;
    let onAnswered = (): void => {};
    const answered = new Promise<void>((resolve) => (onAnswered = resolve));
    const receipt = flights
      .complete(versions, payload, { terms, onAnswered })
      .catch((error: unknown) => {
        const isOff = isTaken(error) || error instanceof NonceGapError;
        nextNonce = isInTurn && !isOff ? nonce : undefined;
        refusals.add(versions, payload);
        throw error;
      })
      .then((mined) => {
        refusals.forgetTo(nonce);
        return mined;
      })
      .finally(() => {
        inFlight.delete(nonce);
        wait = undefined;
        slots.release();
        // The next transaction, often in the same block, need not wait for its next check.
        pauses.end();
      });
    receipt.catch(() => {});
    await Promise.race([answered, receipt]);
    isInTurn = false;
    return { receipt };
  };

  /** Runs work that ends in a launch in turn; a failure before the launch releases the slot. */
  const inSlot = async (
    prepare: () => Promise<readonly SignedTransaction[]>,
    payload: Payload,
    terms?: PriceTerms,
  ): Promise<Receipt> => {
    const { receipt } = await inTurn(async () => {
      await slots.take();
      const versions = await prepare().catch((error: unknown) => {
        slots.release();
        throw error;
      });
      return await launch(versions, payload, terms);
    });
    return await receipt;
  };

  const sendOnce = async (call: Call, payload: Payload): Promise<Receipt> => {
    // Waits outside its turn, so that calls with a higher cap proceed meanwhile.
    if (call.maxGasPriceWei !== undefined) await findPrice(call);
    return await inSlot(
      async () => {
        const price = await findPrice(call);
        const nonce = await claimNonce();
        const transaction = await signAnew(call, payload, { nonce, ...price });
        await journal?.signed(transaction, payload);
        nextNonce = nonce + 1;
        return [transaction];
      },
      payload,
      termsOf(call),
    );
  };

  return {
    address: account.address,
    async send(call, payload) {
      for (;;) {
        signal.throwIfAborted();
        try {
          return await sendOnce(call, payload);
        } catch (error) {
          // With a journal, the caller first checks which of its transactions took the nonce.
          if (!(isTaken(error) || error instanceof NonceGapError) || journal !== undefined) throw error;
        }
      }
    },
    resume: (versions, payload) =>
      inSlot(async () => {
        for (const version of versions) await assertOwn(version);
        const after = versions[0]!.nonce + 1;
        // Where the chain is asked, it may be ahead of this: a journal from a backup doesn't know what was sent later.
        if (nextNonce !== undefined && nextNonce < after) nextNonce = after;
        return versions;
      }, payload),
    confirm: (receipt) => flights.confirm(receipt),
    waitsFor: () => wait,
    poke: () => pauses.end(),
    async reconcile() {
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

/** Returns a journal that leaves out, and reports, what isn't the account's own. */
function withoutForeign<Payload>(
  journal: SenderJournal<Payload>,
  assertOwn: (transaction: SignedTransaction) => Promise<void>,
  onError: (error: unknown) => void,
): SenderJournal<Payload> {
  const isOwn = async (transaction: SignedTransaction): Promise<boolean> =>
    await assertOwn(transaction).then(
      () => true,
      (error: unknown) => (onError(error), false),
    );
  return {
    ...journal,
    async from(nonce) {
      const entries = await journal.from(nonce);
      const own = await Promise.all(entries.map(isOwn));
      return entries.filter((_, index) => own[index]);
    },
  };
}

/**
 * Creates the memory of refused transactions, while their nonce is free. A node may have accepted one all the same, so its hash must not
 * be reused for another payload.
 */
function createRefusals<Payload>() {
  const refused = new Map<Hex, { readonly nonce: number; readonly payload: string | undefined }>();
  let count = 0n;
  return {
    /** How often transactions were refused so far. */
    count: () => count,
    has: (nonce: number): boolean => [...refused.values()].some((one) => one.nonce === nonce),
    isOfAnother({ hash }: SignedTransaction, payload: Payload): boolean {
      const other = refused.get(hash);
      return other !== undefined && other.payload !== JSON.stringify(payload);
    },
    add(versions: readonly SignedTransaction[], payload: Payload): void {
      count += 1n;
      for (const { hash, nonce } of versions) refused.set(hash, { nonce, payload: JSON.stringify(payload) });
    },
    /** Forgets those of nonces that are taken. */
    forgetTo(nonce: number): void {
      for (const [hash, other] of refused) if (other.nonce <= nonce) refused.delete(hash);
    },
  };
}

async function isAnyPending(client: Pick<ChainClient, "getNonce">, address: Hex): Promise<boolean> {
  try {
    const mined = await client.getNonce(address, "latest");
    return (await client.getNonce(address, "pending")) > mined;
  } catch (error) {
    // Some nodes have no pool.
    if (error instanceof RpcError && error.answered) return false;
    throw error;
  }
}

function termsOf({ maxGasPriceWei: capWei, avoidsPeaks }: Call): PriceTerms {
  return { capWei, avoidsPeaks };
}

function isTaken(error: unknown): boolean {
  return error instanceof TransactionError && error.meaning === "nonce_taken";
}

/** Creates a fixed number of slots; a caller that finds none free waits for one. */
function createSlots(count: number): { take(): Promise<void>; release(): void } {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async take() {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    release() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

/** Wraps a sender so that `onReceipt` is called with every receipt before the caller gets it. */
export function observeSender<Payload>(
  sender: Sender<Payload>,
  onReceipt: (receipt: Receipt, payload: Payload) => void,
): Sender<Payload> {
  return {
    ...sender,
    async send(call, payload) {
      const receipt = await sender.send(call, payload);
      onReceipt(receipt, payload);
      return receipt;
    },
    async resume(versions, payload) {
      const receipt = await sender.resume(versions, payload);
      onReceipt(receipt, payload);
      return receipt;
    },
  };
}
