import {
  hexToBytes,
  isAddressEqual,
  isHex,
  parseTransaction,
  recoverMessageAddress,
  recoverTransactionAddress,
  serializeTransaction,
  type Hex,
  type TransactionSerialized,
} from "viem";
import { TycheError, messageOf } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import { keccak256 } from "../lib/keccak.ts";
import { toQuantity } from "../lib/nodeAnswers.ts";
import type { Account, SignableTransaction } from "./account.ts";
import { createUrlHider } from "./hideUrl.ts";
import { openTransport } from "./transport.ts";

/** A signer may have to ask a person or a hardware module. */
const DEFAULT_TIMEOUT_MS = 30_000;

export interface RemoteAccountOptions {
  /** JSON-RPC URL of a signer that supports `eth_signTransaction`, such as Web3Signer or clef. */
  readonly url: string;
  /** Account to sign for. */
  readonly address: Hex;
  /** How long one signature may take. Default 30,000. */
  readonly timeoutMs?: number;
}

/**
 * Creates an account whose key is held by a remote signer. Its response is checked before it is used: it must be exactly the
 * requested transaction or message, signed by the account.
 */
export function createRemoteAccount(options: RemoteAccountOptions): Account {
  const { url, address, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const transport = openTransport(url, timeoutMs);
  const hideUrl = createUrlHider(url, { hidesHost: true });
  const ask = (method: string, params: readonly unknown[]): Promise<unknown> =>
    transport.request(method, params).catch((error: unknown) => {
      throw new RemoteSignerError(hideUrl(messageOf(error)));
    });
  return {
    address,
    async sign(transaction) {
      const answer = await ask("eth_signTransaction", [requestOf(transaction, address)]);
      const raw = rawOf(answer);
      await assertSame(raw, transaction, address);
      return { raw, hash: toHexText(keccak256(hexToBytes(raw))) };
    },
    async signMessage(message) {
      const signature = await ask("eth_sign", [address, toHexText(message)]);
      const signer = isHex(signature)
        ? await recoverMessageAddress({ message: { raw: message }, signature }).catch(() => undefined)
        : undefined;
      if (signer === undefined || !isAddressEqual(signer, address))
        throw new RemoteSignerError("it did not sign the message as the account");
      return signature as Hex;
    },
  };
}

/** Returns the transaction in the form that `eth_signTransaction` takes. */
function requestOf(transaction: SignableTransaction, from: Hex): object {
  const { to, data, gas = 0n, value = 0n, nonce = 0, chainId } = transaction;
  const prices =
    transaction.type === "eip1559"
      ? {
          type: "0x2",
          maxFeePerGas: toQuantity(transaction.maxFeePerGas ?? 0n),
          maxPriorityFeePerGas: toQuantity(transaction.maxPriorityFeePerGas ?? 0n),
        }
      : { type: "0x0", gasPrice: toQuantity(transaction.gasPrice ?? 0n) };
  return {
    from,
    ...(to === undefined || to === null ? {} : { to }),
    data: data ?? "0x",
    gas: toQuantity(gas),
    value: toQuantity(value),
    nonce: toQuantity(nonce),
    chainId: toQuantity(chainId ?? 0),
    ...prices,
  };
}

/** Web3Signer returns the bytes; clef and geth return an object with the bytes in `raw`. */
function rawOf(answer: unknown): Hex {
  const raw = typeof answer === "object" && answer !== null ? (answer as { raw?: unknown }).raw : answer;
  if (typeof raw !== "string" || !/^0x(?:[0-9a-f]{2})+$/i.test(raw))
    throw new RemoteSignerError("its answer is not a signed transaction");
  return raw as Hex;
}

async function assertSame(raw: Hex, wanted: SignableTransaction, address: Hex): Promise<void> {
  let isSame: boolean;
  let signer: Hex;
  try {
    const unsigned = {
      ...parseTransaction(raw),
      r: undefined,
      s: undefined,
      v: undefined,
      yParity: undefined,
    };
    isSame = serializeTransaction(unsigned as SignableTransaction) === serializeTransaction(wanted);
    signer = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
  } catch {
    throw new RemoteSignerError("its answer is not a signed transaction");
  }
  if (!isSame) throw new RemoteSignerError("it signed a different transaction from the one requested");
  if (signer.toLowerCase() !== address.toLowerCase())
    throw new RemoteSignerError(`it signed as ${signer}, but ${address} is expected`);
}

/** The remote signer can't be reached, refused, or signed something else. */
export class RemoteSignerError extends TycheError {
  constructor(reason: string) {
    super(`the remote signer gave no signature: ${reason}`, {
      code: "signer_unavailable",
      blame: "upstream",
      expose: false,
      retryable: true,
    });
  }
}
