import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ChainClient } from "../../src/evm/client.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { createFinality } from "../../src/evm/finality.ts";
import { startTestChain, type TestChain } from "../support/anvil.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
});
beforeEach(async () => {
  await chain.client.request("anvil_mine", ["0x64"]);
});
afterAll(() => chain.close());

const headNumber = async () => (await chain.client.getHead("latest"))!.number;
/** Creates a client whose node has this `finalized` block. */
const clientWith = (finalized: () => bigint | Error): Pick<ChainClient, "getHead"> => ({
  async getHead(block) {
    if (block !== "finalized") return await chain.client.getHead(block);
    const answer = finalized();
    if (answer instanceof Error) throw answer;
    return await chain.client.getHead(answer);
  },
});

test("the node's finalized block, where the network has a useful one", async () => {
  const { client } = chain;
  const { finalNumber } = createFinality({ client, depth: 3, hasFinalizedTag: true });
  expect(await finalNumber()).toBe((await client.getHead("finalized"))!.number);
});

test("elsewhere so many blocks before the head", async () => {
  const { finalNumber } = createFinality({ client: chain.client, depth: 30, hasFinalizedTag: false });
  expect(await finalNumber()).toBe((await headNumber()) - 30n);
});

test("a node that doesn't know the tag, or has no such block yet, is asked for the depth", async () => {
  const refusal = new RpcError("eth_getBlockByNumber", "invalid block tag", { answered: true });
  for (const answer of [refusal, 10n ** 9n]) {
    const { finalNumber } = createFinality({
      client: clientWith(() => answer),
      depth: 5,
      hasFinalizedTag: true,
    });
    expect(await finalNumber()).toBe((await headNumber()) - 5n);
  }
});

test("nothing is final on a chain shorter than the depth", async () => {
  const { finalNumber } = createFinality({ client: chain.client, depth: 10 ** 6, hasFinalizedTag: false });
  expect(await finalNumber()).toBe(0n);
});

test("a node that can't be reached says nothing of finality", async () => {
  const client = clientWith(() => new RpcError("eth_getBlockByNumber", "socket hang up"));
  const { finalNumber } = createFinality({ client, depth: 5, hasFinalizedTag: true });
  await expect(finalNumber()).rejects.toThrow("socket hang up");
});
