import { expect, test } from "vitest";
import { encodeBatch, splitByLimits, type Submission } from "../../../src/requests/dispatch/submission.ts";

const preset = (index: number): Submission => ({
  kind: "preset",
  requestId: `preset ${index}`,
  vrfSubscriptionId: 1n,
  functionsSubscriptionId: 1n,
  keyHash: `0x${"77".repeat(32)}`,
  confirmations: 1,
  sourceId: 1,
  argsCbor: new Uint8Array(10),
  requestBytes: 1_000,
  linked: 0,
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
const gasOf = (part: readonly Submission[]): bigint => encodeBatch(part, "v2").gas;

test("default: what fits one transaction stays together, in its order", () => {
  const submissions = many(60, preset);
  expect(splitByLimits(submissions)).toEqual([submissions]);
});

test("behaviour: presets that share proofs count as such: 200 of them fit 6 million gas", () => {
  const submissions = many(200, preset);
  expect(splitByLimits(submissions, 6_000_000n)).toEqual([submissions]);
  expect(gasOf(submissions)).toBeLessThan(6_000_000n);
});

test("behaviour: no part exceeds the gas of a transaction, and none has room for the next one's first", () => {
  const submissions = many(100, (index) => (index % 3 === 0 ? preset(index) : request(index)));
  const parts = splitByLimits(submissions, 3_000_000n);
  expect(parts.flat()).toEqual(submissions);
  for (const part of parts) expect(gasOf(part)).toBeLessThanOrEqual(3_000_000n);
  for (const [index, part] of parts.slice(0, -1).entries())
    expect(gasOf([...part, parts[index + 1]![0]!])).toBeGreaterThan(3_000_000n);
});

test("behaviour: no part exceeds the bytes that pools take", () => {
  const parts = splitByLimits(many(10, (index) => request(index, 30_000)));
  expect(parts.map(({ length }) => length)).toEqual([3, 3, 3, 1]);
});

test("behaviour: what fits no transaction stands alone", () => {
  const submissions = many(3, (index) => request(index, 30_000));
  expect(splitByLimits(submissions, 100_000n)).toEqual(submissions.map((one) => [one]));
});
