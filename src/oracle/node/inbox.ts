import type { Hex } from "viem";
import { ByteReader, MalformedMessageError } from "../protocol/byteReader.ts";
import { MAX_MESSAGE_BYTES, type Received, type Wire } from "../protocol/wire.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { createTokenBuckets } from "./tokenBucket.ts";

/** Messages whose signatures were checked and are not checked again: what is said again and again costs a hash. */
const MAX_CHECKED = 8_192;
/** Messages of one key: those of 200 requests a second among 31 nodes, twice. */
const PER_KEY = { burst: 50_000, perSecond: 25_000 } as const;
/** Bodies with something wrong in them that one address may send; a signature that is checked in vain takes 0.1 ms. */
const PER_ADDRESS = { burst: 50, perSecond: 5 } as const;

/** What became of a body. */
export type BodyOutcome = "taken" | "malformed" | "limited";

/** Takes bodies of messages from anybody. */
export interface Inbox {
  /**
   * @param address network address of whoever sent it.
   */
  take(this: void, body: Uint8Array, address: string): BodyOutcome;
  /** Unix time in milliseconds of the last message by node; `undefined` before the first. */
  lastHeardAt(this: void, node: number): number | undefined;
}

/** Creates the inbox of one configuration: what it hands on is signed by a node of that. */
export function createInbox(options: {
  readonly wire: Wire;
  readonly signers: readonly Hex[];
  readonly onMessage: (received: Received) => void;
}): Inbox {
  const { wire, onMessage } = options;
  const checked = new Map<string, Received>();
  const keys = createTokenBuckets(PER_KEY);
  const offenders = createTokenBuckets(PER_ADDRESS);
  const heard = new Map<number, number>();

  const open = (bytes: Uint8Array): Received => {
    const hash = keccak256(bytes).toHex();
    let received = checked.get(hash);
    if (received !== undefined) return received;
    received = wire.open(bytes);
    if (checked.size >= MAX_CHECKED) checked.delete(checked.keys().next().value!);
    checked.set(hash, received);
    return received;
  };

  return {
    lastHeardAt: (node) => heard.get(node),
    take(body, address) {
      if (!offenders.has(address)) return "limited";
      const reader = new ByteReader(body);
      try {
        while (!reader.isAtEnd) {
          const length = reader.uint(4);
          if (length > MAX_MESSAGE_BYTES) throw new MalformedMessageError("a message is too long");
          // A view would keep the whole body.
          const received = open(reader.bytes(length).slice());
          const { sender } = received.sealed.message;
          if (!keys.take(String(sender))) return "limited";
          heard.set(sender, Date.now());
          onMessage(received);
        }
        return "taken";
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error;
        offenders.take(address);
        return "malformed";
      }
    },
  };
}
