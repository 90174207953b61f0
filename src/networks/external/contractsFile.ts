import type { Hex } from "viem";
import { EXISTING_ROLES, type ExistingContracts, type StackAddresses } from "../../chainlink/stackPlan.ts";
import { VRF_VERSIONS } from "../../domain/vocabulary.ts";
import { membersOf, NetworkFileError, readJsonFile, type JsonObject } from "./jsonFile.ts";
import { parseIdentity, type OracleIdentity } from "./oracleIdentity.ts";

/** The result of `tyche network deploy`: where the contracts of one network are, and which oracle they are for. */
export interface ContractsFile {
  readonly version: 1;
  readonly network: string;
  readonly chainId: number;
  /** Hash of block 0: distinguishes the chain from another one with the same id. */
  readonly genesis: Hex;
  /** Newest block when the deployment ended. */
  readonly blockNumber: number;
  readonly contracts: StackAddresses;
  /** Hash of the VRF key that requests name: the oracle's, or Chainlink's when the coordinator is Chainlink's. */
  readonly keyHash: Hex;
  /** DON id of the oracle network that runs functions. */
  readonly donId: string;
  /** Lowest number of confirmations that the VRF coordinator accepts. */
  readonly minConfirmations: number;
  /** Whether the LINK token was deployed along with the rest, so that its owner can mint more. */
  readonly isLinkOurs: boolean;
  /** The oracle that the contracts are for. */
  readonly oracle: OracleIdentity;
  /** The deployment plan's inputs, so that the contracts can be compared with our builds. */
  readonly deployer: Hex;
  readonly firstNonce: number;
  readonly premiumLinkPpm: number;
  /** Whether PresetConsumer pays for random words in coin; if absent, in LINK. */
  readonly nativePayment?: boolean;
  /** Gas price up to which the coordinator accepts the oracle's proofs, in decimal; absent when it has no limit or the default one. */
  readonly laneMaxGasWei?: string;
  readonly existing: ExistingContracts;
}

const ADDRESSES = [
  "link",
  "nativePriceFeed",
  "usdPriceFeed",
  "blockhashStore",
  "vrfCoordinator",
  "batchVrfCoordinator",
  "functionsRouter",
  "functionsCoordinator",
  "subscriptionOwner",
  "presetConsumer",
] as const satisfies readonly (keyof StackAddresses)[];

/**
 * Reads the contracts file of a network.
 *
 * @throws {NetworkFileError} when it is missing, damaged, or another network's.
 */
export function readContractsFile(
  path: string,
  { network, chainId }: { readonly network: string; readonly chainId: number },
): ContractsFile {
  const object = readJsonFile(path, `run \`tyche network deploy ${network}\` first`);
  if (object["version"] !== 1) throw new NetworkFileError(path, "is not a contracts file of this version");
  const members = membersOf(path, object);
  const found = members.count("chainId");
  if (found !== chainId)
    throw new NetworkFileError(
      path,
      `holds the contracts of chain ${found}, and ${network} is chain ${chainId}`,
    );
  const contracts = membersOf(path, members.object("contracts"));
  const { nativePayment, laneMaxGasWei } = object;
  const vrfVersion = VRF_VERSIONS.find((version) => version === members.object("contracts")["vrfVersion"]);
  return {
    version: 1,
    network: members.text("network"),
    chainId,
    genesis: members.hash("genesis"),
    blockNumber: members.count("blockNumber"),
    contracts: {
      ...(Object.fromEntries(
        ADDRESSES.map((name) => [name, contracts.address(name)]),
      ) as unknown as StackAddresses),
      ...(vrfVersion === undefined ? {} : { vrfVersion }),
    },
    keyHash: members.hash("keyHash"),
    donId: members.text("donId"),
    minConfirmations: members.count("minConfirmations"),
    isLinkOurs: members.flag("isLinkOurs"),
    oracle: parseIdentity(path, members.object("oracle")),
    deployer: members.address("deployer"),
    firstNonce: members.count("firstNonce"),
    premiumLinkPpm: members.count("premiumLinkPpm"),
    ...(nativePayment === undefined ? {} : { nativePayment: members.flag("nativePayment") }),
    ...(laneMaxGasWei === undefined ? {} : { laneMaxGasWei: parseWei(path, members.text("laneMaxGasWei")) }),
    existing: parseExisting(path, members.object("existing")),
  };
}

function parseWei(path: string, text: string): string {
  if (/^[0-9]{1,30}$/.test(text)) return text;
  throw new NetworkFileError(
    path,
    `laneMaxGasWei must be a decimal number of wei; got ${JSON.stringify(text)}`,
  );
}

function parseExisting(path: string, object: JsonObject): ExistingContracts {
  const members = membersOf(path, object);
  return Object.fromEntries(
    EXISTING_ROLES.filter((role) => object[role] !== undefined).map((role) => [role, members.address(role)]),
  );
}

/** Whether random words come from Chainlink's oracle, through a coordinator that isn't ours. */
export function hasChainlinkVrf({ existing }: Pick<ContractsFile, "existing">): boolean {
  return existing.vrfCoordinator !== undefined;
}
