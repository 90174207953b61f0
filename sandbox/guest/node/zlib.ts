import { nodeError, outOfRange, warnDeprecated, wrongArgument, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { order, shape } from "../shape.ts";

type Bytes = Uint8Array;
type Options = Readonly<Record<string, unknown>>;
type Callback = (error?: unknown) => void;
interface Transform {
  readonly writableEnded: boolean;
  readonly writableFinished: boolean;
  readonly writableLength: number;
  readonly destroyed: boolean;
  readonly _finishFlushFlag: number;
  _processChunk(piece: Bytes, flush: number): Bytes;
  push(bytes: Bytes | null): void;
  write(bytes: Bytes, encoding: string, callback?: Callback): void;
  once(event: string, listener: Callback): void;
  destroy(error?: unknown): void;
}
type StreamClass = new (options?: Options) => Transform;
interface Library {
  readonly Transform: new (options?: object) => Transform;
  finished(stream: object, callback: Callback): void;
}

/** Kinds of conversion; the first seven have Node's modes 1 to 7. */
const KINDS = [
  "deflate",
  "inflate",
  "gzip",
  "gunzip",
  "deflateRaw",
  "inflateRaw",
  "unzip",
  "brotliCompress",
  "brotliDecompress",
  "zstdCompress",
  "zstdDecompress",
];
/** The order of the names in Deno; constants follow. */
const ORDER =
  "crc32 Deflate Inflate Gzip Gunzip DeflateRaw InflateRaw Unzip BrotliCompress BrotliDecompress ZstdCompress ZstdDecompress deflate deflateSync gzip gzipSync deflateRaw deflateRawSync unzip unzipSync inflate inflateSync gunzip gunzipSync inflateRaw inflateRawSync brotliCompress brotliCompressSync brotliDecompress brotliDecompressSync zstdCompress zstdCompressSync zstdDecompress zstdDecompressSync createDeflate createInflate createDeflateRaw createInflateRaw createGzip createGunzip createUnzip createBrotliCompress createBrotliDecompress createZstdCompress createZstdDecompress constants codes";
const ZLIB_MODES = 7;
/** The classes' functions in Deno, as `shape` reads them. */
const CLASS_SHAPES = {
  "": "ZlibBase/4 Zlib/2 Brotli/2 Zstd/4",
  "ZlibBase.prototype":
    "_closed/0!=get reset/0+!= _flush/1+!= _final/1+!= flush/2+!= close/1+!= _destroy/2+!= _transform/3+!= _processChunk/3+!=",
  "Zlib.prototype": "params/3+!=",
};
const ERROR = Symbol("kError");
const JUNK = "ERR_TRAILING_JUNK_AFTER_STREAM_END";
const CLOSED =
  "zlib binding closed\nThis is caused by either a bug in Node.js or incorrect usage of Node.js internals.\nPlease open an issue with this stack trace at https://github.com/nodejs/node/issues\n";
const MIN_CHUNK_BYTES = 64;
const DEFAULT_CHUNK_BYTES = 16_384;
/** Options that are numbers: of all formats, and of zlib's. */
const NUMBERS = "chunkSize flush finishFlush maxOutputLength".split(" ");
const ZLIB_NUMBERS = "windowBits level memLevel strategy".split(" ");
/** Bounds of Zstandard's strategy and window, and of the window that is read. */
const ZSTD_BOUNDS: Readonly<Record<number, readonly [number, number]>> = { 107: [1, 9], 101: [10, 31] };
const ZSTD_READS: typeof ZSTD_BOUNDS = { 100: [10, 31] };
/** Numbers of its parameters; others are ignored. */
const ZSTD_KNOWN = /^(?:10[0-7]|16[0-4]|20[0-2]|24[0-2])$/;
const isNumber = ([, value]: readonly unknown[]): boolean => !Number.isNaN(value);
const ZSTD_END = 2;
const SYNC_FLUSH = 2;
const LAST_FLUSH = 5;
const CHUNK = "of type string or an instance of Buffer, TypedArray, or DataView";
const BUFFER = CHUNK.replace(", or DataView", ", DataView, or ArrayBuffer");

/** A kind's name as a class. */
const titled = (kind: string): string => kind.charAt(0).toUpperCase() + kind.slice(1);

/** Checks a number from `min` to `max`, if there is one. */
function checkRange(name: string, value: unknown, min = -Infinity, max = Infinity): void {
  if (value === undefined || Number.isNaN(value)) return;
  if (typeof value !== "number") throw wrongType(name, "number", value);
  if (Math.abs(value) === Infinity) throw outOfRange(name, "a finite number", value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} and <= ${max}`, value);
}

/** Deno's errors: that of Zstandard has no cause. What the options or too much output are told by stays. */
const zstdError = (error: Error): Error =>
  error instanceof TypeError || error instanceof RangeError
    ? error
    : new Error(`Zstd decompress error: ${error.message}`);
const junkError = (): Error =>
  nodeError(JUNK, "Trailing garbage found after the compressed stream", TypeError);

/** Creates `node:zlib`: the host converts, the pieces of a stream as they come. As in Deno, dictionaries are used for reading only. */
export function createZlib({
  native,
  load,
  setTimeout,
  nextTick,
}: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as {
    Buffer: {
      from(value: unknown): Bytes & { toString(encoding?: string): string };
      alloc(length: number): Bytes;
    };
  };
  const { constants: all, codes } = JSON.parse(native("zlibConstants", {}) as string) as Record<
    string,
    object
  >;
  const constants = Object.fromEntries(
    Object.entries(all as Record<string, number>).map(([name, value]) => [name, value ?? Infinity]),
  );

  function bytesOf(
    value: unknown,
    name: string,
    expected: string,
    also: readonly ("string" | "ArrayBuffer")[] = ["string", "ArrayBuffer"],
  ): Bytes {
    if (typeof value === "string" && also.includes("string")) return Buffer.from(value);
    if (value instanceof ArrayBuffer && also.includes("ArrayBuffer")) return Buffer.from(value);
    if (!ArrayBuffer.isView(value)) throw wrongArgument(name, expected, value);
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  function readOptions(operation: string, options: Options): Options {
    const { dictionary: given, params, pledgedSrcSize, rejectGarbageAfterEnd } = options;
    const isZlib = KINDS.indexOf(operation) < ZLIB_MODES;
    let dictionary: string | undefined;
    if (given !== undefined && isZlib) {
      const bytes = bytesOf(
        given,
        "options.dictionary",
        "an instance of Buffer, TypedArray, DataView, or ArrayBuffer",
        ["ArrayBuffer"],
      );
      // Deno compresses without one.
      if (/^(?:inflate|unzip)$/.test(operation)) dictionary = Buffer.from(bytes).toString("base64");
    }
    const numbers = [...NUMBERS, ...(isZlib ? ZLIB_NUMBERS : [])];
    for (const name of numbers) checkRange(`options.${name}`, options[name]);
    // Not a number: the default.
    const counts = numbers
      .map((name) => [name, options[name]] as const)
      .filter(([, value]) => value !== undefined && !Number.isNaN(value));
    if (rejectGarbageAfterEnd !== undefined && typeof rejectGarbageAfterEnd !== "boolean")
      throw wrongType("options.rejectGarbageAfterEnd", "boolean", rejectGarbageAfterEnd);
    const own = params && !isZlib ? { params: readParams(operation, Object(params) as object) } : {};
    return {
      ...Object.fromEntries(counts),
      rejectGarbageAfterEnd,
      ...own,
      dictionary,
      ...(Number(pledgedSrcSize ?? -1) >= 0 && { pledgedSrcSize: Math.trunc(Number(pledgedSrcSize)) }),
      operation,
    };
  }
  /** Checks the numbers of parameters, and leaves out those that the format ignores. */
  function readParams(operation: string, params: object): object {
    const isReading = /decompress/i.test(operation);
    const [format, most] = /brotli/i.test(operation) ? ["Brotli", 8] : ["zstd", isReading ? 100 : 242];
    const given = new Map<number, unknown>();
    for (const [key, value] of Object.entries(params)) {
      const number = Number(key);
      if (!(number >= 0 && number <= most) || given.has(number))
        throw nodeError(
          `ERR_${format.toUpperCase()}_INVALID_PARAM`,
          `${key} is not a valid ${format} parameter`,
          RangeError,
        );
      if (typeof value !== "number" && typeof value !== "boolean")
        throw wrongType("options.params[key]", "number", value);
      given.set(number, value);
    }
    if (format === "Brotli") return Object.fromEntries(isReading ? [] : [...given].filter(isNumber));
    for (const [number, [min, max]] of Object.entries(isReading ? ZSTD_READS : ZSTD_BOUNDS)) {
      const value = given.get(Number(number));
      if (value !== undefined && !(Number(value) >= min && Number(value) <= max))
        throw nodeError("ERR_ZLIB_INITIALIZATION_FAILED", "Setting parameter failed");
    }
    return Object.fromEntries(
      isReading ? [] : [...given].filter((entry) => isNumber(entry) && ZSTD_KNOWN.test(String(entry[0]))),
    );
  }
  /** Deno names the errors of Brotli otherwise, and takes an early end for the end. */
  function toStreamError(error: unknown): Error | undefined {
    const { code = "", errno } = error as { code?: string; errno?: number };
    if (code === "Z_BUF_ERROR") return undefined;
    return Object.assign(new Error(code.replace("ERR__", "ERR_")), {
      errno,
      code: (codes as Record<string, unknown>)[String(errno)],
    });
  }
  /** Deno tells a missing dictionary from a wrong one. */
  function dictionaryError(error: unknown, { dictionary }: Options): unknown {
    if (dictionary !== undefined && (error as { code?: string }).code === "Z_NEED_DICT")
      (error as Error).message = "Bad dictionary";
    return error;
  }
  /** Converts all at once; `toError` makes the error of wrong Brotli, which is otherwise taken for no data. */
  function convert(
    operation: string,
    input: Bytes,
    options: Options,
    toError: (error: unknown) => Error | undefined = () => undefined,
  ): Bytes {
    // Deno takes nothing for no data.
    if (operation === "zstdDecompress" && input.length === 0) return Buffer.alloc(0);
    try {
      const answer = native("zlib", readOptions(operation, options), input) as Bytes;
      return Buffer.from(answer.buffer);
    } catch (given) {
      const error = dictionaryError(given, options);
      if ((error as { code?: string }).code === JUNK) throw junkError();
      if (operation === "zstdDecompress") throw zstdError(error as Error);
      if (operation !== "brotliDecompress" || error instanceof TypeError || error instanceof RangeError)
        throw error;
      const told = toError(error);
      if (told !== undefined) throw told;
      return Buffer.alloc(0);
    }
  }

  const functions: Record<string, unknown> = {};
  const classes: Record<string, unknown> = {};
  let made: Record<string, StreamClass> | undefined;
  for (const kind of KINDS) {
    functions[kind] = (data: unknown, ...rest: unknown[]): void => {
      const [options, callback] = typeof rest[0] === "function" ? [{}, rest[0]] : rest;
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      // The stream that Deno makes is ended with the data, or without any.
      const input = data === null || data === undefined ? Buffer.alloc(0) : bytesOf(data, "chunk", CHUNK);
      const outcome: unknown[] = [];
      try {
        const given = (options ?? {}) as Options;
        outcome.push(null, answer(input, given, toStreamError));
      } catch (error) {
        // Wrong options are told at once, wrong data and too much of it to the callback.
        const { code } = error as { code?: string };
        if (
          (error instanceof TypeError || error instanceof RangeError) &&
          code !== "ERR_BUFFER_TOO_LARGE" &&
          code !== JUNK
        )
          throw error;
        outcome.push(error);
      }
      setTimeout(() => callback(...outcome), 0);
    };
    functions[`${kind}Sync`] = (data: unknown, options?: Options): unknown => {
      return answer(bytesOf(data, "buffer", BUFFER), options ?? {});
    };
    const name = titled(kind);
    const classOf = () => (made ??= createClasses())[name] as StreamClass;
    /** What a function returns: the bytes, with `info` beside the stream that made them. */
    const answer = (
      input: Bytes,
      options: Options,
      toError?: (error: unknown) => Error | undefined,
    ): unknown => {
      const buffer = convert(kind, input, options, toError);
      if (!options["info"]) return buffer;
      const engine = new (classOf())(options);
      try {
        engine._processChunk(input, engine._finishFlushFlag);
      } catch {
        // It is there for its numbers: what it refuses alone is no error of the function's.
      }
      return { buffer, engine };
    };
    // The library of streams is loaded once a stream is wanted.
    Object.defineProperty(classes, name, { get: classOf, enumerable: true, configurable: true });
    functions[`create${name}`] = (options?: Options) => new (classOf())(options);
  }

  /** Creates the classes of streams, whose library is loaded once one is wanted. */
  function createClasses(): Record<string, StreamClass> {
    const { Transform, finished } = load("nodeStream")["stream"] as Library;
    /** How the empty pieces of `flush` are converted. */
    const flushes = new WeakMap<Bytes, number>();
    /** Makes a stream of `self`, which old code calls a class with. In Deno the state is its first property, but of Zstandard's streams. */
    function Streamed(this: object, options: object, isFirst: boolean, self = this): object {
      if (isFirst) Object.assign(self, { _writeState: new Uint32Array(2) });
      Reflect.apply(Transform, self, [options]);
      return self;
    }
    Streamed.prototype = Transform.prototype;

    class ZlibBase extends (Streamed as unknown as new (
      options: object,
      isFirst: boolean,
      self?: object,
    ) => Omit<Transform, "_processChunk">) {
      readonly #id: number;
      /** Bytes left of the buffer that a piece of output may fill. */
      #room: number;
      readonly #kind: string;
      bytesWritten = 0;
      _handle: object | null;
      declare readonly _chunkSize: number;
      declare readonly _rejectGarbageAfterEnd: boolean;
      declare readonly _defaultFlushFlag: number;
      declare readonly _finishFlushFlag: number;
      declare readonly _defaultFullFlushFlag: number;
      readonly #options: Options;
      constructor(kind: string, given?: Options, self?: object) {
        const { maxOutputLength, ...options } = given ?? {};
        const { encoding, objectMode, writableObjectMode } = options;
        const isChanged = encoding || objectMode || writableObjectMode;
        const isZlib = KINDS.indexOf(kind) < ZLIB_MODES;
        const isZstd = kind.startsWith("zstd");
        super(
          {
            autoDestroy: true,
            ...options,
            ...(isChanged ? { encoding: null, objectMode: false, writableObjectMode: false } : {}),
          },
          !isZstd,
          self,
        );
        this.#options = options;
        checkRange("options.maxOutputLength", maxOutputLength, 1, Number.MAX_SAFE_INTEGER);
        const finish = isZlib ? 4 : 2;
        const read = readOptions(kind, options);
        const { chunkSize = DEFAULT_CHUNK_BYTES, flush = 0, finishFlush = finish } = read;
        this.#id = Number(native("compressionOpen", read));
        this.#room = Math.max(MIN_CHUNK_BYTES, chunkSize as number);
        this.#kind = kind;
        this._handle = {};
        Object.assign(this, {
          _outBuffer: Buffer.alloc(Math.min(this.#room, DEFAULT_CHUNK_BYTES)),
          _outOffset: 0,
          _chunkSize: this.#room,
          _defaultFlushFlag: flush,
          _finishFlushFlag: finishFlush,
          _defaultFullFlushFlag: isZlib ? 3 : 1,
          _info: options["info"],
          _maxOutputLength: maxOutputLength || Number.MAX_SAFE_INTEGER,
          _rejectGarbageAfterEnd: options["rejectGarbageAfterEnd"] === true,
          ...(isZstd && { _writeState: new Uint32Array(2) }),
          [ERROR]: null,
        });
      }
      static idOf(stream: ZlibBase): number {
        return stream.#id;
      }
      get _closed(): boolean {
        return this._handle === null;
      }
      reset(): number {
        if (this._closed) throw nodeError("ERR_INTERNAL_ASSERTION", CLOSED);
        native("compressionReset", { id: this.#id });
        return 0;
      }
      _flush(done: Callback): void {
        this._transform(Buffer.alloc(0), "", done);
      }
      _final(done: Callback): void {
        done();
      }
      _transform(piece: Bytes, _encoding: string, done: Callback): void {
        const isLast = this.writableEnded && this.writableLength === piece.byteLength;
        const flush = flushes.get(piece) ?? (isLast ? this._finishFlushFlag : this._defaultFlushFlag);
        this._processChunk(piece, flush, done);
      }
      _processChunk(piece: Bytes, flush: number, done?: Callback): Bytes | undefined {
        if (typeof done !== "function") {
          const output = this.#convert(piece, flush);
          this.bytesWritten = this.#consumed(piece);
          this.#close();
          return output;
        }
        const work = (): void => {
          let output: Bytes;
          try {
            if (this.destroyed) return done();
            output = this.#convert(piece, flush);
          } catch (error) {
            const told = this.#toError(error as Error, flush === ZSTD_END && piece.byteLength === 0);
            if (told !== undefined) this.destroy(told);
            return done();
          }
          const consumed = this.#consumed(piece);
          this.bytesWritten += consumed;
          while (output.byteLength > 0) {
            const part = output.subarray(0, this.#room);
            output = output.subarray(part.byteLength);
            this.#room = this.#room - part.byteLength || this._chunkSize;
            this.push(part);
          }
          if (consumed < piece.byteLength) {
            if (this._rejectGarbageAfterEnd) this.destroy(junkError());
            else this.push(null);
          }
          done();
        };
        // Deno compresses with Brotli and Zstandard at once.
        if (KINDS.indexOf(this.#kind) < ZLIB_MODES) nextTick(work);
        else work();
        return undefined;
      }
      #convert(piece: Bytes, flush: number): Bytes {
        return Buffer.from((native("compressionWrite", { id: this.#id, flush }, piece) as Bytes).buffer);
      }
      /** Bytes of the last piece that were read: what follows the end of compressed data isn't. */
      #consumed(piece: Bytes): number {
        if (/Compress$|^deflate|^gzip/.test(this.#kind)) return piece.byteLength;
        return Number(native("compressionRead", { id: this.#id }));
      }
      /** Deno's error; none for what ends early. */
      #toError(given: Error & { readonly code?: string }, isEnd: boolean): unknown {
        const error = dictionaryError(given, this.#options) as typeof given;
        if (error.code === JUNK) return junkError();
        if (this.#kind === "zstdDecompress")
          return /unexpected end/.test(error.message) ? undefined : zstdError(error);
        if (error.code === "ZSTD_error_srcSize_wrong")
          return Object.assign(new Error(`Zstd ${isEnd ? "finish" : "compress"} error: ${error.message}`), {
            code: error.code,
          });
        return this.#kind === "brotliDecompress" ? toStreamError(error) : error;
      }
      _destroy(error: unknown, done: Callback): void {
        this.#close();
        done(error);
      }
      #close(): void {
        this._handle = null;
        native("compressionClose", { id: this.#id });
      }
      flush(kind?: unknown, callback?: Callback): void {
        const isDefault = typeof kind === "function" || (kind === undefined && callback === undefined);
        const [flag, done] = isDefault
          ? [this._defaultFullFlushFlag, kind as Callback | undefined]
          : [kind as number, callback];
        // As in Node, which looks for an empty piece of that number.
        if (!this.writableEnded && !(Number.isInteger(flag) && flag >= 0 && flag <= LAST_FLUSH))
          throw wrongArgument("chunk", CHUNK, undefined);
        if (this.writableFinished) {
          if (done !== undefined) nextTick(done);
        } else if (this.writableEnded) {
          if (done !== undefined) this.once("end", done);
        } else {
          const marker = Buffer.alloc(0);
          flushes.set(marker, flag);
          this.write(marker, "", done);
        }
      }
      close(callback?: Callback): void {
        if (callback !== undefined) finished(this, callback);
        this.destroy();
      }
    }
    const { idOf } = ZlibBase;
    delete (ZlibBase as Partial<typeof ZlibBase>).idOf;
    class Zlib extends ZlibBase {
      declare _level: number;
      declare _strategy: number;
      constructor(kind: string, given?: Options, self?: object) {
        super(kind, given, self);
        const mode = KINDS.indexOf(kind) + 1;
        const { level, strategy = 0 } = (given ?? {}) as { level?: number; strategy?: number };
        if (mode <= ZLIB_MODES)
          Object.assign(this, {
            _level: level || (level === 0 ? 0 : -1),
            _strategy: strategy || 0,
            _mode: mode,
          });
      }
      params(level: unknown, strategy: unknown, callback: Callback): void {
        checkRange("level", level, -1, 9);
        checkRange("strategy", strategy, 0, 4);
        if (this._level === level && this._strategy === strategy) {
          nextTick(callback);
          return;
        }
        this.flush(SYNC_FLUSH, () => {
          if (this.destroyed) return;
          native("compressionParams", { id: idOf(this), level, strategy });
          Object.assign(this, { _level: level, _strategy: strategy });
          callback?.();
        });
      }
    }
    class Brotli extends Zlib {}
    class Zstd extends ZlibBase {}
    shape({ ZlibBase, Zlib, Brotli, Zstd }, CLASS_SHAPES);
    order(ZlibBase.prototype, "_closed reset _flush _final flush close _destroy _transform _processChunk");
    const made = KINDS.map((kind): [string, StreamClass] => {
      const name = titled(kind);
      const Base = kind.startsWith("zstd") ? Zstd : kind.startsWith("brotli") ? Brotli : Zlib;
      /** Old code calls all but Zstandard's without `new`. */
      function Callable(this: unknown, options?: Options): Transform {
        if (Base === Zstd && new.target === undefined)
          throw new TypeError(`Class constructor ${name} cannot be invoked without 'new'`);
        if (new.target === undefined && this instanceof Callable)
          return Reflect.construct(Base, [kind, options, this]) as Transform;
        if (new.target === undefined)
          warnDeprecated("DEP0184", `Instantiating ${name} without the 'new' keyword has been deprecated.`);
        return Reflect.construct(Base, [kind, options], new.target ?? Callable) as Transform;
      }
      Object.setPrototypeOf(Callable, Base);
      Callable.prototype = Object.create(Base.prototype, {
        constructor: { value: Callable, writable: true, configurable: true },
      });
      Object.defineProperty(Callable, "name", { value: name });
      return [name, Callable as unknown as StreamClass];
    });
    return Object.fromEntries(made);
  }

  const names = Object.defineProperties(
    {
      constants: Object.freeze(constants),
      codes: Object.freeze(codes),
      crc32: (data: unknown, value: unknown = 0): number => {
        const bytes = bytesOf(data, "data", CHUNK, ["string"]);
        if (typeof data !== "string" && !(data instanceof Uint8Array))
          throw new TypeError("expected typed ArrayBufferView");
        if (typeof value !== "number") throw wrongType("value", "number", value);
        if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
          throw outOfRange("value", Number.isInteger(value) ? ">= 0 && < 4294967296" : "an integer", value);
        return Number(native("crc32", { value }, bytes));
      },
      ...functions,
      ...Object.fromEntries(Object.entries(constants).filter(([name]) => !name.startsWith("BROTLI"))),
    },
    Object.getOwnPropertyDescriptors(classes),
  );
  return Object.defineProperties(
    { default: Object.freeze(order(names, ORDER)) },
    Object.getOwnPropertyDescriptors(names),
  );
}
