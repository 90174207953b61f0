import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keccak256, toHex } from "viem";
import type { Receipt } from "../../src/evm/client.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { deliverWords } from "../support/delivery.ts";
import type { TestLabel } from "../support/consumer.ts";
import { ECHO_WORD, startVerifyWorld, wordOf, type Tamper, type VerifyWorld } from "./support/world.ts";

let world: VerifyWorld;
beforeAll(async () => {
  world = await startVerifyWorld();
});
afterAll(() => world.close());

const label = (text: string, place: Partial<TestLabel> = {}): TestLabel => ({
  index: 0n,
  item: 0n,
  dapp: "dapp_a",
  text,
  ...place,
});

/** Requests one preset with these labels. */
const draw = (...labels: readonly TestLabel[]): Promise<Receipt> =>
  world.submit({ presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }], labels });

async function senderOfTransaction({ transactionHash }: Receipt): Promise<string> {
  const sent = await world.client.request("eth_getTransactionByHash", [transactionHash]);
  return (sent as { readonly from: string }).from;
}

/** Returns what a verification says of the label of each request in a transaction. */
async function labelsOf(receipt: Receipt, options: Parameters<VerifyWorld["verify"]>[1] = {}) {
  const { requests } = await world.verify(receipt.transactionHash, options);
  return requests.map((request) => request.label);
}

describe("of a preset", () => {
  test("default: the only request with a label is said to be the only one, at both of its ends", async () => {
    const asked = await draw(label("only"));
    await deliverWords(world, asked);
    const report = await world.report(asked, { result: wordOf(asked) });
    const { verdict, requests } = await world.verify(report.transactionHash);
    expect(verdict).toBe("valid");
    expect(requests[0]!.label).toEqual({
      dapp: "dapp_a",
      label: "only",
      draw: 1,
      draws: [{ transactionHash: asked.transactionHash, blockNumber: asked.blockNumber.toString() }],
      searched: { from: "0", to: report.blockNumber.toString(), isWhole: true },
    });
    const timeOf = async ({ blockNumber }: Receipt) => {
      const block = await world.client.request("eth_getBlockByNumber", [toHex(blockNumber), false]);
      return new Date(Number((block as { timestamp: string }).timestamp) * 1000).toISOString();
    };
    expect(requests[0]).toMatchObject({
      args: [],
      preset: { sourceId: world.echoId, name: null, parameters: [] },
      requestedAt: await timeOf(asked),
      deliveredAt: await timeOf(report),
      deliveredBy: await senderOfTransaction(report),
    });
  });

  test("default: draws that are repeated until one suits are counted", async () => {
    const all = [];
    for (let i = 0; i < 3; i += 1) all.push(await draw(label("again")));
    const [found] = await labelsOf(all[1]!);
    expect(found).toMatchObject({
      draw: 2,
      draws: all.map(({ transactionHash }) => ({ transactionHash })),
    });
  });

  test("behaviour: another dapp's draws with the label, before and after, and refused ones, don't count", async () => {
    // It saw the label before it was mined, and was first.
    await draw(label("shared", { dapp: "dapp_b" }));
    const own = await draw(label("shared"));
    await draw(label("shared", { dapp: "dapp_b" }));
    const unknown = { ...world.dapp, vrfSubId: 999n };
    const refused = await world.submit({
      presets: [{ dapp: unknown, items: [{ sourceId: world.echoId }] }],
      labels: [label("shared")],
    });
    expect(refused.succeeded).toBe(true);
    expect(await labelsOf(own)).toMatchObject([{ draws: [{ transactionHash: own.transactionHash }] }]);
  });

  test("behaviour: of the presets of a batch each has its own label, or none", async () => {
    const items = [{ sourceId: world.echoId }, { sourceId: world.echoId }, { sourceId: world.echoId }];
    const asked = await world.submit({
      presets: [{ dapp: world.dapp, items }],
      labels: [label("second of three", { item: 1n }), label("third of three", { item: 2n })],
    });
    expect((await labelsOf(asked)).map((one) => one?.label)).toEqual([
      undefined,
      "second of three",
      "third of three",
    ]);
  });

  test("behaviour: of a batch with many labels some are searched for, and of the others it is said that they weren't", async () => {
    const items = Array.from({ length: 12 }, () => ({ sourceId: world.echoId }));
    const asked = await world.submit({
      presets: [{ dapp: world.dapp, items }],
      labels: items.map((_, i) => label(`many ${i}`, { item: BigInt(i) })),
    });
    const found = await labelsOf(asked);
    expect(found.map((one) => one?.draws.length)).toEqual(items.map(() => 1));
    expect(found.map((one) => one?.searched.isWhole)).toEqual(items.map((_, i) => i < 10));
  });

  test("error: a label that is not in its canonical form is none", async () => {
    for (const text of ["Upper", "a  b", "A\u0308", "a\u202eb", "x".repeat(101)])
      expect(await labelsOf(await draw(label(text)))).toEqual([null]);
  });

  /** Changes what a node answers to the search for labels, the first time, the second time and so on. */
  const onSearch =
    (change: (answer: unknown, range: string, count: number) => unknown): Tamper =>
    (method, answer, [filter]) => {
      const { fromBlock, toBlock, topics } = (filter ?? {}) as Record<string, string>;
      if (method !== "eth_getLogs" || topics?.[0] !== EVENT_TOPICS.Labelled) return answer;
      return change(answer, `${fromBlock} ${toBlock}`, (searches += 1));
    };
  let searches = 0;
  beforeEach(() => {
    searches = 0;
  });

  test("behaviour: a node that refuses to search the whole chain is asked for the blocks around the request", async () => {
    const asked = await draw(label("narrow"));
    const tamper = onSearch((answer, _range, count) => (count === 1 ? "range too wide" : answer));
    expect(await labelsOf(asked, { tamper })).toMatchObject([
      { label: "narrow", draw: 1, searched: { isWhole: true } },
    ]);
    expect(searches).toBe(3);
  });

  test("behaviour: a search goes on with the blocks that an earlier one left out", async () => {
    const all = [await draw(label("long ago")), await draw(label("long ago"))];
    const [first, second] = all.map(({ blockNumber }) => blockNumber);
    const said = (draws: number, from: bigint, isWhole: boolean) => [
      { draws: { length: draws }, searched: { from: from.toString(), isWhole } },
    ];
    const from = (fromBlock: bigint) => labelsOf(all[1]!, { labelSearch: { fromBlock } });
    expect(await from(second!)).toMatchObject(said(1, second!, false));
    expect(await from(first!)).toMatchObject(said(2, first!, false));
    const before = await labelsOf(all[1]!, { labelSearch: { toBlock: second! - 1n } });
    expect(before).toMatchObject([{ ...said(2, 0n, false)[0], draw: 2 }]);
  });

  test("error: a node that leaves out even the request itself is asked again, and then not said to have listed all", async () => {
    const asked = await draw(label("hidden"));
    const late = onSearch((answer, _range, count) => (count === 1 ? [] : answer));
    expect(await labelsOf(asked, { tamper: late })).toMatchObject([{ searched: { isWhole: true } }]);
    expect(searches).toBe(2);
    const hiding = onSearch(() => []);
    expect(await labelsOf(asked, { tamper: hiding })).toMatchObject([
      { draws: [{ transactionHash: asked.transactionHash }], searched: { from: "0", isWhole: false } },
    ]);
  });

  test("behaviour: a draw in a block that a reorganisation removes no longer counts", async () => {
    const asked = await draw(label("reorganised"));
    const removed = await draw(label("reorganised"));
    expect(await labelsOf(asked)).toMatchObject([{ draws: { length: 2 } }]);
    const [, said] = (await world.client.request("eth_getLogs", [
      { topics: [EVENT_TOPICS.Labelled], fromBlock: toHex(asked.blockNumber) },
    ])) as object[];
    await world.client.request("anvil_reorg", [1, []]);
    const only = {
      draw: 1,
      draws: [{ transactionHash: asked.transactionHash }],
      searched: { isWhole: true },
    };
    expect(await labelsOf(asked)).toMatchObject([only]);
    await expect(labelsOf(removed)).rejects.toThrow(`no transaction ${removed.transactionHash}`);

    // The search ran before the reorganisation.
    const tamper = onSearch((answer) => [...(answer as object[]), said]);
    expect(await labelsOf(asked, { tamper })).toMatchObject([{ ...only, searched: { isWhole: false } }]);
  });

  test("error: a node that names a transaction without such a log adds no draw", async () => {
    const [asked, other] = [await draw(label("made up")), await draw()];
    const tamper = onSearch((answer) => {
      const [log] = answer as object[];
      return [log, { ...log, transactionHash: other.transactionHash }];
    });
    expect(await labelsOf(asked, { tamper })).toMatchObject([{ draws: [expect.anything()] }]);
  });
});

test("behaviour: a preset that the verifier knows by its source is named", async () => {
  const { transactionHash } = await draw();
  const known = { name: "echo", parameters: ["what"] };
  const findPreset = (hash: string) => (hash === keccak256(toHex(ECHO_WORD)) ? known : undefined);
  const { requests } = await world.verify(transactionHash, { findPreset });
  expect(requests[0]!.preset).toEqual({ sourceId: world.echoId, ...known });
});

test("behaviour: random numbers and functions have labels, too", async () => {
  const randoms = [{ vrfSubId: world.dapp.vrfSubId, numWords: 1 }];
  const numbers = await world.submit({ randoms, labels: [label("numbers")] });
  expect(await labelsOf(numbers)).toMatchObject([{ label: "numbers", draw: 1 }]);
  const both = await world.submit({
    presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }],
    randoms,
    labels: [label("the second entry", { index: 1n })],
  });
  expect((await labelsOf(both)).map((one) => one?.label)).toEqual([undefined, "the second entry"]);
});

test("behaviour: a request without a label has none", async () => {
  expect(await labelsOf(await draw())).toEqual([null]);
});
