import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { beaconWord, presetRequestId, wordsOfBatch } from "../../src/chainlink/presetBatch.ts";
import { encodeFunctionsRequest } from "../../src/chainlink/functionsRequest.ts";
import { encodeResults } from "../../src/chainlink/presetReport.ts";
import { drandChainHash, drandRoundTime, QUICKNET, type DrandRound } from "../../src/beacon/drand.ts";
import { fromHexText, toHexText } from "../../src/lib/hex.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { createRecordedReader, createReadRecorder } from "../../src/verify/recordedReader.ts";
import { deliverResults, deliverWords, eventsOf, seedsOf } from "../support/delivery.ts";
import { ownDrandChain, QUICKNET_HASH, QUICKNET_ROUNDS, signOwnRound } from "../support/drandRelay.ts";
import { startVerifyWorld, type VerifyWorld } from "./support/world.ts";

const ROUND = { round: 1000n, chainHash: QUICKNET_HASH };
const SIGNATURE = QUICKNET_ROUNDS.get(1000n)!;

let world: VerifyWorld;
beforeAll(async () => {
  // Each block is a second later at least; all of them are before the round.
  world = await startVerifyWorld({ startsAt: drandRoundTime(QUICKNET, 1000n) - 1_800 });
});
afterAll(() => world.close());

interface Draw {
  readonly beacon?: DrandRound;
  /** What the nodes report as the round's signature. */
  readonly signature?: Uint8Array;
  /** The signature that the result follows from. */
  readonly used?: Uint8Array;
}

/** Requests a preset that waits for a round. */
const ask = (beacon: DrandRound) =>
  world.submit({ presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }], beacon }] });

/** Requests a preset that waits for a round, and delivers its word as the result. */
async function draw({ beacon = ROUND, signature = SIGNATURE, used = signature }: Draw = {}) {
  const asked = await ask(beacon);
  await deliverWords(world, asked);
  const [[vrfRequestId, seed]] = [...seedsOf(asked)] as [[`0x${string}`, bigint]];
  const requestId = presetRequestId(vrfRequestId, 0);
  const word = beaconWord(wordsOfBatch(seed, 1)[0]!, { signature: used, requestId });
  const results = [fromHexText(toWord(word)), signature].map((bytes) => ({ ok: true, bytes }));
  const report = await world.report(asked, { packed: toHexText(encodeResults(results)) });
  return { asked, report, word };
}

/** Runs a function that waits for a round, with the word that follows from `used` as the result. */
async function run({ beacon = ROUND, signature = SIGNATURE, used = signature }: Draw = {}) {
  const source = "return Functions.encodeUint256(BigInt(bytesArgs.at(-1)) * BigInt(args.length));";
  const data = toHexText(encodeFunctionsRequest({ source, args: ["7"], beacon }));
  const asked = await world.submit({ functions: [{ functionsSubId: world.dapp.functionsSubId, data }] });
  const { requestId } = eventsOf(asked, "OracleRequest")[0]!;
  const response = toWord(beaconWord(0n, { signature: used, requestId }));
  const report = await deliverResults(world, asked, { response, beaconSignature: toHexText(signature) });
  return { asked, report };
}

async function check({ transactionHash }: Receipt, options: Parameters<VerifyWorld["verify"]>[1] = {}) {
  const { requests, verdict, trust } = await world.verify(transactionHash, options);
  const [request] = requests;
  return { verdict, request: request!, trust, step: request!.steps.find(({ name }) => name === "beacon") };
}

test("a result that follows from a proof and a published round of quicknet is valid, offline too", async () => {
  const { report, word } = await draw();
  const recorder = createReadRecorder(world.client);
  const { verdict, request, step } = await check(report, { client: recorder });
  expect(verdict).toBe("valid");
  expect(request.randomNumber).toEqual([word.toString()]);
  expect(step).toMatchObject({
    outcome: "ok",
    detail: expect.stringMatching(
      /^the request fixed round 1000, due at 2023-08-23T15:59:24.000Z, \d+ seconds after its block; its signature is that of drand's quicknet$/,
    ),
  });
  const again = await check(report, { client: createRecordedReader(JSON.stringify(recorder.save())) });
  expect(again.verdict).toBe("valid");
});

test("without its report, the round is open", async () => {
  const asked = await ask(ROUND);
  await deliverWords(world, asked);
  const { verdict, request, step } = await check(asked);
  expect(verdict).toBe("incomplete");
  expect(request.randomNumber).toEqual([]);
  expect(step).toMatchObject({
    outcome: "notApplicable",
    detail: expect.stringContaining("waits for round 1000"),
  });
  expect(request.steps.find(({ name }) => name === "delivery")!.detail).toBe(
    "there is no report on chain yet: it waits for round 1000, due at 2023-08-23T15:59:24.000Z; from then on, nothing but the nodes' silence keeps it from being delivered",
  );
});

describe("a round that was known when the request was mined", () => {
  const beacon = { round: 1n, chainHash: QUICKNET_HASH };

  test("is open until the nodes' error, which is valid and has no word", async () => {
    const asked = await ask(beacon);
    expect(await check(asked)).toMatchObject({
      verdict: "incomplete",
      step: {
        outcome: "notApplicable",
        detail:
          "round 1 was due at 2023-08-23T15:09:27.000Z, not after the request's block: it was known, so the nodes can only answer with an error",
      },
    });
    await deliverWords(world, asked);
    const refused = { ok: false, bytes: Buffer.from("known") };
    const report = await world.report(asked, { packed: toHexText(encodeResults([refused, refused])) });
    const { verdict, request, step, trust } = await check(report);
    expect(verdict).toBe("valid");
    expect(request).toMatchObject({ randomNumber: [], result: "0x", err: toHexText(refused.bytes) });
    expect(step).toMatchObject({
      outcome: "ok",
      detail: expect.stringMatching(/: it was known, and the nodes answered with an error, as they must$/),
    });
    expect(trust.join()).not.toContain("round of drand");
  });

  test("allows no result", async () => {
    const { report } = await draw({ beacon });
    expect(await check(report)).toMatchObject({
      verdict: "invalid",
      step: { outcome: "failed", detail: expect.stringMatching(/: it was known$/) },
    });
  });
});

test("an error without the signature of a round that was still to come is the nodes' word", async () => {
  const asked = await ask(ROUND);
  await deliverWords(world, asked);
  const refused = { ok: false, bytes: Buffer.from("late") };
  const report = await world.report(asked, { packed: toHexText(encodeResults([refused, refused])) });
  expect(await check(report)).toMatchObject({
    verdict: "unconfirmed",
    step: { outcome: "notApplicable", detail: expect.stringContaining("is their word") },
  });
});

test("a preset without a round has no such step", async () => {
  const { report } = await world.runPreset();
  expect(await check(report)).toMatchObject({ verdict: "valid", step: undefined });
});

test("a function's word follows from the round alone, and its report has the signature", async () => {
  const { asked, report } = await run();
  const { verdict, request, step } = await check(report);
  expect(verdict).toBe("valid");
  expect(request).toMatchObject({ kind: "function", beacon: { round: "1000", chainHash: QUICKNET_HASH } });
  expect(step).toMatchObject({ outcome: "ok", detail: expect.stringContaining("that of drand's quicknet") });
  expect((await check(asked)).verdict).toBe("valid");
});

describe("is not valid", () => {
  const flipped = Uint8Array.from(SIGNATURE);
  flipped[47]! ^= 1;
  test.each([
    ["with the signature of the next round", QUICKNET_ROUNDS.get(1001n)!],
    ["with a changed signature", flipped],
    ["with no signature", new Uint8Array()],
    ["with a signature by another key", signOwnRound(1000n)],
  ])("%s", async (_what, signature) => {
    const { report } = await draw({ signature });
    expect(await check(report)).toMatchObject({
      verdict: "invalid",
      request: { failed: "beacon" },
      step: { detail: "the report has another signature than that of round 1000" },
    });
    expect(await check((await run({ signature })).report)).toMatchObject({
      verdict: "invalid",
      request: { failed: "beacon" },
    });
  });

  test("with a result of the VRF word alone, or of another round's", async () => {
    const used = QUICKNET_ROUNDS.get(1001n)!;
    for (const { report } of [await draw({ used }), await run({ used })])
      expect(await check(report)).toMatchObject({ verdict: "invalid", request: { failed: "execution" } });
  });
});

describe("a chain of the operator's own", () => {
  const chain = ownDrandChain({ genesisTime: QUICKNET.genesisTime, period: 3 });
  const own = { round: 1000n, chainHash: drandChainHash(chain) };

  test("is checked with the key that the operator publishes, and said to prove nothing", async () => {
    const { report } = await draw({ beacon: own, signature: signOwnRound(1000n) });
    const { verdict, step, trust } = await check(report, { drandChains: [chain] });
    expect(verdict).toBe("valid");
    expect(step!.detail).toContain("whose key holder knows every round beforehand");
    expect(trust.join(" ")).toContain("it proves nothing");
  });

  test("can't be checked without it", async () => {
    const { report } = await draw({ beacon: own, signature: signOwnRound(1000n) });
    expect(await check(report)).toMatchObject({
      verdict: "unconfirmed",
      step: { outcome: "notApplicable", detail: expect.stringContaining("not drand's quicknet") },
    });
    // A published key of another chain doesn't help.
    const other = { ...chain, beaconId: "other" };
    expect(await check(report, { drandChains: [other] })).toMatchObject({ verdict: "unconfirmed" });
  });
});
