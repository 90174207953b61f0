/** Built-ins captured before any of the caller's code runs; methods take their `this` as first argument. */

const { JSON, Object, String } = globalThis;
export const { ArrayBuffer, Error, Promise, TypeError, Uint8Array } = globalThis;
export const { parse, stringify } = JSON;
const { isArray } = globalThis.Array;
const anyList: unknown = [];
export { defineProperty } from "./descriptors.ts";
export const { keys } = Object;

export const hasInstance = Function.prototype.call.bind(Function.prototype[Symbol.hasInstance]) as (
  constructor: unknown,
  value: unknown,
) => boolean;
export const slice = Function.prototype.call.bind(String.prototype.slice) as (
  text: string,
  start: number,
  end: number,
) => string;
export const textOf = Function.prototype.call.bind(Function.prototype.toString) as (fn: unknown) => string;
export const split = Function.prototype.call.bind(String.prototype.split) as (
  text: string,
  separator: string,
) => string[];
export const indexOf = Function.prototype.call.bind(String.prototype.indexOf) as (
  text: string,
  part: string,
) => number;
export const toWellFormed = Function.prototype.call.bind(String.prototype.toWellFormed) as (
  text: string,
) => string;

const getterOf = (prototype: object, name: string) =>
  Function.prototype.call.bind(Object.getOwnPropertyDescriptor(prototype, name)?.get as () => number) as (
    of: unknown,
  ) => number;
/** Returns the JSON of plain data, whatever `toJSON` a source has given all objects. */
export function plainJson(value: unknown): string {
  if (typeof value !== "object" || value === null || !("toJSON" in (anyList as object)))
    return stringify(value) ?? "null";
  const isList = isArray(value);
  const names = keys(value);
  let text = "";
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string;
    const item = (value as Record<string, unknown>)[name];
    if (item === undefined && !isList) continue;
    text += `${text === "" ? "" : ","}${isList ? "" : `${stringify(name)}:`}${plainJson(item)}`;
  }
  return isList ? `[${text}]` : `{${text}}`;
}

/** Whether a value is an error in itself, not by its prototype. */
export const { isError } = Error;
/** Returns an error's name and message, whatever `toString` it has. */
export const textOfError = Function.prototype.call.bind(Error.prototype.toString) as (
  error: unknown,
) => string;

/** Returns the length of a typed array. */
export const lengthOf = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, "length");
const bufferLengthOf = getterOf(ArrayBuffer.prototype, "byteLength");

/** Returns the length of a byte array or buffer in bytes; 0 for a value that only poses as one, which is measured once it is read. */
export function byteLengthOf(value: unknown): number {
  try {
    return hasInstance(Uint8Array, value) ? lengthOf(value) : bufferLengthOf(value);
  } catch {
    return 0;
  }
}

/** Converts any value to text of at most `maxChars` characters. */
export function cutText(value: unknown, maxChars: number): string {
  return slice(typeof value === "string" ? value : String(value), 0, maxChars);
}

/** The language's own classes of errors, by name. */
export const errorClasses: Readonly<Record<string, ErrorConstructor>> = {
  __proto__: null,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as never;
