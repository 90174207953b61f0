/** A native's answer: text or bytes. */
export type NativeAnswer = string | Uint8Array;

/**
 * A platform function that guest code calls synchronously: parsing, encodings, digests. It reads nothing but
 * its arguments (a compression stream also its own state), and both come from a hostile source: `header` is parsed JSON of any shape. Whatever it throws
 * reaches the guest as an error of that type, message and code.
 */
export type Native = (header: Readonly<Record<string, unknown>>, body: Uint8Array) => NativeAnswer;
