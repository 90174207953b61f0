import { checkInteger, invalidArgument, wrongArgument, wrongType } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { bytesOf, concatBytes } from "../../webIdl.ts";

type Bytes = Uint8Array;

interface BufferLike extends Uint8Array {
  toString(encoding?: string): string;
}

/** The part of Node's `Buffer` used here. */
export interface BufferType {
  from(value: unknown, encoding?: unknown): BufferLike;
  isEncoding(name: unknown): boolean;
}

/** Converts arguments to bytes and bytes to results. */
export interface ByteTools {
  readonly Buffer: BufferType;
  /**
   * Returns a copy of the bytes of a view, or those of a text.
   * @param others - Also takes an `ArrayBuffer`.
   * @throws {TypeError} `ERR_INVALID_ARG_TYPE`.
   */
  readonly toBytes: (value: unknown, encoding: unknown, name: string, others?: boolean) => Bytes;
  /** Returns a copy of the bytes of a view. */
  readonly viewBytes: (value: unknown, name: string) => Bytes;
  /** Returns a buffer, or its text if an encoding is given. */
  readonly output: (bytes: Bytes, encoding?: unknown) => unknown;
  /** Calls the host's native of that name with the parts joined and the lengths of all but the last. */
  readonly bytesFrom: (name: string, header: object, ...parts: Bytes[]) => Bytes;
}

/** Creates the conversions between a source's values and the bytes that the host's natives take. */
export function createByteTools(native: Internals["native"], Buffer: BufferType): ByteTools {
  const toBytes: ByteTools["toBytes"] = (value, encoding, name, others = false) => {
    if (typeof value === "string") {
      // Node checks this of what is hashed, encrypted or signed alone.
      if (name === "data" && encoding === "hex" && value.length % 2 === 1)
        throw invalidArgument("encoding", encoding, `is invalid for data of length ${value.length}`);
      return Buffer.from(value, typeof encoding === "string" && encoding !== "buffer" ? encoding : undefined);
    }
    const bytes = others || ArrayBuffer.isView(value) ? bytesOf(value) : undefined;
    if (bytes === undefined)
      throw wrongArgument(
        name,
        `of type string or an instance of ${others ? "ArrayBuffer, " : ""}Buffer, TypedArray, or DataView`,
        value,
      );
    return bytes.slice();
  };
  const viewBytes: ByteTools["viewBytes"] = (value, name) => {
    if (!ArrayBuffer.isView(value))
      throw wrongArgument(name, "an instance of Buffer, TypedArray, or DataView", value);
    return (bytesOf(value) as Bytes).slice();
  };
  const output = (bytes: Bytes, encoding?: unknown): unknown => {
    const buffer = Buffer.from(bytes);
    return encoding === undefined || encoding === null || encoding === "buffer"
      ? buffer
      : buffer.toString(encoding as string);
  };
  const bytesFrom = (name: string, header: object, ...parts: Bytes[]): Bytes =>
    native(
      name,
      { ...header, lengths: parts.slice(0, -1).map((part) => part.length) },
      concatBytes(parts),
    ) as Bytes;
  return { Buffer, toBytes, viewBytes, output, bytesFrom };
}

/** Checks an integer of 32 bits. */
export const checkUint32 = (value: unknown, name: string, least: 0 | 1 = 0): number =>
  checkInteger(value, name, least, 2 ** 32 - 1, `>= ${least} && < 4294967296`);

/** Runs something once the current code has ended. */
export const queue = (work: () => void): void => void Promise.resolve().then(work);

/** Checks a text. */
export function checkText(value: unknown, name: string): string {
  if (typeof value !== "string") throw wrongType(name, "string", value);
  return value;
}

/** Checks a function. */
export function checkFunction(value: unknown, name = "callback"): (...args: unknown[]) => void {
  if (typeof value !== "function") throw wrongType(name, "function", value);
  return value as (...args: unknown[]) => void;
}
