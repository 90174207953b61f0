import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../support/pipelineWorld.ts";
import { mineBlocks } from "../support/mineBlocks.ts";

/** After this time Chainlink's oracle drops a request. */
const DAY_SECONDS = 86_400;
/** Twenty LINK: enough for words at the usual gas price, but not at a thousand times that price. */
const OPTIONS = { isChainlinks: true, allowanceJuels: 20n * 10n ** 18n };
const DROPPED = "none within 24 hours, after which Chainlink's oracle drops a request; ";

let world: PipelineWorld;
let pipeline: OpenPipeline;

beforeAll(async () => {
  world = await startPipelineWorld({ vrfVersion: "v2.5" });
});
afterAll(() => world.close());
beforeEach(async () => {
  world.stopOracle();
  pipeline = await world.open(OPTIONS);
  await world.storeSource(pipeline.pipeline);
});
afterEach(() => pipeline.close());

const accepted = async (kind: "preset" | "random") => {
  const { id } = await pipeline.accept(kind);
  return await vi.waitFor(
    async () => {
      const request = (await pipeline.book.find(id))!;
      expect(request.progress.acceptedBlock).toBeDefined();
      return request;
    },
    { timeout: 60_000 },
  );
};
const letPass = async (seconds: number) => {
  await world.stack.client.request("evm_increaseTime", [seconds]);
  await world.stack.client.request("anvil_mine", ["0x1"]);
};
const expectWhy = (id: string, text: RegExp) =>
  expect.poll(() => pipeline.pipeline.explain(pipeline.book.get(id)!), { timeout: 60_000 }).toMatch(text);
const reopen = async (options: Parameters<PipelineWorld["open"]>[0] = {}) => {
  await pipeline.close();
  pipeline = await world.open({ ...OPTIONS, ...options });
};

test.each(["preset", "random"] as const)(
  "a %s that Chainlink's oracle is late with waits, and is sent once only",
  async (kind) => {
    const before = await accepted(kind);
    await expectWhy(
      before.id,
      /^Chainlink's oracle has brought no random words for \d+ seconds; Chainlink's oracle drops a request after 24 hours/,
    );
    // Out of reach for `BLOCKHASH`, and most of a day later.
    await mineBlocks(world.stack.client, 300);
    await letPass(DAY_SECONDS - 3_600);
    await reopen();
    await expectWhy(before.id, /no random words for/);
    const now = (await pipeline.book.find(before.id))!;
    expect([now.state, now.progress.vrfRequestId]).toEqual(["submitted", before.progress.vrfRequestId]);
  },
);

test.each(["preset", "random"] as const)(
  "a %s without words fails after 24 hours, a restart in between or not",
  async (kind) => {
    const { id } = await accepted(kind);
    await reopen();
    await letPass(DAY_SECONDS + 60);
    expect(await pipeline.ended(id)).toMatchObject({
      state: "failed",
      error: {
        code: "oracle_timeout",
        message: expect.stringContaining(`${DROPPED}Chainlink's oracle has brought no`),
      },
    });
  },
);

test("gas that was too dear for the lane all day is the reason", async () => {
  const { id } = await accepted("random");
  await reopen({ fees: { gasPriceWei: async () => 2_000n * 10n ** 9n } });
  await expectWhy(id, /^gas lane too low: .*; Chainlink's oracle drops a request after 24 hours$/);
  await letPass(DAY_SECONDS + 60);
  expect(await pipeline.ended(id)).toMatchObject({
    state: "failed",
    error: { message: expect.stringContaining(`${DROPPED}gas lane too low`) },
  });
});

test("a subscription that was short all day is the reason", async () => {
  const { id } = await accepted("random");
  // At this price the words may cost more than the subscription holds, but it is below the lane's limit.
  await reopen({ fees: { gasPriceWei: async () => 999n * 10n ** 9n } });
  await expectWhy(
    id,
    /^VRF subscription \d+ is short of LINK: it holds [\d.]+, .*; Chainlink's oracle drops a request after 24 hours$/,
  );
  await letPass(DAY_SECONDS + 60);
  expect(await pipeline.ended(id)).toMatchObject({
    state: "failed",
    error: { message: expect.stringMatching(new RegExp(`${DROPPED}VRF subscription \\d+ is short of LINK`)) },
  });
});
