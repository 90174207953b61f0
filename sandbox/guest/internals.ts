import type { CloneRules } from "./cloneRules.ts";
import type { PromiseState } from "./promises.ts";
import type { ProxyParts } from "./proxies.ts";
import type { OpenRealm } from "./realmTypes.ts";

/** What a chunk receives: access to the host and to other chunks. It must not expose these to the caller's code. */
export interface Internals {
  /**
   * Asks the host for something, e.g. `fetch`; only bytes cross, in both directions.
   * Rejects with an `Error` that has the host's message.
   * `onStart` receives a function that cancels the call.
   */
  readonly hostCall: (
    name: string,
    bytes: Uint8Array,
    onStart?: (cancel: () => void) => void,
  ) => Promise<Uint8Array>;
  /**
   * Calls one of the natives in `sandbox/host/child/natives` synchronously and returns its text or bytes.
   * Throws an `Error` with the native's message if it fails.
   */
  readonly native: (name: string, header: object, bytes?: Uint8Array) => string | Uint8Array;
  /** Writes to the captured console as is: the text includes its line ends. */
  readonly print: (text: string) => void;
  /** Ends the run as the end of Deno's process would, by an error that nobody handled if one is given, and unwinds the calling code. */
  readonly exit: (code: number, error?: unknown) => never;
  /** Returns the exports of another chunk, which is compiled and run on first use. */
  readonly load: (chunk: string) => Readonly<Record<string, unknown>>;
  /** Returns a line of the running source, from 1, as it was compiled. */
  readonly sourceLine: (line: number) => string;
  /** What structured cloning does with the objects of each chunk. */
  readonly cloneRules: CloneRules;
  /** What a proxy stands for; undefined for what isn't one. */
  readonly proxyParts: (value: object) => ProxyParts | undefined;
  /** What became of a promise that `Promise.resolve` or `reject` made, or that was noted; undefined of others. */
  readonly promiseState: (promise: object) => PromiseState | undefined;
  readonly notePromise: (promise: object, state: PromiseState) => void;
  /** Opens a context for `node:vm`. */
  readonly openRealm: () => OpenRealm;
  /**
   * Runs a script in the context of that number and returns its value. A time of 0 is no limit; with one of −1 the context evaluates the code,
   * and an object says how that ended.
   */
  readonly runScript: (context: number, code: string, timeoutMs: number) => unknown;
  /** Encodes a string as UTF-8; lone surrogates become U+FFFD. */
  readonly encodeUtf8: (text: string) => Uint8Array;
  /** Decodes UTF-8; invalid sequences become U+FFFD, or an error if `fatal`. A byte order mark is dropped unless `keepsMark`. */
  readonly decodeUtf8: (bytes: Uint8Array, fatal?: boolean, keepsMark?: boolean) => string;
  /** Creates a `DOMException`. */
  readonly exception: (message: string, name: string) => Error;
  readonly setTimeout: (
    callback: (...args: unknown[]) => void,
    delayMs?: unknown,
    ...args: unknown[]
  ) => number;
  /** Calls back once all microtasks have run, before any timer. */
  readonly nextTick: (callback: () => void) => void;
  /** Makes the timers of a millisecond due, if the source's first turn hasn't ended. */
  readonly loseTime: () => void;
  readonly noteProcess: () => void;
  /** Binds a callback of the source to its asynchronous context, once `node:async_hooks` is in use. */
  readonly bindContext: <T extends (...args: never[]) => unknown>(callback: T) => T;
  readonly clearTimeout: (id?: unknown) => void;
  /** Reports that the source used something that another run wouldn't reproduce. */
  readonly touch: (what: "time" | "randomness") => void;
}

/** A chunk: the `export default` of every file in `sandbox/guest/chunks`. The members of its result are its exports. */
export type Chunk = (internals: Internals) => Readonly<Record<string, unknown>>;
