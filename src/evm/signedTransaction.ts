import {
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
  type Hex,
} from "viem";
import type { Account } from "./account.ts";
import type { GasPrice } from "./fees.ts";
import type { Receipt } from "../lib/nodeAnswers.ts";

/** What a transaction does. */
export interface Call {
  /** Receiver; absent when the transaction creates a contract from the code in `data`. */
  readonly to?: Hex;
  readonly data: Hex;
  readonly gas: bigint;
  readonly valueWei?: bigint;
  /**
   * Highest price of one gas for this call, in wei, such as that of a VRF lane, above which it would revert. Default: the network's
   * cap.
   */
  readonly maxGasPriceWei?: bigint;
  /** Whether the call fails when gas costs much more than now. Its price then doesn't cover recent peaks of the base fee. */
  readonly avoidsPeaks?: boolean;
}

/** A signed transaction, ready to broadcast any number of times. */
export interface SignedTransaction {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly nonce: number;
}

/** Signs a call for a nonce at a gas price: an EIP-1559 transaction if the price has a tip, otherwise a legacy one. */
export async function signCall(
  account: Account,
  call: Call,
  terms: { readonly chainId: number; readonly nonce: number } & GasPrice,
): Promise<SignedTransaction> {
  const { chainId, nonce, gasPriceWei, tipWei } = terms;
  const fields = {
    chainId,
    nonce,
    gas: call.gas,
    ...(call.to === undefined ? {} : { to: call.to }),
    data: call.data,
    value: call.valueWei ?? 0n,
  };
  const { raw, hash } = await account.sign(
    tipWei === undefined
      ? { type: "legacy", ...fields, gasPrice: gasPriceWei }
      : { type: "eip1559", ...fields, maxFeePerGas: gasPriceWei, maxPriorityFeePerGas: tipWei },
  );
  return { raw, hash, nonce };
}

/** Recovers the arguments of {@link signCall} from the signed bytes. Throws viem's error when the bytes aren't such a transaction. */
export function readSigned({ raw }: SignedTransaction): { readonly call: Call; readonly price: GasPrice } {
  const parsed = parseTransaction(raw);
  const { to, data = "0x", gas = 0n, value = 0n } = parsed;
  const receiver = to === undefined || to === null ? {} : { to };
  const price: GasPrice =
    parsed.type === "eip1559"
      ? { gasPriceWei: parsed.maxFeePerGas ?? 0n, tipWei: parsed.maxPriorityFeePerGas ?? 0n }
      : { gasPriceWei: parsed.gasPrice ?? 0n };
  return { call: { ...receiver, data, gas, valueWei: value }, price };
}

/**
 * Checks that a journal's entry is what an account signed. Its call is signed again at a higher price when it is stuck, so whoever can write
 * the journal, but lacks the account's key, must not choose it.
 *
 * @throws {ForeignTransactionError}
 */
export async function assertSignedBy(
  address: Hex,
  { hash, raw, nonce }: SignedTransaction,
  chainId: number,
): Promise<void> {
  try {
    const parsed = parseTransaction(raw);
    const isAsNoted = hash === keccak256(raw) && (parsed.nonce ?? 0) === nonce && parsed.chainId === chainId;
    const signer = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
    if (isAsNoted && signer.toLowerCase() === address.toLowerCase()) return;
  } catch {
    // Not a signed transaction at all.
  }
  throw new ForeignTransactionError(hash, address);
}

/** A journal's entry isn't a transaction that the account signed. */
export class ForeignTransactionError extends Error {
  constructor(hash: Hex, address: Hex) {
    super(
      `the transaction ${hash} in the database was not signed by ${address} for its chain and nonce; it is not sent`,
    );
  }
}

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
  /**
   * Called when others may use the account: before a nonce is used that the chain reported, when a pool holds another transaction for one,
   * and when another transaction has used one.
   *
   * @param spender hash of that transaction, if known.
   */
  doubt?(spender?: Hex): void;
  /** Whether others may use the account. Nothing is then signed on top of a transaction in flight, which may lose its nonce. */
  isInDoubt?(): boolean;
  /** The payload of a transaction that only uses up a nonce. */
  readonly noPayload: Payload;
}
