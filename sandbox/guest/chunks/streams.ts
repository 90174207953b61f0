import * as polyfill from "web-streams-polyfill";
import type { Internals } from "../internals.ts";
import { bytesOf, concatBytes, printable, toText } from "../webIdl.ts";

type Controller = { enqueue(chunk: unknown): void };

/** Streams Standard (through web-streams-polyfill), Encoding and Compression streams. */
export default function streamsChunk({ load, native }: Internals): Readonly<Record<string, unknown>> {
  const {
    ReadableStream,
    WritableStream,
    TransformStream,
    ReadableStreamDefaultReader,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableByteStreamController,
    ReadableStreamDefaultController,
    WritableStreamDefaultWriter,
    WritableStreamDefaultController,
    TransformStreamDefaultController,
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
  } = polyfill;
  const { TextEncoder, TextDecoder } = load("text") as {
    readonly TextEncoder: new () => { encode(text: string): Uint8Array };
    readonly TextDecoder: new (
      label?: unknown,
      options?: object,
    ) => {
      readonly encoding: string;
      readonly fatal: boolean;
      readonly ignoreBOM: boolean;
      decode(bytes?: unknown, options?: object): string;
    };
  };

  printAs(ReadableStream.prototype, (stream) => ({
    locked: (stream as { locked?: boolean }).locked,
    state: (stream as unknown as { _state: string })._state,
    supportsBYOB:
      "_pendingPullIntos" in
      ((stream as unknown as { _readableStreamController: object })._readableStreamController ?? {}),
  }));
  printAs(WritableStream.prototype, (stream) => ({ locked: (stream as { locked?: boolean }).locked }));
  printAs(TransformStream.prototype, (stream) => {
    const { readable, writable } = stream as { readable?: object; writable?: object };
    return { readable, writable };
  });

  const { getReader } = ReadableStream.prototype as {
    getReader: (this: object, options?: object) => unknown;
  };
  Object.defineProperty(ReadableStream.prototype, "getReader", {
    value: {
      getReader(this: { readonly locked: boolean }, options?: object): unknown {
        if (this.locked) throw new TypeError("ReadableStream is locked");
        return getReader.call(this, options);
      },
    }.getReader,
    writable: true,
    enumerable: true,
    configurable: true,
  });

  for (const type of [ReadableStreamDefaultController, ReadableByteStreamController]) {
    const prototype = type.prototype as unknown as Record<
      string,
      (this: object, ...args: unknown[]) => unknown
    >;
    for (const name of ["enqueue", "close"]) {
      const original = prototype[name] as (this: object, ...args: unknown[]) => unknown;
      prototype[name] = {
        [name](this: object, ...args: unknown[]): unknown {
          try {
            return original.apply(this, args);
          } catch (error) {
            if (!/not in a state that permits/.test((error as Error).message)) throw error;
            throw new TypeError("The stream controller cannot close or enqueue", { cause: error });
          }
        },
      }[name] as never;
    }
  }

  /** Base of the classes that wrap a transform stream. */
  class Pair {
    readonly #stream: InstanceType<typeof TransformStream>;
    constructor(transformer: object) {
      this.#stream = new TransformStream(transformer);
    }
    get readable(): unknown {
      return this.#stream.readable;
    }
    get writable(): unknown {
      return this.#stream.writable;
    }
  }

  class TextDecoderStream extends Pair {
    readonly #decoder: InstanceType<typeof TextDecoder>;
    constructor(label: unknown = "utf-8", options: object = {}) {
      const decoder = new TextDecoder(label, options);
      const push = (text: string, controller: Controller): void => {
        if (text !== "") controller.enqueue(text);
      };
      super({
        transform: (chunk: unknown, controller: Controller) =>
          push(decoder.decode(chunk, { stream: true }), controller),
        flush: (controller: Controller) => push(decoder.decode(), controller),
      });
      this.#decoder = decoder;
    }
    get encoding(): string {
      return this.#decoder.encoding;
    }
    get fatal(): boolean {
      return this.#decoder.fatal;
    }
    get ignoreBOM(): boolean {
      return this.#decoder.ignoreBOM;
    }
  }

  class TextEncoderStream extends Pair {
    constructor() {
      const encoder = new TextEncoder();
      let high = "";
      super({
        transform(chunk: unknown, controller: Controller) {
          const text = high + toText(chunk);
          high = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
          const bytes = encoder.encode(high === "" ? text : text.slice(0, -1));
          if (bytes.length > 0) controller.enqueue(bytes);
        },
        flush(controller: Controller) {
          if (high !== "") controller.enqueue(encoder.encode(high));
        },
      });
    }
    get encoding(): string {
      return "utf-8";
    }
  }

  const FORMATS: Readonly<Record<string, readonly [string, string]>> = {
    gzip: ["gzip", "gunzip"],
    deflate: ["deflate", "inflate"],
    "deflate-raw": ["deflateRaw", "inflateRaw"],
    brotli: ["brotliCompress", "brotliDecompress"],
  };

  /** Creates a transformer that buffers all input and converts it at the end: each of the host's operations is a single call. */
  function whole(type: string, format: unknown, direction: 0 | 1): object {
    const operation = FORMATS[toText(format)]?.[direction];
    if (operation === undefined) {
      throw new TypeError(
        `Failed to construct '${type}': The provided value '${format as string}' is not a valid enum value of type CompressionFormat`,
      );
    }
    const parts: Uint8Array[] = [];
    return {
      transform(chunk: unknown) {
        const bytes = bytesOf(chunk);
        if (bytes === undefined)
          throw new TypeError("The provided value is not of type '(ArrayBuffer or ArrayBufferView)'");
        parts.push(bytes.slice());
      },
      flush(controller: Controller) {
        try {
          controller.enqueue(native(operation, {}, concatBytes(parts)));
        } catch (error) {
          throw new TypeError((error as Error).message, { cause: error });
        }
      },
    };
  }

  class CompressionStream extends Pair {
    constructor(format: unknown) {
      super(whole("CompressionStream", format, 0));
    }
  }
  class DecompressionStream extends Pair {
    constructor(format: unknown) {
      super(whole("DecompressionStream", format, 1));
    }
  }
  for (const type of [TextDecoderStream, TextEncoderStream, CompressionStream, DecompressionStream]) {
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: type.name, configurable: true });
    printAs(type.prototype, (stream) => ({
      readable: (stream as unknown as Pair).readable,
      writable: (stream as unknown as Pair).writable,
    }));
  }
  return {
    ReadableStream,
    WritableStream,
    TransformStream,
    ReadableStreamDefaultReader,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableByteStreamController,
    ReadableStreamDefaultController,
    WritableStreamDefaultWriter,
    WritableStreamDefaultController,
    TransformStreamDefaultController,
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
    TextDecoderStream,
    TextEncoderStream,
    CompressionStream,
    DecompressionStream,
  };
}

function printAs(prototype: object, members: (stream: object) => object): void {
  Object.defineProperty(prototype, Symbol.for("Deno.privateCustomInspect"), {
    configurable: true,
    value(this: object, inspect: (value: unknown, options?: object) => string, options: object) {
      const name = (this.constructor as { name?: string } | undefined)?.name ?? "Object";
      return inspect(printable(name, members(this)), options);
    },
  });
}
