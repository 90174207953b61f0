import { existsSync } from "node:fs";
import { formatGwei, type Hex } from "viem";
import { DeploymentError } from "../../chainlink/deploy.ts";
import { planDeployment, type ExistingContracts } from "../../chainlink/stackPlan.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { VrfVersion } from "../../chainlink/vrfVersion.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainClient } from "../../evm/client.ts";
import { PriceAboveCapError, quote, type Fees } from "../../evm/fees.ts";
import type { NetworkProfile } from "../profiles.ts";
import { readContractsFile, type ContractsFile } from "./contractsFile.ts";
import { findJournal, removeJournal, type DeploymentJournal } from "./deploymentJournal.ts";
import { assertVrfWorks } from "./arbitrumVrf.ts";
import { assertChainId, readGenesis } from "./externalNode.ts";
import { readChainlinkVrf, type ChainlinkVrf } from "./chainlinkVrf.ts";
import { writeJsonFile } from "./jsonFile.ts";
import type { OracleIdentity, VrfIdentity } from "./oracleIdentity.ts";
import { sendSteps, type DeployedStep } from "./sendSteps.ts";
import { writeVerificationInput } from "./verificationInput.ts";

/** The DON's public keys encrypt callers' secrets, which this oracle does not accept; the contract requires some bytes. */
const NO_PUBLIC_KEY = "0x00";

/** What a deployment will do, for whoever confirms it. */
export interface DeploymentEstimate {
  readonly deployer: Hex;
  readonly balanceWei: bigint;
  /** Transactions that are not mined yet, out of `steps`. */
  readonly left: number;
  readonly steps: number;
  /** Upper bound of the gas of the remaining transactions. */
  readonly gas: bigint;
  readonly gasPriceWei: bigint;
  /** Existing contracts of others that the deployment uses. */
  readonly existing: ExistingContracts;
  /** Whether an earlier run is continued. */
  readonly isResumed: boolean;
}

export interface DeployNetworkOptions {
  readonly profile: NetworkProfile;
  readonly client: ChainClient;
  /** Pays for the deployment and owns the contracts; also the service's operator. */
  readonly operator: Account;
  readonly fees: Fees;
  readonly oracle: OracleIdentity;
  /** Version of the VRF contracts. Default `v2`. */
  readonly vrfVersion?: VrfVersion | undefined;
  /** Chainlink's live VRF v2.5, as the source of random words; without it, they come from a coordinator of our own. */
  readonly chainlink?: ChainlinkVrf | undefined;
  /** Whether PresetConsumer pays for random words in coin (v2.5 only). Default: in LINK. */
  readonly nativePayment?: boolean | undefined;
  /** Gas price up to which the coordinator accepts proofs (v2.5 only). Default 1,000 gwei. */
  readonly laneMaxGasWei?: bigint | undefined;
  /** Path of the contracts file. */
  readonly file: string;
  /** Called before anything is sent; `false` aborts the deployment. */
  readonly confirm: (estimate: DeploymentEstimate) => Promise<boolean>;
  readonly onStep: (step: DeployedStep) => void;
}

/** How a deployment ended; `present` when an earlier one had already written the file. */
export type DeploymentEnd = "deployed" | "present" | "declined";

/**
 * Deploys the contracts of one network for one oracle, and writes the contracts file. Every signed transaction is journaled before it is
 * sent, so an interrupted run continues with the same transactions and deploys nothing twice.
 *
 * @throws {DeploymentError} when a transaction reverts, or another transaction of the same account used one of the nonces.
 */
export async function deployNetwork(options: DeployNetworkOptions): Promise<DeploymentEnd> {
  const { profile, client, operator, fees, file } = options;
  const { name: network, chainId } = profile;
  await assertChainId(client, { network, chainId });
  const genesis = await readGenesis(client);
  const found = findJournal(file);
  if (found === undefined && existsSync(file)) {
    readContractsFile(file, { network, chainId });
    return "present";
  }
  if (options.chainlink === undefined)
    await assertVrfWorks(client, { network, chainId, vrfVersion: options.vrfVersion ?? "v2" });
  const journal = found ?? (await beginJournal(options, genesis));
  if (journal.genesis !== genesis || journal.deployer !== operator.address)
    throw new DeploymentError(
      network,
      `the journal beside ${file} belongs to another chain or account (${journal.deployer}); move it away to redeploy`,
    );
  const { addresses, steps } = planDeployment(
    stackPlanOf({ ...journal, chainId }),
    operator.address,
    journal.firstNonce,
  );
  const { gasPriceWei } = await quote(fees, client).catch(refusePriceAboveCap);
  const done = Math.min(
    steps.length,
    Math.max(0, (await client.getNonce(operator.address, "latest")) - journal.firstNonce),
  );
  const left = steps.slice(done);
  const estimate: DeploymentEstimate = {
    deployer: operator.address,
    balanceWei: await client.getBalanceWei(operator.address),
    left: left.length,
    steps: steps.length,
    gas: left.reduce((sum, { gas }) => sum + gas, 0n),
    gasPriceWei,
    existing: journal.existing,
    isResumed: found !== undefined,
  };
  if (!(await options.confirm(estimate))) return "declined";
  await sendSteps(options, journal, steps);
  writeJsonFile(file, describeDeployment(journal, addresses, await blockAfter(client)));
  const { deployer, firstNonce } = journal;
  writeVerificationInput({ contractsFile: file, steps, deployer, firstNonce });
  removeJournal(file);
  return "deployed";
}

async function beginJournal(options: DeployNetworkOptions, genesis: Hex): Promise<DeploymentJournal> {
  const { profile, client, operator, oracle, chainlink } = options;
  const nonce = await client.getNonce(operator.address, "latest");
  if ((await client.getNonce(operator.address, "pending")) !== nonce)
    throw new DeploymentError(
      profile.name,
      `transactions of ${operator.address} are waiting in the node's pool; let them be mined first`,
    );
  return {
    version: 1,
    network: profile.name,
    chainId: profile.chainId,
    genesis,
    deployer: operator.address,
    firstNonce: nonce,
    startBlock: Number((await client.getHead("latest"))?.number ?? 0n),
    oracle,
    existing: {
      ...(await findExisting(client, profile)),
      ...(chainlink && (await readChainlinkVrf(client, chainlink))),
    },
    donId: profile.functions.donId,
    ...(options.vrfVersion === undefined ? {} : { vrfVersion: options.vrfVersion }),
    ...(chainlink === undefined ? {} : { keyHash: chainlink.keyHash }),
    minConfirmations: chainlink?.minConfirmations ?? profile.vrf.minConfirmations,
    premiumLinkPpm: profile.vrf.premiumLinkPpm,
    ...(options.nativePayment === true ? { nativePayment: true } : {}),
    ...(options.laneMaxGasWei === undefined ? {} : { laneMaxGasWei: options.laneMaxGasWei.toString() }),
    steps: [],
  };
}

/** Returns the network's own LINK token and price feeds, where there is code at their addresses. */
async function findExisting(
  client: Pick<ChainClient, "getCode">,
  { link, priceFeeds }: NetworkProfile,
): Promise<ExistingContracts> {
  const known = {
    link,
    nativePriceFeed: priceFeeds?.linkNative,
    usdPriceFeed: priceFeeds?.linkUsd,
  };
  const entries: [string, Hex][] = [];
  for (const [role, address] of Object.entries(known))
    if (address !== undefined && (await client.getCode(address)) !== "0x") entries.push([role, address]);
  return Object.fromEntries(entries);
}

/** Returns the plan by which the contracts were, or will be, deployed. */
export function stackPlanOf({
  oracle,
  deployer,
  ...plan
}: Pick<
  ContractsFile,
  "chainId" | "oracle" | "deployer" | "minConfirmations" | "premiumLinkPpm" | "existing" | "donId"
> &
  Partial<Pick<ContractsFile, "nativePayment" | "laneMaxGasWei">> & {
    readonly vrfVersion?: VrfVersion | undefined;
  }) {
  const roleOf = ({ feeReceiver, publicKey: [x, y] }: VrfIdentity) => ({
    oracle: feeReceiver,
    publicKey: [BigInt(x), BigInt(y)] as const,
  });
  return {
    roles: {
      operator: deployer,
      vrf: roleOf(oracle.vrf),
      furtherVrf: (oracle.furtherVrf ?? []).map(roleOf),
      functions: { ...oracle.functions, donPublicKey: NO_PUBLIC_KEY, thresholdPublicKey: NO_PUBLIC_KEY },
    },
    chainId: plan.chainId,
    donName: plan.donId,
    minConfirmations: plan.minConfirmations,
    premiumLinkPpm: plan.premiumLinkPpm,
    existing: plan.existing,
    ...(plan.vrfVersion === undefined ? {} : { vrfVersion: plan.vrfVersion }),
    ...(plan.nativePayment === undefined ? {} : { nativePayment: plan.nativePayment }),
    ...(plan.laneMaxGasWei === undefined ? {} : { laneMaxGasWei: BigInt(plan.laneMaxGasWei) }),
  } as const;
}

function describeDeployment(
  journal: DeploymentJournal,
  contracts: StackAddresses,
  blockNumber: number,
): ContractsFile {
  return {
    version: 1,
    network: journal.network,
    chainId: journal.chainId,
    genesis: journal.genesis,
    blockNumber,
    contracts,
    keyHash: journal.keyHash ?? journal.oracle.vrf.keyHash,
    donId: journal.donId,
    minConfirmations: journal.minConfirmations,
    isLinkOurs: journal.existing.link === undefined,
    oracle: journal.oracle,
    deployer: journal.deployer,
    firstNonce: journal.firstNonce,
    premiumLinkPpm: journal.premiumLinkPpm,
    ...(journal.nativePayment === undefined ? {} : { nativePayment: journal.nativePayment }),
    ...(journal.laneMaxGasWei === undefined ? {} : { laneMaxGasWei: journal.laneMaxGasWei }),
    existing: journal.existing,
  };
}

function refusePriceAboveCap(error: unknown): never {
  if (!(error instanceof PriceAboveCapError)) throw error;
  const [price, cap] = [error.priceWei, error.capWei].map((wei) => formatGwei(wei));
  throw new DeploymentError(
    "gas",
    `it costs ${price} gwei, and at most ${cap} gwei are paid; wait for the price to fall, or raise maxFeeGwei`,
  );
}

async function blockAfter(client: Pick<ChainClient, "getHead">): Promise<number> {
  return Number((await client.getHead("latest"))?.number ?? 0n);
}
