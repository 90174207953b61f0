import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keccak256, toHex } from "viem";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import type { ChainReader } from "../../src/verify/chainFacts.ts";
import { createRecordedReader, createReadRecorder } from "../../src/verify/recordedReader.ts";
import { TEST_ROLES } from "../support/stack.ts";
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
  test("the only request with a label is said to be the only one, at both of its ends", async () => {
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
      searched: {
        from: "0",
        to: report.blockNumber.toString(),
        codeFrom: "0",
        omits: false,
        isWhole: true,
        provenFrom: null,
      },
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

  test("draws that are repeated until one suits are counted", async () => {
    const all = [];
    for (let i = 0; i < 3; i += 1) all.push(await draw(label("again")));
    const [found] = await labelsOf(all[1]!);
    expect(found).toMatchObject({
      draw: 2,
      draws: all.map(({ transactionHash }) => ({ transactionHash })),
    });
  });

  test("another dapp's draws with the label, before and after, and refused ones, don't count", async () => {
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

  test("of the presets of a batch each has its own label, or none", async () => {
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

  test("of a batch with many labels some are searched for, and of the others it is said that they weren't", async () => {
    const items = Array.from({ length: 12 }, () => ({ sourceId: world.echoId }));
    const asked = await world.submit({
      presets: [{ dapp: world.dapp, items }],
      labels: items.map((_, i) => label(`many ${i}`, { item: BigInt(i) })),
    });
    const found = await labelsOf(asked);
    expect(found.map((one) => one?.draws.length)).toEqual(items.map(() => 1));
    expect(found.map((one) => one?.searched.isWhole)).toEqual(items.map((_, i) => i < 10));
  });

  test("a label of 100 characters of four bytes each is whole", async () => {
    const text = "🎲".repeat(100);
    expect(await labelsOf(await draw(label(text)))).toMatchObject([{ label: text, draw: 1 }]);
  });

  test("a label that is not in its canonical form is none", async () => {
    for (const text of ["Upper", "a  b", "A\u0308", "a\u202eb", "x".repeat(101)])
      expect(await labelsOf(await draw(label(text)))).toEqual([null]);
  });

  test("a label of what is no dapp's id is none", async () => {
    for (const dapp of [
      "",
      "dapp_a\u200b",
      "dapp_a: the dapp's first request with this label",
      "dapp_\u0430",
    ])
      expect(await labelsOf(await draw(label("whose", { dapp })))).toEqual([null]);
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

  test("a node that refuses to search the whole chain is asked for the blocks around the request", async () => {
    const asked = await draw(label("narrow"));
    const tamper = onSearch((answer, _range, count) => (count === 1 ? "range too wide" : answer));
    expect(await labelsOf(asked, { tamper })).toMatchObject([
      { label: "narrow", draw: 1, searched: { isWhole: true } },
    ]);
    expect(searches).toBe(3);
  });

  test("a search goes on with the blocks that an earlier one left out", async () => {
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

  test("a search that goes on counts what an earlier one of this label found, and shows it from receipts", async () => {
    const all = [await draw(label("in parts")), await draw(label("in parts")), await draw(label("other"))];
    const [first, second] = all.map(({ blockNumber }) => blockNumber);
    const [found] = await labelsOf(all[1]!, { labelSearch: { fromBlock: second! } });
    expect(found).toMatchObject({ draw: 1, draws: { length: 1 }, searched: { isWhole: false } });
    const { from, to, omits } = found!.searched;
    const earlier = {
      label: "in parts",
      dapp: "dapp_a",
      transactionHashes: found!.draws.map(({ transactionHash }) => transactionHash),
      from: BigInt(from),
      to: BigInt(to),
      omits,
    };
    const goOn = (change: Partial<typeof earlier> = {}) =>
      labelsOf(all[1]!, { labelSearch: { toBlock: second! - 1n, earlier: { ...earlier, ...change } } });
    const whole = { draw: 2, draws: { length: 2 }, searched: { from: "0", isWhole: true, omits: false } };
    expect(await goOn()).toMatchObject([whole]);
    // It is not taken at its word for a draw: the transaction is read, and has none with this label.
    const lie = [...earlier.transactionHashes, all[2]!.transactionHash];
    expect(await goOn({ transactionHashes: lie })).toMatchObject([whole]);
    // Of another label, or another dapp's.
    for (const other of [{ label: "other" }, { dapp: "dapp_b" }])
      expect(await goOn(other)).toMatchObject([
        { draw: 2, searched: { to: String(second! - 1n), isWhole: false } },
      ]);
    expect(first).toBeLessThan(second!);
  });

  test("the search begins where the node has no code of the contract, by its state", async () => {
    const all = [await draw(label("since deployed")), await draw(label("since deployed"))];
    const { presetConsumer } = world.contracts;
    const hasCodeAt = async (block: bigint): Promise<boolean> =>
      (await world.client.request("eth_getCode", [presetConsumer, toHex(block)])) !== "0x";
    let deploymentBlock = all[0]!.blockNumber;
    while (await hasCodeAt(deploymentBlock - 1n)) deploymentBlock -= 1n;
    const codeFrom = deploymentBlock.toString();
    const labelSearch = { deploymentBlock };
    expect(await labelsOf(all[1]!, { labelSearch })).toMatchObject([
      { draw: 2, searched: { from: codeFrom, codeFrom, isWhole: true } },
    ]);
    const tamper: Tamper = (method, answer) => (method === "eth_getCode" ? "missing trie node" : answer);
    expect(await labelsOf(all[1]!, { labelSearch, tamper })).toMatchObject([
      { draw: 2, searched: { codeFrom: null, from: "0", isWhole: true } },
    ]);
  });

  test("of more draws than may be read, the oldest are, and it is said that some are left out", async () => {
    const all: Receipt[] = [];
    for (let i = 0; i < 4; i += 1) all.push(await draw(label("too many")));
    const [found] = await labelsOf(all[3]!, { labelSearch: { transactions: 2 } });
    expect(found).toMatchObject({ draw: 3, searched: { from: "0", omits: true, isWhole: false } });
    expect(found!.draws.map(({ transactionHash }) => transactionHash)).toEqual(
      [0, 1, 3].map((i) => all[i]!.transactionHash),
    );
  });

  test("a node that leaves out even the request itself is asked again, and then not said to have listed all", async () => {
    const asked = await draw(label("hidden"));
    const late = onSearch((answer, _range, count) => (count === 1 ? [] : answer));
    expect(await labelsOf(asked, { tamper: late })).toMatchObject([{ searched: { isWhole: true } }]);
    expect(searches).toBe(2);
    const hiding = onSearch(() => []);
    expect(await labelsOf(asked, { tamper: hiding })).toMatchObject([
      {
        draws: [{ transactionHash: asked.transactionHash }],
        searched: { from: "0", omits: true, isWhole: false },
      },
    ]);
  });

  test("a draw in a block that a reorganisation removes no longer counts", async () => {
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

  const byHeaders = { labelSearch: { headers: 10_000 } };
  /** A draw whose VRF proof is on the chain. */
  const drawProven = async (text: string): Promise<Receipt> => {
    const asked = await draw(label(text));
    await deliverWords(world, asked);
    return asked;
  };

  test("a node that hides all other draws can't hide those before the request, as block hashes prove", async () => {
    const first = await draw(label("until it suits"));
    const second = await draw(label("until it suits"));
    const shown = await drawProven("until it suits");
    const hiding = onSearch((answer) => (answer as object[]).slice(-1));
    expect(await labelsOf(shown, { tamper: hiding })).toMatchObject([
      { draw: 1, searched: { isWhole: true, provenFrom: null } },
    ]);
    expect(await labelsOf(shown, { tamper: hiding, ...byHeaders })).toMatchObject([
      {
        draw: 3,
        draws: [first, second, shown].map(({ transactionHash }) => ({ transactionHash })),
        searched: { isWhole: false, provenFrom: "0" },
      },
    ]);
    expect(await labelsOf(shown, byHeaders)).toMatchObject([
      { searched: { isWhole: true, provenFrom: "0" } },
    ]);

    // Nor by other headers or other contents of its blocks: nothing is proven there.
    const hide = (changed: string, change: object): Tamper => {
      return (method, answer, parameters) => {
        const { number, transactionHash } = (answer ?? {}) as Record<string, unknown>;
        const isOfFirst = number === toHex(first.blockNumber) || transactionHash === first.transactionHash;
        if (method === changed && isOfFirst) return { ...(answer as object), ...change };
        return hiding(method, answer, parameters);
      };
    };
    for (const tamper of [
      hide("eth_getBlockByNumber", { logsBloom: `0x${"00".repeat(256)}` }),
      hide("eth_getBlockByHash", { receiptsRoot: `0x${"00".repeat(32)}` }),
    ])
      expect(await labelsOf(shown, { tamper, ...byHeaders })).toMatchObject([
        { draw: 2, searched: { isWhole: false, provenFrom: (first.blockNumber + 1n).toString() } },
      ]);
  });

  test("a node that hides draws and a header that would prove them is not said to have listed all", async () => {
    const [first, second] = [await draw(label("hidden header")), await draw(label("hidden header"))];
    const shown = await drawProven("hidden header");
    const hiding = onSearch((answer) => (answer as object[]).slice(-1));
    const without = (isHidden: (block: bigint) => boolean): Tamper => {
      return (method, answer, parameters) => {
        if (method === "eth_getBlockByNumber" && isHidden(BigInt(parameters[0] as string))) return null;
        return hiding(method, answer, parameters);
      };
    };
    const open = (provenFrom: string | null) => [
      { draw: 1, draws: { length: 1 }, searched: { omits: true, isWhole: false, provenFrom } },
    ];
    const hideOne = without((block) => block === second.blockNumber);
    expect(await labelsOf(shown, { tamper: hideOne, ...byHeaders })).toMatchObject(
      open(String(second.blockNumber + 1n)),
    );
    const hideAll = without(() => true);
    expect(await labelsOf(shown, { tamper: hideAll, ...byHeaders })).toMatchObject(open(null));
    // Neither are headers of another kind read, nor more than are to be read: that is the node's word.
    const unread = { ...byHeaders, hasEthereumBlocks: false };
    for (const how of [unread, { labelSearch: { headers: 3 } }])
      expect(await labelsOf(shown, { tamper: hideAll, ...how })).toMatchObject([
        { draw: 1, searched: { omits: false, isWhole: true, provenFrom: null } },
      ]);
    expect(first.blockNumber).toBeLessThan(second.blockNumber);
  });

  test("where the node shows no code of that time, headers are read from the published deployment on", async () => {
    const shown = await drawProven("no old state");
    const tamper: Tamper = (method, answer) => (method === "eth_getCode" ? "missing trie node" : answer);
    const deploymentBlock = shown.blockNumber - 2n;
    const labelSearch = { headers: 3, deploymentBlock };
    expect(await labelsOf(shown, { tamper, labelSearch })).toMatchObject([
      { searched: { from: "0", codeFrom: null, isWhole: true, provenFrom: String(deploymentBlock) } },
    ]);
  });

  test("a node can't keep headers from being read by showing code from before the published deployment", async () => {
    const first = await draw(label("older code"));
    const shown = await drawProven("older code");
    const hiding = onSearch((answer) => (answer as object[]).slice(-1));
    const tamper: Tamper = (method, answer, parameters) =>
      method === "eth_getCode" ? "0x01" : hiding(method, answer, parameters);
    const deploymentBlock = first.blockNumber;
    const headers = Number(shown.blockNumber - deploymentBlock) + 1;
    expect(await labelsOf(shown, { tamper, labelSearch: { headers, deploymentBlock } })).toMatchObject([
      { draw: 2, searched: { isWhole: false, provenFrom: String(deploymentBlock) } },
    ]);
  });

  test("without a VRF proof, and where more headers would be read, nothing is said to be proven", async () => {
    const asked = await draw(label("unproven"));
    const unproven = [{ draw: 1, searched: { isWhole: true, provenFrom: null } }];
    expect(await labelsOf(asked, byHeaders)).toMatchObject(unproven);
    await deliverWords(world, asked);
    const limited = (change: object) => labelsOf(asked, { labelSearch: { headers: 3, ...change } });
    expect(await limited({})).toMatchObject(unproven);
    const fromBlock = asked.blockNumber - 2n;
    expect(await limited({ fromBlock })).toMatchObject([{ searched: { provenFrom: fromBlock.toString() } }]);
  });

  test("a draw in a made-up block doesn't count where block hashes show that there is none", async () => {
    const removed = await draw(label("fabricated"));
    const recorder = createReadRecorder(world.client);
    await world.verify(removed.transactionHash, { client: recorder });
    const before = createRecordedReader(JSON.stringify(recorder.save()));
    await world.client.request("anvil_reorg", [1, []]);
    // It takes the nonce: the same transaction would be mined again.
    await draw();
    const shown = await drawProven("fabricated");
    const client: ChainReader = {
      async request(method, parameters = []) {
        const answer = await world.client.request(method, parameters).catch(() => null);
        const { topics } = (parameters[0] ?? {}) as { topics?: readonly unknown[] };
        if (method !== "eth_getLogs" || topics?.[0] !== EVENT_TOPICS.Labelled)
          return answer ?? (await before.request(method, parameters));
        return [
          { ...(answer as object[])[0], transactionHash: removed.transactionHash },
          ...(answer as object[]),
        ];
      },
    };
    expect(await labelsOf(shown, { client })).toMatchObject([{ draw: 2 }]);
    expect(await labelsOf(shown, { client, ...byHeaders })).toMatchObject([
      { draw: 1, draws: { length: 1 } },
    ]);
  });

  test("a contract that logs somebody's label itself adds no draw", async () => {
    const asked = await draw(label("logged by others"));
    const [said] = (await world.client.request("eth_getLogs", [
      { topics: [EVENT_TOPICS.Labelled], fromBlock: toHex(asked.blockNumber) },
    ])) as { topics: readonly [string, string] }[];
    const [event, labelHash] = said!.topics.map((topic) => topic.slice(2));
    const contract = `0x${"c0".repeat(20)}` as const;
    // PUSH32 labelHash, PUSH32 event, PUSH1 0, PUSH1 0, LOG2
    await world.client.request("anvil_setCode", [contract, `0x7f${labelHash}7f${event}60006000a2`]);
    expect(await world.send(TEST_ROLES.deployer, { to: contract, data: "0x" })).toMatchObject({
      succeeded: true,
      logs: [{ topics: said!.topics }],
    });
    const shown = await drawProven("logged by others");
    for (const how of [{}, byHeaders])
      expect(await labelsOf(shown, how)).toMatchObject([{ draw: 2, draws: { length: 2 } }]);
  });

  test("a node that names a transaction without such a log adds no draw", async () => {
    const [asked, other] = [await draw(label("made up")), await draw()];
    const tamper = onSearch((answer) => {
      const [log] = answer as object[];
      return [log, { ...log, transactionHash: other.transactionHash }];
    });
    expect(await labelsOf(asked, { tamper })).toMatchObject([{ draws: [expect.anything()] }]);
  });
});

test("a preset that the verifier knows by its source is named", async () => {
  const { transactionHash } = await draw();
  const known = { name: "echo", parameters: ["what"] };
  const findPreset = (hash: string) => (hash === keccak256(toHex(ECHO_WORD)) ? known : undefined);
  const { requests } = await world.verify(transactionHash, { findPreset });
  expect(requests[0]!.preset).toEqual({ sourceId: world.echoId, ...known });
});

test("random numbers and functions have labels, too", async () => {
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

test("a request of a contract that only looks like the operator's is not valid, whatever its label", async () => {
  const { presetConsumer, ...contracts } = world.contracts;
  const source = "return Functions.encodeUint256(7n)";
  const { report } = await world.runFunction(source, toHex(7n, { size: 32 }));
  const randoms = [{ vrfSubId: world.dapp.vrfSubId, numWords: 1 }];
  const numbers = await world.submit({ randoms, labels: [label("whose")] });
  await deliverWords(world, numbers);
  for (const { transactionHash } of [report, numbers]) {
    expect(await world.verify(transactionHash)).toMatchObject({ verdict: "valid" });
    const { verdict, requests } = await world.verify(transactionHash, { contracts });
    expect(verdict).toBe("conditional");
    expect(requests[0]!.steps.find(({ name }) => name === "contracts")).toMatchObject({
      outcome: "notApplicable",
      detail: expect.stringMatching(new RegExp(`: presetConsumer ${presetConsumer}$`, "i")),
    });
  }
});

test("a request without a label has none", async () => {
  expect(await labelsOf(await draw())).toEqual([null]);
});
