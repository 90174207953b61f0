import { createRequire } from "node:module";
import { hexToString, type Hex } from "viem";
import { afterEach, expect, test, vi } from "vitest";
import { configDigestOf, nodeConfigOf } from "../../../src/chainlink/nodeConfig.ts";
import { encodeNodeUrls, type FormerKey } from "../../../src/chainlink/offchainConfig.ts";
import { fromHexText, toHexText } from "../../../src/lib/hex.ts";
import type { NodeSet } from "../../../src/oracle/node/nodeSet.ts";
import { createGatewayNetwork } from "../../../src/oracle/secrets/gateway.ts";
import { GatewayError, type GatewayBody } from "../../../src/oracle/secrets/gatewayMessage.ts";
import { encodeSecretsReference } from "../../../src/secrets/secretsReference.ts";
import { combineDealings, createDealer, type Dealing } from "../../../src/secrets/keyGeneration.ts";
import { deriveKey } from "../../../src/lib/seal.ts";
import { encrypt as encryptLabelled, type ThresholdPublicKey } from "../../../src/secrets/tdh2.ts";
import { createBox, sealTo } from "../../../src/oracle/secrets/sealedBox.ts";
import type { KeyAnswer } from "../../../src/oracle/secrets/keyAgreement.ts";
import type { AskNode } from "../../../src/oracle/secrets/keySeat.ts";
import { createSharedKeys } from "../../../src/oracle/secrets/sharedKeys.ts";
import {
  digestOf,
  SecretsRefusedError,
  type Slot,
  type SlotName,
} from "../../../src/oracle/secrets/vault.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";

/** The reference: what functions-toolkit 0.3.2 encrypts with. */
const load = createRequire(createRequire(import.meta.url).resolve("@chainlink/functions-toolkit"));
const reference = load("./tdh2.js") as { encrypt(key: object, message: Buffer): string };

const NODES = [0, 1, 2, 3];
/** Those that may join later, too. */
const ALL = [...NODES, 4, 5, 6];
const REQUEST: Hex = `0x${"02".repeat(32)}`;
const signers = ALL.map((node) => createReportSigner(Buffer.alloc(32, node + 1)));
const addresses = signers.map(({ address }) => address);
const place = { chainId: 31_337, coordinator: `0x${"11".repeat(20)}` } as const;
const setOf = (count: bigint, members: readonly number[] = NODES, formerKey?: FormerKey): NodeSet => {
  const urls = members.map((node) => `http://node-${node}`);
  const offchainConfig = encodeNodeUrls(urls, formerKey);
  const own = members.map((node) => addresses[node]!);
  const config = nodeConfigOf({ signers: own, transmitters: own, offchainConfig });
  const configDigest = configDigestOf(config, { ...place, count });
  return { ...config, config, configDigest, count, blockNumber: 1n, urls, formerKey };
};
const set = setOf(1n);
const DIGEST = set.configDigest;

type Passage = Parameters<AskNode>;
/** Decides what a node gets to hear: the answer to its question, something else, or nothing (it throws). */
type Rule = (from: number, passage: Passage, answer: () => Promise<object>) => Promise<object>;
type Node = ReturnType<typeof createSharedKeys>;

let stopping = new AbortController();
afterEach(() => {
  stopping.abort();
  stopping = new AbortController();
});

/** Returns the names of slots of one owner that follow another one. */
const namesAfter = (slots: readonly Slot[], after: SlotName | undefined): readonly SlotName[] =>
  slots
    .map(({ owner, slotId, version }) => ({ owner, slotId, version }))
    .filter(({ slotId }) => slotId > (after?.slotId ?? -1))
    .toSorted((a, b) => a.slotId - b.slotId);

/** Creates nodes that ask each other directly, and disks that outlast them. */
function createWorld(rule: Rule = (_, __, answer) => answer()) {
  const disks = ALL.map(() => new Map<string, string>());
  /** The configuration on chain, and former ones. */
  let present = set;
  const sets = new Map([[DIGEST, set]]);
  /** By node: to whom its operator lets it hand its share on. */
  const agreed = new Map<number, Hex>();
  const nodes: (Node | undefined)[] = [];
  /** What each node holds in slots. */
  const held = ALL.map((): Slot[] => []);
  const lines: string[] = [];
  const log = (fields: object, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  /** Ciphertexts that requests on chain name, as each node has them. */
  const named = new Map<Hex, string>();
  const start = (node: number): void => {
    const created = createSharedKeys({
      ...place,
      seed: Buffer.alloc(32, node + 1),
      address: addresses[node]!,
      handKeyOnTo: agreed.get(node),
      readFormer: async ({ configDigest }) => sets.get(configDigest)!,
      connect: (of) => (index, method, payload, signal) => {
        const to = addresses.indexOf(of.signers[index]!);
        return rule(node, [to, method, payload, signal], async () => {
          const asked = nodes[to];
          if (asked === undefined) throw new Error("can't be reached");
          const sender = addresses[node]!.toLowerCase() as Hex;
          try {
            return await asked.answer(method, payload, sender);
          } catch (error) {
            // As a client has it of a message that was not taken.
            throw error instanceof GatewayError ? new Error(error.message) : error;
          }
        });
      },
      records: {
        read: async (digest) => disks[node]!.get(digest),
        save: async (digest, record) => void disks[node]!.set(digest, record),
      },
      assertSeen(requestId) {
        if (!named.has(requestId)) throw new GatewayError("the node does not see the request on chain");
      },
      findNamed: async (requestId) => nodes[node]!.parse(named.get(requestId)!),
      findHeld: async () => held[node]!,
      listNames: async (after, limit) => namesAfter(held[node]!, after).slice(0, limit),
      keepRecalled: async (recall) => void held[node]!.push(...(await recall())),
      log: { debug: log, info: log, warn: log, error: log },
      signal: stopping.signal,
    });
    nodes[node] = created;
    created.join(present);
  };
  const keyOf = async (node: number) => (await nodes[node]!.answer("node_key", {}, "0x")) as KeyAnswer;
  return {
    disks,
    nodes,
    held,
    lines,
    named,
    start,
    agreed,
    sets,
    /** Puts another configuration on chain, which all nodes that run follow. */
    configure(next: NodeSet) {
      present = next;
      sets.set(next.configDigest, next);
      for (const node of nodes) node?.join(next);
    },
    stop(node: number) {
      nodes[node]?.join(undefined);
      nodes[node] = undefined;
    },
    keyOf,
    untilAgreed: (...of: readonly number[]) =>
      vi.waitFor(
        async () => {
          for (const node of of) expect((await keyOf(node)).isAgreed).toBe(true);
        },
        { interval: 10 },
      ),
    untilTrouble: (node: number, trouble: string | RegExp) =>
      vi.waitFor(() => expect(nodes[node]!.trouble()).toMatch(trouble), { interval: 10 }),
  };
}

type World = ReturnType<typeof createWorld>;

/** Encrypts a text as the toolkit does, and has a request on chain name it. */
async function encrypt({ keyOf, named }: World, text: string): Promise<string> {
  const key = JSON.parse(hexToString((await keyOf(0)).thresholdPublicKey!)) as object;
  const ciphertext = reference.encrypt(key, Buffer.from(text));
  named.set(REQUEST, ciphertext);
  return ciphertext;
}

/** Changes the last bit. A byte in its place would be the right one once in 256 runs. */
const flipped = (hex: Hex): Hex => {
  const bytes = fromHexText(hex);
  bytes[bytes.length - 1]! ^= 1;
  return toHexText(bytes);
};

const open = async ({ nodes }: World, node: number, ciphertext: string): Promise<string> =>
  Buffer.from(await nodes[node]!.openerFor(REQUEST).open(ciphertext, () => true)).toString();

test("nodes generate a key, open what the toolkit encrypts to it, and do so after all were killed", async () => {
  const world = createWorld();
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const ciphertext = await encrypt(world, "message");
  for (const node of NODES) expect(await open(world, node, ciphertext)).toBe("message");
  const before = await world.keyOf(1);
  for (const node of NODES) world.stop(node);
  // One of them stays away.
  for (const node of [1, 2, 3]) world.start(node);
  await world.untilAgreed(1, 2, 3);
  expect(await world.keyOf(1)).toEqual(before);
  expect(await open(world, 1, ciphertext)).toBe("message");
  expect(world.nodes[1]!.trouble()).toBeUndefined();
});

test("a dealer that dies half-way is waited for and named, and deals the same when it is back", async () => {
  let deaths = 0;
  const world = createWorld(async (_, [to, method], answer) => {
    if (to !== 3 || method !== "node_dealing" || deaths > 0) return await answer();
    deaths += 1;
    const dealt = await answer();
    world.stop(3);
    return dealt;
  });
  for (const node of NODES) world.start(node);
  await Promise.all([0, 1, 2].map(async (node) => await world.untilTrouble(node, /not generated yet/)));
  await vi.waitFor(() => expect(world.lines.join()).toContain("can't be reached"), { interval: 10 });
  world.start(3);
  await world.untilAgreed(...NODES);
  expect(await open(world, 3, await encrypt(world, "message"))).toBe("message");
});

test("a node that was killed before it knew that all agree learns it from the others", async () => {
  const world = createWorld(async (from, [, method], answer) => {
    if (from === 3 && method === "node_key" && world.nodes[0] !== undefined) throw new Error("is away");
    return await answer();
  });
  for (const node of NODES) world.start(node);
  await world.untilAgreed(0, 1, 2);
  world.stop(0);
  world.stop(3);
  world.start(3);
  await world.untilAgreed(3);
  expect(world.nodes[3]!.trouble()).toBeUndefined();
});

test.each([
  ["a wrong share", (answer: { part: Hex }) => ({ ...answer, part: flipped(answer.part) })],
  [
    "the part of another node",
    async (answer: object, ask: (as: number) => Promise<object>) => ({
      ...answer,
      part: ((await ask(1)) as { part: Hex }).part,
    }),
  ],
  [
    "wrong commitments",
    (answer: { commitments: readonly Hex[] }) => ({
      ...answer,
      commitments: answer.commitments.with(1, answer.commitments[0]!),
    }),
  ],
  ["nothing that is a dealing", () => ({ commitments: "none" })],
])("a dealer that deals %s to one node is named by that node, and nobody gets a key", async (_, cheat) => {
  const world = createWorld(async (from, [to, method, payload], answer) => {
    const answered = await answer();
    if (from !== 0 || to !== 3 || method !== "node_dealing") return answered;
    const askAs = (as: number) =>
      world.nodes[3]!.answer(method, payload, addresses[as]!.toLowerCase() as Hex);
    return await cheat(answered as never, askAs);
  });
  for (const node of NODES) world.start(node);
  await world.untilTrouble(0, "http://node-3: it deals what does not fit its own commitments");
  await world.untilTrouble(1, "http://node-0: it The message can't be taken: the node has not been dealt");
  for (const node of NODES) expect(() => world.nodes[node]!.openerFor(REQUEST)).toThrow("not generated");
});

test("a dealer that deals differently to one node is named, and no key is used", async () => {
  const other = createSharedKeys({
    ...place,
    seed: Buffer.alloc(32, 9),
    address: addresses[3]!,
    connect: () => async () => ({}),
    handKeyOnTo: undefined,
    readFormer: async () => set,
    records: { read: async () => undefined, save: async () => {} },
    assertSeen() {},
    findNamed: async () => Promise.reject(new Error("no request")),
    findHeld: async () => [],
    listNames: async () => [],
    keepRecalled: async () => {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
    signal: stopping.signal,
  });
  other.join(set);
  const world = createWorld(async (from, [to, method, payload], answer) =>
    from === 0 && to === 3 && method === "node_dealing"
      ? await other.answer(method, payload, addresses[0]!.toLowerCase() as Hex)
      : await answer(),
  );
  for (const node of NODES) world.start(node);
  await world.untilTrouble(
    0,
    `http://node-1: it has another key, and says that ${addresses[3]} dealt something else`,
  );
  await world.untilTrouble(1, `http://node-0: it has another key`);
  for (const node of NODES) expect((await world.keyOf(node)).isAgreed).toBe(false);
});

test("with one node dead, a liar's share is refused and named, and the others wait for the dead one", async () => {
  let isDead = true;
  const lies: ((share: Hex) => Hex)[] = [
    flipped,
    () => toHexText(createBox(Buffer.alloc(32, 1)).publicKey),
    () => "0x",
  ];
  for (const lie of lies) {
    isDead = true;
    let asked = 0;
    const world = createWorld(async (_, [to, method], answer) => {
      if (method !== "node_share") return await answer();
      if (to === 2) asked += 1;
      if (to === 2 && isDead) throw new Error("is away");
      const answered = (await answer()) as { share: Hex };
      return to === 3 ? { share: lie(answered.share) } : answered;
    });
    for (const node of NODES) world.start(node);
    await world.untilAgreed(...NODES);
    const ciphertext = await encrypt(world, "message");
    const opening = open(world, 0, ciphertext).catch(() => {});
    await vi.waitFor(
      () => {
        expect(asked).toBeGreaterThan(2);
        expect(world.lines.join()).toContain(`a node gave a wrong share {"signer":"${addresses[3]}"`);
      },
      { interval: 10 },
    );
    isDead = false;
    await opening;
    expect(await open(world, 0, ciphertext)).toBe("message");
  }
});

test("nodes give shares only to nodes of the set, for requests that they see and that name the ciphertext", async () => {
  const world = createWorld();
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const ciphertext = await encrypt(world, "message");
  const payload = {
    configDigest: DIGEST,
    requestId: REQUEST,
    digest: digestOf(ciphertext),
    boxKey: toHexText(createBox(Buffer.alloc(32, 1)).publicKey),
  };
  const ask = (change: object, sender = addresses[1]!) =>
    world.nodes[0]!.answer("node_share", { ...payload, ...change }, sender.toLowerCase() as Hex);
  await expect(ask({})).resolves.toMatchObject({ share: expect.stringMatching(/^0x/) });
  const stranger = createReportSigner(Buffer.alloc(32, 9)).address;
  await expect(ask({}, stranger)).rejects.toThrow("is no node of this configuration");
  await expect(ask({ configDigest: REQUEST })).rejects.toThrow("another configuration");
  await expect(ask({ requestId: DIGEST })).rejects.toThrow("does not see the request on chain");
  await expect(ask({ boxKey: "0x00" })).rejects.toThrow("no point of P-256");
  await expect(ask({ boxKey: undefined })).rejects.toThrow("must have boxKey");
  await expect(ask({ digest: 1 })).rejects.toThrow("must have requestId and digest");
  world.named.delete(REQUEST);
  await expect(ask({})).rejects.toThrow("does not see the request on chain");
});

test("a node takes over slots that 2f + 1 others hold alike, and one node can't ask without end", async () => {
  const world = createWorld();
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const owner: Hex = `0x${"0a".repeat(20)}`;
  const slot = { owner, slotId: 1, version: 2, ciphertext: "{}", expiresAt: 3 };
  for (const node of [1, 2, 3]) world.held[node] = [{ ...slot, slotId: 4 }, slot];
  const recall = (version = 2) => world.nodes[0]!.recall(owner, [{ slotId: 1, version }]);
  expect(await recall()).toEqual([slot]);
  expect(await recall(1)).toEqual([]);
  // A deleted slot, which one node has missed and another one makes up.
  world.held[3] = [];
  expect(await recall()).toEqual([]);
  world.held[3] = [{ ...slot, ciphertext: "{ }" }];
  expect(await recall()).toEqual([]);
  const payload = { configDigest: DIGEST, reference: encodeSecretsReference({ owner, slots: [slot] }) };
  const ask = (sender: number) =>
    world.nodes[1]!.answer("node_slots", payload, addresses[sender]!.toLowerCase() as Hex);
  const asked = await Promise.allSettled(Array.from({ length: 600 }, () => ask(2)));
  const refusals = asked.flatMap((one) => (one.status === "rejected" ? [(one.reason as Error).message] : []));
  expect(refusals).toContainEqual(expect.stringContaining("asks too much"));
  expect(await ask(3)).toEqual({ slots: world.held[1] });
});

test("a node that lacks a slot waits for so many answers as tell who holds it", async () => {
  const away = new Set<number>();
  let refused = 0;
  const world = createWorld(async (_, [to, method], answer) => {
    if (method !== "node_slots" || !away.has(to)) return await answer();
    refused += 1;
    throw new Error("is away");
  });
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const slot: Slot = { owner: `0x${"0a".repeat(20)}`, slotId: 1, version: 2, ciphertext: "{}", expiresAt: 3 };
  for (const node of [1, 2, 3]) world.held[node] = [slot];
  away.add(3);
  const recalled = world.nodes[0]!.recall(slot.owner, [slot]);
  await vi.waitFor(() => expect(refused).toBeGreaterThan(2), { interval: 10 });
  away.delete(3);
  expect(await recalled).toEqual([slot]);
  // Two that have it can't open it with one that is away, if the third has none.
  world.held[2] = [];
  away.add(3);
  expect(await world.nodes[0]!.recall(slot.owner, [slot])).toEqual([]);
  away.add(1).add(2);
  const waiting = world.nodes[0]!.recall(slot.owner, [slot]);
  world.nodes[0]!.join(undefined);
  await expect(waiting).rejects.toThrow("only 0 nodes answered");
});

test("bounds: refuses what is encrypted to another key, or to none", async () => {
  const world = createWorld();
  world.start(0);
  expect(() => world.nodes[0]!.parse("{}")).toThrow("not generated the key");
  for (const node of [1, 2, 3]) world.start(node);
  await world.untilAgreed(0);
  expect(() => world.nodes[0]!.parse("{}")).toThrow("can't be opened");
  world.nodes[0]!.parse(await encrypt(world, "message"));
});

test("for another set, nodes generate another key, and refuse what is encrypted to the former one", async () => {
  const world = createWorld();
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const [ciphertext, before] = [await encrypt(world, "message"), await world.keyOf(0)];
  for (const node of NODES) world.nodes[node]!.join(setOf(2n));
  expect(() => world.nodes[0]!.openerFor(REQUEST)).toThrow("not generated");
  await world.untilAgreed(...NODES);
  expect((await world.keyOf(0)).donPublicKey).not.toBe(before.donPublicKey);
  expect(() => world.nodes[0]!.parse(ciphertext)).toThrow("Encrypt them again to the network's current key");
  await expect(open(world, 0, ciphertext)).rejects.toThrow("Encrypt them again");
});

/** Returns what comes after the present configuration: other nodes that take over its key. */
async function successor(
  { keyOf }: World,
  members: readonly number[],
  { from = set, change = {} }: { readonly from?: NodeSet; readonly change?: Partial<FormerKey> } = {},
): Promise<NodeSet> {
  const keyHash = digestOf(fromHexText((await keyOf(0)).thresholdPublicKey!));
  const formerKey = { configDigest: from.configDigest, blockNumber: 1, keyHash, ...change };
  return setOf(from.count + 1n, members, formerKey);
}

/** Starts nodes again whose operators let them hand their shares on to a configuration. */
function agree(world: World, { configDigest }: NodeSet, of: readonly number[]): void {
  for (const node of of) {
    world.stop(node);
    world.agreed.set(node, configDigest);
    world.start(node);
  }
}

/** Starts nodes that have generated a key, and returns a ciphertext that names a dapp, and one that names nobody. */
async function generated(rule?: Rule) {
  const world = createWorld(rule);
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const key = keyIn(await world.keyOf(0));
  const labelled = await encryptLabelled(key, Buffer.from("message"), Buffer.alloc(32, 1));
  return { world, key, labelled, nameless: await encrypt(world, "message") };
}

const keyIn = ({ thresholdPublicKey }: KeyAnswer): ThresholdPublicKey =>
  JSON.parse(hexToString(thresholdPublicKey!)) as ThresholdPublicKey;

async function expectOpens(world: World, ciphertext: string, members: readonly number[]): Promise<void> {
  world.named.set(REQUEST, ciphertext);
  for (const node of members) expect(await open(world, node, ciphertext)).toBe("message");
}

test.each([
  ["a node joins", [0, 1, 2, 3, 4]],
  ["a node leaves, and another one takes its place", [4, 0, 1, 2]],
  ["so many join that more shares are needed", [0, 1, 2, 3, 4, 5, 6]],
  ["all but one leave", [4, 5, 0, 6]],
])("when %s, the nodes hand the key on", async (_, members) => {
  const { world, key, labelled, nameless } = await generated();
  const next = await successor(world, members);
  agree(world, next, NODES);
  for (const node of members) if (!NODES.includes(node)) world.start(node);
  world.configure(next);
  await world.untilAgreed(...members);
  const after = keyIn(await world.keyOf(members[0]!));
  expect([after.H, after.HArray.length]).toEqual([key.H, members.length]);
  expect(key.HArray).not.toEqual(expect.arrayContaining([after.HArray[0]]));
  await expectOpens(world, labelled, members);
  // The new nodes don't know who used this one first.
  expect(() => world.nodes[0]!.parse(nameless)).toThrow(
    "names nobody, and was made before the nodes changed",
  );
  await expectOpens(world, reference.encrypt(after, Buffer.from("message")), [members[0]!]);
  // Once more, from what was handed on.
  const third = setOf(3n, NODES, {
    configDigest: next.configDigest,
    blockNumber: 1,
    keyHash: digestOf(fromHexText((await world.keyOf(members[0]!)).thresholdPublicKey!)),
  });
  for (const node of ALL) if (world.nodes[node] === undefined) world.start(node);
  agree(world, third, members);
  world.configure(third);
  await world.untilAgreed(...NODES);
  expect(keyIn(await world.keyOf(0)).H).toBe(key.H);
  await expectOpens(world, labelled, [0, 3]);
});

test("with one of the former nodes dead, the key is handed on without it", async () => {
  const { world, labelled } = await generated();
  const next = await successor(world, [0, 1, 2, 4]);
  agree(world, next, [0, 1, 2]);
  world.stop(3);
  world.start(4);
  world.configure(next);
  await world.untilAgreed(0, 1, 2, 4);
  await expectOpens(world, labelled, [4]);
  expect(world.nodes[4]!.trouble()).toBeUndefined();
  // Later, no RPC node may know who the former ones were.
  world.sets.delete(DIGEST);
  world.stop(4);
  world.start(4);
  await world.untilAgreed(4);
});

test("a new node takes over what 2f + 1 former ones hold alike, so that more than f can be replaced one after another", async () => {
  const away = new Set<number>();
  const { world } = await generated(async (_, [to, method], answer) => {
    if (method === "node_held" && away.has(to)) throw new Error("is away");
    return await answer();
  });
  const owner: Hex = `0x${"0a".repeat(20)}`;
  const slots = Array.from({ length: 2_101 }, (_, slotId) => ({
    owner,
    slotId,
    version: 2,
    ciphertext: "{}",
    expiresAt: 3,
  }));
  for (const node of NODES) world.held[node] = slots.slice(2);
  // One that a node has missed; another one was deleted, which a node has missed and a liar makes up.
  for (const node of [0, 2, 3]) world.held[node]!.push(slots[0]!);
  for (const node of [0, 3]) world.held[node]!.push(slots[1]!);
  let from = set;
  for (const [leaves, joins] of [
    [3, 4],
    [2, 5],
  ] as const) {
    const members = [
      0,
      ...from.signers
        .map((signer) => addresses.indexOf(signer))
        .filter((node) => node !== 0 && node !== leaves),
      joins,
    ];
    const next = await successor(world, members, { from });
    away.add(leaves).add(0);
    agree(
      world,
      next,
      from.signers.map((signer) => addresses.indexOf(signer)),
    );
    world.start(joins);
    world.configure(next);
    await world.untilAgreed(...members);
    await world.untilTrouble(
      joins,
      `hold of secrets is not taken over yet: 3 of them have to answer; http://node-`,
    );
    // What it was dealt is on its disk, and so is what it lacks.
    world.stop(joins);
    world.start(joins);
    away.clear();
    await vi.waitFor(
      () => {
        for (const node of members) expect(world.nodes[node]!.trouble()).toBeUndefined();
      },
      { interval: 10 },
    );
    const held = (node: number) => world.held[node]!.map(({ slotId }) => slotId).toSorted((a, b) => a - b);
    expect(held(joins)).toEqual(slots.map(({ slotId }) => slotId).filter((slotId) => slotId !== 1));
    world.stop(leaves);
    from = next;
  }
});

/** Returns a node's share of its first key, as its disk has it. */
function shareOf({ disks }: World, node: number): bigint {
  const { given } = JSON.parse(disks[node]!.get(DIGEST)!) as { given: { dealing: Dealing; part: Hex }[] };
  const box = createBox(deriveKey(Buffer.alloc(32, node + 1), "box"));
  return combineDealings(
    given.map(({ dealing }) => dealing),
    given.map(({ part }) => box.open(fromHexText(part), "tyche secrets part")),
  ).share;
}

test.each([
  ["another share than its own to all", false, 1n, "it deals something else than its share"],
  ["by another polynomial to one", true, 0n, ""],
])("a former node that deals %s is found out and left out", async (_, isToOne, more, line) => {
  let isLying = false;
  const { world, labelled } = await generated(async (from, [to, method, payload], answer) => {
    if (to !== 1 || method !== "node_dealing" || !isLying) return await answer();
    if (isToOne && from !== 4) return await answer();
    const index = [4, 0, 1, 2].indexOf(from);
    const liar = createDealer(Buffer.alloc(32, 9), 3, shareOf(world, 1) + more);
    const { boxKey } = payload as { readonly boxKey: Hex };
    const part = toHexText(sealTo(fromHexText(boxKey), liar.partOf(index), "tyche secrets part"));
    return { ...(await answer()), ...liar.dealing, part };
  });
  const members = [4, 0, 1, 2];
  const next = await successor(world, members);
  isLying = true;
  agree(world, next, NODES);
  world.start(4);
  world.configure(next);
  await world.untilAgreed(...members);
  expect((await world.keyOf(0)).dealers).toEqual([0, 2, 3]);
  await expectOpens(world, labelled, members);
  expect(world.lines.join()).toContain(line);
});

test("nothing is handed on to nodes to which too few operators agree, and each is told so", async () => {
  const { world, labelled } = await generated();
  const next = await successor(world, [0, 1, 2, 4]);
  agree(world, next, [0, 3]);
  world.start(4);
  world.configure(next);
  await world.untilTrouble(4, "http://node-1: it The message can't be taken: its operator has not agreed");
  await world.untilTrouble(4, `3 of the nodes of configuration ${DIGEST} have to deal`);
  await world.untilTrouble(1, `set handKeyOnTo of the network to ${next.configDigest}`);
  expect(() => world.nodes[4]!.openerFor(REQUEST)).toThrow("not generated");
  agree(world, next, [1]);
  await world.untilAgreed(0, 1, 2, 4);
  await expectOpens(world, labelled, [4]);
});

test("nodes that are killed while the key is handed on go on with what they were dealt, without the dealers", async () => {
  let isChosen = false;
  const { world, labelled } = await generated(async (from, [to, method], answer) => {
    // Whoever follows the node that chooses hears its choice only after all were killed.
    if (method === "node_key" && to === 4 && from !== 4 && world.nodes[3] !== undefined) {
      const said = (await answer()) as KeyAnswer;
      isChosen ||= said.dealers !== undefined;
      if (isChosen) throw new Error("is away");
      return said;
    }
    return await answer();
  });
  const members = [4, 0, 1, 2];
  const next = await successor(world, members);
  agree(world, next, NODES);
  world.start(4);
  world.configure(next);
  await vi.waitFor(() => expect(isChosen).toBe(true), { interval: 10 });
  for (const node of [...members, 3]) world.stop(node);
  for (const node of members) world.start(node);
  await world.untilAgreed(...members);
  await expectOpens(world, labelled, members);
});

test("if the new nodes fail to take the key over, its holders use it again, or hand it on to others", async () => {
  const { world, labelled } = await generated();
  const failed = await successor(world, [0, 1, 2, 4]);
  agree(world, failed, NODES);
  world.configure(failed);
  await world.untilTrouble(0, "http://node-4: it can't be reached");
  world.configure(set);
  await world.untilAgreed(...NODES);
  await expectOpens(world, labelled, [0]);
  const other = setOf(3n, [0, 1, 5, 6], failed.formerKey);
  world.configure(failed);
  agree(world, other, NODES);
  for (const node of [5, 6]) world.start(node);
  world.configure(other);
  await world.untilAgreed(0, 1, 5, 6);
  world.named.set(REQUEST, labelled);
  expect(await open(world, 5, labelled)).toBe("message");
});

test("no node hands on another key than it has, or takes one over from nodes that the digest isn't the hash of", async () => {
  const { world } = await generated();
  const next = await successor(world, NODES);
  const wrong = await successor(world, NODES, { change: { keyHash: DIGEST } });
  agree(world, wrong, NODES);
  world.configure(wrong);
  await world.untilTrouble(
    0,
    "http://node-1: it The message can't be taken: the node has no share of the key",
  );
  world.sets.set(DIGEST, { ...set, config: { ...set.config, faulty: 0 } });
  world.configure(next);
  await vi.waitFor(() => expect(world.lines.join()).toContain("retrying"), { interval: 10 });
  expect(() => world.nodes[0]!.openerFor(REQUEST)).toThrow("not generated");
});

test("a node has no key with signers, or so many faulty ones, that the configuration's digest isn't the hash of", async () => {
  const world = createWorld();
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const { config } = set;
  const stranger = createReportSigner(Buffer.alloc(32, 9)).address;
  for (const change of [{ signers: addresses.with(3, stranger) }, { faulty: 0 }]) {
    world.nodes[0]!.join({ ...set, ...change, config: { ...config, ...change } });
    expect(world.nodes[0]!.trouble()).toContain(`${DIGEST} is not the digest`);
    const asked = { configDigest: DIGEST, boxKey: toHexText(createBox(Buffer.alloc(32, 1)).publicKey) };
    for (const sender of [stranger, addresses[1]!])
      await expect(
        world.nodes[0]!.answer("node_dealing", asked, sender.toLowerCase() as Hex),
      ).rejects.toThrow("another configuration");
  }
  world.nodes[0]!.join(set);
  await world.untilAgreed(0);
});

test("what too many nodes refuse fails in the node's own words, and a refusal counts until the node says otherwise", async () => {
  const asked = new Map<string, number>();
  const world = createWorld(async (from, [to, method], answer) => {
    if (method !== "node_share" || to < 2) return await answer();
    const times = (asked.get(`${from} ${to}`) ?? 0) + 1;
    asked.set(`${from} ${to}`, times);
    // To node 0, node 2 refuses once, and is away then.
    if (from === 0 && to === 2 && times > 1) throw new Error("is away");
    throw new SecretsRefusedError("word of a liar");
  });
  for (const node of NODES) world.start(node);
  await world.untilAgreed(...NODES);
  const ciphertext = await encrypt(world, "message");
  const opening = Promise.allSettled([0, 1].map(async (node) => await open(world, node, ciphertext)));
  await vi.waitFor(
    () => {
      for (const pair of ["0 2", "0 3", "1 2", "1 3"]) expect(asked.get(pair)).toBeGreaterThan(2);
    },
    { interval: 10 },
  );
  // Ends their waiting for shares.
  for (const node of [0, 1]) world.stop(node);
  expect((await opening).map((one) => (one as PromiseRejectedResult).reason as unknown)).toMatchObject([
    { message: expect.stringMatching(/^only \d of 3 nodes/) },
    { message: "The request's secrets can't be used: too many nodes refuse to open them." },
  ]);
  expect(world.lines.join()).toMatch(new RegExp(`${addresses[3]}: [^"]*word of a liar`));
});

test("of several operators' nodes, each takes only messages of service and nodes that name it", async () => {
  const taken: number[] = [];
  const vault = { take: async () => {}, list: async () => [] };
  const holder = {
    keep: async () => {},
    drop: async () => {},
    describe: async () => [],
    run: async () => Promise.reject(new Error("no run")),
  };
  const networks = NODES.map((node) =>
    createGatewayNetwork({
      vault,
      holder: { ...holder, drop: async () => void taken.push(node) },
      authority: { isService: async () => true },
      signers: [signers[node]!],
      sharedKeys: {
        answer: async () => {
          taken.push(node);
          return {};
        },
      },
    }),
  );
  const send = (to: number, method: GatewayBody["method"], receiver: string) => {
    const payload = { validUntil: Date.now() + 60_000, slotIds: [1] };
    const body = { message_id: "1", method, don_id: "fun", receiver, payload };
    return networks[to]!.answer({ id: "1", body, sender: "0x" }, { text: "", caller: "" });
  };
  for (const method of ["operator_drop", "node_key"] as const) {
    for (const receiver of ["", addresses[1]!])
      await expect(send(0, method, receiver)).rejects.toThrow(
        `its receiver is not this node, ${addresses[0]}`,
      );
    await send(0, method, addresses[0]!);
    await send(1, method, addresses[1]!);
  }
  expect(taken).toEqual([0, 1, 0, 1]);
});
