import type { Abi } from "viem";
import { describe, expect, test } from "vitest";
import * as abis from "../../../src/chainlink/contracts/abi.ts";
import { loadArtifacts } from "../../../src/chainlink/contracts/artifacts.ts";
import { contractErrorsAbi } from "../../../src/chainlink/contracts/errorsAbi.ts";
import type { ContractName } from "../../../src/chainlink/contracts/compilerInput.ts";

const artifacts = loadArtifacts();

const FRAGMENTS: Readonly<Record<ContractName, Abi>> = {
  BatchVRFCoordinatorV2: abis.batchVrfCoordinatorAbi,
  BatchVRFCoordinatorV2Plus: abis.batchVrfCoordinatorV2PlusAbi,
  BlockhashStore: abis.blockhashStoreAbi,
  FixedPriceFeed: abis.fixedPriceFeedAbi,
  FunctionsCoordinator: abis.functionsCoordinatorAbi,
  FunctionsRouter: abis.functionsRouterAbi,
  LinkToken: abis.linkTokenAbi,
  PresetConsumer: abis.presetConsumerAbi,
  PresetConsumerV2Plus: [
    ...abis.presetConsumerAbi.filter(({ type }) => type !== "constructor"),
    ...abis.presetConsumerV2PlusConstructorAbi,
  ],
  SubscriptionOwner: abis.subscriptionOwnerAbi,
  SubscriptionOwnerV2Plus: abis.subscriptionOwnerV2PlusAbi,
  VRFCoordinatorV2: abis.vrfCoordinatorAbi,
  VRFCoordinatorV2_5: abis.vrfCoordinatorV2PlusAbi,
};

describe.each(Object.entries(FRAGMENTS))("%s", (name, fragments) => {
  const compiled = new Set(artifacts[name as ContractName].abi.map(fingerprint));

  test.each(fragments.map((item) => ["name" in item ? item.name : item.type, item] as const))(
    "%s is as the compiler has it",
    (_, item) => {
      expect(compiled).toContain(fingerprint(item));
    },
  );
});

test.each([
  "PresetConsumer",
  "PresetConsumerV2Plus",
  "SubscriptionOwner",
  "SubscriptionOwnerV2Plus",
] as const)("all events and errors of %s are declared", (name) => {
  const declared = FRAGMENTS[name].filter(isOutcome).map(fingerprint);
  const compiled = artifacts[name].abi.filter(isOutcome).map(fingerprint);
  expect(new Set(declared)).toEqual(new Set(compiled));
});

test("the list of errors has those of all contracts, and no other", () => {
  const compiled = Object.values(artifacts).flatMap(({ abi }) => abi.filter(({ type }) => type === "error"));
  expect(new Set(contractErrorsAbi.map(fingerprint))).toEqual(new Set(compiled.map(fingerprint)));
});

/** Whether an item is an event or error, except ownership events, which nobody here reads. */
function isOutcome(item: Abi[number]): boolean {
  return item.type === "error" || (item.type === "event" && !item.name.startsWith("Ownership"));
}

interface Parameter {
  readonly name?: string | undefined;
  readonly type: string;
  readonly indexed?: boolean | undefined;
  readonly components?: readonly Parameter[];
}

/** Describes an ABI item without the parts that don't matter to a caller. */
function fingerprint(item: Abi[number]): string {
  const { type, name, stateMutability, inputs, outputs } = item as {
    readonly type: string;
    readonly name?: string;
    readonly stateMutability?: string;
    readonly inputs?: readonly Parameter[];
    readonly outputs?: readonly Parameter[];
  };
  return JSON.stringify([type, name, stateMutability, inputs?.map(shape), outputs?.map(shape)]);
}

function shape({ name, type, indexed, components }: Parameter): readonly unknown[] {
  return [name ?? "", type, indexed ?? false, components?.map(shape)];
}
