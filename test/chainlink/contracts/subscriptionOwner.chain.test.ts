import { bytesToHex, encodeFunctionData, stringToHex, zeroAddress, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { MAX_CONSUMERS } from "../../../src/chainlink/limits.ts";
import {
  functionsRouterAbi,
  linkTokenAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
} from "../../../src/chainlink/contracts/abi.ts";
import { loadArtifacts } from "../../../src/chainlink/contracts/artifacts.ts";
import { consentMessage } from "../../../src/chainlink/secretsConsent.ts";
import type { Account } from "../../../src/evm/account.ts";
import { testAccount } from "../../support/anvil.ts";
import { provisionDapp, storeSource, submit } from "../../support/consumer.ts";
import { deliverReports, deliverResults, deliverWords, eventsOf, reportOf } from "../../support/delivery.ts";
import { revertOf } from "../../support/reverts.ts";
import { TEST_ROLES, startTestStack, type TestStack } from "../../support/stack.ts";

const LINK = 10n ** 18n;
const STRANGER = testAccount(9);
const address = (n: number): Hex => `0x${n.toString(16).padStart(40, "c")}`;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

test("one account at a time is the signer of secrets of a subscription, and of none that is closed", async () => {
  const dapps = [await provisionDapp(stack, "secrets"), await provisionDapp(stack, "other secrets")];
  const [first, second] = dapps.map(({ functionsSubId }) => functionsSubId) as [bigint, bigint];
  const [one, two] = [testAccount(7), testAccount(8)];
  const name = async (subscriptionId: bigint, signer: Account, number = 0n) => {
    const { chainId, addresses } = stack;
    const { subscriptionOwner } = addresses;
    const message = consentMessage({
      chainId,
      subscriptionOwner,
      subscriptionId,
      number,
      signer: signer.address,
    });
    const signature = await signer.signMessage(Buffer.from(message));
    const { succeeded } = await call(encode("setSecretsSigner", [subscriptionId, signer.address, signature]));
    expect(succeeded).toBe(true);
  };
  const countSigned = () =>
    Promise.all(
      [one, two].map(({ address }) =>
        stack.viem.readContract({
          address: stack.addresses.subscriptionOwner,
          abi: subscriptionOwnerAbi,
          functionName: "signedFor",
          args: [address],
        }),
      ),
    );
  await name(first, one);
  await name(second, one);
  expect(await countSigned()).toEqual([2n, 0n]);
  await name(first, two);
  await name(first, two, 1n);
  expect(await countSigned()).toEqual([1n, 1n]);
  await call(encode("setSecretsSigner", [first, zeroAddress, "0x"]));
  expect(await countSigned()).toEqual([1n, 0n]);
  await call(encode("close", [id("other secrets"), address(52)]));
  expect(await countSigned()).toEqual([0n, 0n]);
});

describe("provision", () => {
  test("both subscriptions exist, funded, with the consumer", async () => {
    const dapp = await provisionDapp(stack, "a", { vrfJuels: 3n * LINK, functionsJuels: 4n * LINK });
    const { presetConsumer, subscriptionOwner } = stack.addresses;
    expect(await readVrf(dapp.vrfSubId)).toEqual([3n * LINK, 0n, subscriptionOwner, [presetConsumer]]);
    expect(await readFunctions(dapp.functionsSubId)).toMatchObject({
      balance: 4n * LINK,
      owner: subscriptionOwner,
      consumers: [presetConsumer],
    });
  });

  test("a second time changes nothing and tells the same ids", async () => {
    const first = await provisionDapp(stack, "b");
    const again = await call(encode("provision", [id("b"), 7n * LINK, 7n * LINK, address(1)]));
    expect(again.logs.length).toBe(1);
    expect(eventsOf(again, "Provisioned")).toEqual([{ ...first, created: false }]);
    expect((await readVrf(first.vrfSubId))[0]).toBe(1_000n * LINK);
    expect((await readFunctions(first.functionsSubId)).consumers).toEqual([stack.addresses.presetConsumer]);
  });

  test("each dapp has subscriptions of its own", async () => {
    const [one, two] = [await provisionDapp(stack, "c"), await provisionDapp(stack, "d")];
    expect(one.vrfSubId).not.toBe(two.vrfSubId);
    expect(one.functionsSubId).not.toBe(two.functionsSubId);
    expect(
      await stack.viem.readContract({
        address: stack.addresses.subscriptionOwner,
        abi: subscriptionOwnerAbi,
        functionName: "subscriptionsOf",
        args: [id("d")],
      }),
    ).toEqual([two.vrfSubId, two.functionsSubId]);
  });

  test("without funds the subscriptions are empty", async () => {
    const dapp = await provisionDapp(stack, "empty", { vrfJuels: 0n, functionsJuels: 0n });
    expect((await readVrf(dapp.vrfSubId))[0]).toBe(0n);
    expect((await readFunctions(dapp.functionsSubId)).balance).toBe(0n);
  });

  test("more LINK than there is", async () => {
    const data = encode("provision", [id("e"), 2n * 10n ** 26n, 0n, address(1)]);
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe("ERC20: transfer amount exceeds balance");
  });
});

describe("fund", () => {
  test.each([
    ["both", 5n, 6n],
    ["words alone", 5n, 0n],
    ["functions alone", 0n, 6n],
  ])("%s", async (name, vrfJuels, functionsJuels) => {
    const dapp = await provisionDapp(stack, `fund ${name}`, { vrfJuels: 1n, functionsJuels: 1n });
    await call(encode("fund", [dapp.vrfSubId, vrfJuels, dapp.functionsSubId, functionsJuels]));
    expect((await readVrf(dapp.vrfSubId))[0]).toBe(1n + vrfJuels);
    expect((await readFunctions(dapp.functionsSubId)).balance).toBe(1n + functionsJuels);
  });

  test("a subscription that does not exist", async () => {
    const data = encode("fund", [9_999n, 1n, 0n, 0n]);
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe("InvalidSubscription()");
  });
});

describe("consumers", () => {
  test("one is added to both subscriptions, and removed from both", async () => {
    const dapp = await provisionDapp(stack, "consumers");
    const args = [dapp.vrfSubId, dapp.functionsSubId, address(7)] as const;
    await call(encode("addConsumer", args));
    const both = [stack.addresses.presetConsumer.toLowerCase(), address(7)];
    expect(await consumersOf(dapp)).toEqual([both, both]);
    await call(encode("removeConsumer", args));
    expect(await consumersOf(dapp)).toEqual([both.slice(0, 1), both.slice(0, 1)]);
  });

  test("adding one twice changes nothing", async () => {
    const dapp = await provisionDapp(stack, "twice");
    const args = [dapp.vrfSubId, dapp.functionsSubId, address(7)] as const;
    await call(encode("addConsumer", args));
    const again = await call(encode("addConsumer", args));
    expect([again.succeeded, again.logs.length]).toEqual([true, 0]);
  });

  test("refuses the 101st consumer", async () => {
    const dapp = await provisionDapp(stack, "full");
    for (let n = 1; n < MAX_CONSUMERS; n++) {
      await call(encode("addConsumer", [dapp.vrfSubId, dapp.functionsSubId, address(n)]));
    }
    expect((await readVrf(dapp.vrfSubId))[3].length).toBe(100);
    const data = encode("addConsumer", [dapp.vrfSubId, dapp.functionsSubId, address(100)]);
    expect(await revertOf(stack, { ...fromOperator(), data })).toBe("TooManyConsumers()");
  });

  test("none is removed while words or functions are on their way", async () => {
    const dapp = await provisionDapp(stack, "pending");
    const { vrfSubId, functionsSubId } = dapp;
    const sourceId = await storeSource(stack, "return 'pending'");
    const removal = encode("removeConsumer", [vrfSubId, functionsSubId, stack.addresses.presetConsumer]);
    const reason = () => revertOf(stack, { ...fromOperator(), data: removal });
    const preset = await submit(stack, { presets: [{ dapp, items: [{ sourceId }] }] });
    expect(await reason()).toBe("PendingRequestExists()");
    await deliverWords(stack, preset);
    expect(await reason()).toBeUndefined();
    const data = bytesToHex(encodeFunctionsRequest({ source: "return 'pending'" }));
    const asked = await submit(stack, { functions: [{ functionsSubId, data }] });
    expect(await reason()).toBe("CannotRemoveWithPendingRequests()");
    await deliverResults(stack, asked);
    expect(await reason()).toBeUndefined();
    // A preset's word is there already: its report asks nothing of the subscriptions.
    await call(removal);
    expect(
      eventsOf(await deliverReports(stack, await reportOf(stack, preset)), "BatchReported"),
    ).toHaveLength(1);
  });
});

describe("close and withdraw", () => {
  test("what is left of the LINK goes to the one named, and the dapp can be provisioned anew", async () => {
    const dapp = await provisionDapp(stack, "closing", { vrfJuels: 3n, functionsJuels: 4n });
    const closed = await call(encode("close", [id("closing"), address(50)]));
    expect(eventsOf(closed, "Closed")).toMatchObject([{ dapp: id("closing"), to: address(50) }]);
    expect(await balanceOf(address(50))).toBe(7n);
    const anew = await provisionDapp(stack, "closing");
    expect(anew.vrfSubId).toBeGreaterThan(dapp.vrfSubId);
  });

  test("LINK that lies in no subscription can be taken out", async () => {
    await call(encode("withdraw", [address(51), 5n]));
    expect(await balanceOf(address(51))).toBe(5n);
  });

  test("a dapp that was never provisioned", async () => {
    expect(await revertOf(stack, { ...fromOperator(), data: encode("close", [id("?"), address(1)]) })).toBe(
      `UnknownDapp(${id("?")})`,
    );
  });
});

describe("access", () => {
  test.each([
    ["provision", encode("provision", [id("x"), 0n, 0n, address(1)])],
    ["fund", encode("fund", [1n, 0n, 1n, 0n])],
    ["addConsumer", encode("addConsumer", [1n, 1n, address(1)])],
    ["removeConsumer", encode("removeConsumer", [1n, 1n, address(1)])],
    ["close", encode("close", [id("a"), address(1)])],
    ["withdraw", encode("withdraw", [address(1), 1n])],
    ["setSecretsSigner", encode("setSecretsSigner", [1n, address(1), "0x"])],
  ] as const)("only the operator calls %s", async (_, data) => {
    expect(await revertOf(stack, { ...fromOperator(), from: STRANGER.address, data })).toBe(
      "Only callable by owner",
    );
  });

  test("ownership passes once the new owner has accepted it", async () => {
    const { abi } = loadArtifacts().SubscriptionOwner;
    const transfer = (to: Hex) => encodeFunctionData({ abi, functionName: "transferOwnership", args: [to] });
    const accept = encodeFunctionData({ abi, functionName: "acceptOwnership" });
    const withdraw = encode("withdraw", [address(1), 1n]);
    await call(transfer(STRANGER.address));
    expect(await revertOf(stack, { ...fromOperator(), from: STRANGER.address, data: withdraw })).toBe(
      "Only callable by owner",
    );
    const to = stack.addresses.subscriptionOwner;
    expect((await stack.send(STRANGER, { to, data: accept })).succeeded).toBe(true);
    expect(await revertOf(stack, { ...fromOperator(), data: withdraw })).toBe("Only callable by owner");
    await stack.send(STRANGER, { to, data: transfer(TEST_ROLES.operator.address) });
    await call(accept);
    expect(await revertOf(stack, { ...fromOperator(), data: withdraw })).toBeUndefined();
  });
});

type OwnerCall = Parameters<typeof encodeFunctionData<typeof subscriptionOwnerAbi>>[0];

function encode(functionName: NonNullable<OwnerCall["functionName"]>, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: subscriptionOwnerAbi, functionName, args } as OwnerCall);
}

function id(name: string): Hex {
  return stringToHex(name, { size: 32 });
}

function fromOperator(): { readonly from: Hex; readonly to: Hex } {
  return { from: TEST_ROLES.operator.address, to: stack.addresses.subscriptionOwner };
}

async function call(data: Hex) {
  return stack.send(TEST_ROLES.operator, { to: stack.addresses.subscriptionOwner, data });
}

async function readVrf(subId: bigint) {
  return stack.viem.readContract({
    address: stack.addresses.vrfCoordinator,
    abi: vrfCoordinatorAbi,
    functionName: "getSubscription",
    args: [subId],
  });
}

async function readFunctions(subscriptionId: bigint) {
  return stack.viem.readContract({
    address: stack.addresses.functionsRouter,
    abi: functionsRouterAbi,
    functionName: "getSubscription",
    args: [subscriptionId],
  });
}

/** Returns the consumers of both subscriptions in lower case. */
async function consumersOf(dapp: { readonly vrfSubId: bigint; readonly functionsSubId: bigint }) {
  const lists = [(await readVrf(dapp.vrfSubId))[3], (await readFunctions(dapp.functionsSubId)).consumers];
  return lists.map((list) => list.map((consumer) => consumer.toLowerCase()));
}

async function balanceOf(account: Hex): Promise<bigint> {
  return stack.viem.readContract({
    address: stack.addresses.link,
    abi: linkTokenAbi,
    functionName: "balanceOf",
    args: [account],
  });
}
