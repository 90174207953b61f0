import type { Hex } from "viem";
import type { Account } from "../../src/chain/account.ts";
import { parseReceipt, type ChainClient, type Receipt } from "../../src/chain/client.ts";
import { EMBEDDED_GAS_PRICE_WEI } from "../../src/chain/embedded/anvil.ts";

/** Sends the transactions of one account without waiting for the one before. */
export interface PipelinedAccount {
  readonly address: Hex;
  /** Gives the receipt; throws when the transaction reverted. */
  send(call: { readonly to: Hex; readonly data: Hex; readonly gas: bigint }): Promise<Receipt>;
}

/** Makes one: a counter for the nonce and nothing else, so a transaction that the node refuses stops all later ones. */
export async function createPipelinedAccount(options: {
  readonly client: ChainClient;
  readonly account: Account;
  readonly chainId: number;
}): Promise<PipelinedAccount> {
  const { client, account, chainId } = options;
  let nextNonce = await client.getNonce(account.address, "pending");
  return {
    address: account.address,
    async send({ to, data, gas }) {
      const nonce = nextNonce++;
      const { raw } = account.sign({
        type: "legacy",
        chainId,
        nonce,
        gasPrice: EMBEDDED_GAS_PRICE_WEI,
        gas,
        to,
        data,
      });
      const receipt = parseReceipt(await client.request("eth_sendRawTransactionSync", [raw]));
      if (!receipt.succeeded) throw new Error(`transaction ${receipt.transactionHash} reverted`);
      return receipt;
    },
  };
}
