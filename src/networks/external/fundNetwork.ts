import { encodeFunctionData, formatEther, type Hex } from "viem";
import { askContract, readOf } from "../../chainlink/contractRead.ts";
import { linkTokenAbi } from "../../chainlink/contracts/abi.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Fees } from "../../evm/fees.ts";
import { createSender } from "../../evm/sender.ts";
import { TycheError } from "../../lib/errors.ts";
import type { NetworkProfile } from "../profiles.ts";
import { vrfOperatorsOf } from "./oracleIdentity.ts";
import { hasChainlinkVrf, type ContractsFile } from "./contractsFile.ts";

const TOKEN_GAS = 200_000n;
/** A plain transfer takes 21,000; rollups also charge for its data. */
const COIN_GAS = 100_000n;

export interface FundNetworkOptions {
  readonly profile: NetworkProfile;
  readonly client: ChainClient;
  readonly operator: Account;
  readonly fees: Fees;
  readonly contracts: ContractsFile;
  /** Amount that the reserve for dapps' subscriptions is topped up to. */
  readonly reserveJuels: bigint | undefined;
  /** Amount that each account of the oracle is topped up to. */
  readonly coinWei: bigint | undefined;
  readonly onTransfer: (transfer: { readonly what: string; readonly hash: Hex }) => void;
  /** Called with one sentence about an account that is sent nothing because it holds enough. */
  readonly onEnough: (sentence: string) => void;
}

/**
 * Sends LINK to the reserve for dapps' subscriptions, and coin to the oracle's accounts, up to the amounts they should hold: a second
 * run sends nothing more. A LINK token of our own is minted; any other comes from the operator's account.
 *
 * @throws {FundingError} naming what is missing.
 */
export async function fundNetwork(options: FundNetworkOptions): Promise<void> {
  const { profile, client, operator, fees, contracts: file, onTransfer, onEnough } = options;
  const { link, subscriptionOwner } = file.contracts;
  const ending = new AbortController();
  const sender = createSender({
    client,
    account: operator,
    chainId: profile.chainId,
    fees,
    signal: ending.signal,
    onError: () => {},
  });
  try {
    if (options.reserveJuels !== undefined) {
      const holds = await readLinkBalance(client, link, subscriptionOwner);
      const lacking = options.reserveJuels - holds;
      if (lacking <= 0n)
        onEnough(
          `the reserve holds ${formatEther(holds)} LINK, and ${formatEther(options.reserveJuels)} were requested`,
        );
      else {
        if (!file.isLinkOurs) await assertHoldsLink(client, link, operator.address, lacking);
        const functionName = file.isLinkOurs ? "mint" : "transfer";
        const data = encodeFunctionData({
          abi: linkTokenAbi,
          functionName,
          args: [subscriptionOwner, lacking],
        });
        const receipt = await sender.send({ to: link, data, gas: TOKEN_GAS }, undefined);
        if (!receipt.succeeded)
          throw new FundingError(`${functionName} of LINK reverted: ${receipt.transactionHash}`);
        onTransfer({ what: `${formatEther(lacking)} LINK to the reserve`, hash: receipt.transactionHash });
      }
    }
    const { functions } = file.oracle;
    const proofs = vrfOperatorsOf(file.oracle).map(({ feeReceiver }) => feeReceiver);
    // Chainlink's node pays for its own proofs.
    const accounts = [...(hasChainlinkVrf(file) ? [] : proofs), ...functions.transmitters];
    for (const to of options.coinWei === undefined ? [] : accounts) {
      const present = await client.getBalanceWei(to);
      const lacking = options.coinWei! - present;
      if (lacking <= 0n) {
        onEnough(
          `${to} holds ${formatEther(present)} ${profile.coin}, and ${formatEther(options.coinWei!)} were requested`,
        );
        continue;
      }
      const holds = await client.getBalanceWei(operator.address);
      if (holds < lacking)
        throw new FundingError(
          `the operator ${operator.address} holds ${formatEther(holds)} ${profile.coin}, and ${to} lacks ${formatEther(lacking)}`,
        );
      const receipt = await sender.send({ to, data: "0x", gas: COIN_GAS, valueWei: lacking }, undefined);
      onTransfer({ what: `${formatEther(lacking)} ${profile.coin} to ${to}`, hash: receipt.transactionHash });
    }
  } finally {
    ending.abort();
  }
}

/** Returns an account's balance of a LINK token, in juels. */
export function readLinkBalance(client: Pick<ChainClient, "call">, link: Hex, holder: Hex): Promise<bigint> {
  return askContract(client, link, readOf(linkTokenAbi, "balanceOf", [holder]));
}

async function assertHoldsLink(client: ChainClient, link: Hex, holder: Hex, juels: bigint): Promise<void> {
  const holds = await readLinkBalance(client, link, holder);
  if (holds < juels)
    throw new FundingError(
      `the operator ${holder} holds ${formatEther(holds)} LINK (${link}), and ${formatEther(juels)} are needed; send it ${formatEther(juels - holds)}`,
    );
}

/** The operator holds too little to send, or the transfer reverted. */
export class FundingError extends TycheError {
  constructor(message: string) {
    super(message, { code: "invalid_parameter", blame: "caller" });
  }
}
