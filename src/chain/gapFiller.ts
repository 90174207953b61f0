import { RpcError } from "./client.ts";
import { meaningOf } from "./refusal.ts";
import type { SenderOptions } from "./sender.ts";
import { readSigned, signCall } from "./signedTransaction.ts";
import type { Call, SignedTransaction } from "./signedTransaction.ts";

/** Nonces remembered without a journal: a deeper reorganisation leaves gaps that are filled with nothing. */
const REMEMBERED_NONCES = 256;
/** Gas of a transaction that moves nothing and calls nobody. */
const TRANSFER_GAS = 21_000n;

/** Finds nonces that the chain lacks though later ones were signed, and fills them: else nothing after them is ever mined. */
export interface GapFiller {
  remember(transaction: SignedTransaction): void;
  /** Takes back a transaction that no pool has; its nonce is used again. */
  forget(transaction: SignedTransaction): void;
  /** Fills every gap before `nonce`: with what was signed for it, else with a transfer of nothing to ourselves. Gives the account's nonce as found. */
  fill(nonce: number): Promise<number>;
  /** Broadcasts again everything signed for the account's nonce and later ones; gives the nonce after the last of them, if there are any. */
  fillKnown(): Promise<number | undefined>;
}

/** Makes the gap filler of one account. */
export function createGapFiller<Cargo>(options: SenderOptions<Cargo>): GapFiller {
  const { client, account, chainId, fees, journal, onError } = options;
  const remembered = new Map<number, SignedTransaction[]>();

  const remember = (transaction: SignedTransaction): void => {
    const versions = remembered.get(transaction.nonce) ?? [];
    if (versions.some(({ hash }) => hash === transaction.hash)) return;
    remembered.set(transaction.nonce, [...versions, transaction]);
    if (remembered.size > REMEMBERED_NONCES) remembered.delete(remembered.keys().next().value!);
  };

  /** Everything signed from a nonce on, by nonce. */
  const signedFrom = async (nonce: number): Promise<Map<number, readonly SignedTransaction[]>> => {
    const all = journal === undefined ? [...remembered.values()].flat() : await journal.from(nonce);
    const wanted = all.filter((transaction) => transaction.nonce >= nonce);
    return Map.groupBy(wanted, (transaction) => transaction.nonce);
  };

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
    const dearest = versions.reduce(
      (most, version) => {
        const { gasPriceWei } = readSigned(version);
        return gasPriceWei > most ? gasPriceWei : most;
      },
      await fees.gasPriceWei(client),
    );
    const nothing: Call = { to: account.address, data: "0x", gas: TRANSFER_GAS };
    const gasPriceWei = versions.length === 0 ? dearest : (dearest * 9n) / 8n + 1n;
    const filler = signCall(account, nothing, { chainId, nonce, gasPriceWei });
    await journal?.signed(filler, journal.noCargo);
    remember(filler);
    const refusal = await broadcast(filler);
    if (refusal !== undefined) onError(refusal);
    // It carries nothing: whether it is mined or another one in its place, nobody waits for it.
    await journal?.ended(filler, "replaced");
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
    remember,
    forget({ nonce, hash }) {
      const rest = remembered.get(nonce)?.filter((version) => version.hash !== hash) ?? [];
      if (rest.length === 0) remembered.delete(nonce);
      else remembered.set(nonce, rest);
    },
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
