import { expect, test } from "vitest";
import { findResultAddress, findShared } from "../../src/domain/resultAddress.ts";

const HASH = `0x${"5f".repeat(32)}`;
const ID = "req_01h000000000000000000000ab";

test.each([
  [
    `https://tyche.example.org/explorer/sepolia/tx/${HASH}`,
    { hash: HASH, origin: "https://tyche.example.org", network: "sepolia" },
  ],
  [
    `https://scan.example.org/tx/${HASH.replaceAll("f", "F")}#events`,
    { hash: HASH, origin: "https://scan.example.org" },
  ],
  [`https://scan.example.org/a/tx/${HASH}/logs?a=1`, { hash: HASH, origin: "https://scan.example.org" }],
  [`http://127.0.0.1:3000/r/${ID}?again`, { id: ID, origin: "http://127.0.0.1:3000" }],
])("takes what %s names", (text, address) => {
  expect(findResultAddress(text)).toEqual(address);
});

test.each([
  HASH,
  "raffle-2026-12-24",
  "https://example.org/raffle",
  `https://scan.example.org/tx/${HASH}00`,
  `https://scan.example.org/block/${HASH}`,
  `ftp://scan.example.org/tx/${HASH}`,
  "http://127.0.0.1:3000/r/req_",
])("finds no result in %s", (text) => {
  expect(findResultAddress(text)).toBeUndefined();
});

test("takes network, transaction and request of a service's answer, and nothing in their place", () => {
  const url = `https://scan.example.org/tx/${HASH}`;
  const shared = (outcome: { readonly url: string; readonly requestId: string }) => ({
    network: "sepolia",
    outcome,
  });
  expect(findShared(shared({ url, requestId: HASH }))).toEqual({
    network: "sepolia",
    hash: HASH,
    requestId: HASH,
  });
  for (const outcome of [
    { url: "https://scan.example.org", requestId: HASH },
    { url, requestId: "0x" },
  ])
    expect(findShared(shared(outcome))).toBeUndefined();
});
