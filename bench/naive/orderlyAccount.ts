import type { Hex } from "viem";
import type { Account } from "../../src/evm/account.ts";
import type { ChainClient } from "../../src/evm/client.ts";
import { parseReceipt, type Receipt } from "../../src/lib/nodeAnswers.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../../src/networks/embedded/process/anvil.ts";

/** Sends the transactions of one account one by one. */
export interface OrderlyAccount {
  readonly address: Hex;
  /** Returns the receipt; throws if the transaction reverted. */
  send(call: { readonly to: Hex; readonly data: Hex; readonly gas: bigint }): Promise<Receipt>;
}

/**
 * Creates an account. Each transaction waits for the previous one: Anvil 1.7.1 leaves a transaction in its pool for good if it
 * arrives while the previous one is being mined.
 */
export async function createOrderlyAccount(options: {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
}): Promise<OrderlyAccount> {
  const { client, account, chainId } = options;
  let nextNonce = await client.getNonce(account.address, "pending");
  let last: Promise<unknown> = Promise.resolve();
  return {
    address: account.address,
    async send({ to, data, gas }) {
      const nonce = nextNonce++;
      const signed = account.sign({
        type: "legacy",
        chainId,
        nonce,
        gasPrice: EMBEDDED_GAS_PRICE_WEI,
        gas,
        to,
        data,
      });
      const answer = Promise.all([signed, last]).then(([{ raw }]) =>
        client.request("eth_sendRawTransactionSync", [raw]),
      );
      last = answer.catch(() => {});
      const receipt = parseReceipt(await answer);
      if (!receipt.succeeded) throw new Error(`transaction ${receipt.transactionHash} reverted`);
      return receipt;
    },
  };
}
