/**
 * A node that lies: each case changes one answer, or several so that they agree with each other, on their way to the verification, which
 * must name the step that no longer holds.
 */
import type { Verification } from "../../src/api/types.ts";
import {
  concat,
  decodeFunctionData,
  encodeFunctionData,
  encodeFunctionResult,
  slice,
  stringToHex,
  toHex,
  type Hex,
} from "viem";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { EVENT_TOPICS, findEvent } from "../../src/chainlink/events.ts";
import { decodeDelivery, decodeFulfilments } from "../../src/chainlink/calldata.ts";
import {
  functionsCoordinatorAbi,
  presetConsumerAbi,
  vrfCoordinatorAbi,
} from "../../src/chainlink/contracts/abi.ts";
import {
  encodeBatchReport,
  encodeDelivery,
  encodeResults,
  type SignedReport,
} from "../../src/chainlink/presetReport.ts";
import { readyRecord } from "../../src/chainlink/presetBatch.ts";
import { fromHexText, toHexText } from "../../src/lib/hex.ts";
import { encodeTransaction, hashOf } from "../../src/verify/encodeBlock.ts";
import type { ChainData } from "../../src/api/types.ts";
import { createRecordedReader, createReadRecorder } from "../../src/verify/recordedReader.ts";
import { createChainFacts, type ChainReader } from "../../src/verify/chainFacts.ts";
import type { VerifyOptions } from "../../src/verify/verifyTransaction.ts";
import { readSignerSets, type SignerSet } from "../../src/verify/signerSet.ts";
import { checkTransactions } from "../../src/verify/transactionsStep.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { TycheError } from "../../src/lib/errors.ts";
import { createProvingKey, prove } from "../../src/vrf/proof.ts";
import { outputOf, seedOf } from "../../src/vrf/randomWords.ts";
import { testAccount } from "../support/anvil.ts";
import { encodeSubmission, type TestSubmission } from "../support/consumer.ts";
import { deliverWords, eventsOf, reportOf, seedsOf, signReport } from "../support/delivery.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import { changeAll, changesOf, membersOf, type Member } from "./support/answerChanges.ts";
import {
  ECHO_WORD,
  isForConfig,
  startVerifyWorld,
  wordOf,
  type Delivered,
  type Tamper,
  type VerifyWorld,
} from "./support/world.ts";

let world: VerifyWorld;
let preset: Delivered;
/** Its proof and its report were delivered in one transaction. */
let together: Delivered;
beforeAll(async () => {
  world = await startVerifyWorld();
  preset = await world.runPreset();
  together = await world.runPreset({ isTogether: true });
});
afterAll(() => world.close());

/** Verifies a transaction with a record of a node's answers. The preset's source returns the word, and any other source nothing. */
function verifyRecorded(hash: Hex, data: ChainData, options: Partial<VerifyOptions> = {}) {
  return world.verify(hash, {
    client: createRecordedReader(JSON.stringify(data)),
    run: ({ source, bytesArgs }) =>
      Promise.resolve({
        kind: "result",
        bytes: fromHexText(source === ECHO_WORD ? bytesArgs[0]! : "0x"),
        touched: [],
      }),
    ...options,
  });
}

/** Returns the failed steps of the preset's verification with a lying node; blocks are hashed only on request. */
async function failedStepOf(tamper: Tamper, { hasEthereumBlocks = false } = {}) {
  const found = await world.verify(preset.report.transactionHash, { tamper, hasEthereumBlocks });
  expect(found.valid).toBe(found.requests[0]!.failed === null);
  // A changed transaction no longer matches its hash, which fails first; after that comes the step that the change targets.
  return found.requests[0]!.steps.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);
}

interface Answer {
  input: Hex;
  hash: Hex;
  blockHash: Hex;
  transactionHash: Hex;
  logs: { topics: Hex[]; data: Hex; blockHash: Hex }[];
}

/** Changes the calldata of one transaction. */
const changeInput =
  (hash: Hex, change: (input: Hex) => Hex): Tamper =>
  (method, answer) => {
    const transaction = answer as Answer;
    if (method === "eth_getTransactionByHash" && transaction.hash === hash)
      transaction.input = change(transaction.input);
    return answer;
  };

/** Changes the data of the logs of one event. */
const changeLog =
  (topic: Hex, change: (data: Hex) => Hex): Tamper =>
  (method, answer) => {
    for (const { logs } of receiptsIn(method, answer))
      for (const log of logs) if (log.topics[0] === topic) log.data = change(log.data);
    return answer;
  };

function receiptsIn(method: string, answer: unknown): readonly Answer[] {
  if (method === "eth_getTransactionReceipt") return [answer as Answer];
  return method === "eth_getBlockReceipts" ? (answer as Answer[]) : [];
}

const all =
  (...tampers: readonly Tamper[]): Tamper =>
  (method, answer, parameters) =>
    tampers.reduce((changed, tamper) => tamper(method, changed, parameters), answer);

const changeProof = (proofOf: (seed: bigint, preSeed: bigint) => ReturnType<typeof prove>): Tamper =>
  changeInput(preset.proof.transactionHash, (input) => {
    const { args } = decodeFunctionData({ abi: vrfCoordinatorAbi, data: input });
    const [old, commitment] = args as unknown as [{ seed: bigint }, never];
    const { publicKey, gamma, cGammaWitness, sHashWitness, preSeed, ...proof } = proofOf(
      seedOf(old.seed, preset.request.blockHash),
      old.seed,
    );
    const pair = ({ x, y }: { x: bigint; y: bigint }) => [x, y] as const;
    const encoded = {
      ...proof,
      pk: pair(publicKey),
      gamma: pair(gamma),
      seed: preSeed,
      cGammaWitness: pair(cGammaWitness),
      sHashWitness: pair(sHashWitness),
    };
    return encodeFunctionData({
      abi: vrfCoordinatorAbi,
      functionName: "fulfillRandomWords",
      args: [encoded, commitment],
    });
  });

const wordHex = (word: bigint): string => word.toString(16).padStart(64, "0");

test("an honest node's answers are valid", async () => {
  expect(await failedStepOf((_method, answer) => answer, { hasEthereumBlocks: true })).toEqual([]);
});

test("a proof whose gamma was changed", async () => {
  const tamper = changeProof((seed, preSeed) => {
    const proof = prove(TEST_PROVING_KEY, { seed, preSeed });
    return { ...proof, gamma: proof.cGammaWitness };
  });
  expect(await failedStepOf(tamper)).toEqual(["transactions", "proof"]);
});

test("a valid proof by another key", async () => {
  const otherKey = createProvingKey(testAccount(15).secretKey);
  const tamper = changeProof((seed, preSeed) => prove(otherKey, { seed, preSeed }));
  // The request's id is a hash of key and pre-seed, so this proof belongs to no request.
  expect(await failedStepOf(tamper)).toEqual(["transactions", "proof"]);
});

test("a key that is not registered", async () => {
  const { keyHash } = createProvingKey(testAccount(15).secretKey);
  const result = encodeFunctionResult({
    abi: vrfCoordinatorAbi,
    functionName: "getRequestConfig",
    result: [1, 2_500_000, [keyHash]],
  });
  const tamper = changeCall(world.addresses.vrfCoordinator, result, "getRequestConfig");
  expect(await failedStepOf(tamper)).toEqual(["key"]);
});

test("a valid proof for a seed from another block's hash", async () => {
  const otherHash: Hex = `0x${"5e".repeat(32)}`;
  const tamper = changeProof((_seed, preSeed) =>
    prove(TEST_PROVING_KEY, { seed: seedOf(preSeed, otherHash), preSeed }),
  );
  expect(await failedStepOf(tamper)).toEqual(["transactions", "proof"]);
});

test("another hash of the request's block, with a proof that suits it", async () => {
  const otherHash: Hex = `0x${"5e".repeat(32)}`;
  const proof = changeProof((_seed, preSeed) =>
    prove(TEST_PROVING_KEY, { seed: seedOf(preSeed, otherHash), preSeed }),
  );
  const block: Tamper = (method, answer) => {
    const text = JSON.stringify(answer).replaceAll(preset.request.blockHash, otherHash);
    return method === "eth_getTransactionReceipt" ? JSON.parse(text) : answer;
  };
  const output = outputOf(
    prove(TEST_PROVING_KEY, {
      seed: seedOf(eventsOf(preset.request, "RandomWordsRequested")[0]!.preSeed, otherHash),
      preSeed: 0n,
    }).gamma,
  );
  const fulfilled = changeLog(
    EVENT_TOPICS.RandomWordsFulfilled,
    (data) => `0x${wordHex(output)}${data.slice(66)}`,
  );
  // Everything agrees except the transaction's own hash, the source's result and what the nodes signed.
  expect(await failedStepOf(all(proof, block, fulfilled))).toEqual(["transactions", "delivery", "execution"]);
});

test("an output that is not the proof's", async () => {
  const tamper = changeLog(EVENT_TOPICS.RandomWordsFulfilled, (data) => `0x${wordHex(7n)}${data.slice(66)}`);
  expect(await failedStepOf(tamper)).toEqual(["proof"]);
  expect(await failedStepOf(tamper, { hasEthereumBlocks: true })).toEqual(["transactions", "proof"]);
});

test("another stored source", async () => {
  const result = encodeFunctionResult({
    abi: presetConsumerAbi,
    functionName: "sourceOf",
    result: stringToHex("return Functions.encodeUint256(1)"),
  });
  expect(await failedStepOf(changeCall(world.addresses.presetConsumer, result, "sourceOf"))).toEqual([
    "execution",
  ]);
});

test("another batch logged with the request", async () => {
  // One item with the argument "x", in CBOR.
  const tamper = changeLog(EVENT_TOPICS.BatchRequested, (data) => {
    const [sourceId] = [data.slice(130, 134)];
    return `0x${wordHex(32n)}${wordHex(6n)}${`${sourceId}03816178`.padEnd(64, "0")}`;
  });
  expect(await failedStepOf(tamper)).toEqual(["delivery"]);
});

test("another batch in the calldata of the request", async () => {
  const tamper = changeInput(preset.request.transactionHash, (input) => {
    const { args } = decodeFunctionData({ abi: presetConsumerAbi, data: input });
    const [[batch], ...rest] = args as unknown as [[{ batch: Hex }], [], [], []];
    const changed = { ...batch, batch: `${batch.batch.slice(0, 6)}03816178` } as never;
    return encodeFunctionData({ abi: presetConsumerAbi, functionName: "submit", args: [[changed], ...rest] });
  });
  expect(await failedStepOf(tamper)).toEqual(["transactions"]);
});

/** Replaces the report in the calldata. */
const changeReport = (signed: SignedReport): Tamper =>
  changeInput(preset.report.transactionHash, () => encodeDelivery("0x", [signed]));

/** Returns the preset's report with another result. */
function reportWith(result: Hex): Uint8Array {
  const { vrfRequestId, batch } = eventsOf(preset.request, "BatchRequested")[0]!;
  const ready = readyRecord(batch, seedsOf(preset.request).get(vrfRequestId)!);
  const results = encodeResults([{ ok: true, bytes: fromHexText(result) }]);
  return encodeBatchReport([{ vrfRequestId, ready, results }]);
}

const ONE: Hex = `0x${wordHex(1n)}`;
const strangers = [20, 21, 22, 23].map(testAccount);

test("a report changed after it was signed", async () => {
  const { signatures } = await reportOf(world, preset.request, { result: wordOf(preset.request) });
  const tamper = all(changeReport({ report: reportWith(ONE), signatures }), changeResult);
  expect(await failedStepOf(tamper)).toEqual(["transactions", "signatures", "execution"]);
});

test("a report signed by others", async () => {
  const signed = await signReport(world, reportWith(ONE), { nodes: strangers });
  const tamper = all(changeReport(signed), changeResult);
  expect(await failedStepOf(tamper)).toEqual(["transactions", "signatures", "execution"]);
});

test("limit: a report with more signatures than there can be nodes is not read", async () => {
  const signed = await reportOf(world, preset.request, { result: wordOf(preset.request) });
  const signatures = Array.from({ length: 32 }, () => signed.signatures[0]!);
  expect(await failedStepOf(changeReport({ ...signed, signatures }))).toEqual(["transactions"]);
});

test("a report signed by others, who are then said to be configured", async () => {
  const configured = changeSigners(strangers.map(({ address }) => address));
  const signed = await signReport(world, reportWith(wordOf(preset.request)), { nodes: strangers });
  expect(await failedStepOf(all(changeReport(signed), configured))).toEqual([
    "transactions",
    "signers",
    "signatures",
  ]);
});

test("a report for another seed", async () => {
  const [vrfRequestId] = seedsOf(preset.request).keys();
  const seeds = new Map([[vrfRequestId!, 1n]]);
  const signed = await reportOf(world, preset.request, { result: wordOf(preset.request), seeds });
  expect(await failedStepOf(changeReport(signed))).toEqual(["transactions", "delivery"]);
});

test.each([
  ["two nodes", [0, 1]],
  ["one node three times", [0, 0, 0]],
  ["all four nodes, one more than the consumer takes", [0, 1, 2, 3]],
])("a report signed by %s", async (_name, signers) => {
  const signed = await reportOf(world, preset.request, { result: wordOf(preset.request), signers });
  expect(await failedStepOf(changeReport(signed))).toEqual(["transactions", "signatures"]);
});

test("without the configuration's log the signers are found in the contract's storage", async () => {
  const tamper: Tamper = (method, answer, [filter]) =>
    method === "eth_getLogs" && isForConfig(filter) ? [] : answer;
  const { requests } = await world.verify(preset.report.transactionHash, { tamper });
  expect(requests[0]!.steps.find(({ name }) => name === "signatures")).toMatchObject({ outcome: "ok" });
});

test.each(["proof", "report"] as const)(
  "does not confirm a genuine result from its %s if the node withholds all earlier logs, and does not call it invalid",
  async (part) => {
    const tamper: Tamper = (method, answer) => (method === "eth_getLogs" ? [] : answer);
    const { verdict, requests } = await world.verify(preset[part].transactionHash, { tamper });
    expect(["unconfirmed", "incomplete"]).toContain(verdict);
    expect(requests.flatMap(({ steps }) => steps).filter(({ outcome }) => outcome === "failed")).toEqual([]);
  },
);

test("without log and storage the signers can't be told, which is said", async () => {
  const tamper: Tamper = (method, answer, [filter]) => {
    if (method === "eth_getStorageAt") return ONE;
    return method === "eth_getLogs" && isForConfig(filter) ? [] : answer;
  };
  const { verdict, requests } = await world.verify(preset.report.transactionHash, { tamper });
  expect(verdict).toBe("unconfirmed");
  const steps = requests[0]!.steps.filter(({ name }) => name === "signers" || name === "signatures");
  expect(steps.map(({ outcome }) => outcome)).toEqual(["notApplicable", "notApplicable"]);
});

test("limit: of a node that names any number of configurations, only the last 1,000 are read", async () => {
  const client: ChainReader = {
    async request(method, parameters) {
      const answer = await world.client.request(method, parameters);
      if (method !== "eth_getLogs" || !isForConfig(parameters?.[0])) return answer;
      return Array.from({ length: 1_100 }, () => (answer as unknown[])[0]);
    },
  };
  expect(await signerSetsOf(client)).toHaveLength(1_000);
});

test("limit: of a node that names more nodes than a coordinator takes, no signers are read", async () => {
  const asked: string[] = [];
  const transmitters = Array.from({ length: 32 }, () => world.addresses.presetConsumer);
  const call = { abi: functionsCoordinatorAbi, functionName: "transmitters" } as const;
  const client: ChainReader = {
    async request(method, parameters) {
      asked.push(method);
      if (method === "eth_getLogs") return [];
      if (method === "eth_getStorageAt") return toWord(32n);
      if (method === "eth_call" && (parameters![0] as { data: Hex }).data === encodeFunctionData(call))
        return encodeFunctionResult({ ...call, result: transmitters });
      return await world.client.request(method, parameters);
    },
  };
  expect(await signerSetsOf(client)).toEqual([]);
  expect(asked).not.toContain("eth_getStorageAt");
});

async function signerSetsOf(client: ChainReader): Promise<SignerSet[]> {
  const { chainId } = world;
  const facts = createChainFacts(client, { network: "test", chainId, hasEthereumBlocks: true });
  return await Array.fromAsync(
    readSignerSets({ coordinator: world.addresses.functionsCoordinator, chainId }, facts),
  );
}

test("limit: of a transaction that names any number of requests, only the first 101 are followed", async () => {
  let searches = 0;
  const tamper: Tamper = (method, answer) => {
    if (method === "eth_getLogs") searches += 1;
    for (const { logs } of receiptsIn(method, answer)) {
      const asked = logs.find(({ topics }) => topics[0] === EVENT_TOPICS.RandomWordsRequested);
      if (asked === undefined) continue;
      for (let i = 1n; i <= 300n; i += 1n)
        logs.push({ ...asked, data: `${toWord(i)}${asked.data.slice(66)}` as Hex });
    }
    return answer;
  };
  const verified = world.verify(preset.request.transactionHash, { tamper, hasEthereumBlocks: false });
  await expect(verified).rejects.toThrow("involves more than 100 requests; name one with requestId");
  expect(searches).toBeLessThan(110);
});

test("limit: of a request that names any number of words, at most 500 are derived", async () => {
  const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 2 }] });
  const proof = await deliverWords(world, request);
  const many = 2 ** 32 - 1;
  const tamper = all(
    // Words 0 to 4 of the log: request id, pre-seed, confirmations, callback gas limit, number of words.
    changeLog(EVENT_TOPICS.RandomWordsRequested, (data) =>
      concat([slice(data, 0, 4 * 32), toWord(BigInt(many))]),
    ),
    changeInput(proof.transactionHash, (input) => {
      const { args } = decodeFunctionData({ abi: vrfCoordinatorAbi, data: input });
      const [first, commitment] = args as unknown as [never, { numWords: number }];
      return encodeFunctionData({
        abi: vrfCoordinatorAbi,
        functionName: "fulfillRandomWords",
        args: [first, { ...commitment, numWords: many } as never],
      });
    }),
  );
  const { requests } = await world.verify(request.transactionHash, { tamper, hasEthereumBlocks: false });
  expect(requests[0]!.randomNumber).toHaveLength(500);
});

test("another result delivered than signed", async () => {
  expect(await failedStepOf(changeResult)).toEqual(["delivery", "execution"]);
});

test("rejects transactions that were signed for another chain, whatever chain the node names", async () => {
  const { verdict, requests } = await world.verify(preset.report.transactionHash, {
    chainId: 11_155_111,
    tamper: (method, answer) => (method === "eth_chainId" ? "0xaa36a7" : answer),
  });
  expect(verdict).toBe("invalid");
  expect(requests[0]!.steps[0]).toMatchObject({
    name: "transactions",
    outcome: "failed",
    compared: expect.arrayContaining([
      { what: "chain id in the transaction", expected: "11155111", found: String(world.chainId) },
    ]) as unknown,
  });
});

test("forged calldata under the label of a real transaction", async () => {
  const real = preset.request.transactionHash;
  const answer = (await world.client.request("eth_getTransactionByHash", [real])) as Answer;
  // Bytes behind the arguments, which no decoder reads: only the hash shows them.
  const input: Hex = `${answer.input}00`;
  const forged = hashOf(encodeTransaction({ ...answer, input }));
  const rename = <T>(value: T, from: Hex, to: Hex): T =>
    JSON.parse(JSON.stringify(value).replaceAll(from, to)) as T;
  const client: ChainReader = {
    async request(method, parameters = []) {
      const answered = await world.client.request(method, rename(parameters, forged, real));
      const named = rename(answered, real, forged);
      if (method === "eth_getTransactionByHash" && (named as Answer).hash === forged)
        return { ...(named as Answer), input };
      return named;
    },
  };
  for (const { transactionHash } of [preset.proof, preset.report]) {
    const { verdict, requests } = await world.verify(transactionHash, { client });
    expect(verdict).toBe("invalid");
    expect(requests[0]!.steps.filter(({ outcome }) => outcome === "failed")).toMatchObject([
      {
        name: "transactions",
        compared: expect.arrayContaining([
          { what: "transaction in the block", expected: forged, found: "none" },
        ]),
      },
    ]);
  }
});

test("another source in blocks that a node makes up, under a report that was signed for a different one", async () => {
  const { request, report } = await world.runFunction(
    "return Functions.encodeUint256(BigInt(args[0]) + 7n)",
    `0x${wordHex(14n)}`,
  );
  const real = request.transactionHash;
  const textOf = (text: string): string => Buffer.from(text).toString("hex");
  const change = (answer: unknown): Answer =>
    JSON.parse(JSON.stringify(answer).replaceAll(textOf("+ 7n"), textOf("* 2n"))) as Answer;
  const changed = change(await world.client.request("eth_getTransactionByHash", [real]));
  const forged = hashOf(encodeTransaction({ ...changed }));
  const client: ChainReader = {
    request: async (method, parameters = []) => {
      const asked = JSON.parse(JSON.stringify(parameters).replaceAll(forged, real)) as unknown[];
      const answer = JSON.stringify(change(await world.client.request(method, asked)));
      return JSON.parse(answer.replaceAll(real, forged)) as unknown;
    },
  };
  // The blocks are the node's word, as blocks are that it makes up: the hashes in them are no hindrance.
  const found = await world.verify(report.transactionHash, { client, hasEthereumBlocks: false });
  expect(found.verdict).toBe("invalid");
  expect(found.requests[0]!.steps.filter(({ outcome }) => outcome !== "ok")).toMatchObject([
    { name: "source", outcome: "failed", detail: expect.stringContaining("not of the account that asked") },
    { name: "delivery", outcome: "notApplicable", detail: expect.stringContaining("request id") },
  ]);
  const honest = await world.verify(report.transactionHash, { hasEthereumBlocks: false });
  expect(honest.verdict).toBe("valid");
});

test("limit: a block of more transactions than 20,000 is not hashed, and the result not confirmed", async () => {
  const tamper: Tamper = (method, answer) =>
    method === "eth_getBlockByHash"
      ? { ...(answer as object), transactions: Array.from({ length: 20_001 }, () => ({})) }
      : answer;
  const { verdict, requests } = await world.verify(preset.report.transactionHash, { tamper });
  expect(verdict).toBe("unconfirmed");
  expect(requests[0]!.steps[0]).toMatchObject({
    name: "transactions",
    detail: expect.stringContaining("has 20001 transactions, and at most 20000 are hashed") as string,
  });
});

describe("a function in a block that a node makes up", () => {
  /** Puts other logs under a transaction; as above, hashes are no hindrance in a block that is made up. */
  const verifyWithLogs = async (hash: Hex, logs: readonly Receipt["logs"][number][]) => {
    const blockNumber = toHex(logs[0]!.blockNumber);
    const tamper: Tamper = (method, answer) => {
      for (const receipt of receiptsIn(method, answer))
        if (receipt.transactionHash === hash)
          Object.assign(receipt, { status: "0x1", logs: toAnswers(logs), blockNumber });
      return answer;
    };
    const found = await world.verify(hash, { tamper, hasEthereumBlocks: false });
    return found.requests[0]!;
  };
  const toAnswers = (logs: readonly Receipt["logs"][number][]): Answer["logs"] =>
    logs.map((log) => ({
      ...log,
      topics: [...log.topics],
      blockNumber: toHex(log.blockNumber),
      logIndex: toHex(log.logIndex),
    }));
  const double = (number: bigint) =>
    world.runFunction(`return Functions.encodeUint256(${number}n * 2n)`, toWord(2n * number));

  test("another request than that of the transaction's calldata", async () => {
    const [asked, other] = [await double(7n), await double(8n)];
    const shown = other.request.logs.filter(({ topics }) => topics[0] !== EVENT_TOPICS.Accepted);
    expect(await verifyWithLogs(asked.request.transactionHash, shown)).toMatchObject({
      verdict: "invalid",
      failed: "source",
    });
  });

  test("a label that the transaction's calldata don't have", async () => {
    const label = { index: 0n, item: 0n, dapp: "dapp_a", text: "raffle" };
    const randoms = [{ vrfSubId: world.dapp.vrfSubId, numWords: 1 }];
    const labelled = await world.submit({ randoms, labels: [label] });
    const { request } = await double(9n);
    const { transactionHash, logs } = request;
    const added = labelled.logs.filter(({ topics }) => topics[0] === EVENT_TOPICS.Labelled);
    const found = await verifyWithLogs(transactionHash, [...logs, ...added]);
    expect(added).toHaveLength(1);
    expect(found).toMatchObject({ verdict: "valid", label: null });
  });

  test("a label in the calldata of a transaction of somebody else", async () => {
    const label = { index: 0n, item: 0n, dapp: "dapp_a", text: "raffle" };
    const randoms = [{ vrfSubId: world.dapp.vrfSubId, numWords: 1 }];
    const labelled = await world.submit({ randoms, labels: [label] });
    const { request } = await double(10n);
    const sent = (await world.client.request("eth_getTransactionByHash", [
      request.transactionHash,
    ])) as Answer;
    const { args } = decodeFunctionData({ abi: presetConsumerAbi, data: sent.input });
    const functions = args[1] as NonNullable<TestSubmission["functions"]>;
    // It has no right to ask; the made-up receipt says that it did.
    const { transactionHash, succeeded } = await world.send(testAccount(8), {
      to: world.contracts.presetConsumer,
      data: encodeSubmission({ functions, labels: [label] }),
      gas: 1_000_000n,
    });
    expect(succeeded).toBe(false);
    const added = labelled.logs.filter(({ topics }) => topics[0] === EVENT_TOPICS.Labelled);
    expect(await verifyWithLogs(transactionHash, [...request.logs, ...added])).toMatchObject({
      verdict: "invalid",
      failed: "source",
    });
  });
});

test("a log's place is that of its receipt, whatever the log says", async () => {
  const honest = await world.verify(preset.report.transactionHash);
  const other = { blockHash: `0x${"5e".repeat(32)}`, blockNumber: "0x1", logIndex: "0x0" } as const;
  for (const hasEthereumBlocks of [true, false]) {
    const tamper: Tamper = (method, answer) => {
      for (const { logs } of receiptsIn(method, answer))
        for (const log of logs) Object.assign(log, other, { transactionHash: other.blockHash });
      return answer;
    };
    const found = await world.verify(preset.report.transactionHash, { tamper, hasEthereumBlocks });
    expect(found.requests[0]!.steps.slice(1)).toEqual(honest.requests[0]!.steps.slice(1));
  }
});

test("calldata and logs are read from the bytes that were hashed, not from their text", async () => {
  const honest = await world.verify(preset.report.transactionHash);
  // An odd number of digits is hashed with a zero before it; read as text, everything behind it moves.
  const tamper: Tamper = (method, answer) => {
    for (const { logs } of receiptsIn(method, answer))
      for (const log of logs)
        log.data = log.data.replace(/^0x0/, "0x").toUpperCase().replace("X", "x") as Hex;
    return answer;
  };
  expect(await world.verify(preset.report.transactionHash, { tamper })).toEqual(honest);
});

test("logs that are not those of the block", async () => {
  // Everything that the checks compare stays the same: only the block's receipts root reveals it.
  const tamper = changeLog(EVENT_TOPICS.Accepted, (data) => `0x${wordHex(1n)}${data.slice(66)}`);
  expect(await failedStepOf(tamper, { hasEthereumBlocks: true })).toEqual(["transactions"]);
});

/** Members of a node's answers that nothing reads, with the reason. */
const UNREAD: readonly (readonly [members: RegExp, reason: string])[] = [
  [/^eth_getTransactionReceipt (?!blockHash$)/, "the answer only says which block to read"],
  [
    /^eth_(getTransactionByHash |getBlockByHash transactions\.\*\.)(hash|blockHash|blockNumber|transactionIndex|from|blockTimestamp)$/,
    "the node's labels beside a transaction's fields",
  ],
  [
    /^eth_(getTransactionByHash |getBlockByHash transactions\.\*\.)chainId$/,
    "the signature's v holds the chain id of these transactions, which have no type",
  ],
  [/^eth_getBlockByHash (hash|totalDifficulty|size)$/, "the node's labels beside a header's fields"],
  [
    /^eth_getBlockReceipts \*\.(transactionHash|transactionIndex|blockHash|blockNumber|gasUsed|effectiveGasPrice|blobGasPrice|from|to|contractAddress|blockTimestamp)$/,
    "the node's labels beside a receipt's fields",
  ],
  [/^eth_getBlockReceipts \*\.logs\.\*\.(?!address$|topics|data$)/, "a log's place is its receipt's"],
  [/^eth_getLogs of requests \*\.(?!transactionHash$)/, "the answer only says which transaction to read"],
  [/^eth_getLogs ConfigSet \*\.(?!data$)/, "the data hash to the digest of the report"],
];
/** Digits of contracts' answers that nothing reads: first (0), middle (1) or last (2) of a word. */
const UNREAD_DIGITS: readonly (readonly [words: RegExp, digits: readonly number[], reason: string])[] = [
  [/^eth_call (VRF_COORDINATOR|FUNCTIONS_ROUTER|getContractById) 0$/, [0], "padding of an address"],
  [/^eth_call sourceOf 3$/, [2], "padding of bytes"],
  [/^eth_call getRequestConfig [01]$/, [2], "only the registered keys matter; larger numbers are refused"],
  [/^eth_call getConsumer [012]$/, [0, 1, 2], "a hint where to search; a hash shows what is found"],
  [/^eth_call latestConfigDetails 0$/, [2], "matters only if the node has no log of the configuration"],
  [/^eth_call latestConfigDetails 2$/, [0, 1, 2], "matters only if no configuration has the report's digest"],
];
/** Methods whose answers are hashed. */
const HASHED = /^eth_(getTransactionByHash|getBlockByHash|getBlockReceipts)\b/;

describe.each([
  ["proof and report apart", () => preset],
  ["proof and report in one transaction", () => together],
])("one digit changed in a node's answers, %s", (_, delivered) => {
  let hash: Hex;
  let record: ChainData;
  let honest: Verification;
  let read: readonly Member[];
  let unread: readonly Member[];
  beforeAll(async () => {
    hash = delivered().request.transactionHash;
    const client = createReadRecorder(world.client);
    await world.verify(hash, { client });
    record = client.save();
    honest = await verifyRecorded(hash, record);
    const isUnread = ({ name }: Member): boolean => UNREAD.some(([members]) => members.test(name));
    const members = membersOf(record);
    read = members.filter((one) => !isUnread(one));
    unread = members.filter(isUnread);
  });

  test("changes nothing in any member that nothing reads, all at once", async () => {
    expect(UNREAD.filter(([members]) => !unread.some(({ name }) => members.test(name)))).toEqual([]);
    for (const share of [0, 0.5, 1])
      expect(await verifyRecorded(hash, changeAll(record, unread, share))).toEqual(honest);
    expect(honest.verdict).toBe("valid");
    expect(unread).toHaveLength(77);
  });

  test("fails the hashes in every member that is hashed", async () => {
    const missed: string[] = [];
    let count = 0;
    for (const member of read.filter(({ name }) => HASHED.test(name)))
      for (const changed of changesOf(record, member)) {
        count += 1;
        if (await isHashed(changed)) missed.push(member.name);
      }
    expect(missed).toEqual([]);
    expect(count).toBeGreaterThan(300);
  });

  test("is refused, or leaves the result not valid, in every other member that is read", async () => {
    const missed: string[] = [];
    let count = 0;
    for (const member of read.filter(({ name }) => !HASHED.test(name))) {
      const digits = UNREAD_DIGITS.flatMap(([words, unread]) => (words.test(member.name) ? unread : []));
      for (const [digit, changed] of changesOf(record, member).entries()) {
        count += 1;
        const found = await verifyRecorded(hash, changed).catch((error: unknown) => error);
        const isNoticed = found instanceof TycheError || (found as Verification).verdict !== "valid";
        const isUnread = isDeepStrictEqual(found, honest);
        if (digits.includes(digit) ? !isUnread : !isNoticed) missed.push(`${member.name}, ${digit}`);
      }
    }
    expect(missed).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });

  /** Whether the preset's transactions are still those of the hashes. */
  async function isHashed(data: ChainData): Promise<boolean> {
    const facts = createChainFacts(createRecordedReader(JSON.stringify(data)), {
      network: "test",
      chainId: world.chainId,
      hasEthereumBlocks: true,
    });
    const { request, proof, report } = delivered();
    const hashes = [request, proof, report].map((one) => one.transactionHash);
    return checkTransactions(hashes, { facts, hasEthereumBlocks: true }).then(
      ({ outcome }) => outcome === "ok",
      (error: unknown) => !(error instanceof TycheError),
    );
  }
});

describe("one byte changed, where hashes don't tell", () => {
  const NOTHING_READS: Readonly<Record<string, readonly string[]>> = {
    // `success` is said in words.
    RandomWordsFulfilled: ["paymentJuels", "success"],
    RandomWordsRequested: ["minimumRequestConfirmations"],
    // Of a request without joined words.
    Accepted: ["name", "index", "requestId"],
  };
  let record: ChainData;
  beforeAll(async () => {
    const client = createReadRecorder(world.client);
    await world.verify(together.request.transactionHash, { client, hasEthereumBlocks: false });
    record = client.save();
  });

  /** Whether any step but that of the hashes notices another answer in the record. */
  async function isNoticed(method: string, hash: Hex, result: unknown): Promise<boolean> {
    const answers = record.answers.map((one) =>
      one.method === method && one.params[0] === hash ? { ...one, result } : one,
    );
    const options = { hasEthereumBlocks: false };
    const changed = { ...record, answers };
    const found = await verifyRecorded(together.request.transactionHash, changed, options).catch(
      (error: unknown) => error,
    );
    if (found instanceof TycheError) return true;
    const { kind, steps } = (found as Verification).requests[0]!;
    return kind !== "preset" || steps.slice(1).some(({ outcome }) => outcome !== "ok");
  }

  const answerTo = (method: string, hash: Hex): Answer =>
    record.answers.find((one) => one.method === method && one.params[0] === hash)!.result as Answer;

  test("of the calldata with proof and report changes a step, or nothing of what the calldata say", async () => {
    const hash = together.report.transactionHash;
    const answer = answerTo("eth_getTransactionByHash", hash);
    const meaningOf = (input: Hex) => ({
      fulfilments: decodeFulfilments(input),
      // The place of a node in the configuration follows from its key.
      reports: decodeDelivery(input)?.reports.map(({ report, signatures }) => ({
        report,
        signatures: signatures.map(({ r, s, recoveryId }) => ({ r, s, recoveryId })),
      })),
    });
    const meaning = meaningOf(answer.input);
    const missed: number[] = [];
    for (const [i, input] of bytesChanged(answer.input).entries()) {
      if (isDeepStrictEqual(meaningOf(input), meaning)) continue;
      if (!(await isNoticed("eth_getTransactionByHash", hash, { ...answer, input }))) missed.push(i);
    }
    expect(missed).toEqual([]);
  });

  test.each([
    ["request", () => together.request.transactionHash],
    ["delivery", () => together.report.transactionHash],
  ] as const)("of the logs of the %s changes a step, or what nothing reads", async (_, get) => {
    const receipt = answerTo("eth_getTransactionReceipt", get());
    const missed: string[] = [];
    for (const [i, log] of receipt.logs.entries()) {
      const event = findEvent(log)!;
      const meaningOf = (one: object) =>
        Object.entries(one).filter(([member]) => !NOTHING_READS[event.name]?.includes(member));
      const changes = [
        ...bytesChanged(log.data).map((data) => ({ ...log, data })),
        ...log.topics.flatMap((topic, k) =>
          bytesChanged(topic).map((other) => ({ ...log, topics: log.topics.with(k, other) })),
        ),
      ];
      for (const [k, changed] of changes.entries()) {
        if (isDeepStrictEqual(meaningOf(findEvent(changed) ?? {}), meaningOf(event))) continue;
        const logs = receipt.logs.with(i, changed);
        if (!(await isNoticed("eth_getTransactionReceipt", get(), { ...receipt, logs })))
          missed.push(`${event.name} ${k}`);
      }
    }
    expect(missed).toEqual([]);
  });
});

/** Returns all values that differ from this one in the lowest bit of one byte. */
function bytesChanged(hex: Hex): readonly Hex[] {
  const bytes = fromHexText(hex);
  return Array.from(bytes, (byte, i) => toHexText(bytes.with(i, byte ^ 1)));
}

const METHODS = [
  "eth_chainId",
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
  "eth_getBlockByHash",
  "eth_getBlockReceipts",
  "eth_call",
  "eth_getLogs",
  "eth_blockNumber",
];
const GARBAGE = [
  null,
  {},
  [],
  [{}],
  "",
  "0x",
  "0xzz",
  `0x${"ff".repeat(96)}`,
  7,
  { logs: null },
  { logs: [null] },
];

test.each(METHODS)("whatever a node answers to %s is an answer or a clear error", async (method) => {
  const from = method === "eth_blockNumber" ? preset.request : preset.report;
  const defects: unknown[] = [];
  for (const garbage of GARBAGE) {
    const tamper: Tamper = (asked, answer) => (asked === method ? structuredClone(garbage) : answer);
    await world.verify(from.transactionHash, { tamper }).catch((error: unknown) => {
      if (!(error instanceof TycheError)) defects.push([garbage, error]);
    });
  }
  expect(defects).toEqual([]);
});

test.each([
  ["no longer has the block", "eth_getBlockByHash", () => null],
  ["gives receipts that can't be hashed", "eth_getBlockReceipts", () => [{}]],
  [
    "has a block with a transaction of another kind",
    "eth_getBlockByHash",
    (block: object) => ({ ...block, transactions: [{ type: "0x7e" }] }),
  ],
])("of a node that %s, logs are not taken as shown", async (_name, hidden, change) => {
  const tamper: Tamper = (method, answer) => (method === hidden ? change(answer as object) : answer);
  const { verdict, requests } = await world.verify(preset.report.transactionHash, { tamper });
  expect(verdict).toBe("unconfirmed");
  expect(requests[0]).toMatchObject({ failed: null });
  expect(requests[0]!.steps[0]).toMatchObject({ name: "transactions", outcome: "notApplicable" });
});

test("of a node without eth_getBlockReceipts, the receipts of a block are read one by one", async () => {
  const tamper: Tamper = (method, answer) => (method === "eth_getBlockReceipts" ? null : answer);
  const { verdict, requests } = await world.verify(preset.report.transactionHash, { tamper });
  expect(verdict).toBe("valid");
  expect(requests[0]!.steps[0]).toMatchObject({ name: "transactions", outcome: "ok" });
});

/** Changes the result that the consumer logged. */
const changeResult = changeLog(
  EVENT_TOPICS.BatchReported,
  (data) => data.replaceAll(wordOf(preset.request).slice(2), wordHex(1n)) as Hex,
);

function changeSigners(signers: readonly Hex[]): Tamper {
  return (method, answer, [filter]) => {
    if (method !== "eth_getLogs" || !isForConfig(filter)) return answer;
    for (const log of answer as Answer["logs"]) {
      TEST_ROLES.signers.forEach(({ address }, index) => {
        log.data = log.data.replaceAll(
          address.slice(2).toLowerCase(),
          signers[index]!.slice(2).toLowerCase(),
        ) as Hex;
      });
    }
    return answer;
  };
}

/** Changes the answer of a contract's function. */
function changeCall(to: Hex, result: Hex, functionName: "sourceOf" | "getRequestConfig"): Tamper {
  const data =
    functionName === "sourceOf"
      ? encodeFunctionData({ abi: presetConsumerAbi, functionName, args: [world.echoId] })
      : encodeFunctionData({ abi: vrfCoordinatorAbi, functionName });
  return (method, answer, [call]) => {
    const asked = call as { to?: Hex; data?: Hex } | undefined;
    return method === "eth_call" && asked?.data === data && asked.to?.toLowerCase() === to.toLowerCase()
      ? result
      : answer;
  };
}
