import { afterAll, beforeAll, expect, test } from "vitest";
import { ANVIL_METHODS } from "../../../src/networks/embedded/rpc/rpcServer.ts";
import { MAX_TIMESTAMP } from "../../../src/networks/embedded/rpc/rpcLimits.ts";
import { limitClock } from "../../../src/networks/embedded/clockLimit.ts";
import type { RpcRequest } from "../../../src/networks/embedded/rpcErrors.ts";
import { startTestChain } from "../../support/anvil.ts";

let chain: Awaited<ReturnType<typeof startTestChain>>;
let request: RpcRequest;
const YEAR = 31_536_000;

beforeAll(async () => {
  chain = await startTestChain();
  // Too long for any check to end an interval here.
  const lookMs = 3_600_000;
  request = limitClock((method, parameters) => chain.client.request(method, parameters), { lookMs });
});
afterAll(() => chain.close());

const latest = async (): Promise<number> =>
  Number(((await request("eth_getBlockByNumber", ["latest", false])) as { timestamp: string }).timestamp);
/** Repeats a call until it is refused; each call alone is within the limit. */
async function untilRefused(method: string, parameters: readonly unknown[], most: number): Promise<string> {
  for (let sent = 0; sent < most; sent += 1) {
    try {
      await request(method, parameters);
    } catch (error) {
      return (error as Error).message;
    }
  }
  throw new Error(`${method} was never refused`);
}

test("no number of calls moves the clock past the year 2105, and the chain still mines then", async () => {
  // Twenty years each: the fourth or fifth would be too many.
  const tooLong = await untilRefused("evm_increaseTime", [20 * YEAR], 5);
  expect(tooLong).toMatch(/^evm_increaseTime takes at most \d+ seconds now: /);
  // Concurrent calls are checked one after the other.
  const together = await Promise.allSettled(
    Array.from({ length: 30 }, () => request("anvil_increaseTime", [YEAR])),
  );
  expect(together.filter(({ status }) => status === "rejected").length).toBeGreaterThan(5);
  await request("evm_mine", []);
  expect(await latest()).toBeLessThanOrEqual(MAX_TIMESTAMP + 60);
  const tooMany = await untilRefused("anvil_mine", ["0x64", "0x15180"], 5);
  expect(tooMany).toMatch(/^anvil_mine takes at most \d+ blocks now: /);
  expect(await latest()).toBeLessThanOrEqual(MAX_TIMESTAMP + 60);
  // With an interval, every block advances the clock, including those of transactions.
  await request("anvil_setBlockTimestampInterval", [86_400]);
  expect(await untilRefused("anvil_mine", ["0x64"], 10)).toMatch(/^anvil_mine takes at most \d+ blocks/);
  expect(await untilRefused("evm_mine", [], 400)).toMatch(/^evm_mine takes at most 0 blocks/);
  const transaction = { from: `0x${"11".repeat(20)}`, to: `0x${"11".repeat(20)}` };
  await expect(request("eth_sendTransaction", [transaction])).rejects.toThrow(/takes at most 0 blocks/);
  expect(await latest()).toBeLessThanOrEqual(MAX_TIMESTAMP + 60);
  await request("anvil_removeBlockTimestampInterval", []);
  await request("evm_mine", []);
  expect(await latest()).toBeLessThan(2 ** 32);
});

test("an interval between blocks ends before blocks that no call asked for reach the limit", async () => {
  const own = await startTestChain();
  try {
    const limited = limitClock((method, parameters) => own.client.request(method, parameters), {
      lookMs: 10,
    });
    // Five years are left: fewer than 2,000 days.
    await own.client.request("evm_setNextBlockTimestamp", [MAX_TIMESTAMP - 5 * YEAR]);
    await own.client.request("evm_mine", []);
    await limited("anvil_setBlockTimestampInterval", [86_400]);
    const time = async (): Promise<number> => Number((await own.client.getHead("latest"))!.timestamp);
    const step = async (): Promise<number> => {
      const before = await time();
      // Like interval mining, this is not a call that is checked.
      await own.client.request("evm_mine", []);
      return (await time()) - before;
    };
    await expect.poll(step, { interval: 20 }).toBeLessThan(86_400);
    expect(await time()).toBeLessThan(MAX_TIMESTAMP);
  } finally {
    await own.close();
  }
});

test("Anvil has every method that is told from an unknown one", async () => {
  const calls = [...ANVIL_METHODS]
    // Subscriptions don't exist over HTTP.
    .filter((method) => !/_(?:un)?subscribe$/.test(method))
    .map((method, id) => ({ jsonrpc: "2.0", id, method, params: Array.from({ length: 12 }, () => "x") }));
  const response = await fetch(chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(calls),
  });
  const answers = (await response.json()) as { id: number; error?: { code: number } }[];
  const unknown = answers.filter(({ error }) => error?.code === -32_601);
  expect(unknown.map(({ id }) => calls[id]?.method)).toEqual([]);
  expect(answers).toHaveLength(calls.length);
});
