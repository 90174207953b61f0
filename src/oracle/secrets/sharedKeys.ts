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
import { isHex, type Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { isObject } from "../../lib/isObject.ts";
import { shareByKey } from "../../lib/memo.ts";
import { deriveKey } from "../../lib/seal.ts";
import { parseHandedOn } from "../../secrets/keyGeneration.ts";
import type { SecretOpener } from "../../secrets/secretKeys.ts";
import { decodeSecretsReference } from "../../secrets/secretsReference.ts";
import { CiphertextError, combineShares, decrypt, makeShare, type Ciphertext } from "../../secrets/tdh2.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import type { NodeSet } from "../node/nodeSet.ts";
import { createTokenBuckets } from "../../lib/tokenBucket.ts";
import { GatewayError, type NodeMethod } from "./gatewayMessage.ts";
import { gatherShares, SHARE, type Ready } from "./gatheredShares.ts";
import { NAMES_OF_ANSWER, parseName, recall } from "./heldSlots.ts";
import { agreeOnKey, dealerOf, digestsOf, keyTrouble, PART, type KeyAnswer } from "./keyAgreement.ts";
import {
  isHashed,
  openSeat,
  type AskNode,
  type KeyContext,
  type Seat,
  type SharedKeysOptions,
} from "./keySeat.ts";
import { createBox, sealTo } from "./sealedBox.ts";
import { digestOf, type RecallSlots } from "./vault.ts";

const PENDING = "the nodes have not generated the key for secrets yet";

/** Questions of one node: for shares some for each request, as each is asked for again until the request is seen. */
const QUESTIONS = { burst: 400, perSecond: 100 } as const;
/** Shares kept that were given, of about 512 bytes: each request and ciphertext is checked once, whoever asks. */
const MAX_GIVEN = 2_048;

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

/** Creates a node's part in shared keys; it generates a key for each configuration that it joins, or takes over the former one. */
export function createSharedKeys(options: SharedKeysOptions): SharedKeys {
  const { seed, address, connect, assertSeen, findNamed, log, signal } = options;
  const questions = createTokenBuckets(QUESTIONS);
  const box = createBox(deriveKey(seed, "box"));
  const context: KeyContext = { ...options, box, askOf };
  const shares = createBoundedMap<string, Promise<Uint8Array>>(MAX_GIVEN);
  let seat: Seat | undefined;
  /** Why this node takes part in no configuration, though it was given one. */
  let refusal: string | undefined;
  signal.addEventListener("abort", () => seat?.stopping.abort(), { once: true });

  /** Connects to the nodes of a set; this node answers itself. */
  function askOf(set: NodeSet): AskNode {
    const ask = connect(set);
    return (node, method, payload, stop) =>
      set.signers[node] === address
        ? answer(method, payload, address.toLowerCase() as Hex)
        : ask(node, method, payload, stop);
  }

  function ownSeat(payload: Readonly<Record<string, unknown>>): Seat {
    if (seat === undefined || payload["configDigest"] !== seat.set.configDigest)
      throw new GatewayError("it is for another configuration than the node has read so far");
    return seat;
  }

  function readyKey(): Ready {
    if (seat?.key === undefined || !seat.isAgreed) throw new KeyPendingError();
    return { own: seat, key: seat.key };
  }

  /** Returns this node's share of what a request names; checked once. */
  function shareOf(requestId: Hex, digest: Hex): Promise<Uint8Array> {
    const { own, key } = readyKey();
    assertSeen(requestId);
    const name = `${own.set.configDigest} ${requestId} ${digest}`;
    return shareByKey(shares, name, async () => {
      const { u } = await findNamed(requestId, digest);
      return makeShare(u, key.share);
    });
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
      const dealer = dealerOf(context, own);
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
      if (!isHashed(context, set)) {
        refusal = `the RPC nodes show nodes of which ${configDigest} is not the digest: no key for secrets is generated with them`;
        log.error({ configDigest }, `secrets: ${refusal}`);
        return;
      }
      seat = openSeat(context, set);
      void agreeOnKey(context, seat);
    },

    answer,

    openerFor(requestId) {
      const { key } = readyKey();
      return {
        donSecretKey: key.donSecretKey,
        async open(ciphertext, isFor) {
          const parsed = parseHandedOn(ciphertext, key.threshold);
          if (requestId === undefined || !isFor(parsed)) throw new CiphertextError("it is for somebody else");
          const named = { requestId, digest: digestOf(ciphertext), u: parsed.u };
          return await decrypt(parsed, combineShares(await gatherShares(readyKey(), box, named)));
        },
      };
    },

    parse(ciphertext) {
      if (seat?.isAgreed !== true) throw new GatewayError(PENDING);
      return parseHandedOn(ciphertext, readyKey().key.threshold);
    },

    async recall(owner, slots) {
      const { own } = readyKey();
      return await recall(context, own, own, { owner, slots });
    },

    trouble: () => (seat === undefined ? refusal : keyTrouble(context, seat)),
  };
}

const NOTHING = new Uint8Array();

/** The nodes have not generated their key yet. */
class KeyPendingError extends Error {
  constructor() {
    super(PENDING);
  }
}
