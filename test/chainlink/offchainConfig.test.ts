import { stringToHex, type Hex } from "viem";
import { expect, test } from "vitest";
import {
  encodeNodeUrls,
  MAX_NODE_URL_LENGTH,
  parseFormerKey,
  parseNodeUrls,
} from "../../src/chainlink/offchainConfig.ts";

const digest = (byte: string): Hex => `0x${byte.repeat(32)}`;
const FORMER = { configDigest: digest("01"), blockNumber: 2 ** 53 - 1, keyHash: digest("02") };
const URLS = Array.from({ length: 31 }, (_, i) =>
  `https://node-${i}.example/`.padEnd(MAX_NODE_URL_LENGTH, "x"),
);

test("the longest URLs are there with and without a key that is handed on", () => {
  expect(parseNodeUrls(encodeNodeUrls(URLS), 31)).toEqual(URLS);
  expect(parseFormerKey(encodeNodeUrls(URLS), 31)).toBeUndefined();
  const encoded = encodeNodeUrls(URLS, FORMER);
  expect([parseNodeUrls(encoded, 31), parseFormerKey(encoded, 31)]).toEqual([URLS, FORMER]);
});

test.each([
  ["no object", "key"],
  ["no digest", { ...FORMER, configDigest: "0x01" }],
  ["no block", { ...FORMER, blockNumber: 1.5 }],
  ["no hash", { ...FORMER, keyHash: 1 }],
])("bounds: %s is no key that is handed on", (_, formerKey) => {
  const encoded = stringToHex(JSON.stringify({ version: 1, urls: ["https://node"], formerKey }));
  expect(parseFormerKey(encoded, 1)).toBeUndefined();
  expect(parseFormerKey(encoded, 2)).toBeUndefined();
});
