import { setTimeout as pause } from "node:timers/promises";
import { createPublicClient, createWalletClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import type { TycheOperator } from "../../src/client/index.ts";
import { compileSolidity } from "./solidity.ts";

/** A dapp's sample consumer, deployed by a third party. */
export interface SampleContract {
  readonly address: Hex;
  /** Requests a random word and returns the transaction's hash once it is mined. */
  roll(): Promise<Hex>;
  /** Has a transaction mined that reverts, and returns its hash. */
  revert(): Promise<Hex>;
}

/** Deploys a dapp's sample contract on an embedded chain, as the Config Vars show it or with more words in a request, and links it. */
export async function deploySampleContract(
  operator: TycheOperator,
  {
    dappId,
    network,
    numWords = 1,
  }: { readonly dappId: string; readonly network: string; readonly numWords?: number },
): Promise<SampleContract> {
  const readVars = async () => (await operator.configVars(dappId)).find((one) => one.network === network)!;
  let vars = await readVars();
  // The subscriptions appear a moment after the dapp.
  while (vars.sampleContract === undefined) {
    await pause(50);
    vars = await readVars();
  }
  const { abi, bytecode } = compileSolidity(
    "Dice",
    vars.sampleContract.replace("CALLBACK_GAS, 1)", `CALLBACK_GAS, ${numWords})`),
  );
  const { secretKey } = (await operator.fundedAccounts())[0]!;
  const common = {
    chain: { ...anvil, id: vars.chainId },
    transport: http(vars.rpcUrl),
    pollingInterval: 100,
  };
  const wallet = createWalletClient({ ...common, account: privateKeyToAccount(secretKey) });
  const reader = createPublicClient(common);
  const hash = await wallet.deployContract({ abi, bytecode, args: [] });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
  const address = contractAddress!;
  await operator.as(dappId).addConsumer({ dappId, network, consumer: address });
  return {
    address,
    async roll() {
      const sent = await wallet.writeContract({ address, abi, functionName: "roll", args: [] });
      return (await reader.waitForTransactionReceipt({ hash: sent })).transactionHash;
    },
    async revert() {
      const sent = await wallet.sendTransaction({ to: address, gas: 100_000n });
      return (await reader.waitForTransactionReceipt({ hash: sent })).transactionHash;
    },
  };
}
