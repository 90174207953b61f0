/**
 * A node's part in the keys for secrets of a network whose nodes belong to several operators. Nodes ask each other, by signed messages to
 * their gateways; PROTOCOL.md, "Secrets", has the rules.
 *
 * - `node_dealing`: what the asked node deals to the asking one (`keyGeneration.ts`).
 * - `node_key`: the public keys that follow from all dealings, once the asked node has recorded them. The keys are used when all say the same.
 * - `node_share`: the asked node's share of opening a ciphertext, for a request that it has seen on chain and that names it.
 * - `node_slots`: what the asked node holds in slots that a request names, for a node that was away when they were uploaded.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isHex, type Hex } from "viem";
import { configDigestOf } from "../../chainlink/nodeConfig.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { isObject } from "../../lib/isObject.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import { deriveKey } from "../../lib/secrets.ts";
import {
  combineDealings,
  createDealer,
  isPartOf,
  parseDealing,
  type Dealer,
  type Dealing,
  type SharedKey,
} from "../../secrets/keyGeneration.ts";
import type { SecretOpener } from "../../secrets/secretKeys.ts";
import {
  checkShare,
  CiphertextError,
  combineShares,
  decrypt,
  makeShare,
  parseCiphertext,
  type Ciphertext,
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
import { digestOf, SecretsRefusedError, type RecallSlots, type Slot, type Vault } from "./vault.ts";

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
  /** Takes part in a configuration; `undefined`, or nodes that its digest is not the hash of: in none. */
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
  /** Why this node has no key yet; `undefined` once it has one, or takes part in no configuration. */
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
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** What a node was given by a dealer, sealed to its box. */
interface Given {
  readonly dealing: Dealing;
  readonly part: Hex;
}

/** What is stored of a configuration: what all nodes dealt, in their order, and whether all nodes have recorded the same. */
interface KeyRecord {
  readonly given: readonly Given[];
  readonly isAgreed: boolean;
}

/** What a node says of its key. */
export interface KeyAnswer extends Pick<SharedKey, "donPublicKey" | "thresholdPublicKey"> {
  readonly configDigest: Hex;
  /** Digests of what each node dealt. */
  readonly dealings: readonly Hex[];
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
interface Seat {
  readonly set: NodeSet;
  readonly self: number;
  /** Shares that open a ciphertext. */
  readonly needed: number;
  readonly dealer: Dealer;
  readonly ask: AskNode;
  readonly stopping: AbortController;
  /** By node: what it dealt to this one, and why it is not known yet. */
  readonly given: (Given | undefined)[];
  readonly missing: (string | undefined)[];
  /** By node: whether it has recorded the same key, and whether it knows that all have. */
  readonly same: boolean[];
  readonly knows: boolean[];
  /** Digests of what each node dealt; empty without a key. */
  digests: readonly Hex[];
  key: SharedKey | undefined;
  isAgreed: boolean;
}

/** Creates a node's part in shared keys; it generates keys for each configuration that it joins. */
export function createSharedKeys(options: SharedKeysOptions): SharedKeys {
  const { seed, chainId, coordinator, address, connect, records, assertSeen, findNamed, log, signal } =
    options;
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
        if (own.key === undefined) await restore(own);
        if (own.key === undefined) await collect(own);
        if (own.key !== undefined && !own.isAgreed) await confirm(own);
        if (own.isAgreed) return;
      } catch (error) {
        if (own.stopping.signal.aborted) return;
        log.warn({ err: error }, "secrets: generating the key failed; retrying");
      }
      const pause = pauseAfter(attempt, LONGEST_FREE_PAUSE_MS);
      await sleep(pause, undefined, { signal: own.stopping.signal }).catch(() => {});
    }
  }

  /** Continues from what was recorded before a restart. */
  async function restore(own: Seat): Promise<void> {
    const record = await records.read(own.set.configDigest);
    if (record === undefined) return;
    const { given, isAgreed } = JSON.parse(record) as KeyRecord;
    adopt(own, given);
    own.isAgreed = isAgreed;
  }

  function adopt(own: Seat, given: readonly Given[]): void {
    const parts = given.map(({ part }) => box.open(fromHexText(part), PART));
    own.given.splice(0, given.length, ...given);
    own.digests = given.map(({ dealing }) => digestOf(JSON.stringify(dealing)));
    own.key = combineDealings(
      given.map(({ dealing }) => dealing),
      parts,
    );
  }

  /** Asks those nodes for what they deal from whom nothing right has come yet; records the dealings once all are there. */
  async function collect(own: Seat): Promise<void> {
    const { set, self, needed } = own;
    await askAll(
      own,
      (node) => own.given[node] === undefined,
      async (node) => {
        const payload = { configDigest: set.configDigest, boxKey };
        const answer = await askNode(own, node, "node_dealing", payload);
        const { part } = answer as { readonly part?: unknown };
        const dealing = parseDealing(answer, needed);
        if (dealing === undefined || !isHex(part) || !isRight(dealing, self, part))
          return "it deals what does not fit its own commitments";
        own.given[node] ??= { dealing, part };
        return undefined;
      },
    );
    const given = own.given.filter((one) => one !== undefined);
    if (given.length < set.signers.length) return;
    // On disk before this node says what it follows from: it must never say anything else.
    await records.save(set.configDigest, JSON.stringify({ given, isAgreed: false } satisfies KeyRecord));
    adopt(own, given);
  }

  function isRight(dealing: Dealing, index: number, part: Hex): boolean {
    try {
      return isPartOf(dealing, index, box.open(fromHexText(part), PART));
    } catch {
      return false;
    }
  }

  /** Asks the others for their keys, until all have said the same, or so many know of that that one of those is honest. */
  async function confirm(own: Seat): Promise<void> {
    const { set, key } = own;
    await askAll(
      own,
      (node) => !own.knows[node],
      async (node) => {
        const answer = await askNode(own, node, "node_key", {});
        const { donPublicKey, thresholdPublicKey, isAgreed } = answer as Partial<KeyAnswer>;
        own.same[node] = donPublicKey === key!.donPublicKey && thresholdPublicKey === key!.thresholdPublicKey;
        own.knows[node] = own.same[node] && isAgreed === true;
        return own.same[node] ? undefined : `it has another key${describeDifference(own, answer)}`;
      },
    );
    const isKnown = own.knows.filter((knows) => knows).length > set.faulty;
    if (own.same.includes(false) && !isKnown) return;
    const given = own.given.filter((one) => one !== undefined);
    await records.save(set.configDigest, JSON.stringify({ given, isAgreed: true } satisfies KeyRecord));
    own.isAgreed = true;
    const { donPublicKey, thresholdPublicKey } = key!;
    log.info(
      { configDigest: set.configDigest, donPublicKey, thresholdPublicKey },
      "secrets: all nodes have generated the same key",
    );
  }

  /** Asks nodes at once; `work` returns what is wrong with what a node answers. */
  async function askAll(
    own: Seat,
    isAsked: (node: number) => boolean,
    work: (node: number) => Promise<string | undefined>,
  ): Promise<void> {
    await Promise.all(
      own.set.signers.map(async (_, node) => {
        if (node === own.self || !isAsked(node)) return;
        const before = own.missing[node];
        own.missing[node] = await work(node).catch((error: unknown) => `it ${messageOf(error)}`);
        const trouble = own.missing[node];
        if (trouble !== undefined && trouble !== before && !own.stopping.signal.aborted)
          log.warn(
            { signer: own.set.signers[node], trouble },
            "secrets: a node keeps the key from being generated",
          );
      }),
    );
  }

  const askNode = (own: Seat, node: number, method: NodeMethod, payload: object): Promise<object> =>
    own.ask(node, method, payload, AbortSignal.any([own.stopping.signal, AbortSignal.timeout(ANSWER_MS)]));

  /** Asks a node again and again until it answers; resolves with `undefined` once stopped. */
  async function askUntil(
    own: Seat,
    { node, method, payload, stop }: AskUntil,
    onError: (error: unknown) => void = () => {},
  ): Promise<object | undefined> {
    for (let attempt = 1; !stop.aborted; attempt += 1) {
      try {
        return await own.ask(node, method, payload, stop);
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

  return {
    join(set) {
      seat?.stopping.abort();
      seat = undefined;
      refusal = undefined;
      if (set === undefined || signal.aborted) return;
      const { configDigest, config, count } = set;
      // A node of the chain that lies could name others as signers, or fewer as needed, and be dealt what opens the true nodes' secrets.
      if (configDigestOf(config, { chainId, coordinator, count }) !== configDigest) {
        refusal = `the RPC nodes show nodes of which ${configDigest} is not the digest: no key for secrets is generated with them`;
        log.error({ configDigest }, `secrets: ${refusal}`);
        return;
      }
      const needed = 2 * set.faulty + 1;
      const self = set.signers.indexOf(address);
      // Hashed, as 31 signers are longer than what a key may be derived for.
      const purpose = `dealing ${configDigest} ${needed} ${digestOf(set.signers.join())}`;
      const dealer = createDealer(deriveKey(seed, purpose), needed);
      const { dealing } = dealer;
      const part = toHexText(sealTo(box.publicKey, dealer.partOf(self), PART));
      const nodes = set.signers.length;
      const own: Seat = {
        set,
        self,
        needed,
        dealer,
        ask: connect(set),
        stopping: new AbortController(),
        given: Array.from({ length: nodes }, (_, node) => (node === self ? { dealing, part } : undefined)),
        missing: Array.from({ length: nodes }, () => undefined),
        same: Array.from({ length: nodes }, (_, node) => node === self),
        knows: Array.from({ length: nodes }, () => false),
        digests: [],
        key: undefined,
        isAgreed: false,
      };
      seat = own;
      // It never rejects.
      void run(own);
    },

    async answer(method, given, sender) {
      const payload = isObject(given) ? given : {};
      if (method === "node_key") {
        if (seat?.key === undefined) throw new GatewayError("the node has not been dealt everything yet");
        const { set, key, digests, isAgreed } = seat;
        const { donPublicKey, thresholdPublicKey } = key;
        const { configDigest } = set;
        return {
          configDigest,
          donPublicKey,
          thresholdPublicKey,
          dealings: digests,
          isAgreed,
        } satisfies KeyAnswer;
      }
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
      const { boxKey: theirs, requestId, digest } = payload;
      if (!isHex(theirs)) throw new GatewayError("the payload must have boxKey");
      const sealed = (bytes: Uint8Array, context: string): Hex => {
        try {
          return toHexText(sealTo(fromHexText(theirs), bytes, context));
        } catch {
          throw new GatewayError("boxKey is no point of P-256");
        }
      };
      if (method === "node_dealing")
        return { ...own.dealer.dealing, part: sealed(own.dealer.partOf(index), PART) };
      if (!own.isAgreed) throw new GatewayError(PENDING);
      if (!isHex(requestId) || !isHex(digest))
        throw new GatewayError("the payload must have requestId and digest");
      return { share: sealed(await shareOf(requestId, digest), SHARE) };
    },

    openerFor(requestId) {
      const { key } = readyKey();
      return {
        donSecretKey: key.donSecretKey,
        async open(ciphertext, isFor) {
          const parsed = parseCiphertext(ciphertext, key.threshold);
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
      return parseCiphertext(ciphertext, readyKey().key.threshold);
    },

    async recall(owner, slots) {
      const { own } = readyKey();
      const said = new Map<string, number>();
      const found = new Map<number, Slot>();
      /** By slot: the most that hold the same, so far, and how many have yet to answer. */
      const most = new Map<number, number>();
      let silent = own.set.signers.length - 1;
      const decided = new AbortController();
      const stop = AbortSignal.any([own.stopping.signal, decided.signal, AbortSignal.timeout(GATHER_MS)]);
      const reference = encodeSecretsReference({ owner, slots });
      const payload = { configDigest: own.set.configDigest, reference };
      await Promise.all(
        own.set.signers.map(async (_, node) => {
          if (node === own.self) return;
          const answer = await askUntil(own, { node, method: "node_slots", payload, stop });
          if (answer === undefined) return;
          silent -= 1;
          for (const slot of parseSlots(answer, owner, slots)) {
            const text = JSON.stringify(slot);
            const times = (said.get(text) ?? 0) + 1;
            said.set(text, times);
            most.set(slot.slotId, Math.max(times, most.get(slot.slotId) ?? 0));
            if (times === own.needed) found.set(slot.slotId, slot);
          }
          const isDecided = ({ slotId }: SlotVersion): boolean =>
            found.has(slotId) || (most.get(slotId) ?? 0) + silent < own.needed;
          if (slots.every(isDecided)) decided.abort();
        }),
      );
      if (decided.signal.aborted) return [...found.values()];
      throw new AnswersMissingError(own.set.signers.length - 1 - silent);
    },

    trouble() {
      if (seat === undefined || seat.isAgreed) return refusal;
      const { set, missing } = seat;
      const nodes = missing.flatMap((why, node) => (why === undefined ? [] : [`${set.urls[node]}: ${why}`]));
      return `the key for secrets is not generated yet: all nodes have to take part once${nodes.length === 0 ? "" : `; ${nodes.join("; ")}`}`;
    },
  };
}

const NOTHING = new Uint8Array();

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

/** Names the dealers whose dealings two nodes have differently: either they dealt twice, or one of the two lies. */
function describeDifference({ digests, set }: Pick<Seat, "digests" | "set">, answer: object): string {
  const { dealings } = answer as { readonly dealings?: unknown };
  if (!Array.isArray(dealings)) return "";
  const signers = set.signers.filter((_, node) => dealings[node] !== digests[node]);
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
