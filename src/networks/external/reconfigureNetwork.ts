import { encodeFunctionData, type Hex } from "viem";
import { DeploymentError } from "../../chainlink/deploy.ts";
import { functionsCoordinatorAbi } from "../../chainlink/contracts/abi.ts";
import { configDigestOf, encodeSetConfig, gasOfSetConfig, nodeConfigOf } from "../../chainlink/nodeConfig.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { quote, type Fees } from "../../evm/fees.ts";
import { createSender } from "../../evm/sender.ts";
import type { NetworkProfile } from "../profiles.ts";
import type { ContractsFile } from "./contractsFile.ts";
import { assertChainId } from "./externalNode.ts";
import { assertDeployed } from "./externalSource.ts";
import { writeJsonFile } from "./jsonFile.ts";
import type { OracleIdentity } from "./oracleIdentity.ts";
import { decodeCallResult } from "../../lib/callResult.ts";

/** What changing the set of nodes will do, for whoever confirms it. */
export interface ReconfigurationEstimate {
  readonly owner: Hex;
  readonly balanceWei: bigint;
  readonly gas: bigint;
  readonly gasPriceWei: bigint;
  /** Signers that join and leave. */
  readonly added: readonly Hex[];
  readonly removed: readonly Hex[];
}

export interface ReconfigureNetworkOptions {
  readonly profile: NetworkProfile;
  readonly client: ChainClient;
  /** Owns the coordinator, and pays. */
  readonly operator: Account;
  readonly fees: Fees;
  readonly contracts: ContractsFile;
  /** Path of the contracts file. */
  readonly file: string;
  /** The new set of nodes. */
  readonly functions: OracleIdentity["functions"];
  /** Called before anything is sent; `false` aborts the change. */
  readonly confirm: (estimate: ReconfigurationEstimate) => Promise<boolean>;
}

/** How it ended; `present` when the coordinator already had these nodes. */
export type ReconfigurationEnd =
  | { readonly end: "reconfigured"; readonly hash: Hex; readonly costWei: bigint }
  | { readonly end: "present" }
  | { readonly end: "declined" };

/**
 * Sets a coordinator's nodes, and records them in the contracts file. The service may send from the same account meanwhile. Run again after
 * an interruption, it asks the chain whether its transaction was mined; if two are mined, the nodes restart twice.
 *
 * @throws {DeploymentError} when the transaction reverts.
 */
export async function reconfigureNetwork(options: ReconfigureNetworkOptions): Promise<ReconfigurationEnd> {
  const { profile, client, operator, fees, contracts: deployed, functions } = options;
  const { name: network, chainId } = profile;
  await assertChainId(client, { network, chainId });
  await assertDeployed(client, deployed);
  const coordinator = deployed.contracts.functionsCoordinator;
  const config = nodeConfigOf(functions);
  const note = (): void =>
    writeJsonFile(options.file, {
      ...deployed,
      oracle: { ...deployed.oracle, functions },
    } satisfies ContractsFile);
  const latest = await readLatestConfig(client, coordinator);
  if (configDigestOf(config, { chainId, coordinator, count: latest.count }) === latest.configDigest) {
    note();
    return { end: "present" };
  }
  const before = deployed.oracle.functions.signers;
  const gas = gasOfSetConfig(functions.signers.length + before.length);
  const { gasPriceWei } = await quote(fees, client);
  const estimate = {
    owner: operator.address,
    balanceWei: await client.getBalanceWei(operator.address),
    gas,
    gasPriceWei,
    added: functions.signers.filter((signer) => !before.includes(signer)),
    removed: before.filter((signer) => !functions.signers.includes(signer)),
  };
  if (!(await options.confirm(estimate))) return { end: "declined" };
  const ending = new AbortController();
  const { signal } = ending;
  const sender = createSender({ client, account: operator, chainId, fees, signal, onError: () => {} });
  try {
    const call = { to: coordinator, data: encodeSetConfig(config), gas };
    const receipt = await sender.send(call, undefined);
    const { transactionHash: hash, gasUsed, effectiveGasPriceWei } = receipt;
    if (!receipt.succeeded)
      throw new DeploymentError(
        network,
        `FunctionsCoordinator.setConfig reverted: ${hash}; is ${operator.address} its owner?`,
      );
    note();
    return { end: "reconfigured", hash, costWei: gasUsed * effectiveGasPriceWei };
  } finally {
    ending.abort();
  }
}

async function readLatestConfig(client: Pick<ChainClient, "call">, coordinator: Hex) {
  const call = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
  const data = await client.call({ to: coordinator, data: encodeFunctionData(call) });
  const [count, , configDigest] = decodeCallResult({ ...call, data });
  return { count: BigInt(count), configDigest };
}
