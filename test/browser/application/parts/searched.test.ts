import { expect, test } from "vitest";
import { readSearched } from "../../../../src/browser/application/parts/searched.ts";

const HASH = `0x${"ab".repeat(32)}`;

test.each([
  [`http://127.0.0.1:3000/explorer/sepolia/tx/${HASH}`, HASH],
  [` https://sepolia.etherscan.io/tx/${HASH}#eventlog `, HASH],
  ["https://tyche.example/explorer/fuji/block/27", "27"],
  [`https://tyche.example/r/req_${"0".repeat(26)}?x=1`, `req_${"0".repeat(26)}`],
  [`https://tyche.example/dapps/dapp_x/requests/req_${"0".repeat(26)}`, `req_${"0".repeat(26)}`],
  ["https://tyche.example/explorer/fuji/address/0x12/contract", "0x12"],
])("of %s the page's subject is looked for", (text, subject) => {
  expect(readSearched(text)).toBe(subject);
});

test.each([HASH, "27", "VRF node", "https://tyche.example/explorer", "ftp://x/tx/1", "", "/tx/1"])(
  "%j is looked for as it is",
  (text) => {
    expect(readSearched(text)).toBe(text);
  },
);
