import type { Hex } from "viem";
import { askContract } from "../../chainlink/contractRead.ts";
import { PRESET_CONSUMER_READS } from "../../chainlink/presetConsumerReads.ts";
import { DeploymentError } from "../../chainlink/deploy.ts";
import {
  configDigestOf,
  encodeAdoptNodes,
  encodeSetConfig,
  gasOfAdoptNodes,
  gasOfSetConfig,
  LATEST_CONFIG,
  nodeConfigOf,
} from "../../chainlink/nodeConfig.ts";
import { parseFormerKey } from "../../chainlink/offchainConfig.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { quote, type Fees } from "../../evm/fees.ts";
import { createSender } from "../../evm/sender.ts";
import type { NetworkProfile } from "../profiles.ts";
import type { ContractsFile } from "./contractsFile.ts";
import { assertChainId } from "./externalNode.ts";
import { assertDeployed } from "./externalSource.ts";
import { writeJsonFile } from "./jsonFile.ts";
import type { OracleIdentity, PublicSecretKeys } from "./oracleIdentity.ts";
import { planSecretKeys } from "../../chainlink/stackPlan.ts";

/** What changing the set of nodes will do, for whoever confirms it. */
export interface ReconfigurationEstimate {
  readonly owner: Hex;
  readonly balanceWei: bigint;
  readonly gas: bigint;
  readonly gasPriceWei: bigint;
  /** Signers that join and leave. */
  readonly added: readonly Hex[];
  readonly removed: readonly Hex[];
  /** The new configuration. */
  readonly configDigest: Hex;
  /** Whether its nodes take over the key for secrets; otherwise, they generate one. */
  readonly takesOverKey: boolean;
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

/** How it ended; `present` when the contracts already had these nodes. `hash` is that of the last transaction. */
export type ReconfigurationEnd =
  | { readonly end: "reconfigured"; readonly hash: Hex; readonly costWei: bigint }
  | { readonly end: "present" }
  | { readonly end: "declined" };

/**
 * Sets a coordinator's nodes, makes PresetConsumer adopt them, and records them in the contracts file. The service may send from the same
 * account meanwhile. Run again after an interruption, it asks the chain which of its transactions were mined, and sends the others; if
 * `setConfig` is mined twice, the nodes restart twice.
 *
 * @throws {DeploymentError} when a transaction reverts.
 */
export async function reconfigureNetwork(options: ReconfigureNetworkOptions): Promise<ReconfigurationEnd> {
  const { profile, client, operator, fees, contracts: deployed, functions } = options;
  const { name: network, chainId } = profile;
  await assertChainId(client, { network, chainId });
  await assertDeployed(client, deployed);
  const { functionsCoordinator: coordinator, presetConsumer } = deployed.contracts;
  const config = nodeConfigOf(functions);
  const latest = await askContract(client, coordinator, LATEST_CONFIG);
  const isSet = configDigestOf(config, { chainId, coordinator, count: latest.count }) === latest.configDigest;
  const { signers: before, secretKeys, offchainConfig } = deployed.oracle.functions;
  const nodes = functions.signers.length;
  const takesOverKey = parseFormerKey(functions.offchainConfig ?? "0x", nodes) !== undefined;
  /** Under another configuration, the nodes generate another key for secrets, unless they take it over. */
  const isSame =
    takesOverKey ||
    (isSet && offchainConfig === functions.offchainConfig && before.join() === functions.signers.join());
  const note = (): void =>
    writeJsonFile(options.file, {
      ...deployed,
      oracle: {
        ...deployed.oracle,
        functions: { ...functions, ...(isSame && secretKeys !== undefined && { secretKeys }) },
      },
    } satisfies ContractsFile);
  const place = { chainId, coordinator, count: latest.count + (isSet ? 0n : 1n) };
  if (isSet && (await readAdoptedDigest(client, presetConsumer)) === latest.configDigest) {
    note();
    return { end: "present" };
  }
  const steps = [
    ...(isSet
      ? []
      : [
          {
            name: "FunctionsCoordinator.setConfig",
            call: {
              to: coordinator,
              data: encodeSetConfig(config),
              gas: gasOfSetConfig(nodes + before.length),
            },
            hint: `is ${operator.address} its owner?`,
          },
        ]),
    {
      name: "PresetConsumer.adoptNodes",
      call: { to: presetConsumer, data: encodeAdoptNodes(config, place), gas: gasOfAdoptNodes(nodes) },
      hint: "has somebody else configured the coordinator? Run the command again",
    },
  ];
  const { gasPriceWei } = await quote(fees, client);
  const estimate = {
    owner: operator.address,
    balanceWei: await client.getBalanceWei(operator.address),
    gas: steps.reduce((sum, { call }) => sum + call.gas, 0n),
    gasPriceWei,
    added: functions.signers.filter((signer) => !before.includes(signer)),
    removed: before.filter((signer) => !functions.signers.includes(signer)),
    configDigest: configDigestOf(config, place),
    takesOverKey,
  };
  if (!(await options.confirm(estimate))) return { end: "declined" };
  const sent = await sendSteps(options, steps);
  note();
  return { end: "reconfigured", ...sent };
}

/** A transaction of the operator. */
export interface OperatorStep {
  readonly name: string;
  readonly call: { readonly to: Hex; readonly data: Hex; readonly gas: bigint };
  /** What may be wrong if it reverts. */
  readonly hint: string;
}

/**
 * Sends transactions one after another; returns the hash of the last one, and what all cost.
 *
 * @throws {DeploymentError} when one reverts.
 */
export async function sendSteps(
  {
    profile,
    client,
    operator,
    fees,
  }: Pick<ReconfigureNetworkOptions, "profile" | "client" | "operator" | "fees">,
  steps: readonly OperatorStep[],
): Promise<{ readonly hash: Hex; readonly costWei: bigint }> {
  const { name: network, chainId } = profile;
  const ending = new AbortController();
  const { signal } = ending;
  const sender = createSender({ client, account: operator, chainId, fees, signal, onError: () => {} });
  try {
    let hash: Hex = "0x";
    let costWei = 0n;
    for (const { name, call, hint } of steps) {
      const receipt = await sender.send(call, undefined);
      hash = receipt.transactionHash;
      if (!receipt.succeeded) throw new DeploymentError(network, `${name} reverted: ${hash}; ${hint}`);
      costWei += receipt.gasUsed * receipt.effectiveGasPriceWei;
    }
    return { hash, costWei };
  } finally {
    ending.abort();
  }
}

/** Returns the digest of the configuration whose nodes PresetConsumer takes reports from; zero before any. */
async function readAdoptedDigest(client: Pick<ChainClient, "call">, presetConsumer: Hex): Promise<Hex> {
  const { data, decode } = PRESET_CONSUMER_READS.adoptedNodes();
  return decode(await client.call({ to: presetConsumer, data })).configDigest;
}

/**
 * Publishes the keys for secrets that a network's nodes have generated on its coordinator, and records them in the contracts file, from which
 * the service has them. Run again after an interruption, it sends both transactions again.
 *
 * @param options.confirm is told what it costs at most.
 * @returns `present` when the file has these keys already.
 * @throws {DeploymentError} when a transaction reverts.
 */
export async function publishKeys(
  options: Omit<ReconfigureNetworkOptions, "functions" | "confirm"> & {
    readonly keys: PublicSecretKeys;
    readonly confirm: (costWei: bigint) => Promise<boolean>;
  },
): Promise<ReconfigurationEnd> {
  const { profile, client, operator, fees, contracts, file, keys } = options;
  const { oracle } = contracts;
  await assertChainId(client, { network: profile.name, chainId: profile.chainId });
  await assertDeployed(client, contracts);
  const { secretKeys } = oracle.functions;
  if (
    secretKeys?.donPublicKey === keys.donPublicKey &&
    secretKeys.thresholdPublicKey === keys.thresholdPublicKey
  )
    return { end: "present" };
  const steps = planSecretKeys(contracts.contracts.functionsCoordinator, keys).map(
    ({ name, to, data, gas }) => ({
      name,
      call: { to: to!, data, gas },
      hint: `is ${operator.address} the coordinator's owner?`,
    }),
  );
  const { gasPriceWei } = await quote(fees, client);
  const gas = steps.reduce((sum, { call }) => sum + call.gas, 0n);
  if (!(await options.confirm(gas * gasPriceWei))) return { end: "declined" };
  const sent = await sendSteps(options, steps);
  const functions = { ...oracle.functions, secretKeys: keys };
  writeJsonFile(file, { ...contracts, oracle: { ...oracle, functions } } satisfies ContractsFile);
  return { end: "reconfigured", ...sent };
}
