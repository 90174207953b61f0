import {
  concat,
  type Hex,
  decodeFunctionData,
  encodeErrorResult,
  encodeFunctionData,
  keccak256,
  parseAbi,
  size,
  slice,
  stringToHex,
  toHex,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import { parseReceipt, RpcError, type Receipt } from "../../src/lib/nodeAnswers.ts";
import type { Verification } from "../../src/api/types.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { encodeSetConfig, nodeConfigOf } from "../../src/chainlink/nodeConfig.ts";
import { presetRequestId, wordsOfBatch } from "../../src/chainlink/presetBatch.ts";
import { encodeBatchReport, encodeDelivery } from "../../src/chainlink/presetReport.ts";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import {
  batchVrfCoordinatorAbi,
  functionsCoordinatorAbi,
  functionsRouterAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { createSourceRunner } from "../../src/app/tools/runSource.ts";
import { fromHexText, toHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { checkFunctionExecution } from "../../src/verify/executionStep.ts";
import type { RunSource } from "../../src/verify/runSource.ts";
import { FURTHER_PROVING_KEYS, TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import { storeSource } from "../support/consumer.ts";
import { testAccount } from "../support/anvil.ts";
import {
  deliverResults,
  deliverWords,
  eventsOf,
  fulfilmentOf,
  reportOf,
  seedsOf,
  signReport,
  withNegativeOffset,
} from "../support/delivery.ts";
import {
  ECHO_WORD,
  isForConfig,
  reconfigure,
  startVerifyWorld,
  wordOf,
  type Tamper,
  type VerifyWorld,
} from "./support/world.ts";

let world: VerifyWorld;
beforeAll(async () => {
  world = await startVerifyWorld();
});
afterAll(() => world.close());

const outcomes = (steps: readonly { readonly name: string; readonly outcome: string }[]) =>
  Object.fromEntries(steps.map(({ name, outcome }) => [name, outcome]));

const ALL_OK = {
  transactions: "ok",
  contracts: "ok",
  key: "ok",
  proof: "ok",
  source: "ok",
  signers: "ok",
  signatures: "ok",
  delivery: "ok",
  execution: "ok",
};

describe("a preset", () => {
  test.each([
    ["apart", false],
    ["in one transaction", true],
  ])("is valid from its request, its proof and its report alike, delivered %s", async (_, isTogether) => {
    const { request, proof, report } = await world.runPreset({ isTogether });
    const word = wordOf(request);
    const found = await world.verify(report.transactionHash);
    expect(found.requests.map(({ steps }) => outcomes(steps))).toEqual([ALL_OK]);
    const { vrfRequestId } = eventsOf(request, "BatchRequested")[0]!;
    expect(found).toMatchObject({
      valid: true,
      verdict: "valid",
      requests: [
        {
          kind: "preset",
          requestId: presetRequestId(vrfRequestId, 0),
          vrfRequestId,
          verdict: "valid",
          failed: null,
          result: word,
          err: "0x",
          randomNumber: [String(BigInt(word))],
          keyHashes: [TEST_PROVING_KEY.keyHash],
          sourceHash: keccak256(stringToHex(ECHO_WORD)),
          source: ECHO_WORD,
          transactions: {
            request: request.transactionHash,
            randomness: proof.transactionHash,
            report: report.transactionHash,
          },
        },
      ],
    });
    for (const { transactionHash } of [request, proof])
      expect((await world.verify(transactionHash)).requests).toEqual(found.requests);
  });

  test("of a batch is checked with all others, or alone if it is named", async () => {
    const items = Array.from({ length: 4 }, () => ({ sourceId: world.echoId }));
    const request = await world.submit({ presets: [{ dapp: world.dapp, items }] });
    const proof = await deliverWords(world, request);
    const report = await world.report(request, { result: wordOf(request, 2) });
    const { vrfRequestId } = eventsOf(request, "BatchRequested")[0]!;
    // One result for all, which is right only for the third.
    for (const { transactionHash } of [request, proof, report])
      expect((await world.verify(transactionHash)).requests.map(({ failed }) => failed)).toEqual([
        "execution",
        "execution",
        null,
        "execution",
      ]);
    const requestId = presetRequestId(vrfRequestId, 2);
    const one = await world.verify(report.transactionHash, { requestId });
    expect(one).toMatchObject({ valid: true, requests: [{ requestId }] });
    const byWords = await world.verify(report.transactionHash, { requestId: vrfRequestId });
    expect(byWords.requests).toHaveLength(4);
  });

  test("is told apart from others whose proofs and reports share its transaction", async () => {
    const preset = { dapp: world.dapp, items: [{ sourceId: world.echoId }] };
    const request = await world.submit({
      presets: [preset, preset],
      randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 3 }],
    });
    const [first] = seedsOf(request).values();
    const result = toWord(wordsOfBatch(first!, 1)[0]!);
    const reports = [await reportOf(world, request, { result })];
    const { transactionHash } = await deliverWords(world, request, { reports });
    const { requests } = await world.verify(transactionHash);
    expect(requests.map(({ kind, failed, randomNumber }) => [kind, failed, randomNumber.length])).toEqual([
      ["preset", null, 1],
      ["preset", "execution", 1],
      ["random", null, 3],
    ]);
    expect(new Set(requests.flatMap(({ randomNumber }) => randomNumber)).size).toBe(5);
  });

  test("is incomplete before its word", async () => {
    const items = [{ sourceId: world.echoId }, { sourceId: world.echoId }];
    const request = await world.submit({ presets: [{ dapp: world.dapp, items }] });
    const { verdict, valid, requests } = await world.verify(request.transactionHash);
    expect({ verdict, valid }).toEqual({ verdict: "incomplete", valid: false });
    expect(requests).toMatchObject([
      { kind: "preset", verdict: "incomplete", transactions: { randomness: null, report: null } },
      { kind: "preset", verdict: "incomplete" },
    ]);
    expect(outcomes(requests[0]!.steps)).toEqual({
      transactions: "ok",
      contracts: "ok",
      proof: "notApplicable",
      source: "ok",
    });
    await deliverWords(world, request);
  });

  test.each([
    ["the only result that can follow", `${ECHO_WORD};`, /^with this word, the source gives -?\d{60}/],
    ["an error", "throw new Error('no luck')", /^with this word, the source gives error 0x.*"no luck"$/],
    [
      "why none does",
      "return Functions.encodeUint256(Date.now())",
      /can't be reproduced: the source used the time/,
    ],
  ])("with its word but no report is incomplete, and says %s", async (_, source, detail) => {
    const sourceId = await storeSource(world, source);
    const request = await world.submit({ presets: [{ dapp: world.dapp, items: [{ sourceId }] }] });
    const proof = await deliverWords(world, request);
    const { verdict, requests } = await world.verify(proof.transactionHash);
    expect(verdict).toBe("incomplete");
    expect(requests).toMatchObject([
      { failed: null, result: null, randomNumber: [String(BigInt(wordOf(request)))] },
    ]);
    const open = requests[0]!.steps.filter(({ outcome }) => outcome === "notApplicable");
    expect(open).toMatchObject([
      { name: "delivery", detail: expect.stringContaining("no report on chain yet") },
      { name: "execution", detail: expect.stringMatching(detail) },
    ]);
  });

  test("of a source that was stored only after the request fails", async () => {
    const sourceId = (await storeSource(world, "return new Uint8Array(1)")) + 1;
    const request = await world.submit({ presets: [{ dapp: world.dapp, items: [{ sourceId }] }] });
    expect(await world.verify(request.transactionHash)).toMatchObject({
      requests: [{ verdict: "invalid", failed: "source" }],
    });
    expect(await storeSource(world, "return Functions.encodeUint256(BigInt(bytesArgs[0]) | 1n)")).toBe(
      sourceId,
    );
    const proof = await deliverWords(world, request);
    const { requests } = await world.verify(proof.transactionHash);
    expect(requests).toMatchObject([{ verdict: "invalid", failed: "source" }]);
  });

  test("of a malformed batch fails, and is not taken for random numbers", async () => {
    const request = await world.submit({
      presets: [{ dapp: world.dapp, items: [], batch: "0x0001ff" }],
    });
    const { requests } = await world.verify(request.transactionHash);
    expect(requests).toMatchObject([{ kind: "preset", verdict: "invalid", failed: "source" }]);
    await deliverWords(world, request);
  });

  test.each([
    ["another number of results than the batch has presets", "0x000101000102", { failed: "delivery" }],
    ["results that are cut off", "0x002001", { failed: "delivery" }],
    ["an error", "0x8004626f6f6d", { failed: "execution", result: "0x", err: "0x626f6f6d" }],
  ] as const)("fails if the nodes sign %s", async (_, packed, end) => {
    const request = await world.submit({
      presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }],
    });
    await deliverWords(world, request);
    const report = await world.report(request, { packed });
    const { requests } = await world.verify(report.transactionHash);
    expect(requests).toMatchObject([{ verdict: "invalid", ...end }]);
  });

  test("is checked with the nodes that signed it, after others have taken their place", async () => {
    const old = await world.runPreset();
    const snapshot = await world.viem.snapshot();
    const addresses = (from: number) => [0, 1, 2, 3].map((n) => testAccount(from + n).address);
    await reconfigure(world, nodeConfigOf({ signers: addresses(20), transmitters: addresses(24) }));
    const found = await world.verify(old.report.transactionHash);
    expect(found).toMatchObject({ verdict: "valid" });
    expect(found.requests[0]!.steps.find(({ name }) => name === "signers")?.detail).toContain(
      TEST_ROLES.signers[0]!.address,
    );
    // A node without old logs still has the storage, with the new nodes: nothing tells who signed.
    const tamper: Tamper = (method, answer, [filter]) =>
      method === "eth_getLogs" && isForConfig(filter) ? [] : answer;
    const { verdict, requests } = await world.verify(old.report.transactionHash, { tamper });
    expect(verdict).toBe("unconfirmed");
    expect(requests).toMatchObject([{ failed: null }]);
    await world.viem.revert({ id: snapshot });
  });
});

describe("results that were signed before the coordinator's nodes changed many times", () => {
  let snapshot: Hex;
  let delivered: readonly Receipt[];
  beforeAll(async () => {
    const { report } = await world.runFunction("return Functions.encodeUint256(7)", toWord(7n));
    delivered = [(await world.runPreset()).report, report];
    snapshot = await world.viem.snapshot();
    const [signers, transmitters] = [TEST_ROLES.signers, TEST_ROLES.transmitters].map((nodes) =>
      nodes.map(({ address }) => address),
    );
    const data = encodeSetConfig(nodeConfigOf({ signers: signers!, transmitters: transmitters! }));
    for (let i = 0; i < 20; i += 1)
      await world.send(TEST_ROLES.deployer, { to: world.addresses.functionsCoordinator, data });
  });
  afterAll(() => world.viem.revert({ id: snapshot }));

  test("are valid", async () => {
    for (const { transactionHash } of delivered)
      expect(await world.verify(transactionHash)).toMatchObject({ verdict: "valid" });
  });

  test.each([
    ["no configuration", 0],
    ["the newest configurations alone", 3],
  ])("are not called wrong by a node that shows %s, nor valid", async (_, shown) => {
    for (const { transactionHash } of delivered) {
      let left = shown;
      const tamper: Tamper = (method, answer, [filter]) =>
        method === "eth_getLogs" && isForConfig(filter) && (left -= 1) < 0 ? [] : answer;
      const found = await world.verify(transactionHash, { tamper });
      expect(found).toMatchObject({ verdict: "unconfirmed", requests: [{ failed: null }] });
      expect(outcomes(found.requests[0]!.steps)).toMatchObject({
        signers: "notApplicable",
        signatures: "notApplicable",
      });
    }
  });
});

describe("results from before the router was given another coordinator", () => {
  const NEXT = "0x00000000000000000000000000000000000057aa";
  let snapshot: Hex;
  let delivered: readonly Receipt[];
  beforeAll(async () => {
    const { report } = await world.runFunction("return Functions.encodeUint256(7)", toWord(7n));
    delivered = [(await world.runPreset()).report, report];
    snapshot = await world.viem.snapshot();
    const { functionsRouter, functionsCoordinator } = world.contracts;
    const bytecode = await world.viem.getCode({ address: functionsCoordinator });
    await world.viem.setCode({ address: NEXT, bytecode: bytecode! });
    // The owner, as everywhere else.
    await world.viem.setStorageAt({
      address: NEXT,
      index: 0,
      value: toWord(BigInt(TEST_ROLES.deployer.address)),
    });
    const addresses = (from: number) => [0, 1, 2, 3].map((n) => testAccount(from + n).address);
    const config = nodeConfigOf({ signers: addresses(20), transmitters: addresses(24) });
    const abi = parseAbi([
      "function proposeContractsUpdate(bytes32[], address[])",
      "function updateContracts()",
    ]);
    const donId = stringToHex("fun-test-1", { size: 32 });
    const propose = encodeFunctionData({
      abi,
      functionName: "proposeContractsUpdate",
      args: [[donId], [NEXT]],
    });
    for (const [to, data] of [
      [NEXT, encodeSetConfig(config)],
      [functionsRouter, propose],
      [functionsRouter, encodeFunctionData({ abi, functionName: "updateContracts" })],
    ] as const)
      await world.send(TEST_ROLES.deployer, { to, data });
  });
  afterAll(() => world.viem.revert({ id: snapshot }));

  const withoutOldState: Tamper = (method, answer, [, block]) => {
    if (method === "eth_call" && block !== "latest")
      throw new RpcError(method, "missing trie node", { answered: true });
    return answer;
  };

  test("are valid", async () => {
    for (const { transactionHash } of delivered)
      expect(await world.verify(transactionHash)).toMatchObject({ verdict: "valid" });
  });

  test("are not called wrong by a node without the state of that time", async () => {
    for (const { transactionHash } of delivered) {
      const found = await world.verify(transactionHash, { tamper: withoutOldState });
      expect(found).toMatchObject({ verdict: "conditional", requests: [{ failed: null }] });
      expect(found.requests[0]!.steps.find(({ name }) => name === "contracts")).toMatchObject({
        outcome: "notApplicable",
        detail: expect.stringContaining("ask an archive node"),
        compared: expect.arrayContaining([
          {
            what: "coordinator of the router",
            expected: world.contracts.functionsCoordinator.toLowerCase(),
            found: NEXT,
          },
        ]) as unknown,
      });
    }
  });

  test("are not called wrong by such a node if no addresses are given", async () => {
    for (const { transactionHash } of delivered)
      expect(await world.verify(transactionHash, { tamper: withoutOldState, contracts: {} })).toMatchObject({
        verdict: expect.stringMatching(/conditional|unconfirmed/),
        requests: [{ failed: null }],
      });
  });
});

const withoutTraces: Tamper = (method, answer) => (method === "debug_traceTransaction" ? null : answer);

/** Returns the code of a contract that makes one call, whatever it is called with. */
function callOf(to: Hex, data: Hex): Hex {
  const length = toHex(size(data), { size: 2 });
  // codecopy(0, at, length); call(gas, to, 0, 0, length, 0, 0)
  const code = (at: number): Hex =>
    concat([
      "0x61",
      length,
      "0x61",
      toHex(at, { size: 2 }),
      "0x60003960006000",
      "0x61",
      length,
      "0x6000600073",
      to,
      "0x5af100",
    ]);
  return concat([code(size(code(0))), data]);
}

/** Returns the code of a contract that makes one call, with what its calldata have after the bytes to skip. */
function relayTo(to: Hex, skipped: number): Hex {
  const skip = toHex(skipped, { size: 2 });
  // calldatacopy(0, skipped, size - skipped); call(gas, to, 0, 0, size - skipped, 0, 0)
  return concat(["0x61", skip, "0x36038061", skip, "0x60003760006000826000600073", to, "0x5af100"]);
}

/** Requests words from an account that becomes a consumer of the dapp. */
async function requestWordsAs(
  owner: (typeof TEST_ROLES.transmitters)[number],
  callbackGasLimit: number,
  numWords = 1,
) {
  const { vrfSubId, functionsSubId } = world.dapp;
  await world.send(TEST_ROLES.operator, {
    to: world.addresses.subscriptionOwner,
    data: encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "addConsumer",
      args: [vrfSubId, functionsSubId, owner.address],
    }),
  });
  const words = await world.send(owner, {
    to: world.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args: [TEST_PROVING_KEY.keyHash, vrfSubId, 1, callbackGasLimit, numWords],
    }),
  });
  return { owner, words };
}

test("a preset is valid in a block with a transaction that delegates an account (EIP-7702)", async () => {
  const stranger = privateKeyToAccount(toHexText(testAccount(8).secretKey));
  const { client, chainId, contracts } = world;
  const delegation = { chainId, contractAddress: contracts.vrfCoordinator, nonce: 1 };
  const authorizationList = [
    await stranger.signAuthorization(delegation),
    // Anyone can add one that is signed by nobody.
    { ...(await stranger.signAuthorization({ ...delegation, chainId: 5 })), s: toHex(2n ** 255n) },
  ];
  const delegating = await stranger.signTransaction({
    type: "eip7702",
    chainId,
    nonce: 0,
    to: stranger.address,
    gas: 200_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
    authorizationList,
  });
  await client.request("evm_setAutomine", [false]);
  await client.request("eth_sendRawTransaction", [delegating]);
  const submitted = world.submit({ presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }] });
  await expect.poll(() => client.request("txpool_status", [])).toMatchObject({ pending: "0x2" });
  await client.request("evm_mine", []);
  await client.request("evm_setAutomine", [true]);
  const request = await submitted;
  await deliverWords(world, request);
  await world.report(request, { result: wordOf(request) });
  const { transactions } = (await client.request("eth_getBlockByHash", [request.blockHash, true])) as {
    readonly transactions: readonly { readonly type: string }[];
  };
  expect(transactions.map(({ type }) => type)).toContain("0x4");
  expect((await world.verify(request.transactionHash)).requests.map(({ steps }) => outcomes(steps))).toEqual([
    ALL_OK,
  ]);
});

describe("a report that a stranger delivers", () => {
  const RELAY = "0x00000000000000000000000000000000000057a7";
  /** Requests a preset, and delivers its word. */
  const request = async (): Promise<Receipt> => {
    const presets = [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }];
    const requested = await world.submit({ presets });
    await deliverWords(world, requested);
    return requested;
  };
  /** Delivers the real report through a contract whose calldata hide it, or hold false ones before it. */
  const relay = async (requested: Receipt, hidden: Hex): Promise<Receipt> => {
    const real = encodeDelivery("0x", [await reportOf(world, requested, { result: wordOf(requested) })]);
    await world.viem.setCode({
      address: RELAY,
      bytecode: relayTo(world.addresses.presetConsumer, size(hidden)),
    });
    return await world.send(TEST_ROLES.transmitters[1]!, { to: RELAY, data: concat([hidden, real]) });
  };
  const step = ({ requests }: Verification, name: string) =>
    requests[0]!.steps.find((one) => one.name === name);

  test("is valid from an account of theirs", async () => {
    const requested = await request();
    const signed = await reportOf(world, requested, { result: wordOf(requested) });
    const report = await world.send(TEST_ROLES.deployer, {
      to: world.addresses.presetConsumer,
      data: encodeDelivery("0x", [signed]),
    });
    expect(await world.verify(report.transactionHash)).toMatchObject({ verdict: "valid" });
  });

  test("is valid in an encoding that only the contract reads", async () => {
    const requested = await request();
    const encoded = encodeDelivery("0x", [await reportOf(world, requested, { result: wordOf(requested) })]);
    // The words before the report: two offsets, no proofs, one report, its offset. Now the list comes last, and its offset is negative.
    const one = slice(encoded, 4 + 5 * 32);
    const list = 3 * 32 + size(one);
    const words = [64, list, 0, 1, 3 * 32 - (list + 32)].map((value) =>
      toWord(BigInt.asUintN(256, BigInt(value))),
    );
    const report = await world.send(TEST_ROLES.deployer, {
      to: world.addresses.presetConsumer,
      data: concat([slice(encoded, 0, 4), ...words.slice(0, 3), one, ...words.slice(3)]),
    });
    expect(await world.verify(report.transactionHash)).toMatchObject({ verdict: "valid" });
  });

  test("is valid before others that share their bytes", async () => {
    const requested = await request();
    const real = await reportOf(world, requested, { result: wordOf(requested) });
    const results = new Uint8Array(6_000);
    const past = await signReport(
      world,
      encodeBatchReport([{ vrfRequestId: toWord(0n), ready: toWord(0n), results }]),
    );
    const encoded = encodeDelivery("0x", [real, ...Array.from({ length: 12 }, () => past)]);
    // Words before the reports: two offsets, no proofs, the number of reports, their offsets. Each report begins with its own two offsets.
    const list = 4 + 4 * 32;
    const placeOf = (i: number): number => Number(BigInt(slice(encoded, list + 32 * i, list + 32 * i + 32)));
    const cut = (from: number, to: number): Hex => slice(encoded, list + from, list + to);
    const [first, second] = [placeOf(1), placeOf(2)];
    const signatures = first + Number(BigInt(cut(first + 32, first + 64)));
    const others = Array.from({ length: 11 }, (_, i) => i);
    const length = 64 + (second - signatures);
    const data = concat([
      slice(encoded, 0, list),
      ...[0, 1].map((i) => toWord(BigInt(placeOf(i)))),
      ...others.map((i) => toWord(BigInt(second + i * length))),
      cut(placeOf(0), second),
      ...others.flatMap((i) => [
        toWord(BigInt.asUintN(256, BigInt(first + 64 - (second + i * length)))),
        toWord(64n),
        cut(signatures, second),
      ]),
    ]);
    const report = await world.send(TEST_ROLES.deployer, { to: world.addresses.presetConsumer, data });
    const found = await world.verify(report.transactionHash, { tamper: withoutTraces });
    expect(found.requests.map(({ steps }) => outcomes(steps))).toEqual([ALL_OK]);
  });

  test("is valid through a contract whose calldata hide it, and the contract is named", async () => {
    const report = await relay(await request(), "0x5a");
    const found = await world.verify(report.transactionHash);
    expect(found.requests.map(({ steps }) => outcomes(steps))).toEqual([ALL_OK]);
    expect(step(found, "delivery")?.detail).toContain(`; it was delivered through the contract ${RELAY}`);
  });

  test("is found behind false ones in the same calldata, without traces", async () => {
    const requested = await request();
    const real = await reportOf(world, requested, { result: wordOf(requested) });
    const forged = Array.from({ length: 100 }, (_, i) => ({
      ...real,
      signatures: real.signatures.map((one) => ({ ...one, r: new Uint8Array(32).fill(i) })),
    }));
    const report = await relay(requested, encodeDelivery("0x", [...forged, real]));
    expect(await world.verify(report.transactionHash, { tamper: withoutTraces })).toMatchObject({
      verdict: "valid",
    });
  });

  test("is found behind calls that run the consumer's code for another contract", async () => {
    const requested = await request();
    const real = await reportOf(world, requested, { result: wordOf(requested) });
    const forged = { ...real, signatures: real.signatures.map((one) => ({ ...one, r: one.s })) };
    const input = encodeDelivery("0x", [forged]);
    const report = await relay(requested, "0x5a");
    const tamper: Tamper = (method, answer) => {
      if (method !== "debug_traceTransaction") return answer;
      const call = { type: "DELEGATECALL", to: world.addresses.presetConsumer, input };
      const { calls } = answer as { calls: unknown[] };
      return { ...(answer as object), calls: [...calls, ...Array.from({ length: 600 }, () => call)] };
    };
    expect(await world.verify(report.transactionHash, { tamper })).toMatchObject({ verdict: "valid" });
  });

  test("is valid from a contract that is called back with a word", async () => {
    const requested = await request();
    const real = encodeDelivery("0x", [await reportOf(world, requested, { result: wordOf(requested) })]);
    const { owner, words } = await requestWordsAs(TEST_ROLES.transmitters[2]!, 1_000_000);
    await world.viem.setCode({
      address: owner.address,
      bytecode: callOf(world.addresses.presetConsumer, real),
    });
    const both = await world.send(TEST_ROLES.vrfOracle, {
      to: world.addresses.presetConsumer,
      data: encodeDelivery(fulfilmentOf(world, words), []),
      gas: 3_000_000n,
    });
    await world.viem.setCode({ address: owner.address, bytecode: "0x" });
    for (const { transactionHash } of [requested, both]) {
      const found = await world.verify(transactionHash);
      expect(found).toMatchObject({ verdict: "valid" });
      expect(step(found, "delivery")?.detail).toContain(
        "; it was delivered through a contract that the transaction calls back",
      );
    }
    expect(await world.verify(requested.transactionHash, { tamper: withoutTraces })).toMatchObject({
      verdict: "unconfirmed",
      requests: [{ failed: null }],
    });
  });

  test("is not called wrong by a node without traces, nor valid", async () => {
    const report = await relay(await request(), "0x5a");
    const found = await world.verify(report.transactionHash, { tamper: withoutTraces });
    expect(found).toMatchObject({ verdict: "unconfirmed", requests: [{ failed: null }] });
    expect(step(found, "delivery")).toMatchObject({
      outcome: "notApplicable",
      detail: expect.stringContaining(`delivered through the contract ${RELAY}`),
    });
  });
});

describe("a function's report that a transmitter delivers through its code (EIP-7702)", () => {
  const transmitter = TEST_ROLES.transmitters[0]!.address;
  afterAll(() => world.viem.setCode({ address: transmitter, bytecode: "0x" }));

  /** Delivers the report with the transmitter's code and the calldata that `encode` returns for the call of the coordinator. */
  const relay = async (
    encode: (to: Hex, data: Hex) => { readonly bytecode: Hex; readonly data: Hex },
  ): Promise<Receipt> => {
    const { functionsSubId } = world.dapp;
    const data = toHex(encodeFunctionsRequest({ source: "return Functions.encodeUint256(7)" }));
    const request = await world.submit({ functions: [{ functionsSubId, data }] });
    return await deliverResults(world, request, {
      response: toWord(7n),
      account: TEST_ROLES.deployer,
      async wrap(call) {
        const encoded = encode(call.to, call.data);
        await world.viem.setCode({ address: transmitter, bytecode: encoded.bytecode });
        return { to: transmitter, data: encoded.data };
      },
    });
  };
  const hidden = (to: Hex, data: Hex) => ({ bytecode: relayTo(to, 1), data: concat(["0x5a", data]) });
  /** A transmission with other signatures of the same report. */
  const forge = (data: Hex): Hex => {
    const { args } = decodeFunctionData({ abi: functionsCoordinatorAbi, data });
    const [context, report, rs, ss, rawVs] = args as unknown as [never, Hex, readonly Hex[], Hex[], Hex];
    return encodeFunctionData({
      abi: functionsCoordinatorAbi,
      functionName: "transmit",
      args: [context, report, rs.toReversed(), ss, rawVs],
    });
  };
  const through = `delivered through the contract ${transmitter.toLowerCase()}`;
  const detailOf = ({ requests }: Verification, name: string) =>
    requests[0]!.steps.find((step) => step.name === name)?.detail;

  test("is valid where the calldata show it, without traces", async () => {
    const { transactionHash } = await relay((to, data) => ({ bytecode: relayTo(to, 0), data }));
    const found = await world.verify(transactionHash, { tamper: withoutTraces });
    expect(found).toMatchObject({ verdict: "valid" });
    expect(detailOf(found, "delivery")).toContain(`; it was ${through}`);
  });

  test.each([
    ["hide it", hidden],
    ["show a false one", (to: Hex, data: Hex) => ({ bytecode: callOf(to, data), data: forge(data) })],
  ])("is valid where the calldata %s, but not by a node without traces", async (_, encode) => {
    const { transactionHash } = await relay(encode);
    const found = await world.verify(transactionHash);
    expect(found).toMatchObject({ verdict: "valid" });
    expect(detailOf(found, "delivery")).toContain(`; it was ${through}`);
    const open = await world.verify(transactionHash, { tamper: withoutTraces });
    expect(open).toMatchObject({
      verdict: "unconfirmed",
      requests: [{ failed: null, result: toWord(7n), err: "0x" }],
    });
    expect(detailOf(open, "delivery")).toContain(through);
  });

  test("is found before false ones, which the coordinator passes over", async () => {
    const { transactionHash } = await relay(hidden);
    const tamper: Tamper = (method, answer) => {
      if (method !== "debug_traceTransaction") return answer;
      const { calls } = answer as { calls: { input: Hex }[] };
      const forged = { ...calls[0]!, input: forge(calls[0]!.input) };
      return { ...(answer as object), calls: [...calls, ...Array.from({ length: 600 }, () => forged)] };
    };
    expect(await world.verify(transactionHash, { tamper })).toMatchObject({ verdict: "valid" });
  });
});

describe("random words", () => {
  test("are valid, all of them", async () => {
    const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 500 }] });
    const proof = await deliverWords(world, request);
    for (const { transactionHash } of [request, proof]) {
      const { valid, requests } = await world.verify(transactionHash);
      expect(valid).toBe(true);
      expect(outcomes(requests[0]!.steps)).toEqual({
        transactions: "ok",
        contracts: "ok",
        key: "ok",
        proof: "ok",
      });
      expect(requests[0]!.randomNumber).toHaveLength(500);
    }
  });
});

test("doesn't confirm words whose request is signed for no chain, and says why", async () => {
  const account = TEST_ROLES.transmitters[1]!;
  const unsigned = {
    type: "legacy",
    to: world.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args: [TEST_PROVING_KEY.keyHash, world.dapp.vrfSubId, 1, 20_000, 1],
    }),
    gas: 300_000n,
    gasPrice: world.gasPriceWei,
    nonce: await world.viem.getTransactionCount({ address: account.address }),
  } as const;
  await world.send(TEST_ROLES.operator, {
    to: world.addresses.subscriptionOwner,
    data: encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "addConsumer",
      args: [world.dapp.vrfSubId, world.dapp.functionsSubId, account.address],
    }),
  });
  const signer = privateKeyToAccount(toHexText(account.secretKey));
  const raw = await signer.signTransaction(unsigned);
  const request = parseReceipt(await world.client.request("eth_sendRawTransactionSync", [raw]));
  // The account becomes a contract, which the coordinator calls back: STOP.
  await world.viem.setCode({ address: account.address, bytecode: "0x00" });
  const proof = await deliverWords(world, request);
  await world.viem.setCode({ address: account.address, bytecode: "0x" });
  for (const { transactionHash } of [request, proof]) {
    const { verdict, requests } = await world.verify(transactionHash);
    expect(verdict).toBe("unconfirmed");
    expect(requests[0]!.steps.find(({ name }) => name === "transactions")).toMatchObject({
      outcome: "notApplicable",
      detail: expect.stringContaining(`the transaction ${request.transactionHash} is signed for no chain`),
    });
  }
});

describe("words of a chain that a node makes up, with the contracts' addresses and a VRF key of its own", () => {
  let other: VerifyWorld;
  let delivered: readonly Receipt[];
  beforeAll(async () => {
    other = await startVerifyWorld({ vrfKeys: 2 });
    const { keyHash } = FURTHER_PROVING_KEYS[0]!;
    const items = [{ sourceId: other.echoId }];
    const request = await other.submit({ presets: [{ dapp: other.dapp, items, keyHash }] });
    const proof = await deliverWords(other, request);
    delivered = [request, proof, await other.report(request, { result: wordOf(request) })];
  });
  afterAll(() => other.close());

  const verifyAll = async (options: Parameters<VerifyWorld["verify"]>[1]) => {
    const found = [];
    for (const { transactionHash } of delivered) found.push(await other.verify(transactionHash, options));
    return found;
  };
  const keyIs = (outcome: string, detail: string) => ({
    requests: [
      {
        failed: outcome === "failed" ? "key" : null,
        steps: expect.arrayContaining([
          expect.objectContaining({
            name: "key",
            outcome,
            detail: expect.stringContaining(detail) as string,
          }),
        ]) as unknown,
      },
    ],
  });

  test("are not valid by the state of the real contracts", async () => {
    const tamper: Tamper = (method, answer, parameters) =>
      method === "eth_call" ? world.client.request(method, parameters) : answer;
    for (const found of await verifyAll({ tamper }))
      expect(found).toMatchObject({ verdict: "invalid", ...keyIs("failed", "registered keys") });
  });

  test("are not confirmed where the node has only the newest state", async () => {
    const tamper: Tamper = (method, answer, [call, block]) => {
      if (method !== "eth_call") return answer;
      if (block !== "latest") throw new RpcError(method, "missing trie node", { answered: true });
      return world.client.request(method, [call, block]);
    };
    for (const found of await verifyAll({ tamper }))
      expect(found).toMatchObject({ verdict: "unconfirmed", ...keyIs("notApplicable", "archive node") });
  });

  test("are not confirmed whatever state it makes up, if the operator's keys are known", async () => {
    for (const found of await verifyAll({ keyHashes: [TEST_PROVING_KEY.keyHash] }))
      expect(found).toMatchObject({
        verdict: "unconfirmed",
        ...keyIs("notApplicable", "none that the operator publishes"),
      });
    for (const found of await verifyAll({ keyHashes: [FURTHER_PROVING_KEYS[0]!.keyHash] }))
      expect(found).toMatchObject({ verdict: "valid", ...keyIs("ok", "that the operator publishes") });
  });
});

describe("a proof that a stranger delivers", () => {
  const RELAY = "0x00000000000000000000000000000000000057a6";

  /** Delivers the proof through a contract that logs a malformed event of the coordinator's, and whose calldata hide the proof. */
  const relay = async (request: Receipt): Promise<Receipt> => {
    const log = `7f${EVENT_TOPICS.RandomWordsFulfilled.slice(2)}60006000a1`;
    // calldatacopy(0, 1, size - 1); call(gas, coordinator, 0, 0, size - 1, 0, 0)
    const call = `6001360380600160003760006000826000600073${world.addresses.vrfCoordinator.slice(2)}5af100`;
    await world.viem.setCode({ address: RELAY, bytecode: `0x${log}${call}` });
    return deliverWords(world, request, {
      wrap: ({ data }) => ({ to: RELAY, data: `0x5a${data.slice(2)}` }),
    });
  };

  test("is valid through a contract whose calldata hide it, and the contract is named", async () => {
    const request = await world.submit({
      presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }],
    });
    const proof = await relay(request);
    const report = await world.report(request, { result: wordOf(request) });
    for (const { transactionHash } of [request, proof, report]) {
      const { verdict, requests } = await world.verify(transactionHash);
      expect(verdict).toBe("valid");
      expect(requests.map(({ steps }) => outcomes(steps))).toEqual([ALL_OK]);
      expect(requests[0]!.steps.find(({ name }) => name === "proof")).toMatchObject({
        detail: expect.stringContaining(`; it was delivered through the contract ${RELAY}`),
      });
    }
  });

  test("is not called wrong by a node without traces, nor valid", async () => {
    const proof = await relay(
      await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 2 }] }),
    );
    const { verdict, requests } = await world.verify(proof.transactionHash, { tamper: withoutTraces });
    expect(verdict).toBe("unconfirmed");
    expect(requests).toMatchObject([{ failed: null, randomNumber: [] }]);
    expect(requests[0]!.steps.find(({ name }) => name === "proof")).toMatchObject({
      outcome: "notApplicable",
      detail: expect.stringContaining(`delivered through the contract ${RELAY}`),
    });
  });

  test("is found behind false ones for the same request, without traces", async () => {
    const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 2 }] });
    const proof = await deliverWords(world, request, {
      wrap({ data }) {
        const { args } = decodeFunctionData({ abi: vrfCoordinatorAbi, data });
        const [real, commitment] = args as unknown as [{ c: bigint; seed: bigint }, { blockNum: bigint }];
        const falseOnes = [
          ...Array.from({ length: 40 }, (_, i) => ({ ...real, c: real.c + BigInt(i + 1) })),
          real,
        ];
        const itsTerms = [
          ...Array.from({ length: 40 }, () => commitment),
          { ...commitment, blockNum: commitment.blockNum + 1n },
        ];
        return {
          to: world.addresses.batchVrfCoordinator,
          data: encodeFunctionData({
            abi: batchVrfCoordinatorAbi,
            functionName: "fulfillRandomWords",
            args: [
              [...falseOnes, real],
              [...itsTerms, commitment],
            ] as never,
          }),
        };
      },
    });
    for (const { transactionHash } of [request, proof])
      expect(await world.verify(transactionHash, { tamper: withoutTraces })).toMatchObject({
        verdict: "valid",
      });
  });
});

describe("a proof of v2.5 that a stranger delivers", () => {
  let other: VerifyWorld;
  beforeAll(async () => {
    other = await startVerifyWorld({ vrfVersion: "v2.5" });
  });
  afterAll(() => other.close());

  test("is valid from a contract that the coordinator calls while it cancels a subscription", async () => {
    const { vrfCoordinator } = other.addresses;
    const abi = parseAbi([
      "function createSubscription() returns (uint256)",
      "function cancelSubscription(uint256 subId, address to)",
    ]);
    const created = await other.send(TEST_ROLES.vrfOracle, {
      to: vrfCoordinator,
      data: encodeFunctionData({ abi, functionName: "createSubscription" }),
    });
    const subId = BigInt(created.logs[0]!.topics[1]!);
    const request = await other.submit({ randoms: [{ vrfSubId: other.dapp.vrfSubId, numWords: 2 }] });
    const RELAY = "0x00000000000000000000000000000000000057a8";
    const real = fulfilmentOf(other, request);
    await other.viem.setCode({
      address: RELAY,
      bytecode: callOf(other.addresses.batchVrfCoordinator, real),
    });
    const proof = await other.send(TEST_ROLES.vrfOracle, {
      to: vrfCoordinator,
      data: encodeFunctionData({ abi, functionName: "cancelSubscription", args: [subId, RELAY] }),
      gas: 2_000_000n,
    });
    for (const { transactionHash } of [request, proof]) {
      const { verdict, requests } = await other.verify(transactionHash);
      expect(verdict).toBe("valid");
      expect(requests[0]!.steps.find(({ name }) => name === "proof")).toMatchObject({
        detail: expect.stringContaining(
          "; it was delivered through a contract that the transaction calls back",
        ),
      });
    }
    expect(await other.verify(request.transactionHash, { tamper: withoutTraces })).toMatchObject({
      verdict: "unconfirmed",
      requests: [{ failed: null }],
    });
  });

  test("is valid where an offset in its calldata is negative, without traces", async () => {
    const request = await other.submit({ randoms: [{ vrfSubId: other.dapp.vrfSubId, numWords: 2 }] });
    const proof = await deliverWords(other, request, {
      wrap: ({ to, data }) => ({ to, data: withNegativeOffset(data) }),
    });
    for (const { transactionHash } of [request, proof])
      expect(await other.verify(transactionHash, { tamper: withoutTraces })).toMatchObject({
        verdict: "valid",
      });
  });
});

test("what a contract of the caller's own asked for is checked, too", async () => {
  const { vrfSubId, functionsSubId } = world.dapp;
  const owner = TEST_ROLES.transmitters[3]!;
  const { words } = await requestWordsAs(owner, 20_000, 2);
  const sendRequest = encodeFunctionData({
    abi: functionsRouterAbi,
    functionName: "sendRequest",
    args: [
      functionsSubId,
      toHex(encodeFunctionsRequest({ source: "return Functions.encodeUint256(1)" })),
      1,
      100_000,
      stringToHex("fun-test-1", { size: 32 }),
    ],
  });
  const call = await world.send(owner, { to: world.addresses.functionsRouter, data: sendRequest });
  // The account becomes a contract, which the coordinator calls back: STOP.
  await world.viem.setCode({ address: owner.address, bytecode: "0x00" });
  const proof = await deliverWords(world, words);
  const report = await deliverResults(world, call);
  for (const { transactionHash } of [words, proof, call, report])
    expect(await world.verify(transactionHash)).toMatchObject({
      valid: true,
      requests: [{ verdict: "valid" }],
    });

  // Its callback reverts, but the words are fulfilled anyway.
  await world.viem.setCode({ address: owner.address, bytecode: "0x" });
  const refused = await world.send(owner, {
    to: world.addresses.vrfCoordinator,
    data: encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "requestRandomWords",
      args: [TEST_PROVING_KEY.keyHash, vrfSubId, 1, 20_000, 2],
    }),
  });
  await world.viem.setCode({ address: owner.address, bytecode: "0x60006000fd" });
  const { requests } = await world.verify((await deliverWords(world, refused)).transactionHash);
  expect(requests[0]!.steps.find(({ name }) => name === "proof")).toMatchObject({
    outcome: "ok",
    detail: expect.stringMatching(/the contract's callback failed: no reason given$/),
  });

  // So does the callback with a function's result, and gives the reason; the report is delivered anyway.
  await world.viem.setCode({ address: owner.address, bytecode: "0x" });
  const again = await world.send(owner, { to: world.addresses.functionsRouter, data: sendRequest });
  const reason = encodeErrorResult({ abi: parseAbi(["error Error(string)"]), args: ["not today"] });
  // codecopy(0, 12, 100); revert(0, 100), then the 100 bytes.
  const bytecode = concat(["0x6064600c60003960646000fd", reason]);
  await world.viem.setCode({ address: owner.address, bytecode });
  const { valid, requests: functions } = await world.verify(
    (await deliverResults(world, again)).transactionHash,
  );
  expect(valid).toBe(true);
  expect(functions[0]!.steps.find(({ name }) => name === "delivery")).toMatchObject({
    outcome: "ok",
    detail: expect.stringMatching(/the contract's callback failed: not today$/),
  });
});

describe("a function", () => {
  const FOURTEEN = `0x${"00".repeat(31)}0e` as const;
  const FIFTEEN = `0x${"00".repeat(31)}0f` as const;

  test("is valid when its source gives the reported result again", async () => {
    const source = "return Functions.encodeUint256(BigInt(args[0]) * 2n)";
    const { request, report } = await world.runFunction(source, FOURTEEN);
    for (const { transactionHash } of [request, report]) {
      const { valid, requests } = await world.verify(transactionHash);
      expect(valid).toBe(true);
      expect(requests).toMatchObject([{ keyHashes: [], sourceHash: keccak256(stringToHex(source)), source }]);
      expect(outcomes(requests[0]!.steps)).toEqual({
        transactions: "ok",
        contracts: "ok",
        source: "ok",
        signers: "ok",
        signatures: "ok",
        delivery: "ok",
        execution: "ok",
      });
    }
  });

  test("another result than the source gives fails at the execution", async () => {
    const { report } = await world.runFunction("return Functions.encodeUint256(15)", FOURTEEN);
    const { valid, requests } = await world.verify(report.transactionHash);
    expect(valid).toBe(false);
    expect(requests).toMatchObject([{ verdict: "invalid", failed: "execution" }]);
  });

  test("another result in an environment that only resembles a node's is not confirmed", async () => {
    const source = "return Functions.encodeUint256(15)";
    const { report } = await world.runFunction(source, FOURTEEN);
    const runAsNode = createSourceRunner(world.pool);
    const run: RunSource = async (given) => ({ ...(await runAsNode(given)), isApproximate: true });
    expect(await world.verify(report.transactionHash, { run })).toMatchObject({
      valid: false,
      verdict: "unconfirmed",
      requests: [
        {
          failed: null,
          steps: expect.arrayContaining([
            expect.objectContaining({
              name: "execution",
              outcome: "notApplicable",
              detail: expect.stringContaining("`tyche verify` decides") as string,
              compared: [{ what: "result of the source", expected: FOURTEEN, found: FIFTEEN }],
            }),
          ]) as unknown,
        },
      ],
    });
    const { report: right } = await world.runFunction("return Functions.encodeUint256(14)", FOURTEEN);
    expect(await world.verify(right.transactionHash, { run })).toMatchObject({ verdict: "valid" });
  });

  test.each([
    "/* the stack, the process, its memory */ return Functions.encodeUint256(15)",
    "const stack = ['Intl', 'Deno'], process = { memory: 1 }; return Functions.encodeUint256(15 * process['memor' + 'y'])",
    "if (args.length > 9) throw new RangeError('memory'); return Functions.encodeUint256(15)",
  ])("what a source only says doesn't switch off the check of its result: %s", async (source) => {
    const { report } = await world.runFunction(source, FOURTEEN);
    expect(await world.verify(report.transactionHash)).toMatchObject({
      verdict: "invalid",
      requests: [{ failed: "execution" }],
    });
  });

  test("a source that gives another result in every run is not confirmed", async () => {
    const { report } = await world.runFunction("return Functions.encodeUint256(14)", FOURTEEN);
    let runs = 0;
    const run: RunSource = () =>
      Promise.resolve({ kind: "result", bytes: Uint8Array.of((runs += 1)), touched: [] });
    expect(await world.verify(report.transactionHash, { run })).toMatchObject({ verdict: "unconfirmed" });
  });

  test.each([
    ["return Functions.encodeUint256(Math.floor(Math.random() * 1e15))", /used randomness/],
    ["return Functions.encodeUint256(new Date().getFullYear())", /used the time/],
    ["await fetch('https://example.com'); return Functions.encodeUint256(1)", /used HTTP/],
    ["await import('npm:ethers'); return Functions.encodeUint256(1)", /used imported modules/],
    ["return Functions.encodeUint256(performance.memory ? 2 : 15)", /uses memory/],
    ["for (;;);", /limit of time/],
  ])("%s is not confirmed, and is not called wrong", async (source, why) => {
    const { report } = await world.runFunction(source, FOURTEEN);
    const isEndless = source.startsWith("for");
    const run = createSourceRunner({
      run: (request) =>
        world.pool.run(isEndless ? { ...request, limits: { ...request.limits, timeoutMs: 500 } } : request),
    });
    const { valid, verdict, requests } = await world.verify(report.transactionHash, { run });
    expect({ valid, verdict }).toEqual({ valid: false, verdict: "unconfirmed" });
    const execution = requests[0]!.steps.find(({ name }) => name === "execution");
    expect(execution).toMatchObject({ outcome: "notApplicable", detail: expect.stringMatching(why) });
  });
});

test.each([
  ["an error text beside the source's result", "0x0e", "0x626f6f6d", { result: "0x0e" }],
  ["a result beside the source's error text", "0x0e", "0x626f6f6d", { error: "boom" }],
  ["bytes that are no text", "0x", "0xff", { error: "\ufffd" }],
  ["an error text in another case", "0x", "0x424f4f4d", { error: "boom" }],
] as const)("a report with %s is not what the source gives", async (_name, result, error, given) => {
  const data = toHex(encodeFunctionsRequest({ source: "given" }));
  const request = { data, dataVersion: 1, requestId: `0x${"12".repeat(32)}` } as const;
  const run: RunSource = () =>
    Promise.resolve(
      "result" in given
        ? { kind: "result", bytes: fromHexText(given.result), touched: [] }
        : { kind: "error", message: given.error, touched: [] },
    );
  const options = { run, maxResponseBytes: 256, caller: "test", budget: { leftMs: Infinity } };
  const { outcome, compared } = await checkFunctionExecution(request, { result, error }, options);
  expect(outcome).toBe("failed");
  expect(compared[0]!.expected).toContain(error);
  expect(compared[0]!.expected).toContain(result);
});

test("once the time for runs is spent, the other sources are not run", async () => {
  const data = toHex(encodeFunctionsRequest({ source: "given" }));
  const request = { data, dataVersion: 1, requestId: `0x${"12".repeat(32)}` } as const;
  let runs = 0;
  const run: RunSource = async () => {
    runs += 1;
    return { kind: "result", bytes: new Uint8Array(1), touched: [] };
  };
  // Any run takes longer.
  const options = { run, maxResponseBytes: 256, caller: "test", budget: { leftMs: Number.MIN_VALUE } };
  const { outcome, detail } = await checkFunctionExecution(request, { result: "0x00", error: "0x" }, options);
  expect([outcome, detail, runs]).toEqual(["notApplicable", expect.stringContaining("took too long"), 1]);
});

/** Sources whose answer an operator can choose by controlling what its nodes see; a second run would behave the same and confirm it. */
test.each([
  [
    "lets the request fail",
    "const r = await Functions.makeHttpRequest({ url: 'https://example.com' });" +
      "return Functions.encodeString(r.error ? 'LOSE' : 'WIN')",
    "LOSE",
    /used HTTP, so/,
  ],
  [
    "lets the import fail",
    "const win = await import('npm:ethers').then(() => true, () => false);" +
      "return Functions.encodeString(win ? 'WIN' : 'LOSE')",
    "LOSE",
    /used imported modules/,
  ],
  [
    "waits for another time",
    "return Functions.encodeString(Date.now() % 2 < 2 ? 'LOSE' : 'WIN')",
    "LOSE",
    /used the time/,
  ],
  [
    "runs the source until it draws as wanted",
    "return Functions.encodeString(Math.random() < 2 ? 'LOSE' : 'WIN')",
    "LOSE",
    /used randomness/,
  ],
])("an operator who %s is not confirmed", async (_name, source, result, why) => {
  const { report } = await world.runFunction(source, stringToHex(result));
  const { verdict, requests } = await world.verify(report.transactionHash);
  expect(verdict).toBe("unconfirmed");
  expect(requests[0]!.steps.find(({ name }) => name === "execution")).toMatchObject({
    outcome: "notApplicable",
    detail: expect.stringMatching(why),
  });
});

test("a request that the source could have made, but did not, leaves its result checkable", async () => {
  const source =
    "if (args[0] === '8') await fetch('https://example.com'); return Functions.encodeUint256(14)";
  const { report } = await world.runFunction(source, `0x${"00".repeat(31)}0f`);
  expect(await world.verify(report.transactionHash)).toMatchObject({ requests: [{ failed: "execution" }] });
});

test("without given addresses a result is valid only if those of the transactions are the operator's", async () => {
  const { report } = await world.runPreset();
  const { valid, verdict, requests, contracts } = await world.verify(report.transactionHash, {
    contracts: {},
  });
  expect({ valid, verdict }).toEqual({ valid: false, verdict: "conditional" });
  const lower = Object.entries(world.contracts).map(([role, address]) => [role, address.toLowerCase()]);
  expect(contracts).toEqual(Object.fromEntries(lower));
  const step = requests[0]!.steps.find(({ name }) => name === "contracts");
  expect(step).toMatchObject({
    outcome: "notApplicable",
    detail: expect.stringContaining(contracts["vrfCoordinator"]!),
  });
});

test("a node that takes too long, or gives too much, is left, whatever the checks could do without", async () => {
  const { request } = await world.runPreset();
  const verify = (readingLimits: object) => world.verify(request.transactionHash, { readingLimits });
  await expect(verify({ timeMs: 0 })).rejects.toThrow("reading the chain has taken more than 0 s");
  await expect(verify({ chars: 10_000 })).rejects.toThrow("answers are longer than 10000 characters in all");
});

test("words of the oracle's coordinator for another consumer of presets are not what they were asked for", async () => {
  const { request, proof, report } = await world.runPreset();
  const { vrfCoordinator, presetConsumer, link } = world.addresses;
  for (const { transactionHash } of [request, proof, report])
    await expect(
      world.verify(transactionHash, { contracts: { vrfCoordinator, presetConsumer: link } }),
    ).rejects.toThrow(
      new RegExp(`of ${presetConsumer}, where the presetConsumer that was given is ${link}\\.`, "i"),
    );
});

test("transactions that there are not, or that are not the oracle's, are not found", async () => {
  await expect(world.verify(`0x${"ab".repeat(32)}`)).rejects.toMatchObject({ code: "not_found" });
  const { request } = await world.runPreset();
  const stranger = { vrfCoordinator: world.addresses.link, presetConsumer: world.addresses.link };
  const { vrfCoordinator, presetConsumer, link } = world.addresses;
  const [own] = (await world.verify(request.transactionHash)).requests;
  const where = (address: Hex, role: string) =>
    `of ${address}, where the ${role} that was given is ${link}`.toLowerCase();
  for (const requestId of [undefined, own!.requestId]) {
    const error = await world
      .verify(request.transactionHash, { contracts: stranger, ...(requestId && { requestId }) })
      .catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/^Not valid for these addresses: the events in the transaction /),
    });
    expect((error as Error).message.toLowerCase()).toContain(where(vrfCoordinator, "vrfCoordinator"));
    expect((error as Error).message.toLowerCase()).toContain(where(presetConsumer, "presetConsumer"));
  }
  await expect(
    world.verify(request.transactionHash, { requestId: `0x${"cd".repeat(32)}` }),
  ).rejects.toMatchObject({ code: "not_found" });
  await expect(world.verify(request.transactionHash, { chainId: 1 })).rejects.toMatchObject({
    code: "invalid_parameter",
  });
});
