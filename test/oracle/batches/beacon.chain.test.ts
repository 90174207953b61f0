import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deriveWords } from "../../../src/chainlink/fulfilmentWords.ts";
import { beaconWord, presetRequestId, wordsOfBatch } from "../../../src/chainlink/presetBatch.ts";
import { encodeFunctionsRequest } from "../../../src/chainlink/functionsRequest.ts";
import { decodeResults } from "../../../src/chainlink/presetReport.ts";
import { drandChainHash, drandRoundTime, QUICKNET, type DrandChain } from "../../../src/beacon/drand.ts";
import { fromHexText } from "../../../src/lib/hex.ts";
import { verifyTransaction } from "../../../src/verify/verifyTransaction.ts";
import { readUint256, toWord } from "../../../src/lib/uint256.ts";
import {
  DEAD_RELAY,
  ownDrandChain,
  pathOf,
  QUICKNET_HASH,
  QUICKNET_ROUNDS,
  signOwnRound,
  startDrandRelay,
  type DrandRelay,
} from "../../support/drandRelay.ts";
import { readLogs } from "../../support/readLogs.ts";
import { startWorld, type World } from "../support/world.ts";

const ECHO = "return Uint8Array.from(bytesArgs[0].slice(2).match(/../g), (byte) => parseInt(byte, 16))";
const ROUND = { round: 1000n, chainHash: QUICKNET_HASH };
const SIGNATURE = QUICKNET_ROUNDS.get(1000n)!;

let world: World;
const relays: DrandRelay[] = [];
beforeEach(async () => {
  // Ten minutes before the round was due, which is long ago for the oracle.
  world = await startWorld({ startsAt: drandRoundTime(QUICKNET, 1000n) - 600 });
});
afterEach(async () => {
  await world.close();
  for (const relay of relays.splice(0)) await relay.close();
});

async function relay(signatureOf: Parameters<typeof startDrandRelay>[1]): Promise<DrandRelay> {
  const started = await startDrandRelay(QUICKNET, signatureOf);
  relays.push(started);
  return started;
}

const follow = (...urls: readonly string[]) =>
  world.startOracle({ beacon: { chain: QUICKNET, relays: urls, marginSeconds: 3 } });

/** Verifies the newest report, which has an error: no source is run again. */
async function verify(chain: DrandChain) {
  const { functionsRouter, presetConsumer } = world.addresses;
  const logs = await readLogs(world.client, [functionsRouter, presetConsumer]);
  const { verdict, requests } = await verifyTransaction(logs.at(-1)!.transactionHash, {
    client: world.client,
    network: "test",
    chainId: world.chainId,
    contracts: world.addresses,
    isEmbedded: true,
    drandChains: [chain],
    run: () => Promise.reject(new Error("a source is run")),
    maxResponseBytes: 256,
    caller: "test",
  });
  return { verdict, beacon: requests[0]!.steps.find(({ name }) => name === "beacon") };
}

/** Returns the words of each reported batch, from the proofs on chain and the round's signature. */
async function expectedWords(): Promise<bigint[]> {
  const proofs = await world.events("RandomWordsFulfilled");
  const reported = await world.events("BatchReported");
  return reported.flatMap(({ vrfRequestId, results }) => {
    const { outputSeed } = proofs.find(({ requestId }) => requestId === vrfRequestId)!;
    const count = decodeResults(fromHexText(results)).length - 1;
    return wordsOfBatch(deriveWords(outputSeed, 1)[0]!, count).map((word, item) =>
      beaconWord(word, { signature: SIGNATURE, requestId: presetRequestId(vrfRequestId, item) }),
    );
  });
}

test("relays are down, hang, lie, or answer with the next round, and one is right: results follow from proof and round", async () => {
  const next = await relay(() => QUICKNET_ROUNDS.get(1001n));
  const wrong = [
    DEAD_RELAY,
    (await relay(() => undefined)).url,
    (await relay(() => "{}")).url,
    (await relay(() => "no JSON")).url,
    (await relay(() => JSON.stringify({ signature: "zz" }))).url,
    (await relay(() => "x".repeat(5_000))).url,
    (await relay(() => new Uint8Array(48))).url,
    // It never answers.
    (await relay(() => new Promise(() => {}))).url,
    next.url,
  ];
  const right = await relay((round) => QUICKNET_ROUNDS.get(round));
  follow(...wrong, right.url);
  await world.requestPresets(ECHO, 2, ROUND);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(3));
  const results = await world.results();
  expect(results.slice(0, 2).map(({ bytes }) => readUint256(bytes))).toEqual(await expectedWords());
  expect(results[2]).toEqual({ ok: true, bytes: SIGNATURE });
  expect(new Set([...right.asked, ...next.asked])).toEqual(new Set([pathOf(QUICKNET, 1000n)]));
});

test("the proof goes on chain before the round is known, and why says what the relays said", async () => {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  let isOut = false;
  const oracle = follow((await relay(() => (isOut ? promise : undefined))).url);
  await world.requestPresets(ECHO, 1, ROUND);
  await vi.waitFor(async () => expect(await world.events("RandomWordsFulfilled")).toHaveLength(1));
  await vi.waitFor(() =>
    expect(oracle.status().pending.map(({ why }) => why)).toEqual([
      expect.stringMatching(/^no relay has drand's round 1000, .* \(127\.0\.0\.1:\d+: HTTP status 404\)$/),
    ]),
  );
  expect(await world.results()).toEqual([]);
  isOut = true;
  resolve(SIGNATURE);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
});

test("two batches that wait for one round get words of their own, and it is fetched once", async () => {
  const right = await relay((round) => QUICKNET_ROUNDS.get(round));
  await world.requestPresets(ECHO, 1, ROUND);
  await world.requestPresets(ECHO, 1, ROUND);
  follow(right.url);
  await vi.waitFor(async () => expect(await world.results()).toHaveLength(4));
  const words = (await world.results()).filter((_, i) => i % 2 === 0).map(({ bytes }) => readUint256(bytes));
  expect(words).toEqual(await expectedWords());
  expect(new Set(words).size).toBe(2);
  expect(right.asked).toHaveLength(1);
});

describe("a function that waits for a round", () => {
  /** Waits for answers, and returns their texts. */
  const answers = async (count: number) => {
    await vi.waitFor(async () => expect(await world.events("RequestProcessed")).toHaveLength(count));
    return (await world.events("RequestProcessed")).map(({ response, err }) =>
      Buffer.from(fromHexText(response === "0x" ? err : response)).toString(),
    );
  };

  test("gets a word of its own from it as the last of bytesArgs, once it is known", async () => {
    const source = "return Buffer.from(bytesArgs.join())";
    const asked = encodeFunctionsRequest({ source, bytesArgs: ["0x07"], beacon: ROUND });
    let isOut = false;
    const oracle = follow((await relay((round) => (isOut ? QUICKNET_ROUNDS.get(round) : undefined))).url);
    const ids = await world.requestFunctions([asked, asked]);
    const why = expect.stringMatching(/^no relay has drand's round 1000, .* HTTP status 404\)$/);
    await vi.waitFor(() => expect(oracle.status().pending.map((one) => one.why)).toEqual(ids.map(() => why)));
    isOut = true;
    const words = ids.map((requestId) => toWord(beaconWord(0n, { signature: SIGNATURE, requestId })));
    expect((await answers(2)).toSorted()).toEqual(words.map((word) => `0x07,${word}`).toSorted());
  });

  test.each([
    ["was due before the request's block", { round: 799n }, "was known before the request was mined"],
    ["is round 0, which drand never makes", { round: 0n }, "was known before the request was mined"],
    ["is due an hour after the block", { round: 2_200n }, "is due more than an hour after"],
    ["is the last that there can be", { round: 2n ** 64n - 1n }, "is due more than an hour after"],
    [
      "is of a chain that nobody follows",
      { round: 1_000n, chainHash: QUICKNET_HASH },
      "doesn't follow the drand chain",
    ],
  ])("fails where it %s, and no relay is asked", async (_what, change, reason) => {
    const chain = ownDrandChain({ period: 3 });
    const own = await startDrandRelay(chain, signOwnRound);
    relays.push(own);
    world.startOracle({ beacon: { chain, relays: [own.url], marginSeconds: 3 } });
    const beacon = { chainHash: drandChainHash(chain), ...change };
    await world.requestFunctions([encodeFunctionsRequest({ source: "return Buffer.from('ran')", beacon })]);
    expect(await answers(1)).toEqual([expect.stringContaining(reason)]);
    expect(own.asked).toEqual([]);
    const isKnown = reason.includes("was known");
    expect(await verify(chain)).toMatchObject({
      verdict: isKnown ? "valid" : "unconfirmed",
      beacon: {
        outcome: isKnown ? "ok" : "notApplicable",
        detail: expect.stringMatching(/^(?!.*undefined).*the nodes answered with an error/),
      },
    });
  });
});

describe("the presets fail where their round", () => {
  /** Waits for two results, and returns the texts of those that are errors. */
  const readRefusals = async (): Promise<string[]> => {
    await vi.waitFor(async () => expect(await world.results()).toHaveLength(2));
    return (await world.results()).flatMap(({ ok, bytes }) => (ok ? [] : [Buffer.from(bytes).toString()]));
  };
  const refusals = (reason: string) => [expect.stringContaining(reason), expect.stringContaining(reason)];

  test("was due before the request's block", async () => {
    const chain = ownDrandChain({ period: 3 });
    const own = await startDrandRelay(chain, signOwnRound);
    relays.push(own);
    world.startOracle({ beacon: { chain, relays: [own.url], marginSeconds: 3 } });
    await world.requestPresets(ECHO, 1, { round: 799n, chainHash: drandChainHash(chain) });
    expect(await readRefusals()).toEqual(
      refusals("mined; make a new request, with another label if this one has one: that stays taken"),
    );
    expect(own.asked).toEqual([]);
    expect(await verify(chain)).toMatchObject({
      verdict: "valid",
      beacon: { outcome: "ok", detail: expect.stringContaining("the nodes answered with an error") },
    });
  });

  test("is of another chain than the oracle's", async () => {
    follow(DEAD_RELAY);
    await world.requestPresets(ECHO, 1, { ...ROUND, chainHash: `0x${"99".repeat(32)}` });
    expect(await readRefusals()).toEqual(refusals("doesn't follow the drand chain"));
  });

  test("may be any, and the oracle follows no chain", async () => {
    world.startOracle();
    await world.requestPresets(ECHO, 1, ROUND);
    expect(await readRefusals()).toEqual(refusals("doesn't follow the drand chain"));
  });
});
