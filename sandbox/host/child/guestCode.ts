/** Code for the isolate, built from `sandbox/guest` and inlined by the bundler; the child reads no other file. */
declare const GUEST_BOOTSTRAP: string;
declare const GUEST_CHUNKS: Readonly<Record<string, string>>;
declare const GUEST_HARDENED: Readonly<Record<string, string>>;

/** Script whose value is `boot`. */
export const bootstrapCode: string = GUEST_BOOTSTRAP;
/** Scripts by chunk name whose value is the chunk. */
export const chunkCode: Readonly<Record<string, string>> = GUEST_CHUNKS;
/** The same for sources that may replace built-ins: each script's value is a function of the captured ones that returns the chunk. */
export const hardenedCode: Readonly<Record<string, string>> = GUEST_HARDENED;
