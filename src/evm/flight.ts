import type { Hex } from "viem";
import { RpcError, parseReceipt, type Receipt } from "../lib/nodeAnswers.ts";
import { PriceAboveCapError, quote, replacementOf, type GasPrice, type PriceTerms } from "./fees.ts";
import { isEvery, type GapFillerOptions } from "./gapFiller.ts";
import { findNonceSpender } from "./nonceSpender.ts";
import { TransactionError, meaningOf } from "./refusal.ts";
import { type SenderJournal, readSigned, signCall, type SignedTransaction } from "./signedTransaction.ts";

/** Limit on repricing a stuck transaction: 1.125^12 is a little over four times the first price. */
const MAX_REPRICINGS = 12;
/**
 * Consecutive checks before a nonce counts as taken by someone else's transaction: behind one URL, one node may know the
 * account's nonce before another one has the receipt.
 */
const TAKEN_LOOKS = 5;

/** Answers of unknown meaning in a row after which a transaction counts as refused, if the node doesn't have it. */
const UNKNOWN_ANSWERS = 3;

/** Checks without a receipt after which the transaction is broadcast again: a pool may drop what pays less than one block's base fee. */
const REBROADCAST_LOOKS = 8;

/**
 * A receipt that reports a revert is final once the nodes have repeated it this often and the chain has added this many blocks, or once they
 * have repeated it `REVERTED_LOOKS_MAX` times on a chain that adds none.
 */
const REVERTED_LOOKS = 5;
const REVERTED_BLOCKS = 3n;
const REVERTED_LOOKS_MAX = 30;

/** Gets what was signed for a nonce into a block. */
export interface Flights<Payload> {
  /**
   * Broadcasts, waits and reprices until one of the versions has a receipt.
   *
   * @param signed everything that was signed for the nonce, with the dearest last.
   * @throws {TransactionError} when none of them will ever be on chain.
   * @throws {NonceGapError} when an earlier nonce is free again and nothing fills it.
   */
  complete(signed: readonly SignedTransaction[], payload: Payload, options?: FlightOptions): Promise<Receipt>;
  /** See `Sender.confirm`. */
  confirm(receipt: Receipt): Promise<Receipt | undefined>;
}

export interface FlightOptions {
  /** What each price has to respect. Default: only the network's own cap. */
  readonly terms?: PriceTerms | undefined;
  /** Called, perhaps several times, once a node has responded to the transaction. */
  readonly onAnswered?: () => void;
}

export interface FlightsOptions<Payload> extends Omit<GapFillerOptions<Payload>, "journal"> {
  readonly journal: SenderJournal<Payload> | undefined;
  readonly signal: AbortSignal;
  /** Called when a transaction waits because gas costs more than the cap. */
  readonly onTooDear: (error: PriceAboveCapError) => void;
  readonly pauses: Pauses;
  /** Pause between checks, in milliseconds. */
  readonly pollMs: number;
  /** Whether a pool may hold another transaction of ours with the nonce: a node refused it and may have taken it all the same. */
  readonly isRefused: (nonce: number) => boolean;
  /** Fills the gaps before a nonce and returns the account's nonce; `undefined` when gaps aren't filled. */
  readonly fillGaps: ((nonce: number) => Promise<number>) | undefined;
}

/** What is signed for one nonce, and its state. */
interface Flight {
  readonly versions: SignedTransaction[];
  readonly payload: unknown;
  readonly nonce: number;
  readonly terms: PriceTerms;
  /** Whether the last attempt to raise the price failed: the existing versions are then broadcast again first. */
  isHeld: boolean;
  /**
   * Whether the node refuses the dearest version for good while an earlier one may still be mined; the flight then sticks to the
   * earlier one.
   */
  isAtTop: boolean;
  /** Consecutive answers of unknown meaning to the broadcast. */
  unknownAnswers: number;
  /** Whether a pool holds somebody else's transaction with the nonce. */
  isContested: boolean;
}

/** The next step of a flight. */
type Step =
  | { readonly at: "broadcast" }
  /** A node has it, or may have it. */
  | { readonly at: "wait" }
  /** The account has spent the nonce. */
  | { readonly at: "settle" }
  | { readonly at: "reprice" }
  | { readonly at: "mined"; readonly receipt: Receipt };

/** Creates the flights of one account, for any number of concurrent nonces. */
export function createFlights<Payload>(options: FlightsOptions<Payload>): Flights<Payload> {
  return {
    complete: (...signed) => complete(options, ...signed),
    confirm: (receipt) => confirm(options, receipt),
  };
}

/** What all steps share. What a transaction carries is nothing to them. */
type FlightScope = FlightsOptions<unknown>;

async function complete(
  scope: FlightScope,
  ...[signed, payload, { terms = {}, onAnswered } = {}]: Parameters<Flights<unknown>["complete"]>
): Promise<Receipt> {
  const { journal, signal } = scope;
  const flight: Flight = {
    versions: [...signed],
    payload,
    nonce: signed[0]!.nonce,
    terms,
    isHeld: false,
    isAtTop: false,
    unknownAnswers: 0,
    isContested: false,
  };
  let step: Step = { at: "broadcast" };
  let receipt: Receipt | undefined;
  while (receipt === undefined) {
    signal.throwIfAborted();
    if (step.at === "mined") {
      receipt = await confirm(scope, step.receipt);
      step = { at: "wait" };
      continue;
    }
    step = await STEPS[step.at](scope, flight);
    // Whoever spends the nonce may send what the next transaction would carry.
    const isOurs = step.at !== "broadcast" && step.at !== "settle" && !flight.isContested;
    if (isOurs) onAnswered?.();
  }
  for (const version of flight.versions) {
    if (version.hash !== receipt.transactionHash) await journal?.ended(version, "replaced");
    else await journal?.ended(version, "mined", receipt);
  }
  return receipt;
}

/** What each step does, and which one follows. */
const STEPS = { broadcast, wait, settle, reprice };

/** What a reverted transaction carried is sent again, so neither one answer nor one node decides that it reverted. */
async function confirm(scope: FlightScope, first: Receipt): Promise<Receipt | undefined> {
  const { client, fees, signal, onError, pollMs, pauses } = scope;
  let receipt: Receipt | undefined = first;
  for (let look = 1; receipt !== undefined && !receipt.succeeded && !fees.synchronous; look += 1) {
    await pauses.wait(pollMs);
    signal.throwIfAborted();
    try {
      const receipts = await client.getReceipts(first.transactionHash);
      receipt = receipts.find(({ succeeded }) => succeeded) ?? receipts[0];
      if (receipt === undefined) break;
      const number = (await client.getHead("latest"))?.number ?? 0n;
      const isDeep = number >= receipt.blockNumber + REVERTED_BLOCKS;
      if (look >= (isDeep ? REVERTED_LOOKS : REVERTED_LOOKS_MAX)) break;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      onError(error);
    }
  }
  return receipt;
}

async function broadcast(scope: FlightScope, flight: Flight): Promise<Step> {
  const { journal, onError, pollMs, pauses } = scope;
  const { versions, isAtTop } = flight;
  const newest = isAtTop ? versions.at(-2)! : versions.at(-1)!;
  const answer = await send(scope, newest);
  if (answer === undefined) return { at: "wait" };
  if (!(answer instanceof RpcError)) return { at: "mined", receipt: answer };
  const receipt = await findReceipt(scope, versions).catch(() => undefined);
  if (receipt !== undefined) return { at: "mined", receipt };
  const said = meaningOf(answer);
  flight.unknownAnswers = said === "unknown" ? flight.unknownAnswers + 1 : 0;
  const meaning = said === "unknown" ? await findMeaning(scope, flight, newest) : said;
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
  if (meaning !== "underpriced" || !mayReprice(flight)) return { at: "wait" };
  if (versions.length > 1 || !(await isContested(scope, newest))) return { at: "reprice" };
  flight.isContested = true;
  journal?.doubt?.();
  return { at: "wait" };
}

/** Whether the pool holds a transaction with the nonce of one that it doesn't take. */
async function isContested(scope: FlightScope, { nonce }: SignedTransaction): Promise<boolean> {
  const { client, account, isRefused } = scope;
  if (isRefused(nonce)) return false;
  try {
    return (await client.getNonce(account.address, "pending")) > nonce;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return false;
  }
}

/** Finds what became of a transaction after an answer that doesn't tell: the node may have taken it. */
async function findMeaning(
  scope: FlightScope,
  { unknownAnswers }: Flight,
  { hash, nonce }: SignedTransaction,
): Promise<"nonce_spent" | "waiting" | "unreachable" | "refused"> {
  const { client, account } = scope;
  try {
    if ((await client.getNonce(account.address, "latest")) > nonce) return "nonce_spent";
    if ((await client.request("eth_getTransactionByHash", [hash])) !== null) return "waiting";
    return unknownAnswers < UNKNOWN_ANSWERS ? "unreachable" : "refused";
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return "unreachable";
  }
}

/** Broadcasts a transaction; a synchronous node returns the receipt at once. A refusal is returned, not thrown. */
async function send(
  scope: FlightScope,
  transaction: SignedTransaction,
): Promise<Receipt | RpcError | undefined> {
  const { client, fees, onError, pollMs } = scope;
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
  // A synchronous node stays silent while an earlier nonce is missing.
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, pollMs);
  })
    .then(() => assertNoGap(scope, transaction.nonce))
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
}

async function wait(scope: FlightScope, flight: Flight): Promise<Step> {
  const { fees, signal, onError, pollMs, pauses } = scope;
  let deadline = performance.now() + fees.repriceAfterMs;
  const { versions, nonce } = flight;
  for (let look = 1; performance.now() < deadline; look += 1) {
    signal.throwIfAborted();
    if (isBehind(scope, nonce)) {
      await pauses.wait(pollMs);
      // It is usually mined together with the previous one, so it gets one more check before its price is raised.
      deadline = Math.max(deadline, performance.now() + pollMs);
      continue;
    }
    try {
      const receipt = await findReceipt(scope, versions);
      if (receipt !== undefined) return { at: "mined", receipt };
      if (look % REBROADCAST_LOOKS === 0) await rebroadcast(scope, flight);
      const isPoked = await pauses.wait(Math.min(pollMs, Math.max(0, deadline - performance.now())));
      if (!isPoked && (await assertNoGap(scope, nonce)) > nonce) {
        const settled = await settle(scope, flight);
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
}

/** Most nodes refuse what they already have; whatever they say, the receipt decides. */
async function rebroadcast({ client }: FlightScope, { versions, isAtTop }: Flight): Promise<void> {
  const { raw } = isAtTop ? versions.at(-2)! : versions.at(-1)!;
  await client.request("eth_sendRawTransaction", [raw]).catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
  });
}

/** Whether a transaction with a lower nonce is in flight: nothing is mined before that one. */
function isBehind({ inFlight }: FlightScope, nonce: number): boolean {
  return [...inFlight].some((other) => other < nonce);
}

/** Finds the receipt, or establishes that another transaction took the nonce. */
async function settle(scope: FlightScope, { versions, nonce }: Flight): Promise<Step> {
  const { client, account, journal, signal, onError, pollMs, pauses } = scope;
  let looks = 0;
  let spender: Hex | undefined;
  for (;;) {
    signal.throwIfAborted();
    try {
      const receipt = await findReceipt(scope, versions);
      if (receipt !== undefined) return { at: "mined", receipt };
      const isSpent = (await client.getNonce(account.address, "latest")) > nonce;
      looks = isSpent ? looks + 1 : TAKEN_LOOKS + 1;
      // There is no limit to how long a node may lack the receipt of a mined transaction.
      if (looks === TAKEN_LOOKS) {
        looks = 0;
        spender = await findNonceSpender(client, account.address, nonce);
        if (versions.every(({ hash }) => hash !== spender)) break;
      }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      onError(error);
    }
    await pauses.wait(pollMs);
    // The nonce doesn't look spent: either this answer is a lagging node's, or the refusal came from a node that counts its pool.
    if (looks > TAKEN_LOOKS) return { at: "broadcast" };
  }
  for (const version of versions) await journal?.ended(version, "replaced");
  journal?.doubt?.(spender);
  throw new TransactionError(
    "nonce_taken",
    `another transaction of ${account.address} has used its nonce ${nonce}`,
  );
}

async function reprice(scope: FlightScope, flight: Flight): Promise<Step> {
  const { account, chainId, fees, journal, onError } = scope;
  const { nonce, terms } = flight;
  const { capWei } = terms;
  const { call, price: offered } = readSigned(flight.versions.at(-1)!);
  const price = replacementOf(fees, offered, { market: await readMarket(scope, terms), capWei });
  const repriced = price && (await signCall(account, call, { chainId, nonce, ...price }).catch(onError));
  if (price === undefined || repriced === undefined) {
    flight.isHeld = true;
    return { at: "wait" };
  }
  await journal?.signed(repriced, flight.payload);
  flight.versions.push(repriced);
  return { at: "broadcast" };
}

/** Returns `undefined` when the price can't be read or is above the cap. */
async function readMarket(scope: FlightScope, terms: PriceTerms): Promise<GasPrice | undefined> {
  const { client, fees, onTooDear } = scope;
  try {
    return await quote(fees, client, terms);
  } catch (error) {
    if (error instanceof PriceAboveCapError) onTooDear(error);
    return undefined;
  }
}

function mayReprice({ isAtTop, versions }: Flight): boolean {
  return !isAtTop && versions.length <= MAX_REPRICINGS;
}

async function findReceipt(
  { client }: FlightScope,
  versions: readonly SignedTransaction[],
): Promise<Receipt | undefined> {
  for (const version of versions.toReversed()) {
    const receipt = await client.getReceipt(version.hash);
    if (receipt !== undefined) return receipt;
  }
  return undefined;
}

/** Checks that no earlier nonce is free again, for which this one would wait forever. Returns the account's nonce. */
async function assertNoGap(scope: FlightScope, nonce: number): Promise<number> {
  const { client, account, pollMs, fillGaps, pauses, inFlight } = scope;
  if (fillGaps !== undefined) return await fillGaps(nonce);
  // Any one of several nodes may lag.
  const looks = client.isOneNode ? 1 : TAKEN_LOOKS;
  for (let look = 1; ; look += 1) {
    const spent = await client.getNonce(account.address, "latest");
    if (isEvery(spent, nonce, (one) => inFlight.has(one))) return spent;
    if (look === looks) throw new NonceGapError(nonce, spent);
    await pauses.wait(pollMs);
  }
}

/** The chain was rolled back: an earlier nonce of the account is free, so this one can't be mined. */
export class NonceGapError extends Error {
  constructor(nonce: number, spent: number) {
    super(`nonce ${nonce} waits for nonce ${spent}, which is free`);
  }
}

/** Pauses that can be ended early together. */
interface Pauses {
  /** Waits; resolves to whether it was cut short by {@link Pauses.end}. Ends early, with `false`, when the signal aborts. */
  wait(ms: number): Promise<boolean>;
  /** Ends every pause in progress. */
  end(): void;
}

/** Creates pauses that a signal ends for good. */
export function createPauses(signal: AbortSignal): Pauses {
  const ends = new Set<(isCut: boolean) => void>();
  const endAll = (isCut: boolean): void => {
    for (const end of ends) end(isCut);
  };
  signal.addEventListener("abort", () => endAll(false), { once: true });
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(false);
          return;
        }
        const end = (isCut: boolean): void => {
          clearTimeout(timer);
          ends.delete(end);
          resolve(isCut);
        };
        const timer = setTimeout(() => end(false), ms);
        ends.add(end);
      }),
    end: () => endAll(true),
  };
}
