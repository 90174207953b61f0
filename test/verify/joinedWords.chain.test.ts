import { encodeAbiParameters, parseAbiParameters, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { joinWords } from "../../src/chainlink/fulfilmentWords.ts";
import { presetRequestId, wordsOfBatch } from "../../src/chainlink/presetBatch.ts";
import { toWord } from "../../src/lib/uint256.ts";
import { randomWords } from "../../src/vrf/randomWords.ts";
import { submitJoined } from "../support/consumer.ts";
import { deliverWords, eventsOf, reportOf, seedsOf } from "../support/delivery.ts";
import { startVerifyWorld, type Tamper, type VerifyWorld } from "./support/world.ts";

describe.each(["v2", "v2.5"] as const)("%s", (vrfVersion) => {
  let world: VerifyWorld;
  let request: Receipt;
  let proofs: readonly Receipt[];
  let report: Receipt;
  let word: bigint;
  beforeAll(async () => {
    world = await startVerifyWorld({ vrfVersion, vrfKeys: 3 });
    request = await submitJoined(world, [{ dapp: world.dapp, items: [{ sourceId: world.echoId }], keys: 3 }]);
    proofs = [await deliver(request, 1), await deliver(request, 0), await deliver(request, 2)];
    const { requestId, seed } = eventsOf(proofs[2]!, "WordsJoined")[0]!;
    word = wordsOfBatch(seed, 1)[0]!;
    report = await world.report(request, { result: toWord(word), seeds: new Map([[requestId, seed]]) });
  });
  afterAll(() => world.close());

  const deliver = (submitted: Receipt, part: number): Promise<Receipt> => {
    const [joining] = eventsOf(submitted, "Joining");
    return deliverWords(world, submitted, { of: ({ requestId }) => requestId === joining!.parts[part] });
  };
  const outcomes = (steps: readonly { readonly name: string; readonly outcome: string }[]) =>
    steps.map(({ name, outcome }) => `${name} ${outcome}`);

  test("a preset is valid from each of its transactions, with a proof for each key", async () => {
    const found = await world.verify(report.transactionHash, { isEmbedded: false });
    const [one] = found.requests;
    expect(outcomes(one!.steps)).toEqual([
      "transactions ok",
      "contracts ok",
      ...["key", "proof"].flatMap((name) => [1, 2, 3].map(() => `${name} ok`)),
      ...["join", "source", "signers", "signatures", "delivery", "execution"].map((name) => `${name} ok`),
    ]);
    expect(found).toMatchObject({
      valid: true,
      requests: [
        {
          kind: "preset",
          vrfRequestId: eventsOf(request, "Joining")[0]!.requestId,
          transactions: { randomness: proofs[2]!.transactionHash },
          randomNumber: [String(word)],
        },
      ],
    });
    expect(found.trust.join(" ")).toContain("can be chosen only by all 3 holders together");
    for (const { transactionHash } of [request, ...proofs])
      expect((await world.verify(transactionHash, { isEmbedded: false })).requests).toEqual(found.requests);
    const part = eventsOf(request, "Joining")[0]!.parts[2]!;
    expect((await world.verify(proofs[2]!.transactionHash, { requestId: part })).valid).toBe(true);
  });

  test("a preset whose last word and report came in one transaction is valid from it", async () => {
    const items = [{ sourceId: world.echoId }];
    const asked = await submitJoined(world, [{ dapp: world.dapp, items, keys: 2 }]);
    await deliver(asked, 1);
    const { requestId, parts } = eventsOf(asked, "Joining")[0]!;
    const seeds = seedsOf(asked);
    const seed = joinWords(
      requestId,
      parts.map((part) => seeds.get(part)!),
    );
    const result = toWord(wordsOfBatch(seed, 1)[0]!);
    const signed = await reportOf(world, asked, { result, seeds: new Map([[requestId, seed]]) });
    const both = await deliverWords(world, asked, {
      of: ({ requestId: id }) => id === parts[0],
      reports: [signed],
    });
    const { transactionHash } = both;
    const id = presetRequestId(requestId, 0);
    for (const options of [{}, { requestId: id }, { requestId: parts[1]! }])
      expect(await world.verify(transactionHash, options)).toMatchObject({
        valid: true,
        requests: [{ requestId: id, transactions: { randomness: transactionHash, report: transactionHash } }],
      });
  });

  test("random numbers, with one word missing at first", async () => {
    const asked = await submitJoined(world, [{ dapp: world.dapp, keys: 2 }]);
    const first = await deliver(asked, 0);
    const waiting = await world.verify(first.transactionHash);
    expect(waiting).toMatchObject({
      verdict: "incomplete",
      requests: [{ kind: "random", failed: null, randomNumber: [] }],
    });
    const missing = waiting.requests[0]!.steps.filter(({ outcome }) => outcome === "notApplicable");
    expect(missing.map(({ name }) => name)).toEqual(["proof", "join"]);
    expect(missing[0]!.detail).toMatch(/there is no VRF proof on chain yet: .*\(word 2 of 2, key hash 0x/);
    expect(missing[1]!.detail).toBe("1 of 2 words have come with a valid proof");

    const last = await deliver(asked, 1);
    const { requestId, keyHashes } = eventsOf(asked, "Joining")[0]!;
    expect(waiting.requests).toMatchObject([{ keyHashes, sourceHash: null, source: null }]);
    const words = [first, last].map(
      (receipt) => randomWords(eventsOf(receipt, "RandomWordsFulfilled")[0]!.outputSeed, 1)[0]!,
    );
    const found = await world.verify(last.transactionHash);
    expect(found.valid).toBe(true);
    expect(found.requests[0]!.randomNumber).toEqual(randomWords(joinWords(requestId, words), 3).map(String));
  });

  test("a join of more words than there can be keys is none, and not one of them is searched for", async () => {
    const { keyHashes, parts } = eventsOf(request, "Joining")[0]!;
    const many = Array.from({ length: 100 }, (_, i) => toWord(BigInt(i)));
    const lists = [keyHashes, [...parts, ...many]];
    const data = encodeAbiParameters(parseAbiParameters("bytes32[], bytes32[]"), lists as [Hex[], Hex[]]);
    const searches: unknown[] = [];
    const tamper: Tamper = (method, answer, [filter]) => {
      if (method === "eth_getLogs") searches.push(filter);
      if (method !== "eth_getBlockReceipts") return answer;
      for (const { logs } of answer as { logs: { topics: Hex[]; data: Hex }[] }[])
        for (const log of logs) if (log.topics[0] === EVENT_TOPICS.Joining) log.data = data;
      return answer;
    };
    expect(await world.verify(report.transactionHash, { tamper })).toMatchObject({ verdict: "invalid" });
    expect(searches.length).toBeLessThan(many.length);
  });

  test.each<[string, string, (log: { topics: Hex[]; data: Hex }) => void]>([
    ["another seed", "WordsJoined", (log) => void (log.data = toHex(1n, { size: 32 }))],
    [
      "a key named twice",
      "Joining",
      // The second part's id is replaced by the first one's: one operator's word counts for two.
      (log) =>
        void (log.data = log.data.replace(
          eventsOf(request, "Joining")[0]!.parts[1]!.slice(2),
          eventsOf(request, "Joining")[0]!.parts[0]!.slice(2),
        ) as Hex),
    ],
  ])("%s fails the step", async (_, name, change) => {
    const [topic] = [request, ...proofs]
      .flatMap(({ logs }) => logs)
      .map(({ topics }) => topics)
      .find(([first]) => first === topicOf(name))!;
    const tamper: Tamper = (method, answer) => {
      if (method !== "eth_getBlockReceipts") return answer;
      for (const { logs } of answer as { logs: { topics: Hex[]; data: Hex }[] }[])
        for (const log of logs) if (log.topics[0] === topic) change(log);
      return answer;
    };
    const { requests } = await world.verify(report.transactionHash, { tamper });
    const step = requests[0]!.steps.find((one) => one.name === "join")!;
    expect([requests[0]!.verdict, step.outcome]).toEqual(["invalid", "failed"]);
  });
});

function topicOf(name: string): Hex {
  return EVENT_TOPICS[name as keyof typeof EVENT_TOPICS];
}
