import {
  decodeAbiParameters,
  decodeEventLog,
  decodeFunctionData,
  toFunctionSelector,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type DecodeEventLogParameters,
  type DecodeFunctionDataParameters,
  type Hex,
} from "viem";
import { fromHexText } from "../lib/hex.ts";
import { readUint256, WORD_BYTES } from "../lib/uint256.ts";

/**
 * ABI-encoded data of strangers can point at the same bytes many times: 120 KB of calldata decode to more than 4 GB. These decoders take and
 * return the same as viem's, and throw a RangeError for data that would decode to more than a few times their own size. No compiler encodes
 * anything twice.
 */
const MAX_GROWTH = 4;

/** As viem's `decodeFunctionData`. */
export const decodeBoundedCall = ((call: DecodeFunctionDataParameters) => {
  const selector = call.data.slice(0, 10);
  const abi = call.abi.filter(
    (one): one is AbiFunction => one.type === "function" && toFunctionSelector(one) === selector,
  );
  for (const { inputs } of abi) assertBounded(inputs, `0x${call.data.slice(selector.length)}`);
  return decodeFunctionData({ ...call, abi });
}) as unknown as typeof decodeFunctionData;

/** As viem's `decodeEventLog` for the only event of `abi`. */
export const decodeBoundedLog = ((log: DecodeEventLogParameters) => {
  const event = log.abi.find((one): one is AbiEvent => one.type === "event");
  if (log.data !== undefined)
    assertBounded(event?.inputs.filter(({ indexed }) => indexed !== true) ?? [], log.data);
  return decodeEventLog(log);
}) as unknown as typeof decodeEventLog;

/** As viem's `decodeAbiParameters`. */
export const decodeBoundedParameters = ((parameters: readonly AbiParameter[], data: Hex) => {
  assertBounded(parameters, data);
  return decodeAbiParameters(parameters, data);
}) as unknown as typeof decodeAbiParameters;

/** Returns the number in the 32 bytes at `at`. @throws RangeError if they are not all in the data. */
export function readWord(data: Uint8Array, at: number): bigint {
  if (!(at >= 0 && at + WORD_BYTES <= data.length)) throw new RangeError("the data have no word there");
  return readUint256(data, at);
}

/**
 * Creates a counter of the bytes that are read of data. It throws a RangeError once they are more than a few times the data's own size.
 */
export function createReadLimit(data: Uint8Array): (bytes: number) => void {
  let left = MAX_GROWTH * data.length;
  return (bytes) => {
    left -= bytes;
    if (left < 0) throw new RangeError(`the data decode to more than ${MAX_GROWTH} times their size`);
  };
}

/** Walks through the data as a decoder does, counting the bytes that it would read. */
function assertBounded(parameters: readonly AbiParameter[], data: Hex): void {
  const bytes = fromHexText(data);
  const take = createReadLimit(bytes);
  const numberAt = (at: number): number => {
    take(WORD_BYTES);
    return Number(readWord(bytes, at));
  };
  /** Reads values whose offsets count from `base`. */
  const walkAll = (all: Iterable<AbiParameter>, base: number): void => {
    let at = base;
    for (const one of all) {
      walk(one, at, base);
      at += headBytes(one);
    }
  };
  const walk = (parameter: AbiParameter, at: number, base: number): void => {
    if (!isDynamic(parameter)) return take(headBytes(parameter));
    const start = base + numberAt(at);
    const array = arrayOf(parameter);
    if (array !== undefined) {
      const length = array.length ?? numberAt(start);
      const first = array.length === undefined ? start + WORD_BYTES : start;
      if (!isDynamic(array.element)) return take(length * headBytes(array.element));
      return walkAll(repeat(array.element, length), first);
    }
    if (isTuple(parameter)) return walkAll(parameter.components, start);
    take(numberAt(start));
  };
  walkAll(parameters, 0);
}

function* repeat(parameter: AbiParameter, count: number): Generator<AbiParameter> {
  for (let i = 0; i < count; i += 1) yield parameter;
}

type Tuple = AbiParameter & { readonly components: readonly AbiParameter[] };

function isTuple(parameter: AbiParameter): parameter is Tuple {
  return parameter.type === "tuple";
}

/** Returns the element of an array's type, and the length if it is fixed. */
function arrayOf(
  parameter: AbiParameter,
): { readonly element: AbiParameter; readonly length: number | undefined } | undefined {
  const [, type, length] = /^(.*)\[(\d*)\]$/.exec(parameter.type) ?? [];
  if (type === undefined) return undefined;
  return { element: { ...parameter, type }, length: length ? Number(length) : undefined };
}

function isDynamic(parameter: AbiParameter): boolean {
  const array = arrayOf(parameter);
  if (array !== undefined) return array.length === undefined || isDynamic(array.element);
  if (isTuple(parameter)) return parameter.components.some(isDynamic);
  return parameter.type === "bytes" || parameter.type === "string";
}

/** Returns the bytes that a value takes in place: an offset, if it is dynamic. */
function headBytes(parameter: AbiParameter): number {
  if (isDynamic(parameter)) return WORD_BYTES;
  const array = arrayOf(parameter);
  if (array !== undefined) return array.length! * headBytes(array.element);
  if (isTuple(parameter)) return parameter.components.reduce((sum, one) => sum + headBytes(one), 0);
  return WORD_BYTES;
}
