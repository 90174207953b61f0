import { wrongArgument } from "./errors.ts";

/**
 * Checks that a value is a byte array and returns it.
 * @throws {TypeError} `ERR_INVALID_ARG_TYPE` if it isn't.
 */
export function checkBytes(value: unknown, name: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw wrongArgument(name, "an instance of Buffer or Uint8Array", value);
}

/** Compares two byte arrays: −1 if the first sorts first, 1 if the second does, 0 if they are equal. */
export function compareBytes(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}
