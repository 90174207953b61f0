import type { Writable } from "node:stream";
import { encodeFrame } from "./frames.ts";
import { TO_CHILD, type ReplyMessage } from "./messages.ts";

/**
 * Answers that the pipe to a child may hold, in bytes; any further ones wait unencoded, sharing memory with whoever
 * created them.
 */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Answers to a child's host calls, in order. */
export interface ReplyQueue {
  /** Sends an answer once the pipe has room; `body` is bytes or ASCII text. */
  readonly push: (message: ReplyMessage, body: Uint8Array | string) => void;
  /** Drops the answers that have not been sent. */
  readonly clear: () => void;
}

/** Creates a child's queue: a child that asks but does not read must not fill this process's memory with answers. */
export function createReplyQueue(input: Writable | null): ReplyQueue {
  let waiting: { readonly message: ReplyMessage; readonly body: Uint8Array | string }[] = [];

  function send(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if ((input?.writableLength ?? 0) > MAX_UNREAD_BYTES) {
        input?.once("drain", send);
        return;
      }
      waiting.shift();
      input?.write(encodeFrame(TO_CHILD.reply, next.message, next.body));
    }
  }

  return {
    push: (message, body) => {
      waiting.push({ message, body });
      if (waiting.length === 1) send();
    },
    clear: () => {
      waiting = [];
    },
  };
}
