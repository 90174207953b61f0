import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AnswerError } from "../../src/evm/connection.ts";
import { RpcError, type RawLog } from "../../src/lib/nodeAnswers.ts";
import { createLogReader, type LogRange } from "../../src/evm/logReader.ts";

const hex = (value: bigint) => `0x${value.toString(16)}`;
const sizeOf = ({ fromBlock, toBlock }: LogRange) => toBlock - fromBlock + 1n;
const refusal = (message: string, code = -32_000): RpcError =>
  new RpcError("eth_getLogs", message, { answered: true, cause: new AnswerError(message, code, undefined) });
const logAt = (block: bigint): RawLog => ({
  address: "0x",
  topics: [],
  data: "0x",
  blockNumber: block,
  blockHash: "0x",
  transactionHash: "0x",
  logIndex: 0,
});

/** Providers, by how they refuse ranges of more blocks than they allow. */
const PROVIDERS: Readonly<Record<string, (range: LogRange, limit: bigint) => RpcError>> = {
  "names a range that works": ({ fromBlock }, limit) =>
    refusal(
      `You can make eth_getLogs requests with up to a ${limit} block range. Based on your parameters, this block range should work: [${hex(fromBlock)}, ${hex(fromBlock + limit - 1n)}]`,
      -32_600,
    ),
  "names its limit": (_, limit) => refusal(`eth_getLogs is limited to a ${limit} range`, -32_614),
  "names its maximum": (_, limit) => refusal(`exceed maximum block range: ${limit}`),
  "says only that there is too much": () => refusal("query returned more than 10000 results", -32_005),
  "says nothing": () => refusal("invalid params", -32_602),
};
const limits = [5n, 500n, 10_000n];
const cases = Object.keys(PROVIDERS).flatMap((provider) => limits.map((limit) => ({ provider, limit })));

/** Reads all logs, as a follower does. */
async function readAll(ask: (range: LogRange) => Promise<RawLog[]>, range: LogRange) {
  const reader = createLogReader();
  const read: RawLog[] = [];
  let { fromBlock } = range;
  while (fromBlock <= range.toBlock) {
    const { logs, toBlock } = await reader.read({ fromBlock, toBlock: range.toBlock }, ask);
    read.push(...logs);
    fromBlock = toBlock + 1n;
  }
  return read.map(({ blockNumber }) => blockNumber);
}

test.each(cases)("a provider of $limit blocks that $provider", async ({ provider, limit }) => {
  const asked: bigint[] = [];
  let refused = 0;
  const range = { fromBlock: 100n, toBlock: 100n + (limit < 100n ? 1_500n : 30_000n) };
  const numbers = [100n, 101n, 777n, range.toBlock];
  const ask = async (one: LogRange): Promise<RawLog[]> => {
    asked.push(sizeOf(one));
    if (sizeOf(one) > limit) {
      refused += 1;
      throw PROVIDERS[provider]!(one, limit);
    }
    return numbers.filter((n) => n >= one.fromBlock && n <= one.toBlock).map(logAt);
  };
  expect(await readAll(ask, range)).toEqual(numbers);
  expect(refused).toBeLessThanOrEqual(30);
  expect(asked.every((size) => size <= 10_000n)).toBe(true);
});

test("logs crowded into a few blocks are read in full, and the range grows again", async () => {
  const numbers = Array.from({ length: 300 }, (_, i) => 5_000n + BigInt(i % 60)).toSorted((a, b) =>
    Number(a - b),
  );
  const sizes: bigint[] = [];
  const ask = async (range: LogRange): Promise<RawLog[]> => {
    const found = numbers.filter((n) => n >= range.fromBlock && n <= range.toBlock);
    if (found.length > 40) throw refusal("query returned more than 40 results", -32_005);
    sizes.push(sizeOf(range));
    return found.map(logAt);
  };
  expect(await readAll(ask, { fromBlock: 0n, toBlock: 9_000n })).toEqual(numbers);
  expect(sizes.at(-2)!).toBeGreaterThan(sizes.reduce((least, size) => (size < least ? size : least)));
});

test("what is not due to the range is thrown as it is, and so is one block that is refused", async () => {
  const range = { fromBlock: 1n, toBlock: 50n };
  const unreachable = async () => {
    throw new RpcError("eth_getLogs", "too many requests");
  };
  await expect(createLogReader().read(range, unreachable)).rejects.toThrow("too many requests");
  let asked = 0;
  const stubborn = async () => {
    asked += 1;
    throw refusal("query returned more than 10000 results", -32_005);
  };
  await expect(createLogReader().read(range, stubborn)).rejects.toThrow("more than 10000");
  expect(asked).toBeLessThan(8);
});

test("a chain that is shorter for a while teaches no limit", async () => {
  const reader = createLogReader();
  const asked: bigint[] = [];
  const range = { fromBlock: 1n, toBlock: 100n };
  const beyond = refusal("BlockOutOfRangeError: block height is 19 but requested was 100");
  await expect(reader.read(range, () => Promise.reject(beyond))).rejects.toBe(beyond);
  const { toBlock } = await reader.read(range, async (one) => {
    asked.push(sizeOf(one));
    return [];
  });
  expect([asked, toBlock]).toEqual([[100n], 100n]);
});

test("whatever a node says, nothing is left out or told twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt(1n, 3_000n),
      fc.array(fc.bigInt(0n, 4_000n), { maxLength: 30 }),
      fc.string(),
      async (limit, blocks, text) => {
        const numbers = [...new Set(blocks)].toSorted((a, b) => Number(a - b));
        const ask = async (range: LogRange): Promise<RawLog[]> => {
          if (sizeOf(range) > limit) throw refusal(`range ${text}`);
          return numbers.filter((n) => n >= range.fromBlock && n <= range.toBlock).map(logAt);
        };
        expect(await readAll(ask, { fromBlock: 0n, toBlock: 4_000n })).toEqual(numbers);
      },
    ),
    { numRuns: 40, seed: 4 },
  );
});
