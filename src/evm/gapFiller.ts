import type { Account } from "./account.ts";
import { parseObject, parseQuantity, RpcError } from "../lib/nodeAnswers.ts";
import type { ChainClient } from "./client.ts";
import { PriceAboveCapError, quote, replacementOf, type Fees, type GasPrice } from "./fees.ts";
import { meaningOf } from "./refusal.ts";
import {
  type SenderJournal,
  readSigned,
  signCall,
  type Call,
  type SignedTransaction,
} from "./signedTransaction.ts";

/** Gas of a transfer without value or data. */
const TRANSFER_GAS = 21_000n;
/** Transactions queued in a pool until the one before them arrives: geth keeps 64 per account (`AccountQueue`). */
const MAX_QUEUED = 48;
/**
 * Divisor for the share of a block's gas that they may use together: Anvil leaves what does not fit in its pool until something else
 * arrives.
 */
const GAS_SHARE = 2n;

/** Finds nonces that the chain lacks although later ones were signed, and fills them: otherwise nothing after them is ever mined. */
export interface GapFiller {
  /**
   * Fills every gap before `nonce`: with what was signed for it, otherwise with an empty transfer to ourselves. Returns the account's
   * nonce before filling.
   */
  fill(nonce: number): Promise<number>;
  /** Rebroadcasts everything signed for the account's nonce and later ones; returns the nonce after the last of them, if there are any. */
  fillKnown(): Promise<number | undefined>;
}

export interface GapFillerOptions<Payload> {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
  readonly fees: Fees;
  readonly journal: SenderJournal<Payload>;
  readonly onError: (error: unknown) => void;
  /** Nonces that are in flight at the moment, including the current one: not gaps. */
  readonly inFlight: ReadonlySet<number>;
}

/** Creates the gap filler of one account. */
export function createGapFiller<Payload>(options: GapFillerOptions<Payload>): GapFiller {
  const { client, account, chainId, fees, journal, onError, inFlight } = options;

  /** Returns everything signed from a nonce on, by nonce. */
  const signedFrom = async (nonce: number): Promise<Map<number, readonly SignedTransaction[]>> =>
    Map.groupBy(await journal.from(nonce), (transaction) => transaction.nonce);

  const fillOne = async (nonce: number, versions: readonly SignedTransaction[]): Promise<void> => {
    // The dearest first: a pool that has it needs nothing else, and one that has a cheaper version replaces that.
    for (const version of versions.toReversed()) {
      const refusal = await broadcast(version);
      if (refusal === undefined) return;
      const meaning = meaningOf(refusal);
      if (meaning === "waiting" || meaning === "nonce_spent") return;
      onError(refusal);
      if (meaning === "unreachable") return;
    }
    const price = await priceOver(versions);
    if (price === undefined) return;
    const nothing: Call = { to: account.address, data: "0x", gas: TRANSFER_GAS };
    const filler = await signCall(account, nothing, { chainId, nonce, ...price });
    await journal.signed(filler, journal.noPayload);
    const refusal = await broadcast(filler);
    if (refusal !== undefined) onError(refusal);
    // The filler carries no payload: whether it or another transaction is mined, nobody waits for it.
    await journal.ended(filler, "replaced");
  };

  /** Returns a price that replaces all versions; `undefined` while gas costs more than the cap. */
  const priceOver = async (versions: readonly SignedTransaction[]): Promise<GasPrice | undefined> => {
    try {
      const market = await quote(fees, client);
      const dearest = versions
        .map((version) => readSigned(version).price)
        .toSorted((a, b) => (a.gasPriceWei < b.gasPriceWei ? -1 : 1))
        .at(-1);
      return dearest === undefined ? market : replacementOf(fees, dearest, { market, capWei: undefined });
    } catch (error) {
      if (!(error instanceof PriceAboveCapError)) throw error;
      onError(error);
      return undefined;
    }
  };

  const broadcast = async (transaction: SignedTransaction): Promise<RpcError | undefined> => {
    try {
      await client.request("eth_sendRawTransaction", [transaction.raw]);
      return undefined;
    } catch (error) {
      if (error instanceof RpcError) return error;
      throw error;
    }
  };

  /**
   * Broadcasts what was signed for the nonces from `first` up to but excluding `end`, in groups, the last nonce of each group first. A
   * pool holds back what can't be mined yet, so where blocks come with transactions, the first nonce brings the whole group into one
   * block instead of a block each. What a node refuses is left to {@link fillOne}.
   */
  const broadcastInGroups = async (
    signed: ReadonlyMap<number, readonly SignedTransaction[]>,
    first: number,
    end: number,
  ): Promise<void> => {
    const block = parseObject(await client.request("eth_getBlockByNumber", ["latest", false]), "block");
    const groupGas = parseQuantity(block["gasLimit"], "gas limit") / GAS_SHARE;
    let group: SignedTransaction[] = [];
    let gas = 0n;
    const broadcastGroup = async (): Promise<void> => {
      for (const transaction of group.toReversed()) await broadcast(transaction);
      group = [];
      gas = 0n;
    };
    for (let nonce = first; nonce < end; nonce += 1) {
      const dearest = signed.get(nonce)?.at(-1);
      // Nothing after a gap can be mined before the gap is filled.
      if (dearest === undefined) break;
      const { call } = readSigned(dearest);
      if (group.length === MAX_QUEUED || gas + call.gas > groupGas) await broadcastGroup();
      group.push(dearest);
      gas += call.gas;
    }
    await broadcastGroup();
  };

  return {
    async fill(nonce) {
      const spent = await client.getNonce(account.address, "latest");
      if (isEvery(spent, nonce, (one) => inFlight.has(one))) return spent;
      const signed = await signedFrom(spent);
      for (let missing = spent; missing < nonce; missing += 1) {
        if (!inFlight.has(missing)) await fillOne(missing, signed.get(missing) ?? []);
      }
      return spent;
    },
    async fillKnown() {
      const spent = await client.getNonce(account.address, "latest");
      const signed = await signedFrom(spent);
      if (signed.size === 0) return undefined;
      const last = Math.max(...signed.keys());
      if (last > spent) await broadcastInGroups(signed, spent, last + 1);
      const next = await client.getNonce(account.address, "latest");
      for (let nonce = next; nonce < last; nonce += 1) await fillOne(nonce, signed.get(nonce) ?? []);
      // Even if the last one is refused, nothing waits behind it.
      await broadcast(signed.get(last)!.at(-1)!);
      return last + 1;
    },
  };
}

/** Whether a test holds for all numbers from `first` up to but excluding `end`. */
export function isEvery(first: number, end: number, test: (number: number) => boolean): boolean {
  for (let number = first; number < end; number += 1) if (!test(number)) return false;
  return true;
}
