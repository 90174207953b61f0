/**
 * The protocol between the isolate and its host: numbers, strings and bytes cross through two functions. The host holds
 * `dispatch`, the guest holds `host`. A source that gets hold of `host` gains nothing beyond its own globals: the host
 * treats every call as the source's own.
 */

/** First argument of `host(…)`: what the guest asks for. */
export const ASK = {
  /** (text) Prints to the console; the text includes its line ends. */
  print: 0,
  /** (delayMs) Calls `dispatch(TELL.tick)` after that time, which replaces any earlier request; −1: not at all. */
  wake: 1,
  /** (id, name, bytes) Starts a host call. */
  call: 2,
  /** (id) Cancels that host call: its answer is no longer wanted. */
  cancel: 3,
  /** (bytes) The source returned these bytes. */
  succeed: 4,
  /**
   * (kind, message, stack) The source failed. Kind 0: it threw; 1: its return value isn't a valid result; 2: the thrown
   * value can't be read.
   */
  fail: 5,
  /** (name, hardened) Compiles that chunk and hands it over with `dispatch(TELL.chunk, …)` before this call returns. */
  load: 6,
  /** (id, specifier, type) Imports a module; `type` is the attribute or `""`. Answered like a host call, with the module's namespace. */
  import: 7,
  /** (name, header, bytes) Calls a native synchronously. The answer is bytes, or text that begins with `=` (result) or `!` (error). */
  native: 8,
  /** (what) The source used `time` or `randomness`, or `http` whose timer it was; reported only if the run is observed. */
  touch: 9,
  /** () Returns the time that timers are due by: what the source has run and waited, in ms. */
  now: 10,
  /** () Opens a context for `node:vm`, hands over what sets it up as `load` does, and returns its number, from 1. */
  realm: 11,
  /**
   * (context, code, timeoutMs) Runs a script in that context, 0 being the source's own, and hands its value over as `load` does. A time of 0
   * is no limit; with one of −1 the context evaluates the code, and what is handed over says how that ended.
   */
  script: 12,
} as const;

/** First argument of `dispatch(…)`: the host's commands. */
export const TELL = {
  /**
   * (factory, inputs, limits, names, replaces, describes) Runs the source; `inputs` is JSON with args, bytesArgs and secrets, `limits` is
   * JSON too; `names` says whether the source may see what Deno adds to the global object, `replaces` whether it may
   * replace built-ins, `describes` whether it may look at property descriptors.
   */
  start: 0,
  /** () Runs one due timer; returns the delay to the next one in ms, 0 if it is already due, −1 if there is none. */
  tick: 1,
  /** (id, error | null, value) Answers a host call with bytes, or an import with a namespace; `error` is JSON. */
  reply: 2,
  /** (chunk) Hands over the requested chunk. */
  chunk: 3,
  /** (chunk name) Returns the names of its exports as JSON. */
  exportNames: 4,
  /** (function, chunk name) Calls the function with the chunk's exports. */
  fill: 5,
  /** () Freezes whatever the runs of a shared context have in common. */
  freeze: 6,
  /** (reason, error) A promise was rejected and nobody handled it; `error` is JSON for an error. Returns whether a listener did. */
  rejected: 7,
} as const;

/** The guest's only way out. */
export type Host = (ask: number, a?: unknown, b?: unknown, c?: unknown) => unknown;
