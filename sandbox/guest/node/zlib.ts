import { outOfRange, wrongArgument, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { concatBytes } from "../webIdl.ts";

type Bytes = Uint8Array;
type Options = Readonly<Record<string, unknown>>;
type Run = (data: unknown, options?: Options) => Bytes;
interface TransformStream {
  push(bytes: Bytes): void;
}
type TransformClass = new (options?: object) => TransformStream;

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
/** Smallest piece of output that Node allows. */
const MIN_CHUNK_BYTES = 64;
const BUFFER = "of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer";

/** Creates `node:zlib`: the host converts all of the input at once, that of a stream at its end. */
export function createZlib({ native, load, setTimeout }: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as { Buffer: { from(value: unknown): Bytes } };
  const { constants, codes } = JSON.parse(native("zlibConstants", {}) as string) as Record<string, object>;

  function bytesOf(value: unknown, name: string, expected: string): Bytes {
    if (typeof value === "string" || value instanceof ArrayBuffer) return Buffer.from(value);
    if (!ArrayBuffer.isView(value)) throw wrongArgument(name, expected, value);
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  function convert(operation: string, input: Bytes, options: Options): Bytes {
    const { dictionary, ...others } = options;
    const start = dictionary === undefined ? [] : [bytesOf(dictionary, "options.dictionary", BUFFER)];
    const answer = native(
      "zlib",
      { ...others, operation, dictionaryBytes: start[0]?.length ?? 0 },
      concatBytes([...start, input]),
    );
    return Buffer.from((answer as Bytes).buffer);
  }

  const functions: Record<string, unknown> = {};
  const classes: Record<string, unknown> = {};
  for (const kind of KINDS) {
    const run: Run = (data, options) => {
      const result = convert(kind, bytesOf(data, "buffer", BUFFER), options ?? {});
      if (!options?.["info"]) return result;
      return { buffer: result, engine: new (classOf())(options) } as never;
    };
    functions[kind] = (data: unknown, ...rest: unknown[]): void => {
      const [options, callback] = typeof rest[0] === "function" ? [{}, rest[0]] : rest;
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      const input = bytesOf(data, "buffer", BUFFER);
      setTimeout(() => {
        let result: Bytes;
        try {
          result = convert(kind, input, (options ?? {}) as Options);
        } catch (error) {
          callback(error);
          return;
        }
        callback(null, result);
      }, 0);
    };
    functions[`${kind}Sync`] = run;
    const name = kind[0]!.toUpperCase() + kind.slice(1);
    let made: (new (options?: Options) => object) | undefined;
    const classOf = () => (made ??= createClass(name, (input, options) => convert(kind, input, options)));
    // The library of streams is loaded once a stream is wanted.
    Object.defineProperty(classes, name, { get: classOf, enumerable: true, configurable: true });
    functions[`create${name}`] = (options?: Options) => new (classOf())(options);
  }

  function createClass(
    name: string,
    run: (input: Bytes, options: Options) => Bytes,
  ): new (options?: Options) => object {
    const { Transform } = load("nodeStream")["stream"] as { Transform: TransformClass };
    const missing = (method: string) => (): never => {
      throw new Error(`node:zlib: ${method} of a stream is not available in this sandbox`);
    };
    class Converter extends Transform {
      readonly #parts: Bytes[] = [];
      readonly #options: Options;
      bytesWritten = 0;
      constructor(options: Options = {}) {
        super(options);
        this.#options = options;
        const { chunkSize } = options;
        if (typeof chunkSize === "number" && chunkSize < MIN_CHUNK_BYTES)
          throw outOfRange("options.chunkSize", `>= ${MIN_CHUNK_BYTES}`, chunkSize);
        // Refuses wrong options now.
        try {
          run(new Uint8Array(0), options);
        } catch (error) {
          if (String((error as { code?: string }).code).startsWith("ERR_")) throw error;
        }
      }
      _transform(part: Bytes, _encoding: string, done: () => void): void {
        this.#parts.push(part);
        this.bytesWritten += part.length;
        done();
      }
      _flush(done: (error?: unknown) => void): void {
        try {
          this.push(run(concatBytes(this.#parts), this.#options));
        } catch (error) {
          done(error);
          return;
        }
        done();
      }
      close(callback?: () => void): void {
        const stream = this as unknown as {
          once(event: string, listener: () => void): void;
          destroy(): void;
        };
        if (callback !== undefined) stream.once("close", callback);
        stream.destroy();
      }
    }
    for (const method of ["flush", "params", "reset"])
      Object.defineProperty(Converter.prototype, method, { value: missing(method), configurable: true });
    return Object.defineProperty(Converter, "name", { value: name });
  }

  const names = Object.defineProperties(
    {
      constants,
      codes,
      crc32: (data: unknown, value: unknown = 0): number => {
        const bytes = bytesOf(
          data instanceof ArrayBuffer ? undefined : data,
          "data",
          "of type string or an instance of Buffer, TypedArray, or DataView",
        );
        if (typeof value !== "number") throw wrongType("value", "number", value);
        if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
          throw outOfRange("value", Number.isInteger(value) ? ">= 0 && < 4294967296" : "an integer", value);
        return Number(native("crc32", { value }, bytes));
      },
      ...functions,
    },
    Object.getOwnPropertyDescriptors(classes),
  );
  return Object.defineProperties({ default: names }, Object.getOwnPropertyDescriptors(names));
}
