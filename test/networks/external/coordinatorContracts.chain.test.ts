import { encodeAbiParameters, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChainClient } from "../../../src/evm/client.ts";
import {
  assertRouter,
  readCoordinatorContracts,
} from "../../../src/networks/external/coordinatorContracts.ts";
import { startTestStack, type TestStack } from "../../support/stack.ts";

const COORDINATOR = `0x${"c0".repeat(20)}` as const;
const ROUTER = `0x${"7f".repeat(20)}` as const;
const OTHER = `0x${"0d".repeat(20)}` as const;
const push = (address: Hex): string => `7f${"0".repeat(24)}${address.slice(2)}`;

/** Creates a chain on which these addresses hold code, and these contracts report these names. */
function chainOf(codes: Readonly<Record<Hex, string>>, names: Readonly<Record<Hex, string>>) {
  return {
    getCode: async (address: Hex) => `0x${codes[address] ?? ""}` as const,
    async call({ to }: { readonly to?: Hex }) {
      if (names[to!] === undefined) throw new Error("execution reverted");
      return encodeAbiParameters([{ type: "string" }], [names[to!]!]);
    },
  } as unknown as Pick<ChainClient, "call" | "getCode">;
}

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

test("the router of a coordinator that Chainlink compiled is read from its code", async () => {
  const { functionsCoordinator, functionsRouter } = stack.addresses;
  const found = await readCoordinatorContracts(stack.client, { coordinator: functionsCoordinator });
  expect(found).toMatchObject({
    functionsCoordinator,
    functionsRouter: functionsRouter.toLowerCase(),
    vrfCoordinator: `0x${"0".repeat(40)}`,
  });
});

test("a PresetConsumer tells its VRF contracts, and one of another router is refused", async () => {
  const { functionsCoordinator: coordinator, presetConsumer, ...others } = stack.addresses;
  const { vrfCoordinator, batchVrfCoordinator } = others;
  const found = await readCoordinatorContracts(stack.client, { coordinator, presetConsumer });
  expect(found).toMatchObject({ presetConsumer, vrfCoordinator, batchVrfCoordinator });
  for (const wrong of [OTHER, vrfCoordinator])
    await expect(
      readCoordinatorContracts(stack.client, { coordinator, presetConsumer: wrong }),
    ).rejects.toThrow("not a PresetConsumer of the FunctionsRouter");
});

test("a router that is not the coordinator's is refused", async () => {
  await assertRouter(stack.client, stack.addresses);
  const { presetConsumer: functionsRouter } = stack.addresses;
  await expect(assertRouter(stack.client, { ...stack.addresses, functionsRouter })).rejects.toThrow(
    "is not the FunctionsRouter of",
  );
});

test("of the addresses in the code it is the one that says it is a router", async () => {
  const code = `60${push(OTHER)}5b${push(OTHER)}${push(ROUTER)}`;
  const names = { [OTHER]: "Routers Anonymous v1", [ROUTER]: "Functions Router v2.0.0" };
  const chain = chainOf({ [COORDINATOR]: code, [OTHER]: "00", [ROUTER]: "00" }, names);
  expect((await readCoordinatorContracts(chain, { coordinator: COORDINATOR })).functionsRouter).toBe(ROUTER);
});

test("bytes that look like another address and reach into the router's don't hide it", async () => {
  const overlapping = `7f${"0".repeat(24)}${"ab".repeat(10)}`;
  const code = `${overlapping}${push(ROUTER)}`;
  const chain = chainOf({ [COORDINATOR]: code, [ROUTER]: "00" }, { [ROUTER]: "Functions Router v2.0.0" });
  expect((await readCoordinatorContracts(chain, { coordinator: COORDINATOR })).functionsRouter).toBe(ROUTER);
});

test.each<[string, string, Readonly<Record<Hex, string>>, RegExp]>([
  ["without code", "", {}, /holds no code; correct the network's coordinator or rpcUrls/],
  ["that names no address", "6000", {}, /names no FunctionsRouter/],
  ["that names an account without code", push(ROUTER), {}, /names no FunctionsRouter/],
  ["that names another contract", push(ROUTER), { [ROUTER]: "00" }, /names no FunctionsRouter/],
])("an address %s is no coordinator", async (_, code, others, why) => {
  const chain = chainOf({ [COORDINATOR]: code, ...others }, {});
  await expect(readCoordinatorContracts(chain, { coordinator: COORDINATOR })).rejects.toThrow(why);
});
