import { encodeFunctionData, getContractAddress, stringToHex, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  functionsRouterAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import { encodeTimeouts } from "../../src/chainlink/functionsTimeout.ts";
import type { Receipt } from "../../src/evm/client.ts";
import { createNodeArchive } from "../../src/explorer/chainArchive.ts";
import { createExplorer, type Explorer } from "../../src/explorer/explorer.ts";
import { testAccount } from "../support/anvil.ts";
import { provisionDapp, type TestDapp } from "../support/consumer.ts";
import { deliverWords, eventsOf } from "../support/delivery.ts";
import { compileSolidity } from "../support/solidity.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import { startVerifyWorld, type VerifyWorld } from "../verify/support/world.ts";

const LINK = 10n ** 18n;
/** Key hash that no coordinator has a key of. */
const UNKNOWN_KEY_HASH: Hex = `0x${"ab".repeat(32)}`;
/** A caller's own contract, which passes on what it is told to ask for. */
const CONSUMER = `
pragma solidity 0.8.19;
contract Consumer {
  function ask(address to, bytes calldata data) external {
    (bool success, bytes memory answer) = to.call(data);
    if (!success) assembly { revert(add(answer, 32), mload(answer)) }
  }
  function rawFulfillRandomWords(uint256, uint256[] calldata) external {}
}`;
const { abi, bytecode } = compileSolidity("Consumer", CONSUMER);
const caller = testAccount(7);
const addressOf = (nonce: bigint): Hex => getContractAddress({ from: caller.address, nonce });
const consumer = addressOf(0n);
const stranger = addressOf(1n);

let world: VerifyWorld;
let explorer: Explorer;
beforeAll(async () => {
  world = await startVerifyWorld();
  const { client, addresses: contracts, chainId } = world;
  // At the addresses of `consumer` and of `stranger`.
  await world.send(caller, { data: bytecode });
  await world.send(caller, { data: bytecode });
  const archive = createNodeArchive(client);
  const named = { network: "test", title: "Test", chainId, isEmbedded: true };
  const chain = { ...named, archive, client, contracts, accounts: {} };
  explorer = createExplorer(new Map([["test", () => chain]]));
});
afterAll(() => world.close());

const link = (dapp: TestDapp, address = consumer) =>
  world.send(TEST_ROLES.operator, {
    to: world.addresses.subscriptionOwner,
    data: encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "addConsumer",
      args: [dapp.vrfSubId, dapp.functionsSubId, address],
    }),
  });
const ask = (from: Hex, to: Hex, data: Hex) =>
  world.send(caller, {
    to: from,
    data: encodeFunctionData({ abi, functionName: "ask", args: [to, data] }),
  });
const requestWords = (
  dapp: TestDapp,
  { keyHash = TEST_PROVING_KEY.keyHash, confirmations = 1, from = consumer } = {},
) =>
  ask(
    from,
    world.addresses.vrfCoordinator,
    encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args: [keyHash, dapp.vrfSubId, confirmations, 20_000, 1],
    }),
  );
const requestFunction = (dapp: TestDapp) =>
  ask(
    consumer,
    world.addresses.functionsRouter,
    encodeFunctionData({
      abi: functionsRouterAbi,
      functionName: "sendRequest",
      args: [
        dapp.functionsSubId,
        toHex(encodeFunctionsRequest({ source: "return Functions.encodeUint256(1)", args: [] })),
        1,
        100_000,
        stringToHex("fun-test-1", { size: 32 }),
      ],
    }),
  );
const idsOf = ({ vrfSubId, functionsSubId }: TestDapp) => ({ vrf: vrfSubId, functions: functionsSubId });

/** What explorer, the list of the dapp's own requests, and the verification say of a request. */
async function readReasons(dapp: TestDapp, { transactionHash }: Receipt) {
  const view = await explorer.findTransaction("test", transactionHash);
  const waiting = await explorer.findWaiting("test", idsOf(dapp));
  const { verdict, requests } = await world.verify(transactionHash);
  const open = requests[0]!.steps.find(({ name }) => name === "proof" || name === "delivery");
  return {
    explorer: [...view!.randomRequests, ...view!.functionRequests][0]!.waitsFor,
    list: waiting.find((one) => one.transactionHash === transactionHash)?.waitsFor,
    verdict,
    verified: open?.detail.replace(/^there is no (VRF proof|report) on chain yet: /, ""),
  };
}
const everywhere = (reason: unknown) => ({
  explorer: reason,
  list: reason,
  verdict: "incomplete",
  verified: reason,
});

describe("a request of a caller's own contract says why it waits", () => {
  let dapp: TestDapp;
  beforeAll(async () => {
    dapp = await provisionDapp(world, "waits");
    await link(dapp);
  });

  test("default: for a key hash that the coordinator doesn't know", async () => {
    const request = await requestWords(dapp, { keyHash: UNKNOWN_KEY_HASH });
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(
        `this coordinator has no proving key with the key hash ${UNKNOWN_KEY_HASH}, so nobody can answer; registered: ${TEST_PROVING_KEY.keyHash}`,
      ),
    );
  });

  test("behaviour: for confirmations", async () => {
    const request = await requestWords(dapp, { confirmations: 100 });
    expect(await readReasons(dapp, request)).toEqual(everywhere("waiting for confirmation 1 of 100"));
  });

  test("behaviour: for LINK", async () => {
    const poor = await provisionDapp(world, "poor", { vrfJuels: LINK / 10n });
    await link(poor);
    const request = await requestWords(poor);
    // (20,000 + 200,000) gas × 1 gwei at 0.005 a LINK is 0.044 LINK, and the fee 0.25.
    expect(await readReasons(poor, request)).toEqual(
      everywhere(
        `VRF subscription ${poor.vrfSubId} is short of LINK: it holds 0.1, and these words may cost about 0.294; fund it`,
      ),
    );
  });

  test("behaviour: for a contract that is none", async () => {
    await link(dapp, caller.address);
    const args = [TEST_PROVING_KEY.keyHash, dapp.vrfSubId, 1, 20_000, 1] as const;
    const data = encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args,
    });
    const request = await world.send(caller, { to: world.addresses.vrfCoordinator, data });
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(`the consumer ${caller.address} has no code, so the coordinator refuses every answer`),
    );
  });

  test("behaviour: for the oracle alone", async () => {
    const request = await requestWords(dapp);
    expect(await readReasons(dapp, request)).toEqual(
      everywhere("nothing on the chain keeps the oracle from answering; it has not done so yet"),
    );
    await deliverWords(world, request);
    const view = await explorer.findTransaction("test", request.transactionHash);
    expect(view!.randomRequests[0]!.waitsFor).toBeUndefined();
    const waiting = await explorer.findWaiting("test", idsOf(dapp));
    expect(waiting.map(({ transactionHash }) => transactionHash)).not.toContain(request.transactionHash);
  });

  test("behaviour: for a report, until its timeout, and after it", async () => {
    const request = await requestFunction(dapp);
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(expect.stringMatching(/^no report of the oracle yet; it may come until \d{4}-.*Z$/)),
    );
    await world.client.request("evm_increaseTime", [600]);
    await world.client.request("anvil_mine", ["0x1"]);
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(expect.stringMatching(/^it has timed out: no report came before /)),
    );
    const [{ commitment } = { commitment: "0x" }] = eventsOf(request, "OracleRequest");
    const data = encodeTimeouts([commitment as Hex]);
    await world.send(caller, { to: world.addresses.functionsRouter, data });
    const reason = "it has timed out, and was taken off without a result";
    expect(await readReasons(dapp, request)).toEqual({ ...everywhere(reason), list: undefined });
  });
});

test("behaviour: a request of a contract that is not linked reverted, and says so decoded", async () => {
  const dapp = await provisionDapp(world, "unlinked");
  const { transactionHash } = await requestWords(dapp, { from: stranger });
  const reason = `InvalidConsumer(${dapp.vrfSubId}, ${stranger})`;
  const view = await explorer.findTransaction("test", transactionHash);
  expect(view).toMatchObject({
    status: "reverted",
    revertReason: expect.stringMatching(new RegExp(`^${reason.replace(/[()]/g, "\\$&")}$`, "i")),
  });
  await expect(world.verify(transactionHash)).rejects.toThrow(
    /reverted, so it holds no request of the oracle: InvalidConsumer\(/,
  );
});

test("behaviour: requests of the service's own consumer are not listed among those of callers' contracts", async () => {
  const dapp = await provisionDapp(world, "served");
  await world.submit({ randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 1 }] });
  expect(await explorer.findWaiting("test", idsOf(dapp))).toEqual([]);
});
