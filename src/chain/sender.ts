import type { Hex } from "viem";
import type { Account } from "./account.ts";
import { RpcError, parseReceipt } from "./client.ts";
import type { ChainClient, Receipt } from "./client.ts";
import type { Fees } from "./fees.ts";
import { createGapFiller } from "./gapFiller.ts";
import { TransactionError, meaningOf } from "./refusal.ts";
import { readSigned, signCall } from "./signedTransaction.ts";
import type { Call, SignedTransaction } from "./signedTransaction.ts";

export { fixedFees, type Fees } from "./fees.ts";

const DEFAULT_POLL_MS = 1_000;
/** A replacement must pay at least a tenth more than what it replaces (the pools' rule); this pays an eighth more. */
const REPRICE_NUMERATOR = 9n;
const REPRICE_DENOMINATOR = 8n;
/** Times a stuck transaction is repriced: 1.125^12 is a little over four times the first price. */
const MAX_REPRICINGS = 12;
/**
 * Looks that must agree before a nonce counts as gone to a transaction of somebody else: of the nodes behind one URL, one may
 * know the account's nonce before another one has the receipt.
 */
const TAKEN_LOOKS = 5;

/** Where a sender leaves word before it acts; the service's is the journal, the oracle needs none (its duplicates are refused on chain). */
export interface SenderJournal<Cargo> {
  /** Stores a signed transaction; it is broadcast only after this. */
  signed(transaction: SignedTransaction, cargo: Cargo): Promise<void>;
  /** How it ended. */
  ended(transaction: SignedTransaction, end: "mined" | "replaced" | "failed"): Promise<void>;
  /** Everything signed for this nonce and later ones that may be, or have been, in a node's pool: oldest first. */
  from(nonce: number): Promise<readonly SignedTransaction[]>;
  /** The cargo of a transaction that does nothing but use up a nonce. */
  readonly noCargo: Cargo;
}

/** Sends transactions of one account, one at a time: no nonce is ever skipped or used twice. */
export interface Sender<Cargo = undefined> {
  readonly address: Hex;
  /**
   * Signs, stores, broadcasts and waits for the receipt.
   *
   * @throws {TransactionError} when it will never be on chain. Anything else leaves that open: the transaction may be signed.
   */
  send(call: Call, cargo: Cargo): Promise<Receipt>;
  /**
   * Broadcasts a transaction that an earlier process signed, reprices it when it is stuck, and waits for its receipt.
   *
   * @param versions everything that was signed for one nonce, the dearest last.
   * @throws {TransactionError} as {@link send}.
   */
  resume(versions: readonly SignedTransaction[], cargo: Cargo): Promise<Receipt>;
  /** Looks for receipts at once: call it with each new head. */
  poke(): void;
  /**
   * Broadcasts again what the chain has lost: call it after a reorganisation, and before {@link resume} when a process starts,
   * for a chain may have gone back meanwhile. Throws {@link RpcError} when the node can't be asked.
   *
   * @returns whether there was any.
   */
  reconcile(): Promise<boolean>;
}

/** Options of {@link createSender}. */
export interface SenderOptions<Cargo> {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
  readonly fees: Fees;
  readonly journal?: SenderJournal<Cargo>;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** How often a transaction that waits is looked for, besides what new heads tell, and what failed is tried again. Default 1,000. */
  readonly pollMs?: number;
}

/** Makes the sender of one account. */
export function createSender<Cargo = undefined>(options: SenderOptions<Cargo>): Sender<Cargo> {
  const { client, account, chainId, fees, journal, signal, onError, pollMs = DEFAULT_POLL_MS } = options;
  const gaps = createGapFiller(options);
  let tail: Promise<unknown> = Promise.resolve();
  let nextNonce: number | undefined;
  let wake: () => void = () => {};

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => {});
    return result;
  };

  /** Sends the bytes; knows a receipt at once where the node is synchronous. A refusal is an answer, not a failure. */
  const broadcast = async (transaction: SignedTransaction): Promise<Receipt | RpcError | undefined> => {
    // A nonce before this one may be missing in the pool: a synchronous node is silent then.
    const lookForGaps = setTimeout(() => {
      gaps.fill(transaction.nonce).catch(onError);
    }, pollMs);
    try {
      if (fees.synchronous)
        return parseReceipt(await client.request("eth_sendRawTransactionSync", [transaction.raw]));
      await client.request("eth_sendRawTransaction", [transaction.raw]);
      return undefined;
    } catch (error) {
      if (error instanceof RpcError) return error;
      throw error;
    } finally {
      clearTimeout(lookForGaps);
    }
  };

  /** Drives one nonce to its end: broadcast, wait, reprice. Every version signed for the nonce counts. */
  const drive = async (signed: readonly SignedTransaction[], cargo: Cargo): Promise<Receipt> => {
    const versions = [...signed];
    const { call, ...first } = readSigned(versions.at(-1)!);
    let { gasPriceWei } = first;
    /** The node refuses a dearer version for good, while an earlier one may still be mined: that one is kept to. */
    let isAtTop = false;
    for (;;) {
      signal.throwIfAborted();
      const newest = isAtTop ? versions.at(-2)! : versions.at(-1)!;
      const answer = await broadcast(newest);
      if (answer instanceof RpcError) {
        const found = await findReceipt(versions).catch(() => undefined);
        if (found !== undefined) return await finish(versions, found);
        const meaning = meaningOf(answer);
        if (meaning === "nonce_spent") {
          const receipt = await settleSpent(versions);
          if (receipt !== undefined) return receipt;
          continue;
        }
        if (meaning === "unreachable") {
          onError(answer);
          await pause(pollMs);
          continue;
        }
        if (meaning === "refused" || meaning === "too_large") {
          if (versions.length === 1) {
            await journal?.ended(newest, "failed");
            gaps.forget(newest);
            if (nextNonce === newest.nonce + 1) nextNonce = newest.nonce;
            throw new TransactionError(meaning, answer.message, answer);
          }
          isAtTop = true;
        }
        if (meaning !== "waiting") onError(answer);
        const isTooCheap = meaning === "underpriced" && !isAtTop && versions.length <= MAX_REPRICINGS;
        const receipt = isTooCheap ? undefined : await awaitReceipt(versions);
        if (receipt !== undefined) return await finish(versions, receipt);
      } else {
        const receipt = answer ?? (await awaitReceipt(versions));
        if (receipt !== undefined) return await finish(versions, receipt);
      }
      if (isAtTop || versions.length > MAX_REPRICINGS) continue;
      const now = await fees.gasPriceWei(client).catch(() => gasPriceWei);
      const base = now > gasPriceWei ? now : gasPriceWei;
      gasPriceWei = (base * REPRICE_NUMERATOR) / REPRICE_DENOMINATOR + 1n;
      const repriced = signCall(account, call, { chainId, nonce: versions[0]!.nonce, gasPriceWei });
      await journal?.signed(repriced, cargo);
      gaps.remember(repriced);
      versions.push(repriced);
    }
  };

  const finish = async (versions: readonly SignedTransaction[], receipt: Receipt): Promise<Receipt> => {
    for (const version of versions) {
      await journal?.ended(version, version.hash === receipt.transactionHash ? "mined" : "replaced");
    }
    return receipt;
  };

  /** The account has spent the nonce: finds the receipt, or is sure that the nonce went to another transaction. */
  const settleSpent = async (versions: readonly SignedTransaction[]): Promise<Receipt | undefined> => {
    for (let looks = 0; looks < TAKEN_LOOKS;) {
      signal.throwIfAborted();
      try {
        const receipt = await findReceipt(versions);
        if (receipt !== undefined) return await finish(versions, receipt);
        const isSpent = (await client.getNonce(account.address, "latest")) > versions[0]!.nonce;
        looks = isSpent ? looks + 1 : TAKEN_LOOKS + 1;
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        onError(error);
      }
      await pause(pollMs);
      // A node that lags, or one that counts what waits in its pool, has spoken.
      if (looks > TAKEN_LOOKS) return undefined;
    }
    for (const version of versions) {
      await journal?.ended(version, "replaced");
      gaps.forget(version);
    }
    nextNonce = undefined;
    throw new TransactionError("nonce_taken", `another transaction has its nonce ${versions[0]!.nonce}`);
  };

  /** Waits until one of the versions is mined, or it is time to reprice (`undefined`). */
  const awaitReceipt = async (versions: readonly SignedTransaction[]): Promise<Receipt | undefined> => {
    const deadline = Date.now() + fees.repriceAfterMs;
    const { nonce } = versions[0]!;
    while (Date.now() < deadline) {
      signal.throwIfAborted();
      try {
        const receipt = await findReceipt(versions);
        if (receipt !== undefined) return receipt;
        const isPoked = await pause(Math.min(pollMs, Math.max(0, deadline - Date.now())));
        // A nonce before this one may be missing in the pool: then this one waits for ever.
        if (!isPoked && (await gaps.fill(nonce)) > nonce) {
          const settled = await settleSpent(versions);
          if (settled !== undefined) return settled;
        }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        onError(error);
        await pause(pollMs);
      }
    }
    return undefined;
  };

  const findReceipt = async (versions: readonly SignedTransaction[]): Promise<Receipt | undefined> => {
    for (const version of versions.toReversed()) {
      const receipt = await client.getReceipt(version.hash);
      if (receipt !== undefined) return receipt;
    }
    return undefined;
  };

  /** Whether it was cut short by {@link Sender.poke}. */
  const pause = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve(false);
        return;
      }
      const end = (isPoked: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve(isPoked);
      };
      const onAbort = (): void => end(false);
      const timer = setTimeout(() => end(false), ms);
      signal.addEventListener("abort", onAbort, { once: true });
      wake = () => end(true);
    });

  const sendOnce = async (call: Call, cargo: Cargo): Promise<Receipt> => {
    nextNonce ??= await client.getNonce(account.address, "latest");
    const nonce = nextNonce;
    const gasPriceWei = await fees.gasPriceWei(client);
    const transaction = signCall(account, call, { chainId, nonce, gasPriceWei });
    await journal?.signed(transaction, cargo);
    gaps.remember(transaction);
    const receipt = await drive([transaction], cargo);
    nextNonce = nonce + 1;
    return receipt;
  };

  return {
    address: account.address,
    send: (call, cargo) =>
      inTurn(async () => {
        for (;;) {
          signal.throwIfAborted();
          try {
            return await sendOnce(call, cargo);
          } catch (error) {
            // Whoever keeps a journal looks first which of its transactions it was that took the nonce.
            const isTaken = error instanceof TransactionError && error.meaning === "nonce_taken";
            if (journal !== undefined || !isTaken) throw error;
          }
        }
      }),
    resume: (versions, cargo) =>
      inTurn(async () => {
        for (const version of versions) gaps.remember(version);
        const receipt = await drive(versions, cargo);
        const after = versions[0]!.nonce + 1;
        if (nextNonce === undefined || nextNonce < after) nextNonce = after;
        return receipt;
      }),
    poke: () => wake(),
    async reconcile() {
      const known = await gaps.fillKnown();
      if (known === undefined) return false;
      if (nextNonce === undefined || nextNonce < known) nextNonce = known;
      return true;
    },
  };
}
