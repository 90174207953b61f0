import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RequestVerification, Verification } from "../../src/api/types.ts";
import { checkReceipt, readReceipt } from "../../src/cli/receipt.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(path.join(tmpdir(), "tyche-receipt-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ID = `0x${"91".repeat(32)}` as const;

const REQUEST: RequestVerification = {
  kind: "preset",
  requestId: ID,
  vrfRequestId: null,
  verdict: "valid",
  failed: null,
  transactions: { request: null, randomness: null, report: null },
  result: stringToHex("Winners: bob"),
  err: "0x",
  randomNumber: ["7"],
  keyHashes: [ID],
  sourceHash: null,
  source: null,
  args: ["1", '["ann","bob"]'],
  preset: { sourceId: 3, name: "lotto", parameters: ["numberOfWinners", "list"] },
  beacon: null,
  requestedAt: "2026-12-24T18:00:00.000Z",
  deliveredAt: null,
  deliveredBy: null,
  label: {
    dapp: "dapp_a",
    label: "raffle",
    draw: 1,
    draws: [],
    searched: { from: "0", to: "9", codeFrom: "0", omits: false, isWhole: true, provenFrom: null },
  },
  steps: [],
};

/** `createdAt` is the service's word: only that it isn't later than the block is known. */
const MINED_AFTER = "not mined before createdAt";

const ACCEPTED = {
  id: "req_1",
  dappId: "dapp_a",
  kind: "preset",
  network: "sepolia",
  params: { preset: "lotto", numberOfWinners: "1", list: ["ann", "bob"], label: "raffle" },
  createdAt: "2026-12-24T17:59:59.500Z",
  outcome: null,
};
const RESULT = {
  success: true,
  id: "req_1",
  requestId: ID,
  result: REQUEST.result,
  parsedResult: "Winners: bob",
  value: ["bob"],
  err: "0x",
  label: "raffle",
};

/** Checks an answer against the request as it was found. */
async function check(answer: object, change: Partial<RequestVerification> = {}) {
  const file = path.join(folder, "answer.json");
  writeFileSync(file, JSON.stringify(answer));
  const found: Verification = {
    network: "sepolia",
    chainId: 1,
    transactionHash: ID,
    valid: true,
    verdict: "valid",
    requests: [{ ...REQUEST, ...change }],
    contracts: {},
    trust: [],
  };
  return await checkReceipt(await readReceipt(file), found);
}

test("the 202 of a request is compared with all that it says", async () => {
  expect(await check({ data: ACCEPTED })).toEqual({
    agreed: ["network", "kind", "dapp", "label", "round", "preset", "numberOfWinners", "list", MINED_AFTER],
    problems: [],
  });
});

test("a result is compared by its id on chain", async () => {
  const agreed = ["label", "round", "success", "result", "err", "parsedResult", "value"];
  expect(await check(RESULT)).toEqual({ agreed, problems: [] });
  const shown = { as: "list", entries: ["bob"] };
  const ended = { ...ACCEPTED, state: "fulfilled", outcome: RESULT, shown };
  expect(await check(ended)).toEqual({
    agreed: expect.arrayContaining([...agreed, "list", "state", "shown", MINED_AFTER]),
    problems: [],
  });
});

describe("with a round of drand", () => {
  const beacon = { round: "1000", time: "2026-12-24T18:00:05.000Z", chainHash: ID };
  const params = { ...ACCEPTED.params, beacon };

  test("the round was to come when the answer named it", async () => {
    expect(await check({ ...ACCEPTED, params }, { beacon })).toMatchObject({
      agreed: expect.arrayContaining(["round", MINED_AFTER]),
      problems: [],
    });
    expect((await check({ ...RESULT, beacon }, { beacon })).problems).toEqual([]);
  });

  test.each<[string, object, RequestVerification["beacon"], RegExp]>([
    ["another round", params, { ...beacon, round: "1001" }, /^round: the receipt says "1000".*"1001"/],
    [
      "another time",
      params,
      { ...beacon, time: "2026-12-24T18:00:08.000Z" },
      /^time of the round: .*:05.*:08/,
    ],
    ["another chain", params, { ...beacon, chainHash: `0x${"92".repeat(32)}` }, /^round: /],
    ["none", params, null, /^round: .*, the chain none$/],
    ["one that the receipt lacks", ACCEPTED.params, beacon, /^round: the receipt says none/],
  ])("the chain has %s", async (_what, told, found, problem) => {
    const { problems } = await check({ ...ACCEPTED, params: told }, { beacon: found });
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test("the round was known when the answer was given", async () => {
    const late = { ...ACCEPTED, params, createdAt: "2026-12-24T18:00:05.000Z" };
    expect((await check(late, { beacon })).problems).toEqual([
      "its round was due at 2026-12-24T18:00:05.000Z, before the answer was given",
    ]);
  });
});

test("that it is the only one with the label is said to agree, where the receipt says once", async () => {
  const once = { ...ACCEPTED, params: { ...ACCEPTED.params, once: true } };
  expect(await check(once)).toMatchObject({ agreed: expect.arrayContaining(["once"]), problems: [] });
  expect((await check(ACCEPTED)).agreed).not.toContain("once");
  const unlabelled = { ...once, params: { ...once.params, label: undefined }, outcome: RESULT };
  const { problems } = await check(
    { ...unlabelled, outcome: { ...RESULT, label: undefined } },
    { label: null },
  );
  expect(problems).toEqual(["once: the request has no label"]);
});

test("a label is the same in any case", async () => {
  const params = { ...ACCEPTED.params, label: " RAFFLE " };
  expect((await check({ ...ACCEPTED, params })).problems).toEqual([]);
  expect((await check({ ...RESULT, label: "Raffle" })).problems).toEqual([]);
});

test.each(["utf8", "utf16le"] as const)("a file in %s may have a byte order mark", async (encoding) => {
  const file = path.join(folder, "marked.json");
  writeFileSync(file, `\ufeff${JSON.stringify(ACCEPTED)}`, encoding);
  expect(await readReceipt(file)).toMatchObject({ label: "raffle", network: "sepolia" });
});

test("random numbers are compared", async () => {
  const found = { kind: "random", preset: null, args: null } as const;
  const params = { numWords: 1, confirmations: 1, keyHash: ID, label: "raffle" };
  const asked = { ...ACCEPTED, kind: "random", params };
  expect((await check(asked, found)).agreed).toEqual(expect.arrayContaining(["key hashes", "numWords"]));
  const other = { ...found, keyHashes: [ID, `0x${"92".repeat(32)}`] as const, randomNumber: ["7", "8"] };
  expect((await check(asked, other)).problems).toEqual([
    expect.stringMatching(/^key hashes: /),
    "numWords: the receipt says 1, the chain 2",
  ]);
  const numbers = { requestId: ID, randomNumber: ["8"] };
  expect((await check(numbers, { kind: "random", preset: null, label: null })).problems).toEqual([
    'randomNumber: the receipt says ["8"], the chain ["7"]',
  ]);
});

test("a function's source and arguments are compared", async () => {
  const sourceHash = keccak256(stringToHex("return args[0]"));
  const found = { kind: "function", preset: null, args: ["1"], sourceHash } as const;
  const params = { source: "return args[0]", args: ["1"], label: "raffle" };
  const asked = { ...ACCEPTED, kind: "function", params };
  expect((await check(asked, found)).agreed).toEqual(expect.arrayContaining(["kind", "source", "args"]));
  expect((await check(asked, { ...found, sourceHash: ID, args: ["2"] })).problems).toEqual([
    expect.stringMatching(/^source: /),
    'args: the receipt says ["1"], the chain ["2"]',
  ]);
});

describe("a draw that is not the receipt's", () => {
  test.each<[string, Partial<RequestVerification>, RegExp]>([
    ["has another list", { args: ["1", '["ann","eve"]'] }, /^list: .*"bob".*"eve"/],
    [
      "has another number",
      { args: ["2", '["ann","bob"]'] },
      /^numberOfWinners: the receipt says 1, the chain 2$/,
    ],
    ["has another preset", { preset: { ...REQUEST.preset!, name: "range" } }, /^preset: /],
    [
      "has a preset that is not known",
      { preset: { sourceId: 4, name: null, parameters: [] } },
      /^preset: the receipt says lotto, the chain none that is known here$/,
    ],
    ["is another dapp's", { label: { ...REQUEST.label!, dapp: "dapp_b" } }, /^dapp: .*dapp_a.*dapp_b$/],
    ["is no preset", { kind: "function" }, /^kind: /],
    ["has no such label", { label: null }, /^no request of this transaction has the label "raffle"$/],
    [
      "was made before the answer was given",
      { requestedAt: "2026-12-24T17:59:00.000Z" },
      /^the request was mined 60 seconds before/,
    ],
    ["has an unknown time", { requestedAt: null }, /doesn't show its block/],
  ])("%s", async (_what, change, problem) => {
    expect((await check(ACCEPTED, change)).problems).toEqual([expect.stringMatching(problem)]);
  });

  test("is one of two with a label that was to be the only one", async () => {
    const draws = [1, 2].map(() => ({ transactionHash: ID, blockNumber: "7" }));
    const found = { label: { ...REQUEST.label!, draw: 2, draws } };
    const params = { ...ACCEPTED.params, once: true };
    expect((await check({ ...ACCEPTED, params }, found)).problems).toEqual([
      "once: it is request 2 of 2 with the label, and was to be the only one",
    ]);
    expect((await check(ACCEPTED, found)).problems).toEqual([]);
  });

  test.each([
    ["requests that the node may hide", { omits: true }, "requests with the label could be read"],
    ["blocks that were not searched", { from: "5" }, "blocks were searched for the label"],
  ])("may be one of several with a label that was to be the only one: %s", async (_what, part, open) => {
    const { label } = REQUEST;
    const searched = { ...label!.searched, ...part, isWhole: false };
    const params = { ...ACCEPTED.params, once: true };
    const { problems } = await check({ ...ACCEPTED, params }, { label: { ...label!, draws: [], searched } });
    expect(problems).toEqual([`once: not all ${open}, so whether it is the only one is open`]);
  });

  test("has a preset, and the receipt none", async () => {
    const params = { ...ACCEPTED.params, preset: undefined };
    expect((await check({ ...ACCEPTED, params })).problems).toEqual([
      "preset: the receipt says nothing, the chain lotto",
    ]);
  });

  test("has another result", async () => {
    const result = stringToHex("Winners: ann");
    expect((await check(RESULT, { result })).problems).toEqual([
      `result: the receipt says ${REQUEST.result}, the chain ${result}`,
      'parsedResult: the receipt says "Winners: bob", the chain "Winners: ann"',
      'value: the receipt says ["bob"], the chain ["ann"]',
    ]);
  });

  test("has the bytes of another result than the one that people read", async () => {
    const outcome = { ...RESULT, parsedResult: "Winners: dora", value: ["dora"] };
    const shown = { as: "list", entries: ["dora"] };
    const problems = [
      'parsedResult: the receipt says "Winners: dora", the chain "Winners: bob"',
      'value: the receipt says ["dora"], the chain ["bob"]',
    ];
    expect((await check(outcome)).problems).toEqual(problems);
    expect((await check({ ...ACCEPTED, outcome, shown })).problems).toEqual([
      ...problems,
      'shown: the receipt says ["dora"], the chain ["bob"]',
    ]);
    const unknown = { preset: { sourceId: 4, name: null, parameters: [] } };
    expect(await check(outcome, unknown)).toEqual({
      agreed: ["label", "round", "success", "result (bytes)", "err"],
      problems: [],
    });
  });

  test("is a function's with the bytes of another result than the one that people read", async () => {
    const found = { kind: "function", preset: null, args: [], sourceHash: ID } as const;
    const negative = `0x${"ff".repeat(32)}`;
    const told = (parsedResult: string) => ({
      ...RESULT,
      result: negative,
      parsedResult,
      value: parsedResult,
    });
    for (const text of ["-1", String(2n ** 256n - 1n)])
      expect((await check(told(text), { ...found, result: negative })).problems).toEqual([]);
    const { problems } = await check(told("1"), { ...found, result: negative });
    expect(problems).toEqual([
      expect.stringMatching(/^parsedResult: the receipt says "1"/),
      expect.stringMatching(/^value: the receipt says "1"/),
    ]);
    const typed = { ...ACCEPTED, kind: "function", params: { label: "raffle", returnType: "int256" } };
    const other = {
      ...typed,
      payloadDeletedAt: "2026-12-25T18:00:00.000Z",
      outcome: told(String(2n ** 256n - 1n)),
    };
    expect((await check(other, { ...found, result: negative })).problems).toEqual([
      expect.stringMatching(/^parsedResult: .*, the chain "-1"$/),
      expect.stringMatching(/^value: /),
    ]);
  });

  test("failed, where the receipt has a result, or the other way round", async () => {
    const failure = { result: "0x", err: stringToHex("no quörum") };
    expect((await check({ ...ACCEPTED, state: "fulfilled", outcome: RESULT }, failure)).problems).toEqual([
      "state: the receipt says fulfilled, the chain failed",
      "success: the receipt says true, the chain false",
      expect.stringMatching(/^result: /),
      "err: the receipt says 0x, the chain no quörum",
      'parsedResult: the receipt says "Winners: bob", the chain ""',
      'value: the receipt says ["bob"], the chain null',
    ]);
    const told = { ...RESULT, result: "0x", err: "no quörum", success: false, parsedResult: "", value: null };
    expect((await check({ ...ACCEPTED, state: "failed", outcome: told }, failure)).problems).toEqual([]);
    expect((await check({ ...ACCEPTED, state: "failed" })).problems).toEqual([
      "state: the receipt says failed, the chain fulfilled",
    ]);
  });

  test("has what the receipt leaves out", async () => {
    const params = { ...ACCEPTED.params, list: undefined };
    expect((await check({ ...ACCEPTED, params })).problems).toEqual([
      'list: the receipt says nothing, the chain ["ann","bob"]',
    ]);
    const found = { kind: "function", preset: null, args: ["1"], sourceHash: ID } as const;
    expect(
      (await check({ ...ACCEPTED, kind: "function", params: { label: "raffle" } }, found)).problems,
    ).toEqual([
      `source: the receipt says nothing, the chain ${ID}`,
      'args: the receipt says nothing, the chain ["1"]',
    ]);
  });

  test("has a label where the receipt has none", async () => {
    const unlabelled = { ...RESULT, label: undefined };
    expect((await check(unlabelled)).problems).toEqual(['label: the receipt says null, the chain "raffle"']);
  });
});

test.each([
  ["{", "is not JSON"],
  ["[]", "is not an answer of the API"],
  [JSON.stringify({ success: false, code: "label_taken", id: "req_1" }), "neither a label nor an id"],
  [JSON.stringify({ ...ACCEPTED, createdAt: "noon" }), "when it was received"],
  [JSON.stringify({ ...ACCEPTED, kind: undefined }), "of which kind"],
  [JSON.stringify({ ...ACCEPTED, dappId: undefined }), "of which dapp"],
  [JSON.stringify({ ...ACCEPTED, network: undefined }), "on which network"],
])("%s is no receipt", async (text, reason) => {
  const file = path.join(folder, "bad.json");
  writeFileSync(file, text);
  await expect(readReceipt(file)).rejects.toThrow(reason);
});
