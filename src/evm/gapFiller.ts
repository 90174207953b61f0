import type { Account } from "./account.ts";
import { RpcError } from "./client.ts";
import type { ChainClient } from "./client.ts";
import { replacementPriceWei } from "./fees.ts";
import type { Fees } from "./fees.ts";
import { meaningOf } from "./refusal.ts";
import type { SenderJournal } from "./senderJournal.ts";
import { readSigned, signCall } from "./signedTransaction.ts";
import type { Call, SignedTransaction } from "./signedTransaction.ts";

/** Gas of a transaction that moves nothing and calls nobody. */
const TRANSFER_GAS = 21_000n;

/** Finds nonces that the chain lacks though later ones were signed, and fills them: else nothing after them is ever mined. */
export interface GapFiller {
  /** Fills every gap before `nonce`: with what was signed for it, else with a transfer of nothing to ourselves. Gives the account's nonce as found. */
  fill(nonce: number): Promise<number>;
  /** Broadcasts again everything signed for the account's nonce and later ones; gives the nonce after the last of them, if there are any. */
  fillKnown(): Promise<number | undefined>;
}

/** Options of {@link createGapFiller}. */
export interface GapFillerOptions<Payload> {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
  readonly fees: Fees;
  readonly journal: SenderJournal<Payload>;
  readonly onError: (error: unknown) => void;
}

/** Creates the gap filler of one account. */
export function createGapFiller<Payload>(options: GapFillerOptions<Payload>): GapFiller {
  const { client, account, chainId, fees, journal, onError } = options;

  /** Everything signed from a nonce on, by nonce. */
  const signedFrom = async (nonce: number): Promise<Map<number, readonly SignedTransaction[]>> =>
    Map.groupBy(await journal.from(nonce), (transaction) => transaction.nonce);

  const fillOne = async (nonce: number, versions: readonly SignedTransaction[]): Promise<void> => {
    // The dearest last: a pool that has it refuses the others, and one that has another takes it.
    for (const version of versions.toReversed()) {
      const refusal = await broadcast(version);
      if (refusal === undefined) return;
      const meaning = meaningOf(refusal);
      if (meaning === "waiting" || meaning === "nonce_spent") return;
      onError(refusal);
      if (meaning === "unreachable") return;
    }
    const marketWei = await fees.gasPriceWei(client);
    const paid = versions.map((version) => readSigned(version).gasPriceWei);
    const dearest = paid.reduce((most, one) => (one > most ? one : most), 0n);
    const gasPriceWei = paid.length === 0 ? marketWei : replacementPriceWei(dearest, marketWei);
    const nothing: Call = { to: account.address, data: "0x", gas: TRANSFER_GAS };
    const filler = await signCall(account, nothing, { chainId, nonce, gasPriceWei });
    await journal.signed(filler, journal.noPayload);
    const refusal = await broadcast(filler);
    if (refusal !== undefined) onError(refusal);
    // It carries nothing: whether it is mined or another one in its place, nobody waits for it.
    await journal.ended(filler, "replaced");
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

  return {
    async fill(nonce) {
      const spent = await client.getNonce(account.address, "latest");
      if (spent >= nonce) return spent;
      const signed = await signedFrom(spent);
      for (let missing = spent; missing < nonce; missing += 1) {
        await fillOne(missing, signed.get(missing) ?? []);
      }
      return spent;
    },
    async fillKnown() {
      const spent = await client.getNonce(account.address, "latest");
      const signed = await signedFrom(spent);
      if (signed.size === 0) return undefined;
      const last = Math.max(...signed.keys());
      for (let nonce = spent; nonce < last; nonce += 1) await fillOne(nonce, signed.get(nonce) ?? []);
      // Whatever is wrong with the last one, nothing waits behind it.
      await broadcast(signed.get(last)!.at(-1)!);
      return last + 1;
    },
  };
}
