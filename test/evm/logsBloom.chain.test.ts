import { assert, property, uint8Array } from "fast-check";
import type { Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mayHaveLogsOf } from "../../src/evm/watcher.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";

/** Creation code of a contract that logs the first word of its calldata as a topic. */
const LOGGER_CODE: Hex = "0x6860003560006000a10060005260096017f3";
const ELSEWHERE: Hex = `0x${"5e".repeat(20)}`;

let chain: TestChain;
let logger: Hex;
let logsBloom: Hex;
beforeAll(async () => {
  chain = await startTestChain();
  const created = await chain.send(testAccount(0), { data: LOGGER_CODE });
  const receipt = await chain.client.request("eth_getTransactionReceipt", [created.transactionHash]);
  logger = (receipt as { contractAddress: Hex }).contractAddress;
  await chain.send(testAccount(0), { to: logger, data: `0x${"07".repeat(32)}` });
  const block = await chain.client.request("eth_getBlockByNumber", ["latest", false]);
  logsBloom = (block as { logsBloom: Hex }).logsBloom;
});
afterAll(() => chain.close());

test("a block has its contract, and not another one", () => {
  expect(mayHaveLogsOf(logsBloom, [logger])).toBe(true);
  expect(mayHaveLogsOf(logsBloom, [ELSEWHERE, logger])).toBe(true);
  expect(mayHaveLogsOf(logsBloom, [ELSEWHERE])).toBe(false);
  expect(mayHaveLogsOf(logsBloom, [])).toBe(false);
});

test("whatever else the block has, its contract stays in", () => {
  assert(
    property(uint8Array({ minLength: 256, maxLength: 256 }), (others) => {
      const crowded = others.map(
        (byte, i) => byte | Number.parseInt(logsBloom.slice(2 + 2 * i, 4 + 2 * i), 16),
      );
      expect(mayHaveLogsOf(toHexText(crowded), [logger])).toBe(true);
    }),
  );
});

test.each([undefined, null, 7, "0x", `0x${"0".repeat(512)}`, `0x${"f".repeat(510)}`, `0x${"g".repeat(512)}`])(
  "%s says nothing",
  (given) => expect(mayHaveLogsOf(given, [logger])).toBe(false),
);
