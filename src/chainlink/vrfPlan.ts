import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import {
  batchVrfCoordinatorAbi,
  presetConsumerAbi,
  presetConsumerV2PlusConstructorAbi,
  vrfCoordinatorAbi,
  vrfCoordinatorV2PlusAbi,
} from "./contracts/abi.ts";
import type { Artifact } from "./contracts/artifacts.ts";
import type { ContractName } from "./contracts/compilerInput.ts";
import { LANE_MAX_GAS_WEI, vrfConfigOf, vrfV2PlusConfigOf } from "./stackConfig.ts";
import { keyHash } from "../vrf/randomWords.ts";
import type { VrfVersion } from "../domain/vocabulary.ts";

/** The terms on which random words are delivered. */
export interface VrfTerms {
  /** Default `v2`. */
  readonly vrfVersion?: VrfVersion;
  readonly minConfirmations: number;
  /** Flat fee for one VRF fulfilment, in millionths of LINK. */
  readonly premiumLinkPpm: number;
  /** Whether PresetConsumer pays for random words in coin rather than LINK: VRF v2.5 only. Default `false`. */
  readonly nativePayment?: boolean;
  /** Gas price in wei up to which the coordinator accepts proofs: VRF v2.5 only. Default 1,000 gwei. */
  readonly laneMaxGasWei?: bigint;
}

/**
 * The VRF node: receives the fees of fulfilments proved with `publicKey` (affine x and y, secp256k1). In v2.5, the
 * coordinator's owner receives them instead.
 */
export interface VrfRole {
  readonly oracle: Hex;
  readonly publicKey: readonly [bigint, bigint];
}

/** Returns the identifier of a node's proving key. */
export function keyHashOfRole({ publicKey: [x, y] }: VrfRole): Hex {
  return keyHash({ x, y });
}

/** The contracts that differ between the versions of VRF, by their role. */
export const VRF_CONTRACTS = {
  v2: {
    vrfCoordinator: "VRFCoordinatorV2",
    batchVrfCoordinator: "BatchVRFCoordinatorV2",
    subscriptionOwner: "SubscriptionOwner",
    presetConsumer: "PresetConsumer",
  },
  "v2.5": {
    vrfCoordinator: "VRFCoordinatorV2_5",
    batchVrfCoordinator: "BatchVRFCoordinatorV2Plus",
    subscriptionOwner: "SubscriptionOwnerV2Plus",
    presetConsumer: "PresetConsumerV2Plus",
  },
} as const satisfies Record<VrfVersion, Readonly<Record<string, ContractName>>>;

type Artifacts = Readonly<Record<ContractName, Artifact>>;

/** The contracts that a coordinator is configured with. */
interface Placed {
  readonly link: Hex;
  readonly nativePriceFeed: Hex;
  readonly blockhashStore: Hex;
}

/** Encodes the creation of the coordinator. */
export function encodeVrfCoordinator(version: VrfVersion, artifacts: Artifacts, placed: Placed): Hex {
  const { bytecode } = artifacts[VRF_CONTRACTS[version].vrfCoordinator];
  const { link, blockhashStore, nativePriceFeed } = placed;
  return version === "v2"
    ? encodeDeployData({ abi: vrfCoordinatorAbi, bytecode, args: [link, blockhashStore, nativePriceFeed] })
    : encodeDeployData({ abi: vrfCoordinatorV2PlusAbi, bytecode, args: [blockhashStore] });
}

/** Encodes the creation of the batch contract, whose constructor is the same in both versions. */
export function encodeBatchCoordinator(version: VrfVersion, artifacts: Artifacts, vrfCoordinator: Hex): Hex {
  const { bytecode } = artifacts[VRF_CONTRACTS[version].batchVrfCoordinator];
  return encodeDeployData({ abi: batchVrfCoordinatorAbi, bytecode, args: [vrfCoordinator] });
}

/** Encodes the creation of PresetConsumer; `nativePayment` only applies to v2.5. */
export function encodePresetConsumer(
  version: VrfVersion,
  artifacts: Artifacts,
  args: readonly [
    operator: Hex,
    vrfCoordinator: Hex,
    batchVrfCoordinator: Hex,
    functionsRouter: Hex,
    donId: Hex,
  ],
  nativePayment: boolean,
): Hex {
  const { bytecode } = artifacts[VRF_CONTRACTS[version].presetConsumer];
  return version === "v2"
    ? encodeDeployData({ abi: presetConsumerAbi, bytecode, args })
    : encodeDeployData({
        abi: presetConsumerV2PlusConstructorAbi,
        bytecode,
        args: [...args, nativePayment],
      });
}

/** Plans the calls that configure the coordinator: fees, limits, and the proving keys. */
export function planCoordinatorCalls(
  version: VrfVersion,
  plan: VrfTerms & { readonly roles: { readonly vrf: readonly VrfRole[] } },
  placed: Placed,
): readonly { readonly name: string; readonly data: Hex }[] {
  const calls =
    version === "v2"
      ? {
          setConfig: encodeFunctionData({
            abi: vrfCoordinatorAbi,
            functionName: "setConfig",
            args: vrfConfigOf(plan),
          }),
        }
      : {
          setLINKAndLINKNativeFeed: encodeFunctionData({
            abi: vrfCoordinatorV2PlusAbi,
            functionName: "setLINKAndLINKNativeFeed",
            args: [placed.link, placed.nativePriceFeed],
          }),
          setConfig: encodeFunctionData({
            abi: vrfCoordinatorV2PlusAbi,
            functionName: "setConfig",
            args: vrfV2PlusConfigOf(plan),
          }),
        };
  const registrations = plan.roles.vrf.map(
    (role) => ["registerProvingKey", encodeRegistration(version, role, plan)] as const,
  );
  const contract = VRF_CONTRACTS[version].vrfCoordinator;
  return [...Object.entries(calls), ...registrations].map(([call, data]) => ({
    name: `${contract}.${call}`,
    data,
  }));
}

function encodeRegistration(
  version: VrfVersion,
  { oracle, publicKey }: VrfRole,
  { laneMaxGasWei = LANE_MAX_GAS_WEI }: VrfTerms,
): Hex {
  const functionName = "registerProvingKey";
  return version === "v2"
    ? encodeFunctionData({ abi: vrfCoordinatorAbi, functionName, args: [oracle, publicKey] })
    : encodeFunctionData({ abi: vrfCoordinatorV2PlusAbi, functionName, args: [publicKey, laneMaxGasWei] });
}
