import { expect, test } from "vitest";
import { AnswerError, longAnswerError } from "../../src/evm/connection.ts";
import { troubleOf } from "../../src/evm/nodeTrouble.ts";

/** Errors as nodes and providers word them: code, message, data. */
const ANSWERS: Readonly<Record<string, readonly (readonly [number, string, string?])[]>> = {
  failing: [
    [-32005, "daily request count exceeded, request rate limited"], // Infura
    [429, "Your app has exceeded its compute units per second capacity."], // Alchemy
    [-32007, "25/second request limit reached - reduce calls per second"], // QuickNode
    [-32603, "Internal error"],
    [-32000, "service temporarily unavailable"],
    [-32600, "Must be authenticated! Invalid API key"],
    [-32005, "limit exceeded"],
  ],
  lacking: [
    [-32000, "header not found"], // geth
    [-32000, "missing trie node 5d1c (path )"], // geth
    [-32601, "the method eth_getBlockReceipts does not exist/is not available"],
    [-32000, "unknown block"], // geth
    [-32602, "BlockOutOfRangeError: block height is 5 but requested was 16"], // Anvil
    [-32000, "Received invalid block tag 16. Latest block number is 5"], // Hardhat
    [-32001, "block not found: 0x1234"], // Reth
    [-32000, "cannot query unfinalized data: after last accepted block 12"], // Avalanche
    [-32000, "txpool is full"], // geth
  ],
  answer: [
    [3, "execution reverted: try again later", "0x08c379a0"],
    [-32000, "execution reverted"],
    [-32000, "nonce too low: next nonce 5, tx nonce 4"],
    [-32000, "already known"],
    [-32005, "query returned more than 10000 results"], // Infura
    [-32600, "You can make eth_getLogs requests with up to a 500 block range."], // Alchemy
    [-32602, "Log response size exceeded."],
    [-32602, "invalid params"],
    [-32614, "eth_getLogs is limited to a 5 range"], // QuickNode
    [-32000, "insufficient funds for gas * price + value"],
  ],
};

const cases = Object.entries(ANSWERS).flatMap(([trouble, answers]) =>
  answers.map(([code, text, data]) => ({ trouble, code, text, data })),
);

test.each(cases)("“$text” ($code) is $trouble", ({ trouble, code, text, data }) => {
  expect(troubleOf("eth_call", new AnswerError(text, code, data))).toBe(trouble);
});

test("whatever is no answer says that the node fails", () => {
  expect(troubleOf("eth_call", new Error("execution reverted"))).toBe("failing");
});

test.each([
  ["eth_getLogs", "lacking"],
  ["debug_traceTransaction", "lacking"],
  ["eth_getTransactionReceipt", "failing"],
])("too long an answer to %s is %s", (method, trouble) => {
  expect(troubleOf(method, longAnswerError())).toBe(trouble);
});
