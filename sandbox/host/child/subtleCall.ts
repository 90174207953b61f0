import { formatCallMessage } from "../net/callMessage.ts";
import { createSubtleHost, type SubtleHost } from "./natives/subtle.ts";

/** One run's Web Crypto calls, answered in this process. */
export interface SubtleCalls {
  /** Number of calls without an answer yet. */
  readonly pending: number;
  /** What `node:crypto` does with the keys. */
  readonly natives: SubtleHost["natives"];
  readonly run: (message: Uint8Array, answer: (answer: Uint8Array) => void) => void;
}

/**
 * Creates the calls of a run; keys live as long as the run.
 *
 * @param onRandom called before a call whose answer differs each time.
 */
export function createSubtleCalls(onRandom: () => void): SubtleCalls {
  const host = createSubtleHost(onRandom);
  let pending = 0;
  return {
    natives: host.natives,
    get pending() {
      return pending;
    },
    run: (message, answer) => {
      pending += 1;
      void answerSubtle(host, message).then((bytes) => {
        pending -= 1;
        answer(bytes);
      });
    },
  };
}

/** Answers a Web Crypto message with one of the same form. */
async function answerSubtle(host: SubtleHost, message: Uint8Array): Promise<Uint8Array> {
  const { header, body } = splitCall(message);
  const answer = await host.run(header, body);
  return formatCallMessage(answer.header, answer.body);
}

/** Splits a call's message into its header (JSON text) and its body; see `sandbox/guest/hostCalls.ts`. */
function splitCall(message: Uint8Array): { readonly header: string; readonly body: Uint8Array } {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = bytes.length < 4 ? bytes.length : Math.min(bytes.length, 4 + bytes.readUInt32BE(0));
  return { header: bytes.toString("utf8", 4, end), body: bytes.subarray(end) };
}
