import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { VrfVersion } from "../../src/domain/vocabulary.ts";
import { joinWords } from "../../src/chainlink/fulfilmentWords.ts";
import type { OpenRequest } from "../../src/requests/openRequest.ts";
import { findRequest } from "../../src/store/requests.ts";
import { randomWords } from "../../src/vrf/randomWords.ts";
import { countEnds } from "../support/countEnds.ts";
import { startPipelineWorld, type OpenPipeline, type PipelineWorld } from "../support/pipelineWorld.ts";
import { FURTHER_PROVING_KEYS, TEST_PROVING_KEY } from "../support/stack.ts";
import { mineBlocks } from "../support/mineBlocks.ts";

const KEYS = [TEST_PROVING_KEY, ...FURTHER_PROVING_KEYS].slice(0, 3);
const KEY_HASHES = KEYS.map(({ keyHash }) => keyHash);
const JOINED = { numWords: 2, confirmations: 1, keyHash: KEY_HASHES[0]!, keyHashes: KEY_HASHES };

describe.each(["v2", "v2.5"] as const)("%s", (vrfVersion: VrfVersion) => {
  let world: PipelineWorld;
  let pipeline: OpenPipeline;
  beforeAll(async () => {
    world = await startPipelineWorld({ vrfVersion, vrfKeys: 3 });
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    world.stopOracle();
    pipeline = await world.open({ presetKeyHashes: KEY_HASHES });
    await world.storeSource(pipeline.pipeline);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await pipeline.close();
  });

  const accept = (kind: "random" | "preset"): Promise<OpenRequest> =>
    pipeline.accept(kind, kind === "random" ? { params: JOINED } : {});
  /** Waits until this many words of a request have arrived. */
  const withWords = (id: string, count: number): Promise<OpenRequest> =>
    vi.waitFor(
      async () => {
        const found = (await pipeline.book.find(id)) as OpenRequest;
        const come = found.progress.parts?.filter(({ block }) => block !== undefined);
        expect([found.state, come?.length]).toEqual(["submitted", count]);
        return found;
      },
      { timeout: 60_000, interval: 25 },
    );

  test.each(["random", "preset"] as const)("a %s ends with the joined words", async (kind) => {
    world.startOracle();
    const { id } = await accept(kind);
    const ended = await pipeline.ended(id);
    expect(ended).toMatchObject({ state: "fulfilled", error: null });
    const parts = ended.progress.parts!;
    expect(parts.map(({ keyHash }) => keyHash)).toEqual(KEY_HASHES);
    expect(parts[0]!.id).toBe(ended.progress.vrfRequestId);
    const outputs = new Map(
      (await world.events("RandomWordsFulfilled")).map(({ requestId, outputSeed }) => [
        requestId,
        outputSeed,
      ]),
    );
    const seed = joinWords(
      parts[0]!.id,
      parts.map((part) => randomWords(outputs.get(part.id)!, 1)[0]!),
    );
    const outcome = ended.outcome as unknown as { words?: readonly string[]; parsedResult?: string };
    expect(outcome.words ?? [outcome.parsedResult]).toEqual(
      randomWords(seed, kind === "random" ? 2 : 1).map(String),
    );
    const paid = parts.reduce((sum, { juels }) => sum + BigInt(juels!), 0n);
    expect(ended.progress.wordJuels).toBe(String(paid));
  });

  test("presets that share a join, beside requests with one key", async () => {
    world.startOracle();
    const requests = await Promise.all([
      accept("preset"),
      accept("preset"),
      accept("random"),
      pipeline.accept("random"),
      pipeline.accept("function"),
    ]);
    const ended = await Promise.all(requests.map(({ id }) => pipeline.ended(id)));
    expect(ended.map(({ state }) => state)).toEqual(ended.map(() => "fulfilled"));
    expect(ended.map(countEnds)).toEqual(ended.map(() => 1));
    const [one, other] = ended as [OpenRequest, OpenRequest];
    expect(other.progress.vrfRequestId).toBe(one.progress.vrfRequestId);
  });

  test("a word that is withheld is named, and ends the request by its timeout", async () => {
    world.startOracle(undefined, KEYS.slice(0, 2));
    const { id } = await accept("preset");
    const waiting = await withWords(id, 2);
    await expect
      .poll(() => pipeline.pipeline.explain(waiting))
      .toMatch(
        new RegExp(
          `^2 of 3 words have come; the word of key hash ${KEY_HASHES[2]} \\(operator 0x[0-9a-fA-F]{40}\\) is missing: `,
        ),
      );
    const details = waiting.timeline
      .map(({ detail }) => detail)
      .filter((detail) => detail?.startsWith("word"));
    expect(details).toHaveLength(2);
    expect(details[1]).toMatch(/^word 2 of 3, of the key hash 0x/);
    // The chain is watched for 301 seconds at a time.
    const watched = vi.spyOn(pipeline.watcher, "watched");
    let totalMs = 0;
    const ended = await vi.waitFor(
      async () => {
        totalMs += 301_000;
        watched.mockReturnValue({ totalMs, sinceGapMs: Infinity });
        const found = (await findRequest(pipeline.store.db, id))!;
        expect(found.state).toBe("failed");
        return found;
      },
      { timeout: 60_000, interval: 200 },
    );
    expect(ended.error).toMatchObject({
      code: "word_withheld",
      message: expect.stringContaining(`the word of key hash ${KEY_HASHES[2]}`),
    });
    expect(Number((ended.progress as { wordJuels: string }).wordJuels)).toBeGreaterThan(0);
    // The word comes too late.
    world.stopOracle();
    world.startOracle();
    await vi.waitFor(async () =>
      expect((await world.events("WordsJoined")).map(({ requestId }) => requestId)).toContain(
        waiting.progress.vrfRequestId,
      ),
    );
    expect((await findRequest(pipeline.store.db, id))!.state).toBe("failed");
  });

  test("a join whose block hash is out of reach is not drawn again", async () => {
    world.startOracle(undefined, KEYS.slice(1));
    const { id } = await accept("random");
    await withWords(id, 2);
    await mineBlocks(world.stack.client, 300);
    expect(await pipeline.ended(id)).toMatchObject({
      state: "failed",
      error: { code: "word_withheld", message: expect.stringContaining("is out of reach") },
    });
  });

  test("a restart between two words reads the first again, and says it once", async () => {
    world.startOracle(undefined, KEYS.slice(0, 1));
    const { id } = await accept("random");
    const before = await withWords(id, 1);
    await pipeline.close();
    pipeline = await world.open({ presetKeyHashes: KEY_HASHES });
    const after = await withWords(id, 1);
    const ofWords = ({ timeline }: OpenRequest) =>
      timeline.filter(({ detail }) => detail?.startsWith("word "));
    expect(ofWords(after)).toEqual(ofWords(before));
    world.stopOracle();
    world.startOracle();
    const ended = await pipeline.ended(id);
    expect([ended.state, countEnds(ended)]).toEqual(["fulfilled", 1]);
  });

  test("a reorganisation takes a word back, and another the whole request", async () => {
    world.startOracle(undefined, KEYS.slice(0, 1));
    const { id } = await accept("random");
    await withWords(id, 1);
    world.stopOracle();
    await world.stack.client.request("anvil_reorg", [1, []]);
    await withWords(id, 0);
    await world.stack.client.request("anvil_reorg", [1, []]);
    world.startOracle();
    const ended = await pipeline.ended(id);
    expect([ended.state, countEnds(ended)]).toEqual(["fulfilled", 1]);
  });
});
