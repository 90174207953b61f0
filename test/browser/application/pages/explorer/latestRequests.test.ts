import { expect, test } from "vitest";
import { listRequests } from "../../../../../src/browser/application/pages/explorer/latestRequests.ts";
import type { TransactionView } from "../../../../../src/client/index.ts";

/** A transaction of which only these parts are read. */
const transaction = (hash: string, parts: object) =>
  ({
    network: "sepolia",
    hash,
    block: { at: `time of ${hash}` },
    presets: [],
    functionRequests: [],
    functionResults: [],
    randomness: [],
    randomRequests: [],
    joins: [],
    ...parts,
  }) as unknown as TransactionView;
const program = (title: string) => ({ preset: { title } });
const answers = (transactions: readonly TransactionView[]) =>
  listRequests(transactions).map(({ requestId, title, answer, hash }) => [
    requestId,
    title,
    answer?.text,
    hash,
  ]);

const coin = { requestId: "coin", vrfRequestId: "coin's word", program: program("Flip a coin") };
const requested = transaction("0x1", {
  presets: [{ ...coin, answer: null, answeredBy: null }],
  randomRequests: [{ requestId: "coin's word" }],
});

test("a preset's word is no request of its own, and waits until its result is on chain", () => {
  expect(answers([requested])).toEqual([["coin", "Flip a coin", undefined, "0x1"]]);
});

test("a request is listed once, with its answer and the transaction that brought it", () => {
  const answer = { err: "", result: "Heads", readings: { uint256: "1" }, response: "0x01" };
  const delivered = transaction("0x2", {
    presets: [{ ...coin, answer, answeredBy: "0x2" }],
    randomness: [{ requestId: "coin's word", words: ["7"], outcome: "fulfilled" }],
  });
  expect(answers([delivered, requested])).toEqual([["coin", "Flip a coin", "Heads", "0x2"]]);
});

test("a result that no preset reads is shown as the text or the number that it may be, and an error as that", () => {
  const result = { program: null, outcome: "FULFILLED", err: "", response: "0x2a" };
  const rows = listRequests([
    transaction("0x3", {
      functionResults: [
        { ...result, requestId: "text", readings: { text: "*", uint256: "42" } },
        { ...result, requestId: "number", readings: { uint256: "42" } },
        { ...result, requestId: "bytes", readings: {} },
        { ...result, requestId: "error", readings: {}, err: "no price" },
        { ...result, requestId: "unpaid", readings: {}, outcome: "COST_EXCEEDS_COMMITMENT" },
      ],
    }),
  ]);
  expect(rows.map(({ title, answer }) => [title, answer])).toEqual([
    ["Function", { text: "*", isError: false }],
    ["Function", { text: "42", isError: false }],
    ["Function", { text: "0x2a", isError: false }],
    ["Function", { text: "no price", isError: true }],
    ["Function", { text: "COST_EXCEEDS_COMMITMENT", isError: true }],
  ]);
});

test("words of several keys are one request, which waits until they are joined", () => {
  const parts = [{ requestId: "first" }, { requestId: "second" }];
  const randomRequests = parts.map(({ requestId }) => ({ requestId, words: ["1", "2"], answeredBy: "0x5" }));
  const asked = (joinedBy: string | null) =>
    transaction("0x4", { randomRequests, joins: [{ requestId: "first", parts, joinedBy }] });
  expect(answers([asked(null)])).toEqual([["first", "Random numbers", undefined, "0x5"]]);
  expect(answers([asked("0x6")])).toEqual([["first", "Random numbers", "words of 2 keys, joined", "0x6"]]);
});
