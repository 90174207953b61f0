/**
 * What crosses between the isolate and its host: numbers, strings and bytes, through two functions. The host keeps
 * `dispatch`, the guest keeps `host`. A source that gets hold of `host` gains nothing that its own globals don't
 * give it: the host treats every call as the source's own.
 */

/** First argument of `host(…)`: what the guest asks for. */
export const ASK = {
  /** (text) Console output, line ends included. */
  print: 0,
  /** (delayMs) Call `dispatch(TELL.tick)` after that time, instead of any earlier wish; −1: not at all. */
  wake: 1,
  /** (id, name, bytes) Start a host call. */
  call: 2,
  /** (id) The answer of that host call is no longer wanted. */
  cancel: 3,
  /** (bytes) The source returned these. */
  succeed: 4,
  /** (kind, message, stack) The source failed: kind 0 threw, 1 its return value is no result, 2 the thrown value can't be read. */
  fail: 5,
  /** (name) Compile that chunk and hand it over with `dispatch(TELL.chunk, …)` before this call returns. */
  load: 6,
  /** (id, specifier, type) Import a module; `type` is the attribute or `""`. Answered like a host call, with its namespace. */
  import: 7,
  /** (name, header, bytes) Answer a native at once: bytes, or text that begins with `=` (answer) or `!` (error). */
  native: 8,
  /** (what) The source asked for `time` or `randomness`; said only where the run is observed. */
  touch: 9,
} as const;

/** First argument of `dispatch(…)`: what the host tells. */
export const TELL = {
  /**
   * (factory, inputs, limits, names) Run the source; `inputs` is JSON of args, bytesArgs, secrets, `limits` JSON too;
   * `names` tells whether the source may see what Deno adds to the global object.
   */
  start: 0,
  /** () Run one due timer; returns the delay to the next one in ms, 0 if it is due, −1 if there is none. */
  tick: 1,
  /** (id, error | null, value) Answer of a host call: bytes, or of an import: a namespace; `error` is JSON. */
  reply: 2,
  /** (chunk) A chunk that was asked for. */
  chunk: 3,
  /** (chunk name) Returns the names of its exports as JSON. */
  exportNames: 4,
  /** (function, chunk name) Calls the function with the chunk's exports. */
  fill: 5,
  /** () Freeze whatever the runs of a shared context have in common. */
  freeze: 6,
} as const;

/** The guest's one way out. */
export type Host = (ask: number, a?: unknown, b?: unknown, c?: unknown) => unknown;
