import {
  type Convert,
  bufferSource,
  conversionError,
  dictionary,
  enumeration,
  integer,
  scalarString,
  sequence,
  string,
} from "../convert.ts";
import type { Internals } from "../internals.ts";
import * as types from "../types.ts";
import { concatBytes, exposeInterface, printGetters, requireArguments } from "../webIdl.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** `Blob` and `File`, with the functions by which the other chunks read and recognize them. */
export type BlobTools = ReturnType<typeof createBlob>;

const offset = integer({ bits: 64, signed: true, mode: "clamp" });
const timestamp = integer({ bits: 64, signed: true });
const endings = enumeration("EndingType", ["transparent", "native"]);
const readBlobOptions = dictionary<{ type: string; endings: string }>("BlobPropertyBag", {
  endings: [endings, "transparent"],
  type: [string, ""],
});
const readFileOptions = dictionary<{ lastModified?: number }>("FilePropertyBag", {
  endings: [endings, "transparent"],
  lastModified: [timestamp],
  type: [string, ""],
});
const readBytes = bufferSource();

/** Creates `Blob` and `File` (File API, §3 and §4). */
export function createBlob({ load, encodeUtf8, decodeUtf8, cloneRules }: Internals) {
  let bytesOfBlob: (blob: Blob) => Bytes;
  let isBlob: (value: unknown) => boolean;
  let isFile: (value: unknown) => boolean;
  let setBytes: (blob: Blob, bytes: Bytes, ends: readonly number[]) => Blob;
  let endsOf: (blob: Blob) => readonly number[];

  /** A part of a blob: bytes, another blob, or text. */
  const part: Convert<Uint8Array | Blob | string> = (value, prefix, context) => {
    if (isBlob(value)) return value as Blob;
    if (types.isSharedArrayBuffer(value)) throw conversionError("is not an ArrayBuffer", prefix, context);
    if (types.isArrayBuffer(value) && types.isDetached(value))
      throw new TypeError("Cannot perform ArrayBuffer.prototype.slice on a detached ArrayBuffer");
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return readBytes(value, prefix, context);
    return string(value, prefix, context);
  };
  const readParts = sequence(part);

  class Blob {
    #bytes: Bytes;
    /** Where the parts end, which the stream reads one by one; ascending, and so without an empty part. */
    #ends: readonly number[];
    readonly #type: string;
    static {
      endsOf = (blob) => blob.#ends;
      bytesOfBlob = (blob) => blob.#bytes;
      isBlob = (value) => typeof value === "object" && value !== null && #bytes in value;
      setBytes = (blob, bytes, ends) => {
        blob.#bytes = bytes;
        blob.#ends = ends;
        return blob;
      };
    }
    constructor(parts: unknown = [], options: unknown = undefined) {
      const prefix = "Failed to construct 'Blob'";
      const list = readParts(parts, prefix, "Argument 1");
      const given = readBlobOptions(options, prefix, "Argument 2");
      const contents = list.map((item) => {
        if (typeof item === "string")
          return encodeUtf8(given.endings === "native" ? item.replace(/\r\n?/g, "\n") : item);
        return item instanceof Uint8Array ? item : bytesOfBlob(item);
      });
      this.#bytes = concatBytes(contents);
      const ends: number[] = [];
      let at = 0;
      list.forEach((item, index) => {
        const { length } = contents[index] as Uint8Array;
        if (isBlob(item)) for (const end of endsOf(item as Blob)) ends.push(at + end);
        else if (length > 0) ends.push(at + length);
        at += length;
      });
      this.#ends = ends;
      this.#type = normalizeType(given.type);
    }
    get size(): number {
      return this.#bytes.length;
    }
    get type(): string {
      return this.#type;
    }
    slice(start: unknown = undefined, end: unknown = undefined, type: unknown = undefined): Blob {
      const prefix = "Failed to execute 'slice' on 'Blob'";
      const from = start === undefined ? 0 : offset(start, prefix, "Argument 1");
      const to = end === undefined ? this.#bytes.length : offset(end, prefix, "Argument 2");
      const kind = type === undefined ? "" : string(type, prefix, "Argument 3");
      const { length } = this.#bytes;
      const first = from < 0 ? Math.max(length + from, 0) : Math.min(from, length);
      const bytes = this.#bytes.slice(from, to);
      const ends = this.#ends.map((at) => Math.min(at - first, bytes.length));
      const own = ends.filter((at, index) => at > 0 && at !== ends[index - 1]);
      return setBytes(new Blob([], { type: kind }), bytes, own);
    }
    stream(): unknown {
      const { ReadableStream } = load("streams") as { ReadableStream: new (source: object) => unknown };
      const bytes = this.#bytes;
      const ends = this.#ends.values();
      let from = 0;
      return new ReadableStream({
        __proto__: null,
        type: "bytes",
        async pull(controller: {
          enqueue(chunk: Uint8Array): void;
          close(): void;
          byobRequest: { respond(size: number): void } | null;
        }) {
          const { value: to } = ends.next();
          if (to !== undefined) {
            controller.enqueue(bytes.slice(from, to));
            from = to;
            return;
          }
          controller.close();
          controller.byobRequest?.respond(0);
        },
      });
    }
    textStream(): unknown {
      const { TextDecoderStream } = load("streams") as { TextDecoderStream: new () => object };
      return (this.stream() as { pipeThrough(pair: object): unknown }).pipeThrough(new TextDecoderStream());
    }
    async text(): Promise<string> {
      return decodeUtf8(this.#bytes);
    }
    async arrayBuffer(): Promise<ArrayBuffer> {
      return this.#bytes.slice().buffer;
    }
    async bytes(): Promise<Uint8Array> {
      return this.#bytes.slice();
    }
  }
  Object.defineProperty(Blob, "length", { value: 0, configurable: true });
  Object.defineProperty(Blob.prototype.slice, "length", { value: 0, configurable: true });

  class File extends Blob {
    readonly #name: string;
    readonly #lastModified: number;
    static {
      isFile = (value) => typeof value === "object" && value !== null && #name in value;
    }
    constructor(parts: unknown, name: unknown, options: unknown = undefined) {
      const prefix = "Failed to construct 'File'";
      requireArguments(arguments.length, 2, prefix);
      const list = readParts(parts, prefix, "Argument 1");
      const text = scalarString(name, prefix, "Argument 2");
      const given = readFileOptions(options, prefix, "Argument 3");
      super(list, given);
      this.#name = text;
      this.#lastModified = given.lastModified ?? Date.now();
    }
    get name(): string {
      return this.#name;
    }
    get lastModified(): number {
      return this.#lastModified;
    }
  }

  for (const type of [Blob, File]) exposeInterface(type);
  printGetters(Blob, ["size", "type"]);
  printGetters(File, ["name", "size", "type"]);
  cloneRules.add({
    has: isFile,
    copy: (file: File) => new File([file], file.name, { type: file.type, lastModified: file.lastModified }),
  });
  cloneRules.add({ has: isBlob, copy: (blob: Blob) => new Blob([blob], { type: blob.type }) });
  return { Blob, File, bytesOfBlob, isBlob, isFile };
}

/** Returns a MIME type in lower case; empty if it has other characters than printable ASCII. */
const normalizeType = (type: string): string => (/[^\x20-\x7e]/.test(type) ? "" : type.toLowerCase());
