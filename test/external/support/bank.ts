import { createPublicClient, createWalletClient, http, parseEther, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import { linkTokenAbi } from "../../../src/chainlink/contracts/abi.ts";
import { createToolkitUser, type ToolkitNetwork, type ToolkitUser } from "../../support/toolkit.ts";
import { RICH_KEY } from "./chain.ts";

/** The third account of Anvil's mnemonic, which gives users coin and LINK. */
const BANK_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

/** Gives users of a network what they need. */
export interface Bank {
  /** Gets the bank LINK from the operator, before its service starts, which alone may send from then on. */
  open(): Promise<void>;
  createUser(): Promise<ToolkitUser>;
}

export function createBank(network: ToolkitNetwork): Bank {
  const common = { chain: anvil, transport: http(network.rpcUrl), pollingInterval: 50 };
  const account = privateKeyToAccount(BANK_KEY);
  const [wallet, reader] = [createWalletClient({ ...common, account }), createPublicClient(common)];
  const link = network.contracts.link as Hex;
  const mined = async (hash: Promise<Hex>): Promise<void> =>
    void (await reader.waitForTransactionReceipt({ hash: await hash }));
  return {
    async open() {
      const operator = createWalletClient({ ...common, account: privateKeyToAccount(RICH_KEY) });
      const args = [account.address, parseEther("1000")] as const;
      await mined(operator.writeContract({ address: link, abi: linkTokenAbi, functionName: "mint", args }));
    },
    createUser: () =>
      createToolkitUser(network, async (address) => {
        const to = address as Hex;
        await mined(wallet.sendTransaction({ to, value: parseEther("10") }));
        const args = [to, parseEther("10")] as const;
        await mined(
          wallet.writeContract({ address: link, abi: linkTokenAbi, functionName: "transfer", args }),
        );
      }),
  };
}
