import { createCiphers } from "./ciphers.ts";
import { cryptoNatives, emptyErrorQueue } from "./cryptography.ts";
import { nodeNatives } from "./node.ts";
import { textNatives } from "./text.ts";
import { urlNatives } from "./url.ts";
import { zlibNatives } from "./compression.ts";
import { createCompressionStreams, type CompressionStreams } from "./compressionStreams.ts";
import type { Native, NativeAnswer } from "./native.ts";

const NATIVES: ReadonlyMap<string, Native> = new Map(
  Object.entries({ ...textNatives, ...urlNatives, ...nodeNatives, ...cryptoNatives, ...zlibNatives }),
);

/** The natives of one run. */
export interface Natives {
  /**
   * Answers a call by the guest.
   * @returns Bytes; or text that begins with `=` (the answer) or `!` (an error's type, message and codes as JSON).
   */
  readonly call: (name: string, header: string, body: Uint8Array) => NativeAnswer;
  /** Frees what the run has left open. */
  readonly close: () => void;
}

/** Creates the natives of a run, `more` among them. All others but the ciphers and compression streams have no state. */
export function createNatives(more: Readonly<Record<string, Native>>): Natives {
  let streams: CompressionStreams | undefined;
  let ciphers: Readonly<Record<string, Native>> | undefined;

  function find(name: string): Native {
    const native = NATIVES.get(name) ?? (Object.hasOwn(more, name) ? more[name] : undefined);
    if (native !== undefined) return native;
    if (name.startsWith("compression")) {
      streams ??= createCompressionStreams();
      const found = Object.hasOwn(streams.natives, name) ? streams.natives[name] : undefined;
      if (found !== undefined) return found;
    }
    if (name === "cipher" || name === "cipherOpen") {
      ciphers ??= createCiphers();
      return ciphers[name] as Native;
    }
    throw new TypeError(`unknown native ${name.slice(0, 64)}`);
  }

  return {
    call: (name, header, body) => {
      try {
        const answer = find(name)(JSON.parse(header) as Readonly<Record<string, unknown>>, body);
        return typeof answer === "string" ? `=${answer}` : answer;
      } catch (error) {
        if (Object.hasOwn(cryptoNatives, name) || name.startsWith("cipher")) emptyErrorQueue();
        const { name: type, message, code, errno } = error as Partial<NodeJS.ErrnoException>;
        return `!${JSON.stringify({ type, message: message ?? "native call failed", code: code ?? null, errno: errno ?? null })}`;
      }
    },
    close: () => streams?.close(),
  };
}
