/**
 * A node's part in the keys for secrets of a network whose nodes belong to several operators. Nodes ask each other, by signed messages to
 * their gateways; PROTOCOL.md, "Secrets", has the rules.
 *
 * - `node_dealing`: what the asked node deals to the asking one (`keyGeneration.ts`), for a new key or for one that is handed on.
 * - `node_key`: the public keys that follow from the dealings, once the asked node has recorded them. The keys are used when all say the same.
 * - `node_share`: the asked node's share of opening a ciphertext, for a request that it has seen on chain and that names it.
 * - `node_slots`: what the asked node holds in slots, for a node that was away when they were uploaded, or is new.
 * - `node_held`: the names of the slots in which the asked node holds something, for one that takes over a key.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { hexToString, isHex, size, type Hex } from "viem";
import { configDigestOf } from "../../chainlink/nodeConfig.ts";
import type { FormerKey } from "../../chainlink/offchainConfig.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { isObject } from "../../lib/isObject.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import { deriveKey } from "../../lib/secrets.ts";
import {
  combineDealings,
  createDealer,
  isPartOf,
  isShareOf,
  parseDealing,
  parseHandedOn,
  type Dealer,
  type Dealing,
  type Handover,
  type SharedKey,
} from "../../secrets/keyGeneration.ts";
import type { SecretOpener } from "../../secrets/secretKeys.ts";
import {
  checkShare,
  CiphertextError,
  combineShares,
  decrypt,
  makeShare,
  type Ciphertext,
  type ThresholdPublicKey,
} from "../../secrets/tdh2.ts";
import { LONGEST_FREE_PAUSE_MS, pauseAfter } from "../backoff.ts";
import { createBoundedMap } from "../node/boundedMap.ts";
import { createTokenBuckets } from "../node/tokenBucket.ts";
import type { NodeSet } from "../node/nodeSet.ts";
import type { OracleLog } from "../log.ts";
import { GatewayError, type NodeMethod } from "./gatewayMessage.ts";
import { createBox, sealTo } from "./sealedBox.ts";
import {
  decodeSecretsReference,
  encodeSecretsReference,
  type SlotVersion,
} from "../../secrets/secretsReference.ts";
import {
  digestOf,
  SecretsRefusedError,
  type RecallSlots,
  type Slot,
  type SlotName,
  type Vault,
} from "./vault.ts";

/** Time for a peer's answer, and for enough shares: a peer may see a request some blocks later. */
const ANSWER_MS = 10_000;
const GATHER_MS = 20_000;
/** First pause before a peer is asked again that has not seen a request yet, by which each one grows, and the longest. */
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;
/** Questions of one node: for shares some for each request, as each is asked for again until the request is seen. */
const QUESTIONS = { burst: 400, perSecond: 100 } as const;
/** Memory for shares that were given: each request and ciphertext is checked once, whoever asks. */
const MAX_GIVEN_BYTES = 1_048_576;
const GIVEN_BYTES = 512;
/** Names of slots in one answer, and most answers with names that one node is asked for. */
const NAMES_OF_ANSWER = 1_000;
const MAX_NAME_ANSWERS = 100;
/** Slots that are fetched at once: an answer takes one megabyte, and a ciphertext 10 kB. */
const SLOTS_OF_ANSWER = 50;
const PART = "tyche secrets part";
const SHARE = "tyche secrets share";

/** Sends a message to a node of a set, by its index, and returns the payload of its signed answer; rejects as `GatewayClient.ask`. */
export type AskNode = (
  node: number,
  method: NodeMethod,
  payload: object,
  signal: AbortSignal,
) => Promise<object>;

/** A node's part in keys that no one holds. */
export interface SharedKeys {
  /**
   * Takes part in a configuration, or hands a key on to its nodes; `undefined`, or nodes that its digest is not the hash of: neither.
   */
  join(this: void, set: NodeSet | undefined): void;
  /**
   * Answers a message of a node.
   *
   * @param sender who has signed it, lower case.
   * @throws {TycheError} with blame `caller` if it can't be taken.
   */
  answer(method: NodeMethod, payload: unknown, sender: Hex): Promise<object>;
  /** Returns what opens ciphertexts for a request on chain. Throws while the nodes have no key yet. */
  openerFor(this: void, requestId: Hex | undefined): SecretOpener;
  /** Parses a ciphertext. Throws `CiphertextError` for one that isn't encrypted to the present key, and {@link GatewayError} before there is one. */
  parse(this: void, ciphertext: string): Ciphertext;
  /**
   * Asks the other nodes for slots, and returns those of which 2f + 1 hold the same: they can open it without this node, so it can't be one
   * that was deleted or replaced. Rejects while too few answer to tell.
   */
  readonly recall: RecallSlots;
  /** Why this node has no key yet, not all that the former nodes hold, or hands none on; `undefined` if it has, or takes part in no configuration. */
  trouble(this: void): string | undefined;
}

export interface SharedKeysOptions {
  /** 32 bytes of this node's own, for this chain. */
  readonly seed: Uint8Array;
  readonly chainId: number;
  /** FunctionsCoordinator. */
  readonly coordinator: Hex;
  /** This node's signer, checksummed. */
  readonly address: Hex;
  /** Connects to the nodes of a set. */
  readonly connect: (set: NodeSet) => AskNode;
  /** Reads from the chain who holds a key that is to be handed on. */
  readonly readFormer: (former: FormerKey) => Promise<NodeSet>;
  /** The configuration to whose nodes this node's operator lets it hand its share on: the coordinator's owner alone could name its own nodes. */
  readonly handKeyOnTo: Hex | undefined;
  /** Stores what a node must not forget of a configuration. */
  readonly records: {
    read(configDigest: Hex): Promise<string | undefined>;
    /** Resolves once the record is on disk. */
    save(configDigest: Hex, record: string): Promise<void>;
  };
  /** Throws {@link GatewayError} for a request that this node doesn't see as open on chain. */
  readonly assertSeen: (requestId: Hex) => void;
  /** Finds the ciphertext that a request names; throws as `Vault.findNamed`, and as `assertSeen`. */
  readonly findNamed: (requestId: Hex, digest: Hex) => ReturnType<Vault["findNamed"]>;
  /** Returns what this node holds of an uploader's slots, in exactly these versions. */
  readonly findHeld: Vault["findHeld"];
  readonly listNames: Vault["listNames"];
  /** Stores what other nodes hold; as {@link Vault.keepRecalled}. */
  readonly keepRecalled: Vault["keepRecalled"];
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** What a node was given by a dealer, sealed to its box. */
interface Given {
  readonly dealing: Dealing;
  readonly part: Hex;
}

/** What is stored of a configuration: what was dealt, in the order of the dealers, and whether all nodes have recorded the same. */
interface KeyRecord {
  readonly given: readonly Given[];
  readonly isAgreed: boolean;
  /** Absent for a key that all nodes have generated. */
  readonly handover?: Handover;
  /** Whether the dealers have yet to be chosen: these have dealt so far. */
  readonly isOpen?: true;
  /** Whether this node has yet to take over what the former nodes hold in slots. */
  readonly lacksSlots?: boolean;
}

/** Nodes that are asked. */
interface Nodes {
  readonly set: NodeSet;
  readonly ask: AskNode;
}

/** What a node says of its key: the public keys once it has recorded them. */
export interface KeyAnswer {
  readonly configDigest: Hex;
  readonly donPublicKey?: Hex | undefined;
  readonly thresholdPublicKey?: Hex | undefined;
  /** Digests of what each node dealt to it; `null` if it was nothing right. */
  readonly dealings: readonly (Hex | null)[];
  /** Of a key that is handed on: whose dealings it has combined, by index. */
  readonly dealers?: readonly number[] | undefined;
  /** Whether it knows that all nodes have recorded this key. */
  readonly isAgreed: boolean;
}

/** A question that is repeated until it is answered. */
interface AskUntil {
  readonly node: number;
  readonly method: NodeMethod;
  readonly payload: object;
  readonly stop: AbortSignal;
}

/** A node's part in one configuration. */
interface Seat extends Nodes {
  /** -1 for a node that only hands its share on. */
  readonly self: number;
  /** Shares that open a ciphertext. */
  readonly needed: number;
  readonly stopping: AbortController;
  /** Who deals: its own nodes, or those that hand their key on once they are known. */
  dealers: Nodes | undefined;
  /** What this node holds of a key that is handed on, and what its holders say that is. */
  held: (Pick<KeyRecord, "isAgreed"> & { readonly key: SharedKey }) | undefined;
  formerKey: ThresholdPublicKey | undefined;
  dealer: Dealer | undefined;
  /** By dealer: what it dealt to this node. */
  readonly given: Map<number, Given>;
  /** By method and URL: why what is needed of a node is not there yet. */
  readonly missing: Map<string, string>;
  /** By node: whether it has recorded the same key, and whether it knows that all have. */
  readonly same: boolean[];
  readonly knows: boolean[];
  record: KeyRecord | undefined;
  key: SharedKey | undefined;
  isAgreed: boolean;
}

/** The node that chooses whose dealings are combined where not all are needed: the others check and follow it, as all must do the same. */
const CHOOSER = 0;

/** Creates a node's part in shared keys; it generates a key for each configuration that it joins, or takes over the former one. */
export function createSharedKeys(options: SharedKeysOptions): SharedKeys {
  const { seed, chainId, coordinator, address, connect, records, assertSeen, findNamed, log, signal } =
    options;
  const { readFormer, handKeyOnTo } = options;
  const questions = createTokenBuckets(QUESTIONS);
  const box = createBox(deriveKey(seed, "box"));
  const boxKey = toHexText(box.publicKey);
  const shares = createBoundedMap<string, Promise<Uint8Array>>(MAX_GIVEN_BYTES);
  let seat: Seat | undefined;
  /** Why this node takes part in no configuration, though it was given one. */
  let refusal: string | undefined;
  signal.addEventListener("abort", () => seat?.stopping.abort(), { once: true });

  async function run(own: Seat): Promise<void> {
    for (let attempt = 1; !own.stopping.signal.aborted; attempt += 1) {
      try {
        await findFormerShare(own);
        if (own.self < 0) return;
        if (own.key === undefined) await restore(own);
        if (own.key === undefined) await collect(own);
        if (own.key !== undefined && !own.isAgreed) await confirm(own);
        if (own.isAgreed && own.record?.lacksSlots === true) await takeSlotsOver(own);
        if (own.isAgreed && own.record?.lacksSlots !== true) return;
      } catch (error) {
        if (own.stopping.signal.aborted) return;
        const what = own.isAgreed ? "taking over what the former nodes hold" : "generating the key";
        log.warn({ err: error }, `secrets: ${what} failed; retrying`);
      }
      const pause = pauseAfter(attempt, LONGEST_FREE_PAUSE_MS);
      await sleep(pause, undefined, { signal: own.stopping.signal }).catch(() => {});
    }
  }

  /** Finds this node's share of a key that is handed on. */
  async function findFormerShare(own: Seat): Promise<void> {
    const { formerKey, configDigest } = own.set;
    if (formerKey === undefined || own.held !== undefined) return;
    const record = await readRecord(formerKey.configDigest);
    if (record === undefined || record.isOpen !== undefined) return;
    const key = keyOf(record);
    if (hashOf(key.thresholdPublicKey) !== formerKey.keyHash) return;
    own.held = { key, isAgreed: record.isAgreed };
    const trouble = handTrouble(own);
    if (trouble !== undefined) log.warn({ configDigest }, `secrets: ${trouble}`);
  }

  /** Connects to the nodes that hand a key on. */
  async function connectFormer(formerKey: FormerKey): Promise<Nodes> {
    const set = await readFormer(formerKey);
    if (set.configDigest !== formerKey.configDigest || !isHashed(set))
      throw new Error(`the RPC nodes show other nodes than those of configuration ${formerKey.configDigest}`);
    return { set, ask: askOf(set) };
  }

  function handTrouble({ set, held, isAgreed }: Seat): string | undefined {
    if (held === undefined || isAgreed || handKeyOnTo === set.configDigest) return undefined;
    const nodes = set.signers.map((signer, node) => `${signer} at ${set.urls[node]}`);
    return `the coordinator's owner wants this node to hand its share of the key for secrets on to ${nodes.join(", ")}: any ${2 * set.faulty + 1} of them together can read all secrets. If you trust them as you do the present nodes, set handKeyOnTo of the network to ${set.configDigest}, and start the node again`;
  }

  const isHashed = ({ config, configDigest, count }: NodeSet): boolean =>
    configDigestOf(config, { chainId, coordinator, count }) === configDigest;

  async function readRecord(configDigest: Hex): Promise<KeyRecord | undefined> {
    const record = await records.read(configDigest);
    return record === undefined ? undefined : (JSON.parse(record) as KeyRecord);
  }

  /** Continues from what was recorded before a restart. */
  async function restore(own: Seat): Promise<void> {
    const record = await readRecord(own.set.configDigest);
    if (record === undefined) return;
    for (const [k, one] of record.given.entries()) own.given.set(record.handover?.dealers[k] ?? k, one);
    if (record.isOpen === undefined) adopt(own, record, keyOf(record));
  }

  function keyOf({ given, handover }: KeyRecord): SharedKey {
    const parts = given.map(({ part }) => box.open(fromHexText(part), PART));
    return combineDealings(
      given.map(({ dealing }) => dealing),
      parts,
      handover,
    );
  }

  function adopt(own: Seat, record: KeyRecord, key: SharedKey): void {
    own.missing.clear();
    own.record = record;
    own.key = key;
    own.isAgreed = record.isAgreed;
  }

  /** Asks those dealers for what they deal from whom nothing right has come yet; records the dealings once enough are there. */
  async function collect(own: Seat): Promise<void> {
    const { set, self, needed, given } = own;
    const { configDigest } = set;
    const dealt = new Map<number, Given>();
    own.dealers ??= await connectFormer(set.formerKey!);
    await askAll(
      own,
      own.dealers,
      (node) => !given.has(node),
      async (answer, node) => {
        const { part, formerKey } = answer as { readonly part?: unknown; readonly formerKey?: unknown };
        const dealing = parseDealing(answer, needed);
        if (dealing === undefined || !isHex(part) || !isRight(dealing, self, part))
          return "it deals what does not fit its own commitments";
        if (set.formerKey !== undefined) {
          if (!isHex(formerKey) || hashOf(formerKey) !== set.formerKey.keyHash)
            return "it hands on another key than the configuration names";
          own.formerKey ??= JSON.parse(hexToString(formerKey)) as ThresholdPublicKey;
          if (!isShareOf(dealing, own.formerKey.HArray[node]!))
            return "it deals something else than its share";
        }
        dealt.set(node, { dealing, part });
        return undefined;
      },
      { method: "node_dealing", payload: { configDigest, boxKey } },
    );
    const recordOf = (dealers: readonly number[], from = given): KeyRecord => ({
      given: dealers.map((node) => from.get(node)!),
      isAgreed: false,
      ...(set.formerKey !== undefined && {
        handover: { dealers, nodes: set.signers.length, configDigest },
        lacksSlots: true,
      }),
    });
    const all = new Map([...given, ...dealt]);
    // On disk before this node says that it has them: a dealer that leaves may not be there to ask again.
    if (set.formerKey !== undefined && dealt.size > 0)
      await records.save(configDigest, JSON.stringify({ ...recordOf([...all.keys()], all), isOpen: true }));
    for (const [node, one] of dealt) given.set(node, one);
    const chosen = set.formerKey === undefined ? allOf(own) : await choose(own);
    if (chosen === undefined) return;
    const record = recordOf(chosen);
    const key = keyOf(record);
    if (own.formerKey !== undefined && key.threshold.H !== own.formerKey.H)
      throw new Error("what was dealt makes another key than the one that is handed on");
    // On disk before this node says what it follows from: it must never say anything else.
    await records.save(configDigest, JSON.stringify(record));
    adopt(own, record, key);
  }

  function allOf({ set, given }: Seat): readonly number[] | undefined {
    return given.size < set.signers.length ? undefined : set.signers.map((_, node) => node);
  }

  /** Returns the dealers whose dealings all nodes combine: as many as opened a ciphertext, each of which has dealt the same to all nodes, and rightly. */
  async function choose(own: Seat): Promise<readonly number[] | undefined> {
    const { set, self, given } = own;
    const needed = 2 * own.dealers!.set.faulty + 1;
    if (given.size < needed) return undefined;
    const digests = digestsOf(own);
    const dealtAlike = new Set(given.keys());
    let chosen: readonly number[] | undefined;
    let answers = 0;
    await askAll(
      own,
      own,
      (node) => node !== self && (self === CHOOSER || node === CHOOSER),
      async (answer) => {
        const { dealings, dealers } = answer as Partial<KeyAnswer>;
        answers += 1;
        for (const node of given.keys()) if (dealings?.[node] !== digests[node]) dealtAlike.delete(node);
        if (self === CHOOSER) return undefined;
        if (!Array.isArray(dealers)) return "it has yet to choose whose dealings are combined";
        const known = new Set(dealers.filter((node: number) => dealtAlike.has(node)));
        if (known.size !== needed || dealers.length !== needed)
          return "it has chosen dealings that this node was not dealt";
        chosen = dealers;
        return undefined;
      },
      { method: "node_key", payload: {} },
    );
    if (self !== CHOOSER) return chosen;
    const right = [...dealtAlike].toSorted((a, b) => a - b);
    return answers === set.signers.length - 1 && right.length >= needed ? right.slice(0, needed) : undefined;
  }

  const digestsOf = ({ given }: Seat): readonly (Hex | null)[] =>
    Array.from({ length: Math.max(-1, ...given.keys()) + 1 }, (_, node) => {
      const one = given.get(node);
      return one === undefined ? null : digestOf(JSON.stringify(one.dealing));
    });

  function isRight(dealing: Dealing, index: number, part: Hex): boolean {
    try {
      return isPartOf(dealing, index, box.open(fromHexText(part), PART));
    } catch {
      return false;
    }
  }

  /** Asks the others for their keys, until all have said the same, or so many know of that that one of those is honest. */
  async function confirm(own: Seat): Promise<void> {
    const { set, self, key } = own;
    await askAll(
      own,
      own,
      (node) => node !== self && !own.knows[node],
      async (answer, node) => {
        const { donPublicKey, thresholdPublicKey, isAgreed } = answer as Partial<KeyAnswer>;
        own.same[node] = donPublicKey === key!.donPublicKey && thresholdPublicKey === key!.thresholdPublicKey;
        own.knows[node] = own.same[node] && isAgreed === true;
        if (own.same[node]) return undefined;
        return thresholdPublicKey === undefined
          ? "it has not combined the dealings yet"
          : `it has another key${describeDifference(own, digestsOf(own), answer)}`;
      },
      { method: "node_key", payload: {} },
    );
    const isKnown = own.knows.filter((knows) => knows).length > set.faulty;
    if (own.same.includes(false) && !isKnown) return;
    const record = { ...own.record!, isAgreed: true };
    await records.save(set.configDigest, JSON.stringify(record));
    adopt(own, record, key!);
    const { donPublicKey, thresholdPublicKey } = key!;
    log.info(
      { configDigest: set.configDigest, donPublicKey, thresholdPublicKey },
      `secrets: all nodes have ${record.handover === undefined ? "generated" : "taken over"} the same key`,
    );
  }

  /**
   * Takes over what 2f + 1 of the former nodes hold alike, f theirs: as many could open it, so it can't be one that was deleted. What names
   * nobody stays behind, as no node opens it.
   */
  async function takeSlotsOver(own: Seat): Promise<void> {
    const { configDigest, formerKey } = own.set;
    own.dealers ??= await connectFormer(formerKey!);
    const { dealers } = own;
    const needed = 2 * dealers.set.faulty + 1;
    const times = new Map<string, number>();
    let answers = 0;
    await askAll(
      own,
      dealers,
      () => true,
      async (first, node) => {
        const names = new Set<string>();
        let page = parseNames(first);
        for (let asked = 1; ; asked += 1) {
          for (const name of page) names.add(JSON.stringify(name));
          if (page.length < NAMES_OF_ANSWER || asked >= MAX_NAME_ANSWERS) break;
          const payload = { configDigest, after: page.at(-1) };
          const stop = AbortSignal.any([own.stopping.signal, AbortSignal.timeout(ANSWER_MS)]);
          page = parseNames(await dealers.ask(node, "node_held", payload, stop));
        }
        for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
        answers += 1;
        return undefined;
      },
      { method: "node_held", payload: { configDigest } },
    );
    if (answers < needed) return;
    const common = [...times]
      .filter(([, count]) => count >= needed)
      .map(([name]) => JSON.parse(name) as SlotName);
    for (const [owner, named] of Map.groupBy(common, (name) => name.owner)) {
      const known = new Set((await options.findHeld(owner, named)).map(({ slotId }) => slotId));
      const lacking = named.filter(({ slotId }) => !known.has(slotId));
      for (let first = 0; first < lacking.length; first += SLOTS_OF_ANSWER) {
        const slots = lacking.slice(first, first + SLOTS_OF_ANSWER);
        await options.keepRecalled(() => recall(own, dealers, { owner, slots }));
      }
    }
    const record = { ...own.record!, lacksSlots: false };
    await records.save(configDigest, JSON.stringify(record));
    own.missing.clear();
    own.record = record;
  }

  /** Returns those slots of which so many nodes hold the same as can open it. Rejects while too few answer to tell. */
  async function recall(
    own: Seat,
    { set, ask }: Nodes,
    { owner, slots }: { readonly owner: Hex; readonly slots: readonly SlotVersion[] },
  ): Promise<readonly Slot[]> {
    const needed = 2 * set.faulty + 1;
    const said = new Map<string, number>();
    const found = new Map<number, Slot>();
    /** By slot: the most that hold the same, so far, and how many have yet to answer. */
    const most = new Map<number, number>();
    const asked = set.signers.filter((signer) => signer !== address).length;
    let silent = asked;
    const decided = new AbortController();
    const stop = AbortSignal.any([own.stopping.signal, decided.signal, AbortSignal.timeout(GATHER_MS)]);
    const reference = encodeSecretsReference({ owner, slots });
    const payload = { configDigest: own.set.configDigest, reference };
    await Promise.all(
      set.signers.map(async (signer, node) => {
        if (signer === address) return;
        const answer = await askUntil({ ask }, { node, method: "node_slots", payload, stop });
        if (answer === undefined) return;
        silent -= 1;
        for (const slot of parseSlots(answer, owner, slots)) {
          const text = JSON.stringify(slot);
          const times = (said.get(text) ?? 0) + 1;
          said.set(text, times);
          most.set(slot.slotId, Math.max(times, most.get(slot.slotId) ?? 0));
          if (times === needed) found.set(slot.slotId, slot);
        }
        const isDecided = ({ slotId }: SlotVersion): boolean =>
          found.has(slotId) || (most.get(slotId) ?? 0) + silent < needed;
        if (slots.every(isDecided)) decided.abort();
      }),
    );
    if (decided.signal.aborted) return [...found.values()];
    throw new AnswersMissingError(asked - silent);
  }

  /** Asks nodes the same at once; `read` returns what is wrong with what a node answers. */
  async function askAll(
    own: Seat,
    { set, ask }: Nodes,
    isAsked: (node: number) => boolean,
    read: (answer: object, node: number) => Promise<string | undefined>,
    { method, payload }: Pick<AskUntil, "method" | "payload">,
  ): Promise<void> {
    const { signal: stop } = own.stopping;
    await Promise.all(
      set.signers.map(async (signer, node) => {
        if (!isAsked(node)) return;
        const url = set.urls[node]!;
        const trouble = await ask(
          node,
          method,
          payload,
          AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
        )
          .then((answer) => read(answer, node))
          .catch((error: unknown) => `it ${messageOf(error)}`);
        const name = `${method} ${url}`;
        const before = own.missing.get(name);
        if (trouble === undefined) own.missing.delete(name);
        else own.missing.set(name, trouble);
        if (trouble !== undefined && trouble !== before && !stop.aborted)
          log.warn({ signer, trouble }, "secrets: a node keeps the key from being generated");
      }),
    );
  }

  /** Connects to the nodes of a set; this node answers itself. */
  function askOf(set: NodeSet): AskNode {
    const ask = connect(set);
    return (node, method, payload, stop) =>
      set.signers[node] === address
        ? answer(method, payload, address.toLowerCase() as Hex)
        : ask(node, method, payload, stop);
  }

  function dealerOf(own: Seat): Dealer {
    const { set, self, needed, held } = own;
    if (own.dealer !== undefined) return own.dealer;
    if (set.formerKey === undefined ? self < 0 : held === undefined)
      throw new GatewayError("the node has no share of the key, or does not know yet that it has");
    if (held !== undefined && handKeyOnTo !== set.configDigest)
      throw new GatewayError("its operator has not agreed to hand its share on to these nodes");
    // Hashed, as 31 signers are longer than what a key may be derived for.
    const purpose = `dealing ${set.configDigest} ${needed} ${digestOf(set.signers.join())}`;
    own.dealer = createDealer(deriveKey(seed, purpose), needed, held?.key.share);
    return own.dealer;
  }

  /** Asks a node again and again until it answers; resolves with `undefined` once stopped. */
  async function askUntil(
    { ask }: Pick<Nodes, "ask">,
    { node, method, payload, stop }: AskUntil,
    onError: (error: unknown) => void = () => {},
  ): Promise<object | undefined> {
    for (let attempt = 1; !stop.aborted; attempt += 1) {
      try {
        return await ask(node, method, payload, stop);
      } catch (error) {
        onError(error);
      }
      const pause = Math.min(attempt * RETRY_MS, LONGEST_RETRY_MS);
      await sleep(pause, undefined, { signal: stop }).catch(() => {});
    }
    return undefined;
  }

  function ownSeat(payload: Readonly<Record<string, unknown>>): Seat {
    if (seat === undefined || payload["configDigest"] !== seat.set.configDigest)
      throw new GatewayError("it is for another configuration than the node has read so far");
    return seat;
  }

  function readyKey(): { readonly own: Seat; readonly key: SharedKey } {
    if (seat?.key === undefined || !seat.isAgreed) throw new KeyPendingError();
    return { own: seat, key: seat.key };
  }

  /** Returns this node's share of what a request names; checked once. */
  function shareOf(requestId: Hex, digest: Hex): Promise<Uint8Array> {
    const { own, key } = readyKey();
    assertSeen(requestId);
    const name = `${own.set.configDigest} ${requestId} ${digest}`;
    const known = shares.get(name);
    if (known !== undefined) return known;
    const made = findNamed(requestId, digest).then(({ u }) => makeShare(u, key.share));
    shares.set(name, made, GIVEN_BYTES);
    made.catch(() => shares.delete(name));
    return made;
  }

  /** Returns as many points as open a ciphertext, by node. Throws {@link SharesMissingError}, or a refusal of so many nodes that too few are left. */
  async function gather(requestId: Hex, digest: Hex, u: Uint8Array): Promise<Map<number, Uint8Array>> {
    const { own, key } = readyKey();
    const points = new Map<number, Uint8Array>();
    /** By node: why it refuses now. A node that an upload has yet to reach refuses too, so each is asked again. */
    const refusals = new Map<number, string>();
    const enough = new AbortController();
    const stop = AbortSignal.any([own.stopping.signal, enough.signal, AbortSignal.timeout(GATHER_MS)]);
    const payload = { configDigest: own.set.configDigest, requestId, digest, boxKey };

    const take = (node: number, share: Uint8Array): void => {
      const point = checkShare(u, key.threshold.HArray[node]!, share);
      if (point === undefined) {
        const signer = own.set.signers[node]!;
        log.error({ signer, requestId }, "secrets: a node gave a wrong share");
        return;
      }
      points.set(node, point);
      if (points.size >= own.needed) enough.abort();
    };
    await Promise.all(
      own.set.signers.map(async (_, node) => {
        if (node === own.self) return take(node, makeShare(u, key.share));
        const answer = await askUntil(own, { node, method: "node_share", payload, stop }, (error) => {
          if (error instanceof TycheError) refusals.set(node, error.message);
          else if (!stop.aborted) refusals.delete(node);
        });
        if (answer === undefined) return undefined;
        refusals.delete(node);
        const { share } = answer as { readonly share?: unknown };
        return take(node, isHex(share) ? openShare(share) : new Uint8Array());
      }),
    );
    if (points.size >= own.needed) return points;
    if (refusals.size > own.set.signers.length - own.needed) {
      const reasons = [...refusals].map(([node, why]) => `${own.set.signers[node]!}: ${why}`);
      log.warn({ requestId, reasons }, "secrets: the nodes refuse to open what a request names");
      // The observation: in the same words at every node, and in none of a peer's.
      throw new SecretsRefusedError("too many nodes refuse to open them");
    }
    throw new SharesMissingError(points.size, own.needed);
  }

  function openShare(share: Hex): Uint8Array {
    try {
      return box.open(fromHexText(share), SHARE);
    } catch {
      return new Uint8Array();
    }
  }

  async function answer(method: NodeMethod, given: unknown, sender: Hex): Promise<object> {
    const payload = isObject(given) ? given : {};
    if (method === "node_key") return sayKey(payload["configDigest"]);
    const own = ownSeat(payload);
    const index = own.set.signers.findIndex((one) => one.toLowerCase() === sender);
    if (index < 0) throw new GatewayError(`${sender} is no node of this configuration`);
    if (!questions.take(sender)) throw new GatewayError("the node asks too much; wait a second");
    if (method === "node_slots") {
      const { reference } = payload;
      const { owner, slots } = decodeSecretsReference(isHex(reference) ? fromHexText(reference) : NOTHING);
      if (owner === undefined) throw new GatewayError("the reference must name an owner");
      return { slots: await options.findHeld(owner, slots) };
    }
    if (method === "node_held")
      return { names: await options.listNames(parseName(payload["after"]), NAMES_OF_ANSWER) };
    const { boxKey: theirs, requestId, digest } = payload;
    if (!isHex(theirs)) throw new GatewayError("the payload must have boxKey");
    const sealed = (bytes: Uint8Array, context: string): Hex => {
      try {
        return toHexText(sealTo(fromHexText(theirs), bytes, context));
      } catch {
        throw new GatewayError("boxKey is no point of P-256");
      }
    };
    if (method === "node_dealing") {
      const dealer = dealerOf(own);
      const formerKey = own.held?.key.thresholdPublicKey;
      return { ...dealer.dealing, part: sealed(dealer.partOf(index), PART), formerKey };
    }
    if (!own.isAgreed) throw new GatewayError(PENDING);
    if (!isHex(requestId) || !isHex(digest))
      throw new GatewayError("the payload must have requestId and digest");
    return { share: sealed(await shareOf(requestId, digest), SHARE) };
  }

  /** Says what key this node has in the present configuration, or in the one whose key is handed on. */
  function sayKey(wanted: unknown): KeyAnswer {
    if (seat !== undefined && seat.held !== undefined && wanted === seat.set.formerKey?.configDigest) {
      const { key, isAgreed } = seat.held;
      const { donPublicKey, thresholdPublicKey } = key;
      return { configDigest: wanted as Hex, donPublicKey, thresholdPublicKey, dealings: [], isAgreed };
    }
    if (seat === undefined || (seat.key === undefined && seat.set.formerKey === undefined))
      throw new GatewayError("the node has not been dealt everything yet");
    const { set, key, record, isAgreed } = seat;
    return {
      configDigest: set.configDigest,
      donPublicKey: key?.donPublicKey,
      thresholdPublicKey: key?.thresholdPublicKey,
      dealings: digestsOf(seat),
      dealers: record?.handover?.dealers,
      isAgreed,
    };
  }

  return {
    join(set) {
      seat?.stopping.abort();
      seat = undefined;
      refusal = undefined;
      if (set === undefined || signal.aborted) return;
      const { configDigest } = set;
      // A node of the chain that lies could name others as signers, or fewer as needed, and be dealt what opens the true nodes' secrets.
      if (!isHashed(set)) {
        refusal = `the RPC nodes show nodes of which ${configDigest} is not the digest: no key for secrets is generated with them`;
        log.error({ configDigest }, `secrets: ${refusal}`);
        return;
      }
      const needed = 2 * set.faulty + 1;
      const self = set.urls.length > 0 ? set.signers.indexOf(address) : -1;
      const own: Seat = {
        set,
        self,
        needed,
        ask: askOf(set),
        stopping: new AbortController(),
        dealers: undefined,
        held: undefined,
        formerKey: undefined,
        dealer: undefined,
        given: new Map(),
        missing: new Map(),
        same: set.signers.map((_, node) => node === self),
        knows: set.signers.map(() => false),
        record: undefined,
        key: undefined,
        isAgreed: false,
      };
      if (set.formerKey === undefined) own.dealers = own;
      seat = own;
      // It never rejects.
      void run(own);
    },

    answer,

    openerFor(requestId) {
      const { key } = readyKey();
      return {
        donSecretKey: key.donSecretKey,
        async open(ciphertext, isFor) {
          const parsed = parseHandedOn(ciphertext, key.threshold);
          if (requestId === undefined || !isFor(parsed)) throw new CiphertextError("it is for somebody else");
          return await decrypt(
            parsed,
            combineShares(await gather(requestId, digestOf(ciphertext), parsed.u)),
          );
        },
      };
    },

    parse(ciphertext) {
      if (seat?.isAgreed !== true) throw new GatewayError(PENDING);
      return parseHandedOn(ciphertext, readyKey().key.threshold);
    },

    async recall(owner, slots) {
      const { own } = readyKey();
      return await recall(own, own, { owner, slots });
    },

    trouble() {
      if (seat === undefined) return refusal;
      const hand = handTrouble(seat);
      if (seat.self < 0) return hand;
      const { set, dealers, missing, record, isAgreed } = seat;
      if (isAgreed && record?.lacksSlots !== true) return hand;
      const from = dealers && 2 * dealers.set.faulty + 1;
      const what =
        set.formerKey === undefined
          ? "the key for secrets is not generated yet: all nodes have to take part once"
          : isAgreed
            ? `what the nodes of configuration ${set.formerKey.configDigest} hold of secrets is not taken over yet: ${from ?? "enough"} of them have to answer`
            : `the key for secrets is not handed on yet: ${from ?? "enough"} of the nodes of configuration ${set.formerKey.configDigest} have to deal, and all of the present ones to take part once`;
      return [what, hand, ...[...missing].map(([name, why]) => `${name.split(" ")[1]}: ${why}`)]
        .filter((one) => one !== undefined)
        .join("; ");
    },
  };
}

const NOTHING = new Uint8Array();

/** Parses the names of slots that a node says it holds. */
function parseNames(answer: object): readonly SlotName[] {
  const { names } = answer as { readonly names?: unknown };
  return (Array.isArray(names) ? names : []).slice(0, NAMES_OF_ANSWER).flatMap((one) => parseName(one) ?? []);
}

function parseName(given: unknown): SlotName | undefined {
  const { owner, slotId, version } = isObject(given) ? given : {};
  const isName = isHex(owner) && size(owner) === ADDRESS_BYTES && isCount(slotId) && isCount(version);
  return isName ? { owner: owner.toLowerCase() as Hex, slotId, version } : undefined;
}

const ADDRESS_BYTES = 20;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Parses what a node says that it holds, each slot at most once. */
function parseSlots(answer: object, owner: Hex, asked: readonly SlotVersion[]): readonly Slot[] {
  const { slots } = answer as { readonly slots?: unknown };
  const given: readonly unknown[] = Array.isArray(slots) ? slots : [];
  return asked.flatMap(({ slotId, version }) => {
    const one = given.find(
      (slot) => isObject(slot) && slot["slotId"] === slotId && slot["version"] === version,
    );
    const { ciphertext, expiresAt } = isObject(one) ? one : {};
    return typeof ciphertext === "string" && Number.isSafeInteger(expiresAt)
      ? [{ owner, slotId, version, ciphertext, expiresAt: expiresAt as number }]
      : [];
  });
}

const PENDING = "the nodes have not generated the key for secrets yet";

const hashOf = (thresholdPublicKey: Hex): Hex => digestOf(fromHexText(thresholdPublicKey));

/** Names the dealers whose dealings two nodes have differently: either they dealt twice, or one of the two lies. */
function describeDifference(
  { dealers }: Pick<Seat, "dealers">,
  digests: readonly (Hex | null)[],
  answer: object,
): string {
  const { dealings } = answer as { readonly dealings?: unknown };
  if (!Array.isArray(dealings) || dealers === undefined) return "";
  const signers = dealers.set.signers.filter((_, node) => dealings[node] !== digests[node]);
  return signers.length === 0 ? "" : `, and says that ${signers.join(", ")} dealt something else`;
}

/** The nodes have not generated their key yet. */
class KeyPendingError extends Error {
  constructor() {
    super(PENDING);
  }
}

/** Too few nodes gave their share in time. */
class SharesMissingError extends Error {
  constructor(got: number, needed: number) {
    super(`only ${got} of ${needed} nodes gave a share of the request's secrets yet`);
  }
}

/** Too few nodes said in time what they hold. */
class AnswersMissingError extends Error {
  constructor(got: number) {
    super(`only ${got} nodes answered what they hold of the request's secrets, too few to tell yet`);
  }
}
