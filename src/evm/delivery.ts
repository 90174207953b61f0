import type { Account } from "./account.ts";
import { RpcError, parseReceipt } from "./client.ts";
import type { ChainClient, Receipt } from "./client.ts";
import { PriceAboveCapError, quote, replacementOf } from "./fees.ts";
import type { Fees, GasPrice } from "./fees.ts";
import { isEvery } from "./gapFiller.ts";
import { findNonceSpender } from "./nonceSpender.ts";
import type { Pauses } from "./pauses.ts";
import { TransactionError, meaningOf } from "./refusal.ts";
import type { SenderJournal } from "./senderJournal.ts";
import { readSigned, signCall } from "./signedTransaction.ts";
import type { SignedTransaction } from "./signedTransaction.ts";

/** Times a stuck transaction is repriced: 1.125^12 is a little over four times the first price. */
const MAX_REPRICINGS = 12;
/**
 * Looks that must agree before a nonce counts as gone to a transaction of somebody else: of the nodes behind one URL, one may
 * know the account's nonce before another one has the receipt.
 */
const TAKEN_LOOKS = 5;

/** Brings what was signed for one nonce into a block. */
export interface Delivery<Payload> {
  /**
   * Broadcasts, waits and reprices until one of the versions has a receipt.
   *
   * @param signed everything that was signed for the nonce, the dearest last.
   * @throws {TransactionError} when none of them will ever be on chain.
   * @throws {NonceGapError} when an earlier nonce is free again and nobody fills it.
   */
  deliver(signed: readonly SignedTransaction[], payload: Payload, options?: DeliverOptions): Promise<Receipt>;
}

/** Options of {@link Delivery.deliver}. */
export interface DeliverOptions {
  /** Most that one gas may cost, besides the network's own cap. */
  readonly capWei?: bigint | undefined;
  /** Told, perhaps several times, once a node has answered to the transaction. */
  readonly onAnswered?: () => void;
}

/** Options of {@link createDelivery}. */
export interface DeliveryOptions<Payload> {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
  readonly fees: Fees;
  readonly journal: SenderJournal<Payload> | undefined;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** Told when a transaction waits because gas costs more than may be paid. */
  readonly onTooDear: (error: PriceAboveCapError) => void;
  readonly pauses: Pauses;
  /** Nonces being delivered, this one included. */
  readonly inFlight: ReadonlySet<number>;
  /** Pause between looks, in milliseconds. */
  readonly pollMs: number;
  /** Fills the gaps before a nonce and gives back the account's nonce; `undefined` where gaps aren't filled. */
  readonly fillGaps: ((nonce: number) => Promise<number>) | undefined;
}

/** What is signed for one nonce, and where it stands. */
interface Flight<Payload> {
  readonly versions: SignedTransaction[];
  readonly payload: Payload;
  readonly nonce: number;
  /** What the dearest version offers. */
  price: GasPrice;
  readonly capWei: bigint | undefined;
  /** Whether the price could not be raised the last time: the versions there are, are broadcast again first. */
  isHeld: boolean;
  /** Whether the node refuses the dearest version for good, while an earlier one may still be mined: that one is kept to. */
  isAtTop: boolean;
}

/** What comes next for a flight. */
type Step =
  | { readonly at: "broadcast" }
  /** A node has it, or may have it. */
  | { readonly at: "wait" }
  /** The account has spent the nonce. */
  | { readonly at: "settle" }
  | { readonly at: "reprice" }
  | { readonly at: "mined"; readonly receipt: Receipt };

/** Creates the delivery of one account, for any number of nonces at a time. */
export function createDelivery<Payload>(options: DeliveryOptions<Payload>): Delivery<Payload> {
  const { client, account, chainId, fees, journal, signal, onError, pollMs, fillGaps } = options;
  const { pauses, inFlight } = options;

  const deliver: Delivery<Payload>["deliver"] = async (signed, payload, { capWei, onAnswered } = {}) => {
    const flight: Flight<Payload> = {
      versions: [...signed],
      payload,
      nonce: signed[0]!.nonce,
      price: readSigned(signed.at(-1)!).price,
      capWei,
      isHeld: false,
      isAtTop: false,
    };
    let step: Step = { at: "broadcast" };
    while (step.at !== "mined") {
      signal.throwIfAborted();
      step = await STEPS[step.at](flight);
      if (step.at !== "broadcast") onAnswered?.();
    }
    const { receipt } = step;
    for (const version of flight.versions) {
      if (version.hash !== receipt.transactionHash) await journal?.ended(version, "replaced");
      else await journal?.ended(version, "mined", receipt.gasUsed);
    }
    return receipt;
  };

  const broadcast = async (flight: Flight<Payload>): Promise<Step> => {
    const { versions, isAtTop } = flight;
    const newest = isAtTop ? versions.at(-2)! : versions.at(-1)!;
    const answer = await send(newest);
    if (answer === undefined) return { at: "wait" };
    if (!(answer instanceof RpcError)) return { at: "mined", receipt: answer };
    const receipt = await findReceipt(versions).catch(() => undefined);
    if (receipt !== undefined) return { at: "mined", receipt };
    const meaning = meaningOf(answer);
    if (meaning === "nonce_spent") return { at: "settle" };
    if (meaning === "waiting") return { at: "wait" };
    if (meaning === "unreachable") {
      onError(answer);
      await pauses.wait(pollMs);
      return { at: "broadcast" };
    }
    if (meaning === "refused" || meaning === "too_large" || meaning === "unfunded") {
      if (versions.length === 1) {
        await journal?.ended(newest, "failed");
        throw new TransactionError(meaning, answer.message, answer);
      }
      flight.isAtTop = true;
    }
    onError(answer);
    return { at: meaning === "underpriced" && mayReprice(flight) ? "reprice" : "wait" };
  };

  /** Sends the bytes; knows a receipt at once where the node is synchronous. A refusal is an answer, not a failure. */
  const send = async (transaction: SignedTransaction): Promise<Receipt | RpcError | undefined> => {
    const request = async (): Promise<Receipt | RpcError | undefined> => {
      try {
        if (fees.synchronous)
          return parseReceipt(await client.request("eth_sendRawTransactionSync", [transaction.raw]));
        await client.request("eth_sendRawTransaction", [transaction.raw]);
        return undefined;
      } catch (error) {
        if (error instanceof RpcError) return error;
        throw error;
      }
    };
    // A synchronous node is silent while a nonce before this one is missing.
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, pollMs);
    })
      .then(() => assertNoGap(transaction.nonce))
      .catch((error: unknown) => {
        if (!(error instanceof RpcError)) throw error;
        onError(error);
      });
    const sent = request();
    sent.catch(() => {});
    try {
      const first = await Promise.race([sent, silence.then(() => "silent" as const)]);
      return first === "silent" ? await sent : first;
    } finally {
      clearTimeout(timer);
    }
  };

  const wait = async (flight: Flight<Payload>): Promise<Step> => {
    let deadline = Date.now() + fees.repriceAfterMs;
    const { versions, nonce } = flight;
    while (Date.now() < deadline) {
      signal.throwIfAborted();
      if (isBehind(nonce)) {
        await pauses.wait(pollMs);
        // Mined together with the one before it, as a rule: there is time for a look before its price is raised.
        deadline = Math.max(deadline, Date.now() + pollMs);
        continue;
      }
      try {
        const receipt = await findReceipt(versions);
        if (receipt !== undefined) return { at: "mined", receipt };
        const isPoked = await pauses.wait(Math.min(pollMs, Math.max(0, deadline - Date.now())));
        if (!isPoked && (await assertNoGap(nonce)) > nonce) {
          const settled = await settle(flight);
          if (settled.at === "mined") return settled;
        }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        onError(error);
        await pauses.wait(pollMs);
      }
    }
    const isHeld = flight.isHeld;
    flight.isHeld = false;
    return { at: mayReprice(flight) && !isHeld ? "reprice" : "broadcast" };
  };

  /** Whether a transaction with a lower nonce is on its way: nothing is mined before it. */
  const isBehind = (nonce: number): boolean => [...inFlight].some((other) => other < nonce);

  /** Finds the receipt, or is sure that the nonce went to another transaction. */
  const settle = async ({ versions, nonce }: Flight<Payload>): Promise<Step> => {
    let looks = 0;
    for (;;) {
      signal.throwIfAborted();
      try {
        const receipt = await findReceipt(versions);
        if (receipt !== undefined) return { at: "mined", receipt };
        const isSpent = (await client.getNonce(account.address, "latest")) > nonce;
        looks = isSpent ? looks + 1 : TAKEN_LOOKS + 1;
        // A node may lack the receipt of what is mined for as long as it likes.
        if (looks === TAKEN_LOOKS) {
          looks = 0;
          const spender = await findNonceSpender(client, account.address, nonce);
          if (versions.every(({ hash }) => hash !== spender)) break;
        }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        onError(error);
      }
      await pauses.wait(pollMs);
      // A node that lags, or one that counts what waits in its pool, has spoken.
      if (looks > TAKEN_LOOKS) return { at: "broadcast" };
    }
    for (const version of versions) await journal?.ended(version, "replaced");
    throw new TransactionError(
      "nonce_taken",
      `another transaction of ${account.address} has taken its nonce ${nonce}`,
    );
  };

  const reprice = async (flight: Flight<Payload>): Promise<Step> => {
    const { nonce, capWei } = flight;
    const price = replacementOf(fees, flight.price, { market: await readMarket(capWei), capWei });
    const { call } = readSigned(flight.versions.at(-1)!);
    const repriced = price && (await signCall(account, call, { chainId, nonce, ...price }).catch(onError));
    if (price === undefined || repriced === undefined) {
      flight.isHeld = true;
      return { at: "wait" };
    }
    await journal?.signed(repriced, flight.payload);
    flight.price = price;
    flight.versions.push(repriced);
    return { at: "broadcast" };
  };

  /** `undefined` where it can't be told, or is above the cap. */
  const readMarket = async (capWei: bigint | undefined): Promise<GasPrice | undefined> => {
    try {
      return await quote(fees, client, capWei);
    } catch (error) {
      if (error instanceof PriceAboveCapError) options.onTooDear(error);
      return undefined;
    }
  };

  const STEPS = { broadcast, wait, settle, reprice };

  const mayReprice = ({ isAtTop, versions }: Flight<Payload>): boolean =>
    !isAtTop && versions.length <= MAX_REPRICINGS;

  const findReceipt = async (versions: readonly SignedTransaction[]): Promise<Receipt | undefined> => {
    for (const version of versions.toReversed()) {
      const receipt = await client.getReceipt(version.hash);
      if (receipt !== undefined) return receipt;
    }
    return undefined;
  };

  /** A nonce before this one may be free again, and then this one waits for ever. Gives back the account's nonce. */
  const assertNoGap = async (nonce: number): Promise<number> => {
    if (fillGaps !== undefined) return await fillGaps(nonce);
    // Of several nodes one may lag.
    const looks = client.isOneNode ? 1 : TAKEN_LOOKS;
    for (let look = 1; ; look += 1) {
      const spent = await client.getNonce(account.address, "latest");
      if (isEvery(spent, nonce, (one) => inFlight.has(one))) return spent;
      if (look === looks) throw new NonceGapError(nonce, spent);
      await pauses.wait(pollMs);
    }
  };

  return { deliver };
}

/** A chain went back: an earlier nonce of the account is free, so this one can't be mined. */
export class NonceGapError extends Error {
  constructor(nonce: number, spent: number) {
    super(`nonce ${nonce} waits for nonce ${spent}, which is free`);
  }
}
