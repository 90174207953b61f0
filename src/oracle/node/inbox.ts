import type { Hex } from "viem";
import { ByteReader, MalformedMessageError } from "../protocol/byteReader.ts";
import { MAX_MESSAGE_BYTES, peekRequestId, type Received, type Wire } from "../protocol/wire.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { createTokenBuckets } from "./tokenBucket.ts";
import { toHexText } from "../../lib/hex.ts";

/** Messages whose signatures were checked and are not checked again: what is said again and again costs a hash. */
const MAX_CHECKED = 8_192;
/** Up to this length a message is remembered by its own bytes, a tenth of what its hash takes; most are much shorter. */
const MAX_KEY_BYTES = 1_024;
/**
 * Messages from one address that are checked, 0.1 ms each: three of each request, of 200 requests a second, with room. Counted by key
 * instead, anybody who repeats what a node once said could have that node refused.
 */
const CHECKED = { burst: 10_000, perSecond: 2_500 } as const;
/**
 * Of those, messages about requests that this node doesn't see as open: of a block that it has yet to read, or answered meanwhile, which is
 * what a stranger has who recorded what nodes said. Two a request that come early and late, of 200 requests a second, with room.
 */
const NOT_OPEN = { burst: 2_000, perSecond: 500 } as const;
/** Messages from one address that were checked before, some 10 µs each: what a node says again while requests wait. */
const REPEATED = { burst: 20_000, perSecond: 10_000 } as const;
/** Bodies with something wrong in them that one address may send; a signature that is checked in vain takes 0.1 ms. */
const MALFORMED = { burst: 50, perSecond: 5 } as const;

/** What became of a body. */
export type BodyOutcome = "taken" | "malformed" | "limited";

/** Takes bodies of messages from anybody. */
export interface Inbox {
  /**
   * @param address network address of whoever sent it, or the group of addresses that limits count as one.
   */
  take(this: void, body: Uint8Array, address: string): BodyOutcome;
  /**
   * Unix time in milliseconds of a node's last word: a message that came for the first time, about a request that is open or was answered
   * lately. What a stranger recorded and sends again says nothing of the node. `undefined` before the first.
   */
  lastHeardAt(this: void, node: number): number | undefined;
  /** Notes that a message of a node came before its request, which this node sees by now. */
  noteHeard(this: void, node: number): void;
}

/** A message whose signature was checked. */
interface Checked {
  readonly received: Received;
  /** Whether it has counted as its node's last word. */
  isHeard: boolean;
}

/** Creates the inbox of one configuration: what it hands on is signed by a node of that. */
export function createInbox(options: {
  readonly wire: Wire;
  readonly signers: readonly Hex[];
  readonly isOpen: (requestId: Hex) => boolean;
  /** Whether a request was answered lately. */
  readonly isAnswered: (requestId: Hex) => boolean;
  readonly onMessage: (received: Received) => void;
}): Inbox {
  const { wire, isOpen, isAnswered, onMessage } = options;
  const checked = new Map<string, Checked>();
  const checks = createTokenBuckets(CHECKED);
  const notOpen = createTokenBuckets(NOT_OPEN);
  const repeats = createTokenBuckets(REPEATED);
  const offences = createTokenBuckets(MALFORMED);
  const heard = new Map<number, number>();

  /** Reads a message; `undefined` where too many come from the address. */
  const open = (bytes: Uint8Array, address: string): Checked | undefined => {
    const key = keyOf(bytes);
    const known = checked.get(key);
    if (known !== undefined) return repeats.take(address) ? known : undefined;
    const requestId = peekRequestId(bytes);
    const isKnown = requestId === undefined || isOpen(requestId);
    if (!(isKnown ? checks : notOpen).take(address)) return undefined;
    const received = wire.open(bytes, (nested) => checked.get(keyOf(nested))?.received);
    if (checked.size >= MAX_CHECKED) checked.delete(checked.keys().next().value!);
    const opened = { received, isHeard: false };
    checked.set(key, opened);
    return opened;
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
          // A view would keep the whole body, and so would a slice of a Buffer.
          const message = open(Uint8Array.from(reader.bytes(length)), address);
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

/** Returns a text that only the same bytes have. */
function keyOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_KEY_BYTES) return toHexText(keccak256(bytes));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
