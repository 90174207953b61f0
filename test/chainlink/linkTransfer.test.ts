import { encodeAbiParameters, encodeEventTopics, numberToHex, parseAbi, type Hex } from "viem";
import { expect, test } from "vitest";
import { findTransfer } from "../../src/chainlink/linkTransfer.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";

const LINK: Hex = `0x${"Ab".repeat(20)}`;
const [FROM, TO]: readonly Hex[] = [`0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`];
const abi = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed from, address indexed to, uint256 value)",
]);

function logOf(eventName: "Transfer" | "Approval", address: Hex = LINK): RawLog {
  return {
    address: address.toLowerCase(),
    topics: encodeEventTopics({ abi, eventName, args: { from: FROM, to: TO } }),
    data: encodeAbiParameters([{ type: "uint256" }], [5n * 10n ** 18n]),
    transactionHash: numberToHex(7, { size: 32 }),
  } as unknown as RawLog;
}

test("reads a transfer of LINK", () => {
  expect(findTransfer(logOf("Transfer"), LINK)).toEqual({
    transactionHash: numberToHex(7, { size: 32 }),
    from: FROM,
    to: TO,
    juels: "5000000000000000000",
  });
});

test("takes neither another event nor another token's for a transfer of LINK", () => {
  expect(findTransfer(logOf("Approval"), LINK)).toBeUndefined();
  expect(findTransfer(logOf("Transfer", FROM), LINK)).toBeUndefined();
});
