import { encodeAbiParameters, parseAbiParameters, stringToHex, type Hex } from "viem";
import { expect, test } from "vitest";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { encodeResults } from "../../src/chainlink/presetReport.ts";
import { describeFailures } from "../../src/explorer/describeFailures.ts";
import { toHexText } from "../../src/lib/hex.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";
import { idOf } from "../oracle/support/logs.ts";

const logOf = (topic: Hex, types: string, values: readonly unknown[], id = idOf(1n)) =>
  ({
    topics: [topic, id, idOf(2n)],
    data: encodeAbiParameters(parseAbiParameters(types), values),
  }) as unknown as RawLog;
const words = (success: boolean, id?: Hex) =>
  logOf(EVENT_TOPICS.RandomWordsFulfilled, "uint256, uint96, bool", [5n, 6n, success], id);
const refusal = logOf(EVENT_TOPICS.RawErrorReturned, "bytes", ["0xed3ba6a6"]);
const processed = (code: number, err: Hex = "0x") =>
  logOf(EVENT_TOPICS.RequestProcessed, "uint96, address, uint8, bytes, bytes, bytes", [
    1n,
    `0x${"11".repeat(20)}`,
    code,
    "0x",
    err,
    "0x",
  ]);
const draws = (...all: readonly boolean[]) =>
  logOf(EVENT_TOPICS.BatchReported, "bytes", [
    toHexText(encodeResults(all.map((ok) => ({ ok, bytes: new Uint8Array(1) })))),
  ]);

test.each<[string | undefined, readonly RawLog[]]>([
  [undefined, []],
  [undefined, [words(true), processed(0), draws(true, true)]],
  ["callback failed", [words(false)]],
  ["callback failed", [processed(1)]],
  ["function failed", [processed(0, stringToHex("no price"))]],
  ["2 × draw failed, function failed", [draws(false, true, false), processed(0, "0x01")]],
  ["proof refused", [refusal]],
  // A callback had the batch contract try a proof again that was taken.
  [undefined, [words(true), refusal]],
  ["proof refused, callback failed", [refusal, words(false, idOf(3n))]],
])("%s", (expected, logs) => {
  expect(describeFailures(logs)).toBe(expected);
});
