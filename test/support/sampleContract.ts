import { createPublicClient, createWalletClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import { vi } from "vitest";
import type { TycheOperator } from "../../src/client/index.ts";
import { compileSolidity } from "./solidity.ts";

/** The sample consumer of a dapp, deployed by somebody else. */
export interface SampleContract {
  readonly address: Hex;
  /** Has it request a random word; gives the transaction, once it is mined. */
  roll(): Promise<Hex>;
}

/** Deploys a dapp's sample contract on an embedded chain, as it stands in the Config Vars, and links it. */
export async function deploySampleContract(
  operator: TycheOperator,
  { dappId, network }: { readonly dappId: string; readonly network: string },
): Promise<SampleContract> {
  const vars = await vi.waitFor(async () => {
    const found = (await operator.configVars(dappId)).find((one) => one.network === network)!;
    // A moment after the dapp it has subscriptions.
    if (found.sampleContract === undefined) throw new Error("there is no sample contract yet");
    return { ...found, source: found.sampleContract };
  }, 30_000);
  const { abi, bytecode } = compileSolidity("Dice", vars.source);
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
  };
}
