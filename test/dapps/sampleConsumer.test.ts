import { concat, pad, toEventSelector, toFunctionSelector, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { createAddressBook } from "../../src/chainlink/addressBook.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import { VRF_VERSIONS } from "../../src/domain/vocabulary.ts";
import {
  formatSampleConsumer,
  formatSampleFunctionsConsumer,
  NoSubscriptionError,
} from "../../src/dapps/sampleConsumer.ts";
import { compileSolidity } from "../support/solidity.ts";
import type { NetworkConfigVars } from "../../src/dapps/configVars.ts";
import { ADDRESS, VARS } from "./support/configVars.ts";

const STACK_ROLES = [
  ..."link nativePriceFeed usdPriceFeed blockhashStore vrfCoordinator batchVrfCoordinator functionsRouter".split(
    " ",
  ),
  ..."functionsCoordinator subscriptionOwner presetConsumer".split(" "),
];

test.each(VRF_VERSIONS)(
  "the contract for VRF %s compiles alone, with every value filled in",
  (vrfVersion) => {
    const source = formatSampleConsumer("dapp_1", {
      ...VARS,
      contracts: { vrfCoordinator: ADDRESS, vrfVersion },
    });
    for (const value of [ADDRESS, VARS.keyHash, "SUBSCRIPTION_ID = 7;"]) expect(source).toContain(value);
    expect(source).not.toMatch(/^import /m);
    const { abi, bytecode } = compileSolidity("Dice", source);
    expect(abi.map((one) => ("name" in one ? one.name : one.type))).toContain("roll");
    expect(bytecode.length).toBeGreaterThan(1_000);
  },
);

test.each(VRF_VERSIONS)("the explorer decodes every event of the contract for VRF %s", (vrfVersion) => {
  const contracts = { vrfCoordinator: ADDRESS, vrfVersion } as const;
  const { abi } = compileSolidity("Dice", formatSampleConsumer("dapp_1", { ...VARS, contracts }));
  const stack = Object.fromEntries(STACK_ROLES.map((role) => [role, zeroAddress]));
  const book = createAddressBook(stack as unknown as StackAddresses, {});
  for (const event of abi.filter((item) => item.type === "event")) {
    const indexed = event.inputs.filter((input) => input.indexed).map(() => pad("0x05"));
    const data = concat(["0x", ...event.inputs.filter((input) => !input.indexed).map(() => pad("0x05"))]);
    const topics = [toEventSelector(event), ...indexed];
    const decoded = book.decodeEvent(ADDRESS, { topics, data });
    expect(decoded?.event).toBe(event.name);
    expect(decoded?.fields.map(({ name }) => name)).toEqual(event.inputs.map(({ name }) => name));
  }
  expect(book.methodOf(ADDRESS, toFunctionSelector("roll()"))).toBe("roll");
});

test("the contract that asks a function compiles alone, with every value filled in", () => {
  const source = formatSampleFunctionsConsumer("dapp_1", VARS);
  for (const value of [ADDRESS, VARS.donIdBytes32, "SUBSCRIPTION_ID = 8;"]) expect(source).toContain(value);
  expect(source).not.toMatch(/^import /m);
  expect(compileSolidity("Sum", source).bytecode.length).toBeGreaterThan(1_000);
});

test("there is none while the dapp has no subscriptions", () => {
  const entries = Object.entries(VARS).filter(([name]) => !name.endsWith("SubscriptionId"));
  const vars = Object.fromEntries(entries) as unknown as NetworkConfigVars;
  expect(() => formatSampleConsumer("dapp_1", vars)).toThrow(NoSubscriptionError);
  expect(() => formatSampleFunctionsConsumer("dapp_1", vars)).toThrow(NoSubscriptionError);
});
