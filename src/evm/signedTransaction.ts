import { parseTransaction } from "viem";
import type { Hex } from "viem";
import type { Account } from "./account.ts";

/** What a transaction does. */
export interface Call {
  /** Receiver; absent where the transaction creates a contract, whose code `data` then makes. */
  readonly to?: Hex;
  readonly data: Hex;
  readonly gas: bigint;
  readonly valueWei?: bigint;
}

/** A signed transaction, ready to broadcast any number of times. */
export interface SignedTransaction {
  readonly hash: Hex;
  readonly raw: Hex;
  readonly nonce: number;
}

/** Signs a call for a nonce at a gas price. */
export async function signCall(
  account: Account,
  call: Call,
  {
    chainId,
    nonce,
    gasPriceWei,
  }: { readonly chainId: number; readonly nonce: number; readonly gasPriceWei: bigint },
): Promise<SignedTransaction> {
  const { raw, hash } = await account.sign({
    type: "legacy",
    chainId,
    nonce,
    gasPrice: gasPriceWei,
    gas: call.gas,
    ...(call.to === undefined ? {} : { to: call.to }),
    data: call.data,
    value: call.valueWei ?? 0n,
  });
  return { raw, hash, nonce };
}

/** Reads back from the signed bytes what {@link signCall} was given. Throws viem's error when they are none of ours. */
export function readSigned({ raw }: SignedTransaction): {
  readonly call: Call;
  readonly gasPriceWei: bigint;
} {
  const { to, data = "0x", gas = 0n, value = 0n, gasPrice, maxFeePerGas } = parseTransaction(raw);
  const receiver = to === undefined || to === null ? {} : { to };
  return { call: { ...receiver, data, gas, valueWei: value }, gasPriceWei: gasPrice ?? maxFeePerGas ?? 0n };
}
