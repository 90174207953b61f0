/** What a native answers: text, or bytes. */
export type NativeAnswer = string | Uint8Array;

/**
 * A pure function of the platform that guest code may use at once: parsing, encodings, digests. It reads nothing but
 * its arguments, and both come from a hostile source: `header` is parsed JSON of any shape. What it throws reaches
 * the source as an `Error` with that message.
 */
export type Native = (header: Readonly<Record<string, unknown>>, body: Uint8Array) => NativeAnswer;
