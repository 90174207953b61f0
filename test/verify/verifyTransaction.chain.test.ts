import {
  concat,
  decodeFunctionData,
  encodeErrorResult,
  encodeFunctionData,
  parseAbi,
  stringToHex,
  toHex,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../src/evm/client.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import {
  batchVrfCoordinatorAbi,
  functionsRouterAbi,
  subscriptionOwnerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import { createSourceRunner } from "../../src/app/tools/runSource.ts";
import { fromHexText } from "../../src/lib/hex.ts";
import { checkExecution } from "../../src/verify/executionStep.ts";
import type { RunSource } from "../../src/verify/runSource.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import { storeSource } from "../support/consumer.ts";
import { deliverResults, deliverWords, eventsOf } from "../support/delivery.ts";
import { startVerifyWorld, wordsSentIn, type Tamper, type VerifyWorld } from "./support/world.ts";

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
  request: "ok",
  key: "ok",
  proof: "ok",
  words: "ok",
  word: "ok",
  source: "ok",
  stored: "ok",
  signers: "ok",
  signatures: "ok",
  delivery: "ok",
  execution: "ok",
};

describe("a preset", () => {
  test("default: is valid from its request, its proof and its report alike", async () => {
    const { request, proof, report } = await world.runPreset();
    const [word] = wordsSentIn(proof);
    const found = await world.verify(report.transactionHash);
    expect(found.requests.map(({ steps }) => outcomes(steps))).toEqual([ALL_OK]);
    expect(found).toMatchObject({
      valid: true,
      verdict: "valid",
      requests: [
        {
          kind: "preset",
          verdict: "valid",
          failed: null,
          result: word,
          err: "0x",
          randomNumber: [String(BigInt(word!))],
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

  test("behaviour: those that share proof and report are all checked, or the one that is named", async () => {
    const items = Array.from({ length: 4 }, () => ({ sourceId: world.echoId }));
    const request = await world.submit({ presets: [{ dapp: world.dapp, items }] });
    const proof = await deliverWords(world, request);
    const report = await deliverResults(world, proof, { response: wordsSentIn(proof)[2]! });
    const sent = eventsOf(proof, "PresetSent");
    // One result for all, which is right only for the third.
    const found = await world.verify(proof.transactionHash);
    expect(found.requests.map(({ failed }) => failed)).toEqual(["execution", "execution", null, "execution"]);
    const one = await world.verify(report.transactionHash, { requestId: sent[2]!.requestId });
    expect(one).toMatchObject({ valid: true, requests: [{ requestId: sent[2]!.requestId }] });
    const byWords = await world.verify(request.transactionHash, { requestId: sent[0]!.vrfRequestId });
    expect(byWords.requests).toHaveLength(4);
  });

  test("behaviour: several proofs in one transaction are told apart", async () => {
    const preset = { dapp: world.dapp, items: [{ sourceId: world.echoId }] };
    const request = await world.submit({
      presets: [preset, preset],
      randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 3 }],
    });
    const proof = await deliverWords(world, request);
    const { verdict, requests } = await world.verify(proof.transactionHash);
    expect(verdict).toBe("incomplete");
    expect(requests.map(({ kind, verdict, randomNumber }) => [kind, verdict, randomNumber.length])).toEqual([
      ["preset", "incomplete", 1],
      ["preset", "incomplete", 1],
      ["random", "valid", 3],
    ]);
    expect(new Set(requests.flatMap(({ randomNumber }) => randomNumber)).size).toBe(5);
  });

  test("behaviour: before its words it is incomplete", async () => {
    const items = [{ sourceId: world.echoId }, { sourceId: world.echoId }];
    const request = await world.submit({ presets: [{ dapp: world.dapp, items }] });
    const { verdict, valid, requests } = await world.verify(request.transactionHash);
    expect({ verdict, valid }).toEqual({ verdict: "incomplete", valid: false });
    expect(requests).toMatchObject([
      { kind: "preset", verdict: "incomplete", transactions: { randomness: null, report: null } },
      { kind: "preset", verdict: "incomplete" },
    ]);
    await deliverWords(world, request);
  });

  test("behaviour: an id under which a source was stored only after the request fails", async () => {
    const sourceId = world.echoId + 1;
    const request = await world.submit({ presets: [{ dapp: world.dapp, items: [{ sourceId }] }] });
    expect(await storeSource(world, "return Functions.encodeUint256(BigInt(bytesArgs[0]) | 1n)")).toBe(
      sourceId,
    );
    const proof = await deliverWords(world, request);
    const { requests } = await world.verify(proof.transactionHash);
    expect(requests).toMatchObject([{ verdict: "invalid", failed: "stored" }]);
  });
});

describe("random words", () => {
  test("default: are valid, all of them", async () => {
    const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 500 }] });
    const proof = await deliverWords(world, request);
    for (const { transactionHash } of [request, proof]) {
      const { valid, requests } = await world.verify(transactionHash);
      expect(valid).toBe(true);
      expect(outcomes(requests[0]!.steps)).toEqual({
        transactions: "ok",
        contracts: "ok",
        request: "ok",
        key: "ok",
        proof: "ok",
        words: "ok",
      });
      expect(requests[0]!.randomNumber).toHaveLength(500);
    }
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
    const report = await deliverResults(world, proof, { response: wordsSentIn(proof)[0]! });
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
    const tamper: Tamper = (method, answer) => (method === "debug_traceTransaction" ? null : answer);
    const { verdict, requests } = await world.verify(proof.transactionHash, { tamper });
    expect(verdict).toBe("unconfirmed");
    expect(requests).toMatchObject([{ failed: null, randomNumber: [] }]);
    expect(requests[0]!.steps.find(({ name }) => name === "proof")).toMatchObject({
      outcome: "notApplicable",
      detail: expect.stringContaining(`delivered through the contract ${RELAY}`),
    });
  });

  test("is found behind a false one for the same request", async () => {
    const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 2 }] });
    const proof = await deliverWords(world, request, {
      wrap({ data }) {
        const { args } = decodeFunctionData({ abi: vrfCoordinatorAbi, data });
        const [real, commitment] = args as unknown as [{ c: bigint; seed: bigint }, { blockNum: bigint }];
        const falseOnes = [{ ...real, c: real.c + 1n }, real];
        const itsTerms = [commitment, { ...commitment, blockNum: commitment.blockNum + 1n }];
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
      expect(await world.verify(transactionHash)).toMatchObject({ verdict: "valid" });
  });
});

test("behaviour: what a contract of the caller's own asked for is checked, too", async () => {
  const { vrfSubId, functionsSubId } = world.dapp;
  const owner = TEST_ROLES.transmitters[3]!;
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
      args: [TEST_PROVING_KEY.keyHash, vrfSubId, 1, 20_000, 2],
    }),
  });
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
  expect(requests[0]!.steps.find(({ name }) => name === "words")).toMatchObject({
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

  test("default: is valid when its source gives the reported result again", async () => {
    const source = "return Functions.encodeUint256(BigInt(args[0]) * 2n)";
    const { request, report } = await world.runFunction(source, FOURTEEN);
    for (const { transactionHash } of [request, report]) {
      const { valid, requests } = await world.verify(transactionHash);
      expect(valid).toBe(true);
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

  test("error: another result than the source gives fails at the execution", async () => {
    const { report } = await world.runFunction("return Functions.encodeUint256(15)", FOURTEEN);
    const { valid, requests } = await world.verify(report.transactionHash);
    expect(valid).toBe(false);
    expect(requests).toMatchObject([{ verdict: "invalid", failed: "execution" }]);
  });

  test("behaviour: another result in an environment that only resembles a node's is not confirmed", async () => {
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
  ])("error: what a source only says doesn't switch off the check of its result: %s", async (source) => {
    const { report } = await world.runFunction(source, FOURTEEN);
    expect(await world.verify(report.transactionHash)).toMatchObject({
      verdict: "invalid",
      requests: [{ failed: "execution" }],
    });
  });

  test("behaviour: a source that gives another result in every run is not confirmed", async () => {
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
  ])("behaviour: %s is not confirmed, and is not called wrong", async (source, why) => {
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
  const request = { data: toHex(encodeFunctionsRequest({ source: "given" })), dataVersion: 1 };
  const run: RunSource = () =>
    Promise.resolve(
      "result" in given
        ? { kind: "result", bytes: fromHexText(given.result), touched: [] }
        : { kind: "error", message: given.error, touched: [] },
    );
  const options = { run, maxResponseBytes: 256, caller: "test", deadline: new AbortController().signal };
  const { outcome, compared } = await checkExecution(request, { result, error }, options);
  expect(outcome).toBe("failed");
  expect(compared[0]!.expected).toContain(error);
  expect(compared[0]!.expected).toContain(result);
});

/** Sources whose answer an operator can choose by controlling what its nodes see; a second run would behave the same and confirm it. */
test.each([
  [
    "lets the request fail",
    "const r = await Functions.makeHttpRequest({ url: 'https://example.com' });" +
      "return Functions.encodeString(r.error ? 'LOSE' : 'WIN')",
    "LOSE",
    /used HTTP/,
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
])("error: an operator who %s is not confirmed", async (_name, source, result, why) => {
  const { report } = await world.runFunction(source, stringToHex(result));
  const { verdict, requests } = await world.verify(report.transactionHash);
  expect(verdict).toBe("unconfirmed");
  expect(requests[0]!.steps.find(({ name }) => name === "execution")).toMatchObject({
    outcome: "notApplicable",
    detail: expect.stringMatching(why),
  });
});

test("behaviour: a request that the source could have made, but did not, leaves its result checkable", async () => {
  const source =
    "if (args[0] === '8') await fetch('https://example.com'); return Functions.encodeUint256(14)";
  const { report } = await world.runFunction(source, `0x${"00".repeat(31)}0f`);
  expect(await world.verify(report.transactionHash)).toMatchObject({ requests: [{ failed: "execution" }] });
});

test("behaviour: without given addresses a result is valid only if those of the transactions are the operator's", async () => {
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

test("error: transactions that there are not, or that are not the oracle's, are not found", async () => {
  await expect(world.verify(`0x${"ab".repeat(32)}`)).rejects.toMatchObject({ code: "not_found" });
  const { request } = await world.runPreset();
  const stranger = { vrfCoordinator: world.addresses.link, presetConsumer: world.addresses.link };
  await expect(world.verify(request.transactionHash, { contracts: stranger })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(
    world.verify(request.transactionHash, { requestId: `0x${"cd".repeat(32)}` }),
  ).rejects.toMatchObject({ code: "not_found" });
  await expect(world.verify(request.transactionHash, { chainId: 1 })).rejects.toMatchObject({
    code: "invalid_parameter",
  });
});
