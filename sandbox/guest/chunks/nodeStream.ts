import {
  describe,
  invalidArgument,
  nodeError,
  showValuesWith,
  unknownEncoding,
  warnDeprecated,
  wrongArgument,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import {
  type DuplexClass,
  duplexPair,
  webReadables,
  webWritables,
  writableToWeb,
} from "../node/streamPairs.ts";
import { PieceList } from "../node/pieceList.ts";
import { streamParts } from "../node/streamParts.ts";
import { packStreams } from "../node/streamState.ts";
import { at, nameless, order, shape } from "../shape.ts";
import { isAnyArrayBuffer } from "../types.ts";

type StreamClass = Record<string, unknown> & { readonly prototype: object };
interface Library extends Record<string, unknown> {
  readonly Readable: StreamClass & { from(items: unknown, options?: object): AsyncIterable<unknown> };
  readonly Writable: StreamClass;
  readonly Duplex: StreamClass;
  readonly promises: Record<string, unknown>;
}
/** A class of errors of the library. */
type Coded = new (...args: unknown[]) => Error;
/** The bundler's, which evaluates the library when it is called. */
declare const require: {
  (name: "readable-stream/lib/stream.js"): Library;
  (name: "readable-stream/lib/ours/errors.js"): { readonly codes: Record<string, unknown> };
};

/** Which functions of Deno's `node:stream` differ from the library's in their properties, as `shape` reads them. */
const SHAPES: Readonly<Record<string, string>> = {
  "": "duplexPair/1+ addAbortSignal/2+ compose/0+ _isArrayBufferView/1+=isArrayBufferView _isUint8Array/1+=isUint8Array _uint8ArrayToBuffer/1+",
  Readable: "fromWeb/2+= toWeb/2+=",
  Writable: "fromWeb/2+= toWeb/1+=",
  "Writable.prototype": "setDefaultEncoding/1+",
  Duplex: "fromWeb/2+= toWeb/2+=",
  "Duplex.prototype": "setDefaultEncoding/1+",
  "Stream.prototype": "eventNames/0+",
  "Writable.WritableState.prototype": "getBuffer/0+",
};

/** The order of names, by path. */
const ORDERS = {
  "": "isDestroyed isDisturbed isErrored isReadable isWritable Readable Writable Duplex Transform PassThrough duplexPair pipeline addAbortSignal finished destroy compose setDefaultHighWaterMark getDefaultHighWaterMark promises Stream _isArrayBufferView _isUint8Array _uint8ArrayToBuffer",
  Writable: "WritableState kForceStableState fromWeb toWeb",
};

/** Under this name `finished` asks a web stream for `{promise}`, settled when the stream is. */
const CLOSED = Symbol.for("nodejs.webstream.isClosedPromise");

/** Under this name a signal ends a web stream. */
const FAIL = Symbol.for("nodejs.webstream.controllerErrorFunction");

function closedPromise(
  stream: Record<symbol, unknown>,
  fields: Readonly<Record<"state" | "storedError", symbol>>,
): object {
  let state = stream[fields.state];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {});
  // The polyfill sets the state before the error.
  const settle = async (): Promise<void> => {
    await Promise.resolve();
    if (state === "closed") resolve();
    else if (state === "errored") reject(stream[fields.storedError]);
  };
  void settle();
  Object.defineProperty(stream, fields.state, {
    get: () => state,
    set: (value: string) => {
      state = value;
      void settle();
    },
    configurable: true,
  });
  return { promise };
}

/** `node:stream` and its promises: readable-stream, which is Node's own code. */
export default function nodeStreamChunk({ load, nextTick }: Internals): Readonly<Record<string, unknown>> {
  const node = load("node") as Readonly<Record<string, object>>;
  Object.assign(streamParts, {
    events: node["events"],
    buffer: load("buffer"),
    process: load("platform")["process"],
    string_decoder: node["stringDecoder"],
    list: PieceList,
  });
  const { codes } = require("readable-stream/lib/ours/errors.js");
  for (const [code, Class] of Object.entries(codes) as [string, Coded][])
    codes[code] = function coded(...args: unknown[]): Error {
      return nodeError(code, new Class(...args).message, Object.getPrototypeOf(Class) as ErrorConstructor);
    };
  const Wrong = codes["ERR_INVALID_ARG_TYPE"] as Coded;
  // Node's words since: of a chunk, and of a missing argument.
  codes["ERR_INVALID_ARG_TYPE"] = function wrongType(name: string, expected: unknown, value: unknown): Error {
    return name === "chunk"
      ? wrongArgument(name, "of type string or an instance of Buffer, TypedArray, or DataView", value)
      : nodeError(
          "ERR_INVALID_ARG_TYPE",
          new Wrong(name, expected, null).message.replace(/null$/, () => describe(value)),
          TypeError,
        );
  };
  showValuesWith(load);
  codes["ERR_UNKNOWN_ENCODING"] = unknownEncoding;
  codes["ERR_INVALID_ARG_VALUE"] = invalidArgument;
  codes["ERR_MISSING_ARGS"] = function missingArgument(name: string): Error {
    return nodeError("ERR_MISSING_ARGS", `The "${name}" argument must be specified`, TypeError);
  };
  codes["ERR_INVALID_RETURN_VALUE"] = function wrongReturn(
    wanted: string,
    name: string,
    value: unknown,
  ): Error {
    const text = `Expected ${wanted} to be returned from the "${name}" function but got ${describe(value)}.`;
    return nodeError("ERR_INVALID_RETURN_VALUE", text, TypeError);
  };
  const { Buffer } = load("buffer") as unknown as {
    Buffer: { from(value: unknown, encoding?: string): Uint8Array; isEncoding(value: unknown): boolean };
  };
  const library = require("readable-stream/lib/stream.js");
  (library["setDefaultHighWaterMark"] as (isObject: boolean, bytes: number) => void)(false, 65_536);
  delete (library.Readable.prototype as { asIndexedPairs?: unknown }).asIndexedPairs;
  const { Readable, Writable, Duplex, promises } = library;
  const { ReadableStream, WritableStream, fields } = load("streams") as unknown as {
    readonly fields: Readonly<
      Record<"state" | "storedError" | "readableStreamController" | "writableStreamController", symbol>
    >;
    ReadableStream: (new () => AsyncIterable<unknown>) & { from(items: unknown): unknown };
    WritableStream: new () => object;
  };
  for (const [{ prototype }, controller] of [
    [ReadableStream, fields.readableStreamController],
    [WritableStream, fields.writableStreamController],
  ] as const)
    Object.defineProperties(prototype, {
      [CLOSED]: {
        get(this: Record<symbol, unknown>) {
          return closedPromise(this, fields);
        },
        configurable: true,
      },
      [FAIL]: {
        value(this: Record<symbol, { error(reason: unknown): void }>, reason: unknown) {
          this[controller]?.error(reason);
        },
        configurable: true,
      },
    });
  const expect = (value: unknown, Type: unknown, name: string, expected: string): void => {
    if (!(value instanceof (Type as new () => object))) throw wrongArgument(name, expected, value);
  };
  const { AbortError } = node["errors"] as { AbortError: new (options?: ErrorOptions) => Error };
  const { fromWeb: readWeb, toWeb: toReadable } = webReadables(library, load("streams"), Buffer, AbortError);
  Readable["fromWeb"] = (stream: unknown, options?: object): unknown => {
    expect(stream, ReadableStream, "readableStream", "an instance of ReadableStream");
    return readWeb(stream as never, options);
  };
  Readable["toWeb"] = (stream: unknown, options?: object): unknown => {
    expect(stream, Readable, "streamReadable", "an stream.Readable");
    return toReadable(stream as never, options);
  };
  packStreams(library, (encoding) => {
    if (!Buffer.isEncoding(encoding)) throw unknownEncoding(encoding);
    return encoding;
  });
  const finished = library["finished"] as (stream: unknown, done: (error?: Error) => void) => void;
  Object.defineProperty(Writable.prototype, Symbol.asyncDispose, {
    enumerable: true,
    value: nameless(function (this: {
      readonly destroyed: boolean;
      writableFinished: boolean;
      destroy(error: unknown): void;
    }) {
      if (!this.destroyed) this.destroy(this.writableFinished ? null : new AbortError());
      return new Promise((resolve, reject) =>
        finished(this, (error) => (error && error.name !== "AbortError" ? reject(error) : resolve(null))),
      );
    }),
    writable: true,
    configurable: true,
  });
  const toWeb = writableToWeb(library, load("streams"), AbortError);
  const { fromWeb, duplexFromWeb } = webWritables(library, Buffer);
  Object.assign(Writable, {
    fromWeb(stream: never, options?: object): object {
      expect(stream, WritableStream, "writableStream", "an instance of WritableStream");
      return fromWeb(stream, options);
    },
    toWeb(stream: never): object {
      expect(stream, Writable, "streamWritable", "an stream.Writable");
      return toWeb(stream);
    },
  });
  Duplex["toWeb"] = (stream: never, options: { readableType?: unknown; type?: unknown } = {}): object => {
    expect(stream, Duplex, "duplex", "an stream.Duplex");
    const writable = toWeb(stream);
    // eslint-disable-next-line typescript/prefer-destructuring -- what has no properties is refused in V8's words
    const readableType = options.readableType;
    const { type } = options;
    if ((readableType ?? null) === null && (type ?? null) !== null)
      warnDeprecated(
        "DEP0201",
        "Passing 'options.type' to Duplex.toWeb() is deprecated. To specify the ReadableStream type, use 'options.readableType'.",
      );
    const readable = (Readable["toWeb"] as (...given: unknown[]) => object)(stream, {
      type: readableType || type || undefined,
    });
    return { writable, readable };
  };
  Duplex["fromWeb"] = (pair: unknown, options?: object) => {
    if (typeof pair !== "object" || pair === null) throw wrongArgument("pair", "of type object", pair);
    const { readable, writable } = pair as { readable: unknown; writable: unknown };
    expect(readable, ReadableStream, "pair.readable", "an instance of ReadableStream");
    expect(writable, WritableStream, "pair.writable", "an instance of WritableStream");
    return duplexFromWeb(pair as never, options);
  };
  Object.assign(library, {
    duplexPair: (options?: object) => duplexPair(Duplex as unknown as DuplexClass, nextTick, options),
    _isArrayBufferView: (value: unknown) => ArrayBuffer.isView(value),
  });
  Object.assign(Duplex.prototype, { destroy: (Writable.prototype as { destroy?: unknown }).destroy });
  delete (finished as { finished?: unknown }).finished;
  Writable["kForceStableState"] = Symbol("kForceStableState");
  // The events that a stream may have are listed beforehand.
  Object.assign((library["Stream"] as StreamClass).prototype, {
    eventNames(this: { readonly _events: Record<PropertyKey, unknown> }): PropertyKey[] {
      return Reflect.ownKeys(this._events).filter((name) => this._events[name] !== undefined);
    },
  });
  const names = Object.fromEntries(Object.entries(library));
  /** Deno's own words, for what can't be read piece by piece. */
  const piecesOf = (stream: AsyncIterable<unknown>): AsyncIterable<unknown> => {
    if (typeof stream[Symbol.asyncIterator] !== "function")
      throw new TypeError("e[Symbol.asyncIterator] is not a function");
    if (stream instanceof ReadableStream && (stream as unknown as { readonly locked: boolean }).locked)
      throw nodeError("ERR_INVALID_STATE", "Invalid state: ReadableStream is locked");
    return stream;
  };
  type BlobLike = { arrayBuffer(): Promise<ArrayBuffer> };
  const blob = async (stream: AsyncIterable<unknown>): Promise<BlobLike> => {
    const parts: unknown[] = [];
    for await (const part of piecesOf(stream)) parts.push(part);
    return new (load("file")["Blob"] as new (parts: unknown[]) => BlobLike)(parts);
  };
  const arrayBuffer = async (stream: AsyncIterable<unknown>): Promise<ArrayBuffer> =>
    (await blob(stream)).arrayBuffer();
  const text = async (stream: AsyncIterable<unknown>): Promise<string> => {
    const decoder = new (load("text")["TextDecoder"] as typeof TextDecoder)();
    let whole = "";
    for await (const part of piecesOf(stream)) {
      if (typeof part !== "string" && !isAnyArrayBuffer(part) && !ArrayBuffer.isView(part))
        throw wrongArgument(
          "input",
          "an instance of SharedArrayBuffer, ArrayBuffer, or ArrayBufferView",
          part,
        );
      whole += typeof part === "string" ? part : decoder.decode(part as Uint8Array, { stream: true });
    }
    return whole + decoder.decode();
  };
  const consumers = {
    arrayBuffer,
    blob,
    buffer: async (stream: AsyncIterable<unknown>) => Buffer.from(await arrayBuffer(stream)),
    bytes: async (stream: AsyncIterable<unknown>) => new Uint8Array(await arrayBuffer(stream)),
    text,
    json: async (stream: AsyncIterable<unknown>) => JSON.parse(await text(stream)) as unknown,
  };
  shape(library, SHAPES);
  for (const [path, names] of Object.entries(ORDERS)) order(at(library, path) as object, names);
  return {
    consumers: { ...consumers, default: consumers },
    stream: { ...names, promises, default: library },
    promises: { ...promises, default: { ...promises } },
  };
}
