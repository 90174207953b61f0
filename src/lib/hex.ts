import type { Hex } from "viem";
import { findNodeModule } from "./nodeModule.ts";

/** Encodes bytes as `0x` hex, two lower-case digits each. */
export function toHexText(bytes: Uint8Array): Hex {
  if (native === undefined) return writeDigits(bytes);
  if (hasToHex && bytes.length < NATIVE_BYTES) return `0x${(bytes as HexBytes).toHex()}`;
  return `0x${native.hexSlice.call(bytes, 0, bytes.length)}`;
}

/**
 * Decodes `0x` hex with an even number of digits. The bytes may be a view of a larger buffer.
 *
 * @throws {SyntaxError} for anything else.
 */
export function fromHexText(text: Hex): Uint8Array {
  if (text.charCodeAt(0) !== ZERO || text.charCodeAt(1) !== X)
    throw new SyntaxError("hex must begin with 0x");
  return native === undefined ? readDigits(text) : readNatively(native, text);
}

/** Below this many bytes V8's own `toHex` is faster, from there on Node's encoder is (Node 26; `npm run bench` shows by how much). */
const NATIVE_BYTES = 48;

/**
 * The functions behind `buffer.toString("hex")` and `buffer.write(text, "hex")`: on every Buffer, but undocumented. Called directly,
 * `hexSlice` accepts any byte array, which saves creating a Buffer, a third of the time. Absent in a browser.
 */
interface NativeHex {
  readonly hexSlice: (this: Uint8Array, start: number, end: number) => string;
  /** Returns the number of bytes written. */
  readonly hexWrite: (this: Uint8Array, text: string, offset: number, length: number) => number;
  readonly allocate: (bytes: number) => Uint8Array<ArrayBuffer>;
}

const native = findNativeHex();

/** Node 24 and browsers from before 2025 lack `toHex`. */
type HexBytes = Uint8Array & { readonly toHex: () => string };
const hasToHex = "toHex" in Uint8Array.prototype;

function findNativeHex(): NativeHex | undefined {
  const Buffer = findNodeModule("node:buffer")?.Buffer;
  if (Buffer === undefined) return undefined;
  const { hexSlice, hexWrite } = Buffer.prototype as unknown as NativeHex;
  return { hexSlice, hexWrite, allocate: (bytes) => Buffer.allocUnsafeSlow(bytes) };
}

/** Short results share an allocation, as Node's own do; a separate one for each would take four times as long. */
const SLAB_BYTES = 65_536;
const MAX_SHARED_BYTES = 4_096;
let slab: Uint8Array<ArrayBuffer> | undefined;
let slabUsed = 0;

function readNatively({ hexWrite, allocate }: NativeHex, text: Hex): Uint8Array {
  const length = (text.length - 2) >>> 1;
  const isShared = length <= MAX_SHARED_BYTES;
  if (isShared && (slab === undefined || slabUsed + length > SLAB_BYTES)) {
    slab = allocate(SLAB_BYTES);
    slabUsed = 0;
  }
  const memory = isShared ? slab! : allocate(length);
  const offset = isShared ? slabUsed : 0;
  // It stops silently at the first character that is not a hex digit.
  if (hexWrite.call(memory, text.slice(2), offset, length) * 2 !== text.length - 2)
    throw new SyntaxError(NO_DIGITS);
  if (isShared) slabUsed += length;
  return new Uint8Array(memory.buffer, offset, length);
}

function writeDigits(bytes: Uint8Array): Hex {
  let text: Hex = "0x";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

function readDigits(text: Hex): Uint8Array {
  if (!/^0x(?:[\da-f]{2})*$/i.test(text)) throw new SyntaxError(NO_DIGITS);
  return Uint8Array.from({ length: text.length / 2 - 1 }, (_, i) =>
    Number(`0x${text.slice(2 * i + 2, 2 * i + 4)}`),
  );
}

const NO_DIGITS = "hex must have an even number of digits, and nothing else";
const ZERO = "0".charCodeAt(0);
const X = "x".charCodeAt(0);
