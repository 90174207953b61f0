import {
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiItem,
  toEventSelector,
  type AbiEvent,
  type Hex,
} from "viem";
import { expect, test } from "vitest";
import { createAddressBook } from "../../src/chainlink/addressBook.ts";
import type { StackAddresses } from "../../src/chainlink/stackPlan.ts";

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const LINK = address("11");
const OPERATOR = address("ab");
const stack = {
  ...Object.fromEntries(
    [
      "nativePriceFeed",
      "usdPriceFeed",
      "blockhashStore",
      "vrfCoordinator",
      "batchVrfCoordinator",
      "functionsRouter",
      "functionsCoordinator",
      "subscriptionOwner",
      "presetConsumer",
    ].map((role, i) => [role, address(`2${i}`)]),
  ),
  link: LINK,
} as unknown as StackAddresses;
const book = createAddressBook(stack, { [OPERATOR]: "Operator" });

test("a known address among a call's arguments has its name, and no other value", () => {
  const abi = parseAbi(["function transfer(address to, uint256 value)"]);
  const argumentsOf = (to: Hex) =>
    book.decodeCall(LINK, encodeFunctionData({ abi, args: [to, 7n] }))?.arguments;
  expect(argumentsOf(OPERATOR)).toMatchObject([{ type: "address", knownAs: "Operator" }, { value: "7" }]);
  expect(argumentsOf(address("cd"))?.map(({ knownAs }) => knownAs)).toEqual([undefined, undefined]);
  const nested = { name: "", type: "address", value: OPERATOR };
  expect(book.nameAddresses([{ name: "all", type: "address[]", value: [nested] }])).toEqual([
    { name: "all", type: "address[]", value: [{ ...nested, knownAs: "Operator" }] },
  ]);
});

test("marks amounts of LINK: the token's own, and those that are called so", () => {
  const abi = parseAbi(["function transfer(address to, uint256 value)"]);
  const data = encodeFunctionData({ abi, args: [OPERATOR, 7n] });
  const amounts = (to: Hex) => book.decodeCall(to, data)?.arguments.map(({ isJuels }) => isJuels);
  expect(amounts(LINK)).toEqual([undefined, true]);
  expect(amounts(OPERATOR)).toEqual([undefined, undefined]);
  const fulfilled = (types: string, values: readonly unknown[]) => {
    const event = parseAbiItem(`event RandomWordsFulfilled(uint256 indexed requestId, ${types})`) as AbiEvent;
    const topics = [toEventSelector(event), `0x${"07".repeat(32)}`] as const;
    const encoded = encodeAbiParameters(event.inputs.slice(1), values);
    return book.decodeEvent(stack.vrfCoordinator, { topics, data: encoded })?.fields;
  };
  const fields = fulfilled("uint256 outputSeed, uint96 payment, bool success", [1n, 2n, true]);
  expect(fields?.map(({ isJuels }) => isJuels)).toEqual([undefined, undefined, true, undefined]);
});

test("says what contracts and accounts do, and nothing of an unknown address", () => {
  expect(book.aboutOf(LINK)).toBe("The token that pays the oracle.");
  expect(book.aboutOf(OPERATOR)).toBe("An account of this service or its oracle.");
  expect(book.aboutOf(address("cd"))).toBeUndefined();
});
