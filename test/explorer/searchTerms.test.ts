import { expect, test } from "vitest";
import { describeTerms, parseSearch } from "../../src/explorer/searchTerms.ts";

const HASH = "ab".repeat(32);
const ADDRESS = "cd".repeat(20);
const MAX_UINT256 = 2n ** 256n - 1n;

test.each([
  [`0x${HASH}`, { hash: `0x${HASH}`, requestId: `0x${HASH}` }],
  [`  ${HASH.toUpperCase()} `, { hash: `0x${HASH}`, requestId: `0x${HASH}` }],
  [`0X${ADDRESS}`, { address: `0x${ADDRESS}` }],
  [ADDRESS, { address: `0x${ADDRESS}` }],
  ["0", { blockNumber: 0n }],
  ["1,234 567", { blockNumber: 1_234_567n }],
  ["#29", { blockNumber: 29n }],
  ["1,000", { blockNumber: 1_000n }],
  ["0x1f", { blockNumber: 31n }],
  [String(MAX_UINT256), { requestId: `0x${"f".repeat(64)}` }],
  [
    "1".repeat(40),
    {
      address: `0x${"1".repeat(40)}`,
      requestId: `0x${BigInt("1".repeat(40)).toString(16).padStart(64, "0")}`,
    },
  ],
  [`REQ_${"0".repeat(26)}`, { serviceRequest: `req_${"0".repeat(26)}` }],
  ["req_01m8nene", { servicePrefix: "req_01m8nene" }],
  ["0x12345678…ABCDEF", { prefix: "0x12345678", suffix: "abcdef" }],
  ["0x12345678…", { prefix: "0x12345678" }],
  ["req_01m8nene..", { servicePrefix: "req_01m8nene" }],
  ["req_01m8nene...0q", { servicePrefix: "req_01m8nene", suffix: "0q" }],
  ["0x1234…abcd", { name: "0x1234…abcd" }],
  ["beef", { name: "beef" }],
  ["DeadBeef", { name: "deadbeef", prefix: "0xdeadbeef" }],
  ["0x12345678", { blockNumber: 0x12345678n, prefix: "0x12345678" }],
  ["Coordinator", { name: "coordinator" }],
  [`DAPP_${"0".repeat(26)}`, { dapp: `dapp_${"0".repeat(26)}` }],
  ["<script>", { name: "<script>" }],
] as const)("%j may name %o", (text, terms) => {
  expect(parseSearch(text)).toEqual(terms);
  expect(describeTerms(terms).length).toBeGreaterThan(0);
});

test.each(["", " ", "x", "z".repeat(101), "9".repeat(101)])("%j names nothing", (text) => {
  expect(parseSearch(text)).toEqual({});
  expect(describeTerms({})).toEqual([]);
});

test.each([String(MAX_UINT256 + 1n), "9".repeat(20), "0xg", "12,34"])(
  "%j is no number of a block and no id",
  (text) => {
    expect(parseSearch(text)).toEqual({ name: text });
  },
);
