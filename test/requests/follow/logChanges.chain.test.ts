import { stringToBytes, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import type { ChainEvent } from "../../../src/chainlink/events.ts";
import { presetRequestId } from "../../../src/chainlink/presetBatch.ts";
import { encodeResults, type PresetResult } from "../../../src/chainlink/presetReport.ts";
import { toHexText } from "../../../src/lib/hex.ts";
import { applyChange } from "../../../src/requests/requestBook.ts";
import { createBlockDraft, createRequestIndex } from "../../../src/requests/follow/tracker.ts";
import { changesOf } from "../../../src/requests/follow/logChanges.ts";
import { readWordCharges } from "../../../src/requests/follow/wordCharges.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";
import { makeRequest } from "../../support/pipelineWorld.ts";

const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const [SUBMITTED_IN, WORD_IN, REPORTED_IN, VRF_REQUEST] = ["1", "2", "3", "7"].map(hash) as [
  Hex,
  Hex,
  Hex,
  Hex,
];
const ONE: PresetResult = { ok: true, bytes: Uint8Array.of(1) };

const ACCEPTED: ChainEvent = { name: "Accepted", index: 0, requestId: VRF_REQUEST };
const WORD: ChainEvent = {
  name: "RandomWordsFulfilled",
  requestId: VRF_REQUEST,
  outputSeed: 1n,
  subId: 1n,
  paymentJuels: 5n,
  success: true,
  onlyPremium: false,
};
const reported = (...results: readonly PresetResult[]): ChainEvent => ({
  name: "BatchReported",
  vrfRequestId: VRF_REQUEST,
  results: toHexText(encodeResults(results)),
});

/** Returns two presets of one batch that a transaction carries. */
function submit(): [OpenRequest, OpenRequest] {
  const items = [0, 1].map((item): OpenRequest => {
    const made = makeRequest("preset", "0x");
    const place = { transactionHashes: [SUBMITTED_IN], entry: 0, item, items: 2 };
    return { ...made, state: "submitted", progress: { ...made.progress, ...place } };
  });
  return items as [OpenRequest, OpenRequest];
}

/** Delivers the events of one transaction to requests, as the tracker does. */
function deliver(
  requests: readonly OpenRequest[],
  transactionHash: Hex,
  ...events: readonly ChainEvent[]
): void {
  const index = createRequestIndex();
  for (const request of requests) index.set(request);
  const block = createBlockDraft(index);
  const means = { charges: readWordCharges(events), beaconWait: () => undefined };
  for (const event of events)
    for (const change of changesOf(event, { transactionHash, blockNumber: 7n }, block, means))
      block.add(change, { blockNumber: 7n, blockHash: hash("b") });
  for (const change of block.changes) applyChange(change.request, change, 1);
}
const statesOf = (request: OpenRequest): unknown[] =>
  request.timeline.slice(1).map(({ state, transactionHash }) => [state, transactionHash]);

describe("a batch of presets", () => {
  test("word and result in one transaction are both steps, in this order", () => {
    const requests = submit();
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    deliver(requests, WORD_IN, WORD, reported(ONE, { ok: false, bytes: stringToBytes("no luck") }));
    expect(requests.map(statesOf)).toEqual([
      [
        ["randomness", WORD_IN],
        ["fulfilled", WORD_IN],
      ],
      [
        ["randomness", WORD_IN],
        ["failed", WORD_IN],
      ],
    ]);
    expect(requests.map(({ outcome }) => outcome)).toMatchObject([
      {
        requestId: presetRequestId(VRF_REQUEST, 0),
        transactionHash: WORD_IN,
        vrfTransactionHash: WORD_IN,
        result: "0x01",
        parsedResult: "1",
        err: "0x",
      },
      { requestId: presetRequestId(VRF_REQUEST, 1), result: "0x", parsedResult: "", err: "no luck" },
    ]);
    // Word 1 of 5 juels.
    expect(requests.map(({ progress }) => progress.wordJuels)).toEqual(["3", "2"]);
  });

  test("of a repriced transaction, the version that is mined comes last", () => {
    const requests = submit();
    for (const { progress } of requests)
      Object.assign(progress, { transactionHashes: [SUBMITTED_IN, REPORTED_IN] });
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    expect(requests[0].progress.transactionHashes).toEqual([REPORTED_IN, SUBMITTED_IN]);
  });

  test("results in a later transaction name the one of the word", () => {
    const requests = submit();
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    deliver(requests, WORD_IN, WORD);
    expect(requests.map(({ state }) => state)).toEqual(["randomness", "randomness"]);
    deliver(requests, REPORTED_IN, reported(ONE, ONE));
    const outcome = { transactionHash: REPORTED_IN, vrfTransactionHash: WORD_IN };
    expect(requests).toMatchObject([
      { state: "fulfilled", outcome },
      { state: "fulfilled", outcome },
    ]);
  });

  test("events that are delivered again change nothing", () => {
    const requests = submit();
    deliver(requests, SUBMITTED_IN, ACCEPTED, ACCEPTED);
    deliver(requests, WORD_IN, WORD, WORD);
    const waiting = structuredClone(requests);
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    deliver(requests, WORD_IN, WORD);
    expect(requests).toEqual(waiting);
    deliver(requests, REPORTED_IN, reported(ONE, ONE), reported(ONE, ONE));
    const ended = structuredClone(requests);
    deliver(requests, WORD_IN, WORD, reported(ONE, ONE));
    expect(requests).toEqual(ended);
  });

  test("results are not taken before the word is known", () => {
    const requests = submit();
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    deliver(requests, REPORTED_IN, reported(ONE, ONE));
    expect(requests.map(({ state }) => state)).toEqual(["submitted", "submitted"]);
  });

  test("joined words bring the state randomness when the last one arrives", () => {
    const requests = submit();
    const [first, second] = [VRF_REQUEST, hash("8")];
    const keyHashes = [hash("a"), hash("b")];
    const parts = [first, second];
    deliver(requests, SUBMITTED_IN, ACCEPTED, { name: "Joining", requestId: first, keyHashes, parts });
    deliver(requests, WORD_IN, { ...WORD, requestId: second });
    expect(requests[0]).toMatchObject({ state: "submitted" });
    // The consumer logs within the callback, before the coordinator does.
    const joined: ChainEvent = { name: "WordsJoined", requestId: first, seed: 1n };
    deliver(requests, REPORTED_IN, joined, WORD, reported(ONE, ONE));
    expect(requests[0].timeline.slice(1)).toMatchObject([
      { state: "submitted", detail: expect.stringContaining("word 1 of 2") },
      { state: "randomness", transactionHash: REPORTED_IN },
      { state: "fulfilled", transactionHash: REPORTED_IN },
    ]);
    expect(requests[0].outcome).toMatchObject({ vrfTransactionHash: REPORTED_IN });
    expect(requests.map(({ progress }) => progress.wordJuels)).toEqual(["6", "4"]);
  });

  test("words of one transaction are told once each, also when a restart reads them again and says it otherwise", () => {
    const [request] = submit();
    const parts = [VRF_REQUEST, hash("8"), hash("9")];
    const keyHashes = [hash("a"), hash("b"), hash("c")];
    const joining: ChainEvent = { name: "Joining", requestId: VRF_REQUEST, keyHashes, parts };
    const arrive = (): void =>
      deliver([request], WORD_IN, ...parts.slice(1).map((requestId) => ({ ...WORD, requestId })));
    deliver([request], SUBMITTED_IN, ACCEPTED, joining);
    arrive();
    const told = request.timeline.slice(1);
    expect(told).toMatchObject([
      { state: "submitted", transactionHash: WORD_IN, detail: expect.stringContaining("word 1 of 3") },
      { state: "submitted", transactionHash: WORD_IN, detail: expect.stringContaining("word 2 of 3") },
    ]);
    request.timeline = request.timeline.map((entry) => ({
      ...entry,
      detail: "as an earlier version said it",
    }));
    Object.assign(request, { progress: { ...request.progress, parts: undefined } });
    deliver([request], SUBMITTED_IN, joining);
    arrive();
    expect(request.timeline).toHaveLength(1 + told.length);
    expect(request.progress.parts!.filter(({ block }) => block === undefined)).toHaveLength(1);
  });

  test.each<[string, ChainEvent, string]>([
    [
      "cut off within its own result",
      { name: "BatchReported", vrfRequestId: VRF_REQUEST, results: "0x000101000201" },
      "the nodes signed results that can't be read: ",
    ],
    ["too short for it", reported(ONE), "the nodes signed no result for item 1 of the batch"],
  ])("results that are %s fail a preset, and say so", (_what, event, message) => {
    const requests = submit();
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    deliver(requests, WORD_IN, WORD, event);
    expect(requests[1]).toMatchObject({
      state: "failed",
      outcome: null,
      error: { code: "request_failed", message: expect.stringContaining(message) },
    });
  });

  test("a word that the callback has no gas for says where it was", () => {
    const requests = submit();
    deliver(requests, SUBMITTED_IN, ACCEPTED);
    deliver(requests, WORD_IN, { ...WORD, success: false });
    expect(requests[0]).toMatchObject({
      state: "failed",
      error: {
        message: `the random word was on chain in the transaction ${WORD_IN}, but the callback that takes it ran out of gas`,
      },
    });
  });
});
