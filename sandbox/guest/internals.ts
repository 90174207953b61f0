/** What a chunk gets: its ways to the host and to other chunks. It must not let them reach the caller's code. */
export interface Internals {
  /**
   * Asks the host for something, e.g. `fetch`; only bytes cross, both ways.
   * Rejects with an `Error` that carries the host's message.
   * `onStart` receives a function that withdraws the call.
   */
  readonly hostCall: (
    name: string,
    bytes: Uint8Array,
    onStart?: (cancel: () => void) => void,
  ) => Promise<Uint8Array>;
  /**
   * Answers one of the natives of `sandbox/host/child/natives` at once, with text or bytes.
   * Throws an `Error` with its message when it fails.
   */
  readonly native: (name: string, header: object, bytes?: Uint8Array) => string | Uint8Array;
  /** Writes to the captured console, as it is: line ends included. */
  readonly print: (text: string) => void;
  /** Ends the run as the end of Deno's process does, and unwinds the code that asked for it. */
  readonly exit: (code: number) => never;
  /** The exports of another chunk, compiled and run on first use. */
  readonly load: (chunk: string) => Readonly<Record<string, unknown>>;
  /** UTF-8 of a string; lone surrogates become U+FFFD. */
  readonly encodeUtf8: (text: string) => Uint8Array;
  readonly setTimeout: (
    callback: (...args: unknown[]) => void,
    delayMs?: unknown,
    ...args: unknown[]
  ) => number;
  readonly clearTimeout: (id?: unknown) => void;
  /** Reports that the source asked for something that another run would not get again. */
  readonly touch: (what: "time" | "randomness") => void;
}

/** A chunk: `export default` of every file in `sandbox/guest/chunks`. Its result's members are its exports. */
export type Chunk = (internals: Internals) => Readonly<Record<string, unknown>>;
