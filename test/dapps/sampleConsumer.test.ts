import { concat, pad, toEventSelector, toFunctionSelector, zeroAddress } from "viem";
import { expect, test } from "vitest";
import { createAddressBook } from "../../src/chainlink/addressBook.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";
import { VRF_VERSIONS } from "../../src/chainlink/vrfVersion.ts";
import { formatSampleConsumer, NoSubscriptionError } from "../../src/dapps/sampleConsumer.ts";
import { compileSolidity } from "../support/solidity.ts";
import type { NetworkConfigVars } from "../../src/dapps/configVars.ts";

const STACK_ROLES = [
  ..."link nativePriceFeed usdPriceFeed blockhashStore vrfCoordinator batchVrfCoordinator functionsRouter".split(
    " ",
  ),
  ..."functionsCoordinator subscriptionOwner presetConsumer".split(" "),
];
const ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const VARS = {
  network: "sepolia",
  title: "Ethereum Sepolia",
  chainId: 11_155_111,
  contracts: { vrfCoordinator: ADDRESS },
  keyHash: `0x${"12".repeat(32)}`,
  vrfSubscriptionId: "7",
  donId: "don",
  donIdBytes32: `0x${"00".repeat(32)}`,
  consumers: [],
} as const satisfies NetworkConfigVars;

test.each(VRF_VERSIONS)(
  "default: the contract for VRF %s compiles alone, with every value filled in",
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

test.each(VRF_VERSIONS)(
  "behaviour: the explorer decodes every event of the contract for VRF %s",
  (vrfVersion) => {
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
  },
);

test("error: there is none while the dapp has no subscriptions", () => {
  const entries = Object.entries(VARS).filter(([name]) => name !== "vrfSubscriptionId");
  const vars = Object.fromEntries(entries) as unknown as NetworkConfigVars;
  expect(() => formatSampleConsumer("dapp_1", vars)).toThrow(NoSubscriptionError);
});
