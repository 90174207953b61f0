import { expect, test } from "vitest";
import { decodeSubmission } from "../../../src/chainlink/calldata.ts";
import {
  decodePresetBatch,
  MAX_ARGUMENT_BYTES,
  MAX_BATCH_BYTES,
  MAX_PRESETS_PER_BATCH,
} from "../../../src/chainlink/presetBatch.ts";
import { encodeResults } from "../../../src/chainlink/presetReport.ts";
import { MAX_RESPONSE_BYTES } from "../../../src/domain/sourceLimit.ts";
import {
  encodeSubmissions,
  MAX_TRANSACTION_BYTES,
  splitByLimits,
  type PresetSubmission,
  type Submission,
} from "../../../src/requests/dispatch/submission.ts";

const preset = (index: number): PresetSubmission => ({
  kind: "preset",
  requestId: `preset ${index}`,
  vrfSubscriptionId: 1n,
  keyHash: `0x${"77".repeat(32)}`,
  confirmations: 1,
  sourceId: 1,
  argsCbor: new Uint8Array(10),
});
const request = (index: number, bytes = 100): Submission => ({
  kind: "function",
  requestId: `function ${index}`,
  functionsSubscriptionId: 1n,
  data: `0x${"00".repeat(bytes)}`,
  linked: 0,
});
const many = <Kind extends Submission>(count: number, make: (index: number) => Kind): Kind[] =>
  Array.from({ length: count }, (_, index) => make(index));
const gasOf = (part: readonly Submission[]): bigint => encodeSubmissions(part).gas;

test("what fits one transaction stays together, in its order", () => {
  const submissions = many(60, preset);
  expect(splitByLimits(submissions)).toEqual([submissions]);
});

test("presets that share proofs count as such: 1,000 of them fit 2 million gas", () => {
  const submissions = many(1_000, preset);
  expect(splitByLimits(submissions, 2_000_000n)).toEqual([submissions]);
  expect(gasOf(submissions)).toBeLessThan(2_000_000n);
});

test("at most 100 presets share a proof, and only those of the same subscription, key and confirmations", () => {
  const submissions = [
    ...many(101, preset),
    { ...preset(101), vrfSubscriptionId: 2n },
    { ...preset(102), keyHash: `0x${"88".repeat(32)}` as const },
    { ...preset(103), confirmations: 2 },
    { ...preset(104), confirmations: 2 },
  ];
  const { entries, data } = encodeSubmissions(submissions);
  expect(entries.map(({ length }) => length)).toEqual([100, 1, 1, 1, 2]);
  const { presets } = decodeSubmission(data)!;
  expect(presets.map(({ batch }) => decodePresetBatch(batch).items.length)).toEqual([100, 1, 1, 1, 2]);
  expect(presets.map(({ confirmations }) => confirmations)).toEqual([1, 1, 1, 1, 2]);
});

test("labels go with the requests, by their places in the transaction", () => {
  const label = (text: string) => ({ label: { dapp: "dapp_ä", text } });
  const { entries, data } = encodeSubmissions([
    { ...request(0), ...label("the function") },
    preset(0),
    { ...preset(1), ...label("zweite Münze") },
  ]);
  expect(entries).toEqual([["preset 0", "preset 1"], ["function 0"]]);
  expect(decodeSubmission(data)!.labels).toEqual([
    { index: 0n, item: 1n, dapp: "dapp_ä", text: "zweite Münze" },
    { index: 1n, item: 0n, dapp: "dapp_ä", text: "the function" },
  ]);
});

test("labels count for what fits one transaction", () => {
  const labelled = many(1_000, (index) => ({
    ...preset(index),
    label: { dapp: "d".repeat(30), text: "x".repeat(400) },
  }));
  const parts = splitByLimits(labelled);
  expect(parts.length).toBeGreaterThan(1);
  for (const part of parts)
    expect(encodeSubmissions(part).data.length / 2).toBeLessThan(MAX_TRANSACTION_BYTES + 2_000);
});

test("arguments that a batch has no room for go with the next one", () => {
  const long = (index: number): Submission => ({
    ...preset(index),
    argsCbor: new Uint8Array(MAX_BATCH_BYTES / 2 - 2),
  });
  expect(encodeSubmissions(many(3, long)).entries).toEqual([["preset 0"], ["preset 1"], ["preset 2"]]);
  const { entries } = encodeSubmissions([
    { ...preset(0), argsCbor: new Uint8Array(MAX_ARGUMENT_BYTES) },
    preset(1),
  ]);
  expect(entries).toEqual([["preset 0"], ["preset 1"]]);
});

test("the results of a full batch fit a transaction with its proof", () => {
  const result = { ok: true, bytes: new Uint8Array(MAX_RESPONSE_BYTES) };
  const results = encodeResults(Array.from({ length: MAX_PRESETS_PER_BATCH }, () => result));
  // 31 nodes sign with 11 keys; a proof with its commitment has 768 bytes.
  expect(results.length + 11 * 66 + 768 + 1_000).toBeLessThan(MAX_TRANSACTION_BYTES);
});

test("no part exceeds the gas of a transaction, and none has room for the next one's first", () => {
  const submissions = many(100, (index) => (index % 3 === 0 ? preset(index) : request(index)));
  const parts = splitByLimits(submissions, 3_000_000n);
  expect(parts.flat()).toEqual(submissions);
  for (const part of parts) expect(gasOf(part)).toBeLessThanOrEqual(3_000_000n);
  for (const [index, part] of parts.slice(0, -1).entries())
    expect(gasOf([...part, parts[index + 1]![0]!])).toBeGreaterThan(3_000_000n);
});

test("no part exceeds the bytes that pools take", () => {
  const parts = splitByLimits(many(10, (index) => request(index, 30_000)));
  expect(parts.map(({ length }) => length)).toEqual([3, 3, 3, 1]);
});

test("what fits no transaction stands alone", () => {
  const submissions = many(3, (index) => request(index, 30_000));
  expect(splitByLimits(submissions, 100_000n)).toEqual(submissions.map((one) => [one]));
});
