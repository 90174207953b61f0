import { encodeDeployData, encodeFunctionData, getContractAddress, size, type Hex } from "viem";
import {
  fixedPriceFeedAbi,
  functionsCoordinatorAbi,
  functionsRouterAbi,
  linkTokenAbi,
  subscriptionOwnerAbi,
} from "./contracts/abi.ts";
import { loadArtifacts } from "./contracts/artifacts.ts";
import type { ContractName } from "./contracts/compilerInput.ts";
import {
  FUNCTIONS_BILLING,
  FUNCTIONS_ROUTER_CONFIG,
  LINK_NATIVE_PRICE_WEI,
  LINK_USD_PRICE,
} from "./stackConfig.ts";
import {
  encodeBatchCoordinator,
  encodePresetConsumer,
  encodeVrfCoordinator,
  planCoordinatorCalls,
  VRF_CONTRACTS,
  type VrfRole,
  type VrfTerms,
} from "./vrfPlan.ts";
import {
  encodeAdoptNodes,
  encodeSetConfig,
  gasOfAdoptNodes,
  gasOfSetConfig,
  nodeConfigOf,
} from "./nodeConfig.ts";
import type { VrfVersion } from "../domain/vocabulary.ts";

/** Addresses of one chain's contracts. */
export interface StackAddresses {
  readonly link: Hex;
  readonly nativePriceFeed: Hex;
  readonly usdPriceFeed: Hex;
  readonly blockhashStore: Hex;
  readonly vrfCoordinator: Hex;
  readonly batchVrfCoordinator: Hex;
  readonly functionsRouter: Hex;
  readonly functionsCoordinator: Hex;
  readonly subscriptionOwner: Hex;
  readonly presetConsumer: Hex;
  /** Version of the VRF contracts among them; absent for V2, as in records of earlier versions. */
  readonly vrfVersion?: VrfVersion;
}

/** Who runs what on the chain. */
export interface StackRoles {
  /** Owns the subscriptions, and is the only account that sends requests through PresetConsumer. */
  readonly operator: Hex;
  /** The VRF nodes, each with its own key. */
  readonly vrf: readonly VrfRole[];
  /** The oracle network's nodes, 4 to 31; no account is both a signer and a transmitter. */
  readonly functions: {
    readonly signers: readonly Hex[];
    readonly transmitters: readonly Hex[];
    /** URLs of the nodes, see `encodeNodeUrls`; absent for an oracle that holds all keys. */
    readonly offchainConfig?: Hex;
    /** Key that callers encrypt secrets to, which their tools read from the coordinator. Not empty. */
    readonly donPublicKey: Hex;
    readonly thresholdPublicKey: Hex;
  };
}

/** What to deploy on a chain. */
export interface StackPlan extends VrfTerms {
  readonly chainId: number;
  readonly roles: StackRoles;
  /** `donId` of the contracts: name of the oracle network, at most 32 bytes of UTF-8. */
  readonly donName: string;
  /** LINK minted for SubscriptionOwner to fund dapps from, in juels. Default 100 million LINK of at most a billion. */
  readonly supplyJuels?: bigint;
  /** Others' contracts that are already on the chain, used instead of ours. */
  readonly existing?: ExistingContracts;
}

/**
 * Contracts that a public network may already have: its LINK token, Chainlink's price feeds, and a VRF v2.5 coordinator with
 * its BlockhashStore, served by Chainlink's oracle. There is no batch contract of ours then, and its address is zero.
 */
export type ExistingContracts = Partial<Pick<StackAddresses, (typeof EXISTING_ROLES)[number]>>;

/** Roles that others' contracts may fill. */
export const EXISTING_ROLES = [
  "link",
  "nativePriceFeed",
  "usdPriceFeed",
  "blockhashStore",
  "vrfCoordinator",
  "batchVrfCoordinator",
] as const satisfies readonly (keyof StackAddresses)[];

/** One transaction of a deployment. */
export interface DeploymentStep {
  /** Contract, or contract and function, for messages. */
  readonly name: string;
  readonly to?: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/**
 * Plans the transactions that deploy and configure all contracts, in the order of their nonces from `firstNonce` on, and
 * returns the resulting addresses.
 */
export function planDeployment(
  plan: StackPlan,
  deployer: Hex,
  firstNonce: number,
): { readonly addresses: StackAddresses; readonly steps: readonly DeploymentStep[] } {
  const { roles, vrfVersion = "v2" } = plan;
  const vrf = VRF_CONTRACTS[vrfVersion];
  const artifacts = loadArtifacts();
  const steps: DeploymentStep[] = [];
  const nextAddress = (): Hex =>
    getContractAddress({ from: deployer, nonce: BigInt(firstNonce + steps.length) });
  const deploy = (name: ContractName, data: Hex = artifacts[name].bytecode): Hex => {
    const address = nextAddress();
    steps.push({ name, data, gas: deploymentGas(data) });
    return address;
  };
  const call = (name: string, to: Hex, data: Hex, gas = CALL_GAS): void => {
    steps.push({ name, to, data, gas });
  };
  const { bytecode } = artifacts.FixedPriceFeed;
  const donId: Hex = `0x${Buffer.from(plan.donName).toString("hex").padEnd(64, "0")}`;

  const { existing = {} } = plan;
  const deployFeed = ({ answer, decimals }: typeof LINK_USD_PRICE): Hex =>
    deploy(
      "FixedPriceFeed",
      encodeDeployData({ abi: fixedPriceFeedAbi, bytecode, args: [answer, decimals] }),
    );
  const link = existing.link ?? deploy("LinkToken");
  const nativePriceFeed = existing.nativePriceFeed ?? deployFeed(LINK_NATIVE_PRICE_WEI);
  const usdPriceFeed = existing.usdPriceFeed ?? deployFeed(LINK_USD_PRICE);
  const blockhashStore = existing.blockhashStore ?? deploy("BlockhashStore");
  const placed = { link, blockhashStore, nativePriceFeed };
  const vrfCoordinator =
    existing.vrfCoordinator ??
    deploy(vrf.vrfCoordinator, encodeVrfCoordinator(vrfVersion, artifacts, placed));
  const batchVrfCoordinator =
    existing.batchVrfCoordinator ??
    deploy(vrf.batchVrfCoordinator, encodeBatchCoordinator(vrfVersion, artifacts, vrfCoordinator));
  const functionsRouter = deploy(
    "FunctionsRouter",
    encodeDeployData({
      abi: functionsRouterAbi,
      bytecode: artifacts.FunctionsRouter.bytecode,
      args: [link, FUNCTIONS_ROUTER_CONFIG],
    }),
  );
  const functionsCoordinator = deploy(
    "FunctionsCoordinator",
    encodeDeployData({
      abi: functionsCoordinatorAbi,
      bytecode: artifacts.FunctionsCoordinator.bytecode,
      args: [functionsRouter, FUNCTIONS_BILLING, nativePriceFeed, usdPriceFeed],
    }),
  );
  const subscriptionOwner = deploy(
    vrf.subscriptionOwner,
    encodeDeployData({
      abi: subscriptionOwnerAbi,
      bytecode: artifacts[vrf.subscriptionOwner].bytecode,
      args: [roles.operator, vrfCoordinator, functionsRouter, link],
    }),
  );
  const presetConsumer = deploy(
    vrf.presetConsumer,
    encodePresetConsumer(
      vrfVersion,
      artifacts,
      [roles.operator, vrfCoordinator, batchVrfCoordinator, functionsRouter, donId],
      plan.nativePayment ?? false,
    ),
  );

  if (existing.link === undefined) {
    const encodeLink = { abi: linkTokenAbi };
    call(
      "LinkToken.grantMintRole",
      link,
      encodeFunctionData({ ...encodeLink, functionName: "grantMintRole", args: [deployer] }),
    );
    call(
      "LinkToken.mint",
      link,
      encodeFunctionData({
        ...encodeLink,
        functionName: "mint",
        args: [subscriptionOwner, plan.supplyJuels ?? DEFAULT_SUPPLY_JUELS],
      }),
    );
  }
  if (existing.vrfCoordinator === undefined)
    for (const { name, data } of planCoordinatorCalls(vrfVersion, plan, placed))
      call(name, vrfCoordinator, data);
  const encodeRouter = { abi: functionsRouterAbi };
  call(
    "FunctionsRouter.proposeContractsUpdate",
    functionsRouter,
    encodeFunctionData({
      ...encodeRouter,
      functionName: "proposeContractsUpdate",
      args: [[donId], [functionsCoordinator]],
    }),
  );
  call(
    "FunctionsRouter.updateContracts",
    functionsRouter,
    encodeFunctionData({ ...encodeRouter, functionName: "updateContracts" }),
  );
  steps.push(...planSecretKeys(functionsCoordinator, roles.functions));
  const config = nodeConfigOf(roles.functions);
  const nodes = config.signers.length;
  call(
    "FunctionsCoordinator.setConfig",
    functionsCoordinator,
    encodeSetConfig(config),
    gasOfSetConfig(nodes),
  );
  const place = { chainId: plan.chainId, coordinator: functionsCoordinator, count: 1n };
  call("PresetConsumer.adoptNodes", presetConsumer, encodeAdoptNodes(config, place), gasOfAdoptNodes(nodes));

  return {
    addresses: {
      link,
      nativePriceFeed,
      usdPriceFeed,
      blockhashStore,
      vrfCoordinator,
      batchVrfCoordinator,
      functionsRouter,
      functionsCoordinator,
      subscriptionOwner,
      presetConsumer,
      ...(vrfVersion === "v2" ? {} : { vrfVersion }),
    },
    steps,
  };
}

/** Plans the transactions that publish the keys which secrets are encrypted to. */
export function planSecretKeys(
  functionsCoordinator: Hex,
  { donPublicKey, thresholdPublicKey }: Pick<StackRoles["functions"], "donPublicKey" | "thresholdPublicKey">,
): readonly DeploymentStep[] {
  const abi = functionsCoordinatorAbi;
  return [
    {
      name: "FunctionsCoordinator.setDONPublicKey",
      to: functionsCoordinator,
      data: encodeFunctionData({ abi, functionName: "setDONPublicKey", args: [donPublicKey] }),
      gas: CALL_GAS,
    },
    {
      name: "FunctionsCoordinator.setThresholdPublicKey",
      to: functionsCoordinator,
      data: encodeFunctionData({ abi, functionName: "setThresholdPublicKey", args: [thresholdPublicKey] }),
      gas: gasOfKey(thresholdPublicKey),
    },
  ];
}

/** Returns an upper bound: 16 gas per byte of calldata, 200 per byte of code (EIP-2028, EIP-170's deposit), 2 per word (EIP-3860). */
function deploymentGas(data: Hex): bigint {
  const bytes = BigInt((data.length - 2) / 2);
  return 53_000n + 217n * bytes + CONSTRUCTOR_GAS;
}

const DEFAULT_SUPPLY_JUELS = 100_000_000n * 10n ** 18n;
/**
 * Gas limit of a configuration call. The most expensive one, FunctionsCoordinator.setConfig, takes about 600,000 and has a
 * limit of its own, see {@link gasOfSetConfig}.
 */
const CALL_GAS = 1_500_000n;
/** Maximum gas of setting a key. For each of its bytes: storage for 32 takes 22,100, and calldata 16. */
function gasOfKey(key: Hex): bigint {
  const gas = 200_000n + 800n * BigInt(size(key));
  return gas > CALL_GAS ? gas : CALL_GAS;
}
/** Maximum gas of a constructor, apart from storing the code: for the configuration of a router or a coordinator. */
const CONSTRUCTOR_GAS = 800_000n;
