import { encodeFunctionData, getContractAddress, stringToHex, toHex, type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  functionsRouterAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import type { RecordedCallback } from "../../src/chainlink/failedCallbacks.ts";
import { deriveWords } from "../../src/chainlink/fulfilmentWords.ts";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import { encodeTimeouts } from "../../src/chainlink/functionsTimeout.ts";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { createNodeArchive } from "../../src/explorer/chainArchive.ts";
import { createChainExplorer, type Explorer } from "../../src/explorer/explorer.ts";
import { parseCursor, type ListCursor } from "../../src/explorer/lists.ts";
import { testAccount } from "../support/anvil.ts";
import { provisionDapp, type TestDapp } from "../support/consumer.ts";
import { deliverResults, deliverWords, eventsOf } from "../support/delivery.ts";
import { untilStored } from "../support/readLogs.ts";
import { compileSolidity } from "../support/solidity.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import { startVerifyWorld, type VerifyWorld } from "../verify/support/world.ts";

const LINK = 10n ** 18n;
/** A key hash that no coordinator knows. */
const UNKNOWN_KEY_HASH: Hex = `0x${"ab".repeat(32)}`;
/** A caller's own contract, which forwards the request it is told to make. */
const CONSUMER = `
pragma solidity 0.8.19;
contract Consumer {
  function ask(address to, bytes calldata data, uint256 times) external {
    for (; times > 0; times--) {
      (bool success, bytes memory answer) = to.call(data);
      if (!success) assembly { revert(add(answer, 32), mload(answer)) }
    }
  }
  function rawFulfillRandomWords(uint256, uint256[] calldata words) external view {
    require(words.length < 3, "too many words");
  }
  function handleOracleFulfillment(bytes32, bytes calldata response, bytes calldata) external pure {
    while (response.length == 34) {}
    require(response.length < 33, "too long");
  }
}`;
const { abi, bytecode } = compileSolidity("Consumer", CONSUMER);
const caller = testAccount(7);
const addressOf = (nonce: bigint): Hex => getContractAddress({ from: caller.address, nonce });
const consumer = addressOf(0n);
const stranger = addressOf(1n);

let world: VerifyWorld;
let explorer: Explorer;
const recorded: RecordedCallback[] = [];
const oracleReasons = new Map<Hex, string>();
beforeAll(async () => {
  world = await startVerifyWorld();
  const { client, addresses: contracts, chainId } = world;
  // Deployed at the addresses `consumer` and `stranger`.
  await world.send(caller, { data: bytecode });
  await world.send(caller, { data: bytecode });
  const archive = createNodeArchive(client, { isEmbedded: true });
  const named = { network: "test", title: "Test", chainId, coin: "ETH", isEmbedded: true };
  const findRecordedCallbacks = async () => recorded;
  const findOracleReason = (requestId: Hex) => oracleReasons.get(requestId);
  const facts = { archive, client, contracts, accounts: {} };
  const chain = { ...named, ...facts, findRecordedCallbacks, findOracleReason };
  explorer = createChainExplorer(new Map([["test", () => chain]]));
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
const ask = (from: Hex, to: Hex, data: Hex, times = 1) =>
  world.send(caller, {
    to: from,
    data: encodeFunctionData({ abi, functionName: "ask", args: [to, data, BigInt(times)] }),
  });
const requestWords = (
  dapp: TestDapp,
  {
    keyHash = TEST_PROVING_KEY.keyHash,
    confirmations = 1,
    from = consumer,
    numWords = 1,
    times = 1,
    callbackGas = 20_000,
  } = {},
) =>
  ask(
    from,
    world.addresses.vrfCoordinator,
    encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args: [keyHash, dapp.vrfSubId, confirmations, callbackGas, numWords],
    }),
    times,
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
const view = async (hash: Hex) => {
  await untilStored(world.client);
  return (await explorer.findTransaction("test", hash))!;
};
const readPage = async (dapp: TestDapp, before?: ListCursor) => {
  await untilStored(world.client);
  return (await explorer.findContractRequests("test", idsOf(dapp), before))!;
};
const idsOf = ({ vrfSubId, functionsSubId }: TestDapp) => ({ vrf: vrfSubId, functions: functionsSubId });

/** Returns what the explorer, the list of the dapp's own requests, and the verification say about a request. */
async function readReasons(dapp: TestDapp, { transactionHash }: Receipt) {
  const { randomRequests, functionRequests } = await view(transactionHash);
  const { items } = await readPage(dapp);
  const { verdict, requests } = await world.verify(transactionHash);
  const open = requests[0]!.steps.find(({ name }) => name === "proof" || name === "delivery");
  return {
    explorer: [...randomRequests, ...functionRequests][0]!.waitsFor,
    list: items.find((one) => one.transactionHash === transactionHash)?.waitsFor,
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

  test("for a key hash that the coordinator doesn't know", async () => {
    const request = await requestWords(dapp, { keyHash: UNKNOWN_KEY_HASH });
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(
        `this coordinator has no proving key with the key hash ${UNKNOWN_KEY_HASH}, so nobody can answer; registered: ${TEST_PROVING_KEY.keyHash}`,
      ),
    );
  });

  test("for confirmations", async () => {
    const request = await requestWords(dapp, { confirmations: 100 });
    expect(await readReasons(dapp, request)).toEqual(everywhere("waiting for confirmation 1 of 100"));
  });

  test("says how much LINK the subscription is short of", async () => {
    const poor = await provisionDapp(world, "poor", { vrfJuels: LINK / 10n });
    await link(poor);
    const request = await requestWords(poor);
    // (20,000 + 200,000) gas × 1 gwei at 0.005 per LINK is 0.044 LINK, a quarter more is 0.055, and the fee is 0.25.
    expect(await readReasons(poor, request)).toEqual(
      everywhere(
        `VRF subscription ${poor.vrfSubId} is short of LINK: it holds 0.1, and these words may cost 0.305; fund it`,
      ),
    );
  });

  test("for a contract that is none", async () => {
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

  test("for the oracle alone", async () => {
    const request = await requestWords(dapp);
    expect(await readReasons(dapp, request)).toEqual(
      everywhere("nothing on the chain keeps the oracle from answering; it has not done so yet"),
    );
    await deliverWords(world, request);
    expect((await view(request.transactionHash)).randomRequests[0]!.waitsFor).toBeUndefined();
  });

  test("names what the chain's own oracle says", async () => {
    const request = await requestWords(dapp);
    const { requestId } = (await readPage(dapp)).items[0]!;
    oracleReasons.set(requestId, "its callback is too large");
    const reason = "the oracle has not answered yet: its callback is too large";
    expect(await readReasons(dapp, request)).toMatchObject({ explorer: reason, list: reason });
  });

  test("for a report, until its timeout, and after it", async () => {
    const request = await requestFunction(dapp);
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(expect.stringMatching(/^no report from the oracle yet; one may arrive until \d{4}-.*Z$/)),
    );
    await world.client.request("evm_increaseTime", [600]);
    await world.client.request("anvil_mine", ["0x1"]);
    expect(await readReasons(dapp, request)).toEqual(
      everywhere(expect.stringMatching(/^it has timed out: no report arrived before /)),
    );
    const [{ commitment } = { commitment: "0x" }] = eventsOf(request, "OracleRequest");
    const data = encodeTimeouts([commitment as Hex]);
    await world.send(caller, { to: world.addresses.functionsRouter, data });
    const reason = "it timed out and was removed without a result";
    expect(await readReasons(dapp, request)).toEqual({
      ...everywhere(reason),
      explorer: undefined,
      list: undefined,
    });
    expect((await view(request.transactionHash)).functionRequests[0]!.isTimedOut).toBe(true);
    const { items } = await readPage(dapp);
    const { transactionHash } = request;
    expect(items.find((one) => one.transactionHash === transactionHash)).toMatchObject({
      kind: "function",
      state: "failed",
      error: reason,
    });
  });
});

test("a request of a contract that is not linked reverted, and says so decoded", async () => {
  const dapp = await provisionDapp(world, "unlinked");
  const { transactionHash } = await requestWords(dapp, { from: stranger });
  const reason = `InvalidConsumer(${dapp.vrfSubId}, ${stranger})`;
  expect(await view(transactionHash)).toMatchObject({
    status: "reverted",
    revertReason: expect.stringMatching(new RegExp(`^${reason.replace(/[()]/g, "\\$&")}$`, "i")),
  });
  await expect(world.verify(transactionHash)).rejects.toThrow(
    /reverted, so it holds no request of the oracle: InvalidConsumer\(/,
  );
});

describe("what a caller's own contracts requested", () => {
  let dapp: TestDapp;
  beforeEach(async () => {
    dapp = await provisionDapp(world, `lists ${crypto.randomUUID().slice(0, 8)}`);
    await link(dapp);
  });

  test("answered ones have their result, and those who ask and answer", async () => {
    const words = await requestWords(dapp, { numWords: 2 });
    const proof = await deliverWords(world, words);
    const run = await requestFunction(dapp);
    const report = await deliverResults(world, run, { response: `0x${"00".repeat(31)}2a` });
    const { items, searched, older } = await readPage(dapp);
    const [asked] = eventsOf(words, "RandomWordsRequested");
    const [delivered] = eventsOf(proof, "RandomWordsFulfilled");
    const common = { consumer: { address: consumer }, state: "fulfilled", at: expect.stringMatching(/Z$/) };
    const head = String(report.blockNumber);
    expect({ items, searched, older }).toEqual({
      items: [
        {
          ...common,
          kind: "function",
          title: "Function “return Functions.encodeUint256(1)”",
          requestId: eventsOf(run, "OracleRequest")[0]!.requestId,
          blockNumber: String(run.blockNumber),
          transactionHash: run.transactionHash,
          answeredBy: report.transactionHash,
          response: `0x${"00".repeat(31)}2a`,
          readings: { uint256: "42", int256: "42" },
        },
        {
          ...common,
          kind: "random",
          requestId: asked!.requestId,
          blockNumber: String(words.blockNumber),
          transactionHash: words.transactionHash,
          answeredBy: proof.transactionHash,
          numWords: 2,
          words: deriveWords(delivered!.outputSeed, 2).map(String),
        },
      ],
      searched: { from: "0", to: head },
      older: null,
    });
  });

  test("says why callbacks failed, also when the function's log doesn't", async () => {
    const words = await requestWords(dapp, { numWords: 3 });
    const proof = await deliverWords(world, words);
    await deliverWords(world, await requestWords(dapp, { numWords: 3, callbackGas: 300 }));
    await deliverResults(world, await requestFunction(dapp), { response: `0x${"01".repeat(33)}` });
    const run = await requestFunction(dapp);
    const report = await deliverResults(world, run, { response: `0x${"01".repeat(34)}` });
    const { items } = await readPage(dapp);
    const outOfGas = "out of gas: all of its 100000 gas was used";
    expect(items.map(({ state, error }) => ({ state, error }))).toEqual([
      { state: "failed", error: `the contract's callback failed: ${outOfGas}` },
      { state: "failed", error: "the contract's callback failed: too long" },
      { state: "failed", error: "the contract's callback failed: out of gas: all of its 300 gas was used" },
      { state: "failed", error: "the contract's callback failed: too many words" },
    ]);
    const [proved, reported, asked] = await Promise.all(
      [proof, report, run].map((one) => view(one.transactionHash)),
    );
    expect(proved!.randomness[0]!.reason).toBe("too many words");
    expect((await view(words.transactionHash)).randomRequests[0]!.callbackReason).toBe("too many words");
    expect(reported!.functionResults[0]!).toMatchObject({
      callbackReason: outOfGas,
      consumer: { address: consumer },
    });
    expect(asked!.functionRequests[0]!.answer!.callbackReason).toBe(outOfGas);
  });

  test("what was recorded of a callback counts, unless it is of another transaction", async () => {
    const proof = await deliverWords(world, await requestWords(dapp, { numWords: 3 }));
    const { requestId } = eventsOf(proof, "RandomWordsFulfilled")[0]!;
    const record = { requestId, transactionHash: proof.transactionHash, reason: "as recorded" };
    recorded.push(record);
    expect((await readPage(dapp)).items[0]!.error).toBe("the contract's callback failed: as recorded");
    const checked = await world.verify(proof.transactionHash, {
      findRecordedCallbacks: async () => recorded,
    });
    expect(checked.requests[0]!.steps.find(({ name }) => name === "proof")!.detail).toMatch(
      /; the words are final, but the contract's callback failed: as recorded \(as this service recorded it\)$/,
    );
    recorded.splice(0, 1, { ...record, transactionHash: `0x${"ab".repeat(32)}` });
    expect((await readPage(dapp)).items[0]!.error).toBe("the contract's callback failed: too many words");
  });

  test("a page goes on where the one before ended, within a block, too", async () => {
    const PAGE = 25;
    await requestWords(dapp, { times: PAGE + 3 });
    const first = await readPage(dapp);
    expect(first.older).toMatch(/^\d+\.\d+$/);
    const second = await readPage(dapp, parseCursor(first.older!));
    const ids = [...first.items, ...second.items].map(({ requestId }) => requestId);
    expect([first.items.length, second.items.length, new Set(ids).size]).toEqual([PAGE, 3, PAGE + 3]);
    expect(second.older).toBeNull();
  });

  test("a contract's own are read by its address, and all contracts' by that of what takes them", async () => {
    await link(dapp, stranger);
    const words = await requestWords(dapp, { from: stranger, numWords: 3 });
    const proof = await deliverWords(world, words);
    const run = await requestFunction(dapp);
    await untilStored(world.client);
    const { vrfCoordinator, functionsRouter } = world.addresses;
    const read = async (address: Hex) => {
      const { items } = (await explorer.findContractRequests("test", address))!;
      return items.map(({ transactionHash, state }) => [transactionHash, state]);
    };
    expect((await explorer.findContractRequests("test", stranger))!.items).toMatchObject([
      {
        transactionHash: words.transactionHash,
        answeredBy: proof.transactionHash,
        state: "failed",
        error: "the contract's callback failed: too many words",
      },
    ]);
    const newest = [run.transactionHash, "waiting"];
    expect((await read(consumer))[0]).toEqual(newest);
    for (const taker of [vrfCoordinator, functionsRouter])
      expect((await read(taker)).slice(0, 2)).toEqual([newest, [words.transactionHash, "failed"]]);
    expect(await read(world.addresses.presetConsumer)).toEqual([]);
  });

  test("requests of the service's own consumer, and those on other subscriptions, are not listed", async () => {
    await world.submit({ randoms: [{ vrfSubId: dapp.vrfSubId, numWords: 1 }] });
    const other = await provisionDapp(world, `other ${crypto.randomUUID().slice(0, 8)}`);
    await link(other);
    await requestWords(other);
    expect(await readPage(dapp)).toMatchObject({ items: [], older: null });
  });
});
