import * as polyfill from "web-streams-polyfill";
import type { Internals } from "../internals.ts";
import {
  boolean,
  bufferSource,
  conversionError,
  dictionary,
  enumeration,
  string,
  withCode,
} from "../convert.ts";
import {
  concatBytes,
  defineGetters,
  exposeInterface,
  illegalInvocation,
  moveToEnd,
  printGetters,
  printWith,
  printable,
  requireArguments,
} from "../webIdl.ts";

const readBytes = bufferSource();
const readShared = bufferSource(true);
const readDecoderOptions = dictionary<object>("TextDecoderOptions", {
  fatal: [boolean, false],
  ignoreBOM: [boolean, false],
});
/** Node's names of what each format of compression does and undoes. */
const OPERATIONS = {
  gzip: ["gzip", "gunzipMember"],
  deflate: ["deflate", "inflate"],
  "deflate-raw": ["deflateRaw", "inflateRaw"],
  brotli: ["brotliCompress", "brotliDecompress"],
} as const;
/** A strategy that reads nothing from `Object.prototype`. */
const BARE = { __proto__: null } as object;
/** The quality and window of Deno's Brotli, by number of the parameter. */
const BROTLI_PARAMS = { 1: 6, 2: 22 };

type Controller = { enqueue(chunk: unknown): void };

/** Streams Standard (through web-streams-polyfill), Encoding and Compression streams. */
export default function streamsChunk({
  load,
  native,
  cloneRules,
  exception,
  notePromise,
}: Internals): Readonly<Record<string, unknown>> {
  const { ReadableStream, WritableStream, TransformStream } = polyfill;
  const { fields } = polyfill as unknown as { readonly fields: Readonly<Record<string, symbol>> };
  type ReadableStream = polyfill.ReadableStream;
  type WritableStream = polyfill.WritableStream;
  type TransformStream = polyfill.TransformStream;
  const { TextEncoder, TextDecoder } = load("text") as {
    readonly TextEncoder: new () => { encode(text: string): Uint8Array };
    readonly TextDecoder: new (
      label?: unknown,
      options?: unknown,
    ) => {
      readonly encoding: string;
      readonly fatal: boolean;
      readonly ignoreBOM: boolean;
      decode(bytes?: unknown, options?: object): string;
    };
  };

  // The polyfill makes an AsyncIteratorPrototype of its own, and its `from` takes strings.
  const iterators = Object.getPrototypeOf(new ReadableStream(undefined, BARE).values()) as object;
  Reflect.deleteProperty(iterators, Symbol.asyncIterator);
  Object.setPrototypeOf(
    iterators,
    Object.getPrototypeOf(
      (Object.getPrototypeOf(async function* () {}) as { prototype: object }).prototype,
    ) as object,
  );
  const { from } = ReadableStream;
  const ownFrom = {
    from(items: unknown): unknown {
      const prefix = "Failed to execute 'ReadableStream.from'";
      requireArguments(arguments.length, 1, prefix);
      const isObject = (typeof items === "object" && items !== null) || typeof items === "function";
      const { [Symbol.asyncIterator]: method, [Symbol.iterator]: other } = Object(items) as Record<
        symbol,
        unknown
      >;
      if (!isObject || (method ?? other ?? undefined) === undefined)
        throw conversionError("can not be converted to async sequence.", prefix, "Argument 1");
      return from.call(ReadableStream, items as Iterable<unknown>);
    },
  };
  Object.assign(ReadableStream, ownFrom);

  printAs(ReadableStream.prototype, (stream) => ({
    locked: (stream as { locked?: boolean }).locked,
    state: (stream as unknown as Record<symbol, unknown>)[fields["state"] as never],
    supportsBYOB:
      (fields["pendingPullIntos"] as never) in
      ((stream as unknown as Record<symbol, object | undefined>)[
        fields["readableStreamController"] as never
      ] ?? {}),
  }));
  for (const type of [polyfill.ReadableStreamDefaultReader, polyfill.ReadableStreamBYOBReader])
    moveToEnd(type, ["closed", "cancel"]);
  const classes = { ...polyfill };
  const shown = {
    WritableStream: ["locked"],
    TransformStream: ["readable", "writable"],
    ReadableStreamDefaultReader: ["closed"],
    ReadableStreamBYOBReader: ["closed"],
    WritableStreamDefaultWriter: ["closed", "desiredSize", "ready"],
    WritableStreamDefaultController: ["signal"],
    CountQueuingStrategy: ["highWaterMark", "size"],
    ByteLengthQueuingStrategy: ["highWaterMark", "size"],
    TransformStreamDefaultController: ["desiredSize"],
    ReadableStreamDefaultController: ["desiredSize"],
    ReadableByteStreamController: ["desiredSize"],
  };
  /** Notes which promises of a reader or writer are settled. */
  const noteSettled = (instance: object): void => {
    const field = (target: object, name: string): unknown =>
      (target as Record<symbol, unknown>)[fields[name] as never];
    const stream = (field(instance, "ownerReadableStream") ?? field(instance, "ownerWritableStream")) as
      | object
      | undefined;
    if (stream === undefined) return;
    const { closed, ready } = instance as { closed: object; ready?: object };
    const isRejected = field(stream, "state") === "errored";
    const state = { isRejected, value: isRejected ? field(stream, "storedError") : undefined };
    if (field(instance, "closedPromise_resolve") === undefined) notePromise(closed, state);
    if (ready !== undefined && field(instance, "readyPromise_resolve") === undefined)
      notePromise(ready, state);
  };
  for (const [name, keys] of Object.entries(shown))
    printGetters(classes[name as keyof typeof shown], keys, keys[0] === "closed" ? noteSettled : undefined);

  /** The transform streams that instances of the classes below wrap. */
  const transforms = new WeakMap<object, InstanceType<typeof TransformStream>>();
  const wrap = (self: object, transformer: object): void =>
    void transforms.set(self, new TransformStream(transformer));
  const wrapped = (self: object): InstanceType<typeof TransformStream> => {
    const stream = transforms.get(self);
    if (stream === undefined) throw illegalInvocation();
    return stream;
  };

  class TextDecoderStream {
    readonly #decoder: InstanceType<typeof TextDecoder>;
    constructor(label: unknown = "utf-8", options: unknown = undefined) {
      const prefix = "Failed to construct 'TextDecoderStream'";
      const decoder = new TextDecoder(
        string(label, prefix, "Argument 1"),
        readDecoderOptions(options, prefix, "Argument 2"),
      );
      const push = (text: string, controller: Controller): void => {
        if (text !== "") controller.enqueue(text);
      };
      wrap(this, {
        transform: (chunk: unknown, controller: Controller) =>
          push(decoder.decode(readShared(chunk, prefix, "chunk"), { stream: true }), controller),
        flush: (controller: Controller) => push(decoder.decode(), controller),
        cancel: () => void decoder.decode(),
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

  class TextEncoderStream {
    constructor() {
      const encoder = new TextEncoder();
      let high = "";
      wrap(this, {
        transform(chunk: unknown, controller: Controller) {
          const text = string(chunk, "", "");
          if (text === "") return;
          const whole = high + text;
          high = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
          const bytes = encoder.encode(high === "" ? whole : whole.slice(0, -1));
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

  /** Returns a transform stream that clones what passes: what a transferred stream is connected with. */
  const cloning = (): InstanceType<typeof TransformStream> =>
    new TransformStream({
      __proto__: null,
      transform: (chunk: unknown, controller: Controller) =>
        controller.enqueue((load("clone")["copy"] as (value: unknown) => unknown)(chunk)),
    } as object);
  const refuseLocked = (stream: { readonly locked: boolean }, name: string): void => {
    if (!stream.locked) return;
    throw exception(`Cannot transfer a locked ${name}`, "DataCloneError");
  };
  const moveReadable = (stream: ReadableStream): ReadableStream => {
    refuseLocked(stream, "ReadableStream");
    return stream.pipeThrough(cloning());
  };
  const moveWritable = (stream: WritableStream): WritableStream => {
    refuseLocked(stream, "WritableStream");
    const { readable, writable } = cloning();
    void readable.pipeTo(stream).catch(() => {});
    return writable;
  };
  cloneRules.add({ has: (value) => value instanceof ReadableStream, transfer: moveReadable });
  cloneRules.add({ has: (value) => value instanceof WritableStream, transfer: moveWritable });
  cloneRules.add({
    has: (value) => value instanceof TransformStream,
    transfer: (stream: TransformStream) =>
      Object.create(TransformStream.prototype, {
        readable: { value: moveReadable(stream.readable), enumerable: true },
        writable: { value: moveWritable(stream.writable), enumerable: true },
      }) as object,
  });

  const readFormat = enumeration("CompressionFormat", ["deflate", "deflate-raw", "gzip", "brotli"]);

  /** Creates a transformer whose pieces the host converts, one after the other. */
  function converting(operation: string, prefix: string): object {
    const isBrotli = operation.startsWith("brotli");
    const id = Number(
      native("compressionOpen", {
        operation,
        ...(operation === "brotliCompress" && { params: BROTLI_PARAMS }),
      }),
    );
    /** The first bytes of the input. */
    let head: Uint8Array = new Uint8Array(0);
    let isStarted = false;
    const convert = (piece: Uint8Array, isLast: boolean, controller: Controller): void => {
      let output: Uint8Array;
      try {
        head = concatBytes([head, piece.subarray(0, GZIP_HEADER_BYTES - head.length)]);
        const isFirst = !isStarted;
        isStarted = true;
        // Brotli's FLUSH and FINISH, zlib's SYNC_FLUSH and FINISH; Deno doesn't notice when deflated data end too early.
        const flush = isBrotli ? (isLast ? 2 : 1) : isLast && !operation.startsWith("inflate") ? 4 : 2;
        output = native("compressionWrite", { id, flush, isLast, isStrict: true }, piece) as Uint8Array;
        // Deno's gzip doesn't name its system.
        if (isFirst && operation === "gzip") output[9] = 255;
      } catch (error) {
        throw failure(operation, (error as Error).message, head);
      }
      if (output.length > 0) controller.enqueue(output);
    };
    return {
      transform(chunk: unknown, controller: Controller) {
        if (chunk === null)
          throw withCode(new TypeError("May not write null values to stream"), "ERR_STREAM_NULL_VALUES");
        let piece: Uint8Array;
        try {
          piece = readBytes(chunk, prefix, "chunk");
        } catch (error) {
          throw withCode(error as Error, "ERR_INVALID_ARG_TYPE");
        }
        convert(piece, false, controller);
      },
      flush: (controller: Controller) => convert(new Uint8Array(0), true, controller),
      cancel: () => void native("compressionClose", { id }),
    };
  }

  /** Returns what does, or undoes, what a format of compression does. */
  const convertingAs = (name: string, isUndone: 0 | 1, format: unknown, given: number) => {
    const prefix = `Failed to construct '${name}'`;
    requireArguments(given, 1, prefix);
    return converting(OPERATIONS[readFormat(format, prefix, "Argument 1")][isUndone], prefix);
  };
  class CompressionStream {
    constructor(format: unknown) {
      wrap(this, convertingAs("CompressionStream", 0, format, arguments.length));
    }
  }
  class DecompressionStream {
    constructor(format: unknown) {
      wrap(this, convertingAs("DecompressionStream", 1, format, arguments.length));
    }
  }
  for (const [type, keys] of [
    [TextDecoderStream, ["encoding", "fatal", "ignoreBOM", "readable", "writable"]],
    [TextEncoderStream, ["encoding", "readable", "writable"]],
    [CompressionStream, ["readable", "writable"]],
    [DecompressionStream, ["readable", "writable"]],
  ] as const) {
    defineGetters(type, ["readable", "writable"], wrapped);
    exposeInterface(type);
    printGetters(type, keys);
  }
  return {
    ...classes,
    TextDecoderStream,
    TextEncoderStream,
    CompressionStream,
    DecompressionStream,
  };
}

const GZIP_HEADER_BYTES = 10;

/** Deno's error for what the host's zlib has found; it has no cause. */
const failure = (kind: string, message: string, head: Uint8Array): Error =>
  new TypeError(failureText(kind, message, head));

/** Returns Deno's message for what the host's zlib has found. */
function failureText(kind: string, message: string, head: Uint8Array): string {
  const isHeader = /header|compression method/.test(message);
  if (/trailing data/.test(message)) return "failed to write whole buffer";
  if (kind === "brotliDecompress")
    return message === "unexpected end of file" ? "brotli decompression failed" : "Invalid Data";
  if (kind === "inflate" || kind === "inflateRaw") return "corrupt deflate stream";
  if (kind !== "gunzipMember") return message;
  if (isHeader && head.length === GZIP_HEADER_BYTES) return "invalid gzip header";
  return isHeader || /check|unexpected end/.test(message)
    ? "corrupt gzip stream does not have a matching checksum"
    : "corrupt deflate stream";
}

function printAs(prototype: object, members: (stream: object) => object): void {
  printWith(prototype, (self, inspect, options) =>
    inspect(printable(self.constructor?.name ?? "Object", members(self)), options),
  );
}
