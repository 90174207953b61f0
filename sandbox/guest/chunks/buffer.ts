import { Buffer, asBuffer } from "../buffer/buffer.ts";
import { createEncodings, encodingOf } from "../buffer/encodings.ts";
import { createMethods } from "../buffer/methods.ts";
import { METHOD_ORDER, ORDER, SHAPES } from "../buffer/shapes.ts";
import { checkLength, createStatics } from "../buffer/statics.ts";
import {
  nodeError,
  outOfRange,
  showValuesWith,
  warnDeprecated,
  wrongArgument,
  wrongType,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { order, shape } from "../shape.ts";
import { bytesOf } from "../webIdl.ts";

/** The encodings that `transcode` knows. */
const TRANSCODED = ["utf8", "utf16le", "latin1", "ascii"];
/** Pairs of encodings that Deno doesn't convert. */
const NOT_TRANSCODED = ["utf16le latin1", "utf16le ascii", "latin1 utf8", "latin1 ascii"];

/** Node's `Buffer`: feross/buffer with Node's encodings, errors and inspection. */
export default function bufferChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load } = internals;
  showValuesWith(load);
  const { prototype } = Buffer;
  const encodings = createEncodings(internals);
  const { encode, decode } = encodings;

  let inspectedBytes = 50;
  const statics = createStatics(encodings);
  Object.assign(Buffer, statics);
  delete prototype["_isBuffer"];
  const isEncoding = statics["isEncoding"] as (name: unknown) => boolean;
  Object.defineProperty(Buffer, "name", { value: "Buffer" });

  for (const [name, value] of Object.entries(createMethods(encodings))) {
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true, enumerable: true });
  }
  prototype["inspect"] = function inspect(
    this: Uint8Array,
    _depth: unknown,
    options?: { readonly showHidden?: boolean },
  ): string {
    const bytes = Array.from(this.subarray(0, inspectedBytes), (byte) => byte.toString(16).padStart(2, "0"));
    const left = this.length - inspectedBytes;
    const shown = bytes.join(" ") + (left > 0 ? ` ... ${left} more byte${left > 1 ? "s" : ""}` : "");
    const { constructor } = this as { readonly constructor: unknown };
    const hasName = typeof constructor === "function" && Object.hasOwn(constructor, "name");
    return `<${hasName ? constructor.name : "Buffer"} ${[shown, ownText(this, options)].filter(Boolean).join(", ")}>`;
  };
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value: prototype["inspect"],
    writable: true,
    enumerable: true,
    configurable: true,
  });
  /** What a buffer's own properties look like in it; nothing without `options`. */
  function ownText(bytes: Uint8Array, options: { readonly showHidden?: boolean } | undefined): string {
    if (options === undefined) return "";
    // A descriptor of each byte would take three times as long.
    const keys = Reflect.ownKeys(bytes).slice(bytes.length);
    const isEnumerable = (key: PropertyKey): boolean =>
      Object.prototype.propertyIsEnumerable.call(bytes, key);
    const listed = keys.filter((key) => options.showHidden || isEnumerable(key));
    if (listed.length === 0) return "";
    const { inspect } = load("node")["util"] as { inspect(value: object, options: object): string };
    const all = Object.fromEntries(listed.map((key) => [key, Reflect.get(bytes, key)]));
    return inspect(all, { ...options, breakLength: Infinity, compact: true }).slice(2, -2);
  }
  prototype["toLocaleString"] = prototype["toString"];
  const constants = { MAX_LENGTH: 9_007_199_254_740_991, MAX_STRING_LENGTH: 536_870_888 };
  const { Blob, File } = load("file");
  const names = {
    Buffer,
    SlowBuffer: function (size: number) {
      warnDeprecated("DEP0030", "SlowBuffer() is deprecated. Please use Buffer.allocUnsafeSlow()");
      return asBuffer(new Uint8Array(checkLength(size)));
    },
    constants,
    kMaxLength: constants.MAX_LENGTH,
    kStringMaxLength: constants.MAX_STRING_LENGTH,
    get INSPECT_MAX_BYTES(): number {
      return inspectedBytes;
    },
    set INSPECT_MAX_BYTES(count: unknown) {
      if (typeof count !== "number") throw wrongType("INSPECT_MAX_BYTES", "number", count);
      if (!(count >= 0)) throw outOfRange("INSPECT_MAX_BYTES", ">= 0", count);
      inspectedBytes = count;
    },
    isUtf8,
    isAscii: (input: unknown) => checkInput(input).every((byte) => byte < 0x80),
    Blob,
    File,
    // Those of the platform, which are loaded once they are wanted.
    get atob(): unknown {
      return load("text")["atob"];
    },
    get btoa(): unknown {
      return load("text")["btoa"];
    },
    transcode: (bytes: Uint8Array, from = "utf8", to = "utf8") => {
      if (!(bytes instanceof Uint8Array))
        throw wrongArgument("source", "an instance of Buffer or Uint8Array", bytes);
      const [source, target] = [from, to].map((name) =>
        !name ? "utf8" : isEncoding(name) ? encodingOf(name) : "",
      );
      if (source === target && source !== "") return asBuffer(bytes.slice());
      const isKnown = [source, target].every((name) => TRANSCODED.includes(name as string));
      if (!isKnown || NOT_TRANSCODED.includes(`${source} ${target}`))
        throw Object.assign(new Error("Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]"), {
          code: "U_ILLEGAL_ARGUMENT_ERROR",
          errno: 1,
        });
      // Deno reads no byte of ASCII otherwise, not even one past it.
      if (source === "ascii" && target !== "utf16le") return asBuffer(bytes.slice());
      const text = decode(bytes, source === "ascii" ? "latin1" : (source as string));
      return asBuffer(encode(forEncoding(text, target as string), target as string));
    },
    resolveObjectURL: (url: unknown) => (load("url")["findBlob"] as (url: string) => unknown)(String(url)),
  };
  /** Replaces the characters that an encoding of single bytes lacks. */
  function forEncoding(text: string, encoding: string): string {
    const most = encoding === "latin1" ? 0xff : encoding === "ascii" ? 0x7f : Number.POSITIVE_INFINITY;
    return Array.from(text, (character) =>
      (character.codePointAt(0) as number) > most ? "?" : character,
    ).join("");
  }
  function checkInput(input: unknown): Uint8Array {
    const buffer = ArrayBuffer.isView(input) ? input.buffer : input;
    if (buffer instanceof ArrayBuffer && buffer.detached)
      throw nodeError("ERR_INVALID_STATE", "Invalid state: Cannot validate on a detached buffer");
    const bytes = input instanceof DataView ? undefined : bytesOf(input);
    if (bytes === undefined)
      throw wrongArgument("input", "an instance of ArrayBuffer, Buffer, or TypedArray", input);
    if (ArrayBuffer.isView(input) && !(input instanceof Uint8Array))
      throw new TypeError("expected typed ArrayBufferView");
    return bytes;
  }
  function isUtf8(input: unknown): boolean {
    const bytes = checkInput(input);
    try {
      internals.decodeUtf8(bytes, true);
      return true;
    } catch {
      return false;
    }
  }
  shape(names, SHAPES);
  order(prototype, METHOD_ORDER);
  order(names, ORDER);
  return Object.defineProperty(Object.create(null, Object.getOwnPropertyDescriptors(names)), "default", {
    value: names,
    enumerable: true,
  }) as Readonly<Record<string, unknown>>;
}
