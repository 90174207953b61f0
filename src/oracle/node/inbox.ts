import type { Hex } from "viem";
import { ByteReader, MalformedMessageError } from "../protocol/byteReader.ts";
import {
  isProofMessage,
  MAX_MESSAGE_BYTES,
  peekRequestId,
  peekSender,
  type Received,
  type Wire,
} from "../protocol/wire.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import { createTokenBuckets } from "../../lib/tokenBucket.ts";
import { toHexText } from "../../lib/hex.ts";
import type { Proof } from "../../vrf/proof.ts";

/**
 * Bytes of messages remembered as checked, the same part for each node: a repeated message costs a hash instead of a signature check. With
 * 31 nodes, each has room for the messages of some 500 requests.
 */
const MAX_CHECKED_BYTES = 64 * 2 ** 20;
/** A message's bytes count twice, as its key or the messages nested in it may take as much again, plus the objects around them. */
const bytesOf = ({ length }: Uint8Array): number => 2 * length + 1_024;
/** Messages up to this length are keyed by their own bytes, in a tenth of the time of a hash; most are much shorter. */
const MAX_KEY_BYTES = 1_024;
/**
 * Limit on checked messages per address, 0.1 ms each: three per request at 200 requests a second, with headroom. If they were counted by
 * key, anyone who replays a node's messages could get that node refused.
 */
const CHECKED = { burst: 10_000, perSecond: 2_500 } as const;
/**
 * Limit within that on messages about requests that this node doesn't see as open: their block is yet to be read, or they were answered
 * meanwhile. That is all that a stranger has who recorded nodes' messages. Two per request that arrive early or late, at 200 requests a
 * second, with headroom.
 */
const NOT_OPEN = { burst: 2_000, perSecond: 500 } as const;
/** Limit on previously checked messages per address, some 10 µs each: what a node repeats while requests wait. */
const REPEATED = { burst: 20_000, perSecond: 10_000 } as const;
/** Limit on malformed bodies per address; a signature checked in vain takes 0.1 ms. */
const MALFORMED = { burst: 50, perSecond: 5 } as const;

/** A wrong VRF proof counts as this many malformed bodies: checking one takes up to 10 ms. */
const WRONG_PROOF_COST = 5;

/** What a VRF proof meant to this node: it was needed and right, or wrong, or there was no use for it, or not yet. */
export type ProofOutcome = "right" | "wrong" | "known" | "early";

/** Takes VRF proofs from anyone. */
export interface ProofTaker {
  /** Whether the proof of a request would be checked now: its request is open, and none is known. */
  wants(requestId: Hex): boolean;
  /** Checks a proof, or keeps it until its request is seen. `address` is its sender's. */
  take(requestId: Hex, proof: Proof, address: string): ProofOutcome;
}

/** How a body was handled. */
export type BodyOutcome = "taken" | "malformed" | "limited";

/** Accepts message bodies from anyone. */
export interface Inbox {
  /**
   * Handles a body.
   *
   * @param address network address of the sender, or the group of addresses that the limits treat as one.
   */
  take(this: void, body: Uint8Array, address: string): BodyOutcome;
  /**
   * Returns when a node was last heard, in Unix milliseconds: the arrival of a new message about a request that is open or was answered
   * recently. A message that a stranger recorded and replays says nothing about the node. `undefined` before the first.
   */
  lastHeardAt(this: void, node: number): number | undefined;
  /** Records a node as heard whose message arrived before its request, which this node sees by now. */
  noteHeard(this: void, node: number): void;
}

/** A message whose signature was checked. */
interface Checked {
  readonly received: Received;
  /** Whether it has counted as its node being heard. */
  isHeard: boolean;
}

/** Creates the inbox of one configuration: it only passes on messages signed by that configuration's nodes. */
export function createInbox(options: {
  readonly wire: Wire;
  readonly signers: readonly Hex[];
  readonly isOpen: (requestId: Hex) => boolean;
  /** Whether a request was answered recently. */
  readonly isAnswered: (requestId: Hex) => boolean;
  readonly onMessage: (received: Received) => void;
  readonly proofs: ProofTaker;
}): Inbox {
  const { wire, signers, isOpen, isAnswered, onMessage, proofs } = options;
  const bySender = signers.map(() => createBoundedMap<string, Checked>(MAX_CHECKED_BYTES / signers.length));
  /** Returns the messages remembered of the node that a message names as its sender. */
  const checkedOf = (bytes: Uint8Array) => bySender[peekSender(bytes) ?? -1];
  const checks = createTokenBuckets(CHECKED);
  const notOpen = createTokenBuckets(NOT_OPEN);
  const repeats = createTokenBuckets(REPEATED);
  const offences = createTokenBuckets(MALFORMED);
  const heard = new Map<number, number>();

  /** Reads a message; `undefined` if the address exceeds its limits. */
  const open = (bytes: Uint8Array, address: string): Checked | undefined => {
    const key = keyOf(bytes);
    const known = checkedOf(bytes)?.get(key);
    if (known !== undefined) return repeats.take(address) ? known : undefined;
    const requestId = peekRequestId(bytes);
    const isKnown = requestId === undefined || isOpen(requestId);
    if (!(isKnown ? checks : notOpen).take(address)) return undefined;
    const received = wire.open(bytes, (nested) => checkedOf(nested)?.get(keyOf(nested))?.received);
    const opened = { received, isHeard: false };
    bySender[received.sealed.message.sender]!.set(key, opened, bytesOf(bytes));
    return opened;
  };

  /** Takes a proof; returns `false` if the address exceeds its limits. */
  const takeProof = (bytes: Uint8Array, address: string): boolean => {
    const { requestId, proof } = wire.readProofMessage(bytes);
    if (!offences.has(address) || !(proofs.wants(requestId) ? checks : notOpen).take(address)) return false;
    // The rest of the body may be right: on another branch of the chain, the same request has another proof.
    if (proofs.take(requestId, proof, address) === "wrong") offences.charge(address, WRONG_PROOF_COST);
    return true;
  };

  const noteHeard = (node: number): void => void heard.set(node, Date.now());

  const hear = (message: Checked): void => {
    const { requestId, sealed } = message.received;
    if (message.isHeard || !(isOpen(requestId) || isAnswered(requestId))) return;
    message.isHeard = true;
    noteHeard(sealed.message.sender);
  };

  return {
    lastHeardAt: (node) => heard.get(node),
    noteHeard,
    take(body, address) {
      if (!offences.has(address)) return "limited";
      const reader = new ByteReader(body);
      try {
        while (!reader.isAtEnd) {
          const length = reader.uint(4);
          if (length > MAX_MESSAGE_BYTES) throw new MalformedMessageError("a message is too long");
          // Copies: a view would retain the whole body, and so would a slice of a Buffer.
          const bytes = Uint8Array.from(reader.bytes(length));
          if (isProofMessage(bytes)) {
            if (!takeProof(bytes, address)) return "limited";
            continue;
          }
          const message = open(bytes, address);
          if (message === undefined) return "limited";
          hear(message);
          onMessage(message.received);
        }
        return "taken";
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error;
        offences.take(address);
        return "malformed";
      }
    },
  };
}

/** Returns a string that is unique to these bytes. */
function keyOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_KEY_BYTES) return toHexText(keccak256(bytes));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
