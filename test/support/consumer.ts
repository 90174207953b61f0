import { encodeFunctionData, type Hex, stringToHex, toHex } from "viem";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { encodeArgs } from "../../src/chainlink/functionsRequest.ts";
import { encodePresetBatch } from "../../src/chainlink/presetBatch.ts";
import type { DrandRound } from "../../src/beacon/drand.ts";
import { presetConsumerAbi, vrfCoordinatorV2PlusAbi } from "../../src/chainlink/contracts/abi.ts";
import { SUBSCRIPTION_OWNER_ABIS } from "../../src/chainlink/vrfVersion.ts";
import type { VrfVersion } from "../../src/domain/vocabulary.ts";
import { eventsOf } from "./delivery.ts";
import { FURTHER_PROVING_KEYS, TEST_PROVING_KEY, TEST_ROLES, type TestStack } from "./stack.ts";

const LINK = 10n ** 18n;

/** A dapp's subscriptions. */
export interface TestDapp {
  readonly vrfSubId: bigint;
  readonly functionsSubId: bigint;
}

/** Returns the VRF version that a stack was deployed with. */
export function versionOf({ addresses }: Pick<TestStack, "addresses">): VrfVersion {
  return addresses.vrfVersion ?? "v2";
}

/** Creates a dapp with funded subscriptions; `name` has at most 32 bytes. Default funds: 1,000 LINK each. */
export async function provisionDapp(
  stack: TestStack,
  name: string,
  { vrfJuels = 1_000n * LINK, functionsJuels = 1_000n * LINK } = {},
): Promise<TestDapp> {
  const receipt = await stack.send(TEST_ROLES.operator, {
    to: stack.addresses.subscriptionOwner,
    data: encodeFunctionData({
      abi: SUBSCRIPTION_OWNER_ABIS.v2,
      functionName: "provision",
      args: [stringToHex(name, { size: 32 }), vrfJuels, functionsJuels, stack.addresses.presetConsumer],
    }),
  });
  const [provisioned] = eventsOf(receipt, "Provisioned");
  if (provisioned === undefined) throw new Error("the dapp was not provisioned");
  return provisioned;
}

/** Puts 1,000 coins into a dapp's VRF v2.5 subscription, for native payment. */
export async function fundWithCoin(stack: TestStack, dapp: TestDapp): Promise<void> {
  await stack.send(TEST_ROLES.operator, {
    to: stack.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorV2PlusAbi,
      functionName: "fundSubscriptionWithNative",
      args: [dapp.vrfSubId],
    }),
    valueWei: 1_000n * 10n ** 18n,
  });
}

/** Adds `count` consumers to a dapp's subscriptions, beside PresetConsumer; their addresses hold no code. */
export async function linkConsumers(stack: TestStack, dapp: TestDapp, count: number): Promise<void> {
  for (let i = 1; i <= count; i += 1) {
    await stack.send(TEST_ROLES.operator, {
      to: stack.addresses.subscriptionOwner,
      data: encodeFunctionData({
        abi: SUBSCRIPTION_OWNER_ABIS[versionOf(stack)],
        functionName: "addConsumer",
        args: [dapp.vrfSubId, dapp.functionsSubId, toHex(0x1000 + i, { size: 20 })],
      }),
    });
  }
}

/** Stores one of our sources on chain and returns its id. */
export async function storeSource(stack: TestStack, source: string): Promise<number> {
  const receipt = await stack.send(TEST_ROLES.operator, {
    to: stack.addresses.presetConsumer,
    data: encodeFunctionData({
      abi: presetConsumerAbi,
      functionName: "storeSource",
      args: [stringToHex(source)],
    }),
  });
  return eventsOf(receipt, "SourceStored")[0]?.sourceId ?? 0;
}

/** A batch of presets, with their arguments as text. */
export interface TestPresets {
  readonly dapp: TestDapp;
  readonly items: readonly { readonly sourceId: number; readonly args?: readonly string[] }[];
  /** The round of drand that they wait for. */
  readonly beacon?: DrandRound | undefined;
  /** Default: `items` packed. */
  readonly batch?: Hex;
  readonly confirmations?: number;
  readonly keyHash?: Hex;
}

/** What a test submits in one transaction. */
export interface TestSubmission {
  readonly presets?: readonly TestPresets[];
  readonly functions?: readonly { readonly functionsSubId: bigint; readonly data: Hex }[];
  readonly randoms?: readonly {
    readonly vrfSubId: bigint;
    readonly numWords: number;
    readonly confirmations?: number;
  }[];
  readonly labels?: readonly TestLabel[];
}

/** A label of a request by its place in the transaction. */
export interface TestLabel {
  readonly index: bigint;
  readonly item: bigint;
  readonly dapp: string;
  readonly text: string;
}

/** Encodes a call of PresetConsumer.submit. */
export function encodeSubmission({
  presets = [],
  functions = [],
  randoms = [],
  labels = [],
}: TestSubmission): Hex {
  const { keyHash } = TEST_PROVING_KEY;
  return encodeFunctionData({
    abi: presetConsumerAbi,
    functionName: "submit",
    args: [
      presets.map(({ dapp, items, beacon, batch, confirmations = 1, ...preset }) => ({
        vrfSubId: dapp.vrfSubId,
        keyHash: preset.keyHash ?? keyHash,
        confirmations,
        batch: batch ?? packItems(items, beacon),
      })),
      functions,
      randoms.map(({ vrfSubId, numWords, confirmations = 1 }) => ({
        vrfSubId,
        keyHash,
        confirmations,
        numWords,
      })),
      labels,
    ],
  });
}

/** Sends a submission as the operator. */
export async function submit(
  stack: TestStack,
  submission: TestSubmission,
  options: { readonly gas?: bigint } = {},
): Promise<Receipt> {
  return await stack.send(TEST_ROLES.operator, {
    ...options,
    to: stack.addresses.presetConsumer,
    data: encodeSubmission(submission),
  });
}

/** A request for joined words: for presets, or for plain random numbers. */
export interface TestJoin {
  readonly dapp: TestDapp;
  readonly items?: TestPresets["items"];
  /** Number of proving keys, taken from the tests' keys in order. Default 2. */
  readonly keys?: number;
  readonly keyHashes?: readonly Hex[];
  readonly batch?: Hex;
}

/** Encodes a call of PresetConsumer.submitJoined. */
export function encodeJoinedSubmission(joins: readonly TestJoin[]): Hex {
  const calls = joins.map(({ dapp, items = [], keys = 2, ...join }) => ({
    vrfSubId: dapp.vrfSubId,
    keyHashes:
      join.keyHashes ??
      [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].slice(0, keys).map(({ keyHash }) => keyHash),
    confirmations: 1,
    numWords: items.length === 0 ? 3 : 0,
    batch: join.batch ?? (items.length === 0 ? "0x" : packItems(items)),
  }));
  return encodeFunctionData({ abi: presetConsumerAbi, functionName: "submitJoined", args: [calls, []] });
}

/** Sends requests for joined words as the operator. */
export async function submitJoined(
  stack: TestStack,
  joins: readonly TestJoin[],
  options: { readonly gas?: bigint } = {},
): Promise<Receipt> {
  const data = encodeJoinedSubmission(joins);
  return await stack.send(TEST_ROLES.operator, { ...options, to: stack.addresses.presetConsumer, data });
}

function packItems(items: TestPresets["items"], beacon?: DrandRound): Hex {
  return encodePresetBatch(
    items.map(({ sourceId, args = [] }) => ({ sourceId, args: encodeArgs(args) })),
    beacon,
  );
}
