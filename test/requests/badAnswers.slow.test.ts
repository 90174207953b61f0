import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findRequest } from "../../src/store/requests.ts";
import type { Fault } from "../support/faultyNode.ts";
import {
  DESK_NETWORK,
  makeRequest,
  startPipelineWorld,
  type OpenPipeline,
  type PipelineWorld,
} from "../support/pipelineWorld.ts";
import { isEnded } from "../../src/domain/vocabulary.ts";

const REQUESTS = 240;
/** Told apart on chain by their number of words. */
const FIRST_WORDS = 10;

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeEach(async () => {
  world = await startPipelineWorld();
});
afterEach(async () => {
  await pipeline.close({ atOnce: true });
  await world.close();
});

/** Spoils a share of the node's answers, in the same order in each run. */
function spoil(percent: number): (method: string) => Fault | undefined {
  let calls = 0;
  let staleHead: unknown;
  return (method) => {
    calls += 1;
    // Multiples of a number that has no divisor in common with 100: each hundred calls has its share.
    if ((calls * 37) % 100 >= percent) return undefined;
    if (method === "eth_getTransactionReceipt")
      return { result: (receipt) => receipt && { ...receipt, status: "0x0", logs: [] } };
    if (method === "eth_getBlockByNumber") return { result: (block) => (staleHead ??= block) };
    const faults: readonly Fault[] = [
      { status: 503 },
      { status: 502, page: "<html>Bad gateway</html>", reach: true },
      { page: '{"jsonrpc":"2.0",', reach: true },
      { error: { code: -32_000, message: "internal" }, reach: true },
      { breakLine: true },
      // Converting it to text or to a number throws.
      { result: () => ({ toString: 1, valueOf: 1 }) },
      { result: (result) => [result, null] },
    ];
    return faults[Math.floor(calls / 3) % faults.length];
  };
}

test.each([10, 30])(
  "of every hundred answers %i are bad: nothing is doubled, and nothing that is on chain fails",
  async (percent) => {
    pipeline = await world.open({
      url: world.node.httpUrl,
      watchesAccount: true,
      rereadIntervalMs: 500,
      pipelining: { maxInFlight: 4, paceMs: 1, maxTransactionGas: 2_000_000n },
      fees: { synchronous: false, repriceAfterMs: 3_000 },
    });
    await pipeline.ended((await pipeline.accept("random")).id);
    await world.stack.client.request("evm_setIntervalMining", [1]);
    const fault = spoil(percent);
    const undo = world.node.inject(({ method }) => fault(method));
    const ids: string[] = [];
    /** Counts the requests that have neither ended nor been seen on chain. */
    const countUnseen = (): number =>
      pipeline.book.open(DESK_NETWORK).filter(({ progress }) => progress.acceptedBlock === undefined).length;
    for (let i = 0; i < REQUESTS; i += 1) {
      const { params } = makeRequest("random", "0x");
      ids.push((await pipeline.accept("random", { params: { ...params, numWords: FIRST_WORDS + i } })).id);
      // Some follow when others are on chain, or have ended without.
      if (i % 40 === 39) await vi.waitUntil(() => countUnseen() < i / 2, 100_000);
    }
    undo();
    const ended = await Promise.all(
      ids.map((id) =>
        vi.waitFor(async () => {
          const found = (await findRequest(pipeline.store.db, id))!;
          if (!isEnded(found.state)) throw new Error(`${id} is ${found.state}: ${found.why}`);
          return found;
        }, 200_000),
      ),
    );
    expect(pipeline.inUse).toEqual([]);
    const asked = (await world.events("RandomWordsRequested")).map(({ numWords }) => numWords);
    const counts = ids.map((_, i) => asked.filter((numWords) => numWords === FIRST_WORDS + i).length);
    expect(counts).toEqual(ended.map(({ state }) => (state === "fulfilled" ? 1 : 0)));
  },
);
