/**
 * Runs in a fresh context before any of the caller's code. It captures the built-ins it needs at that point, so a
 * source that changes prototypes later affects only itself.
 */
import {
  ArrayBuffer,
  Error,
  Promise,
  TypeError,
  Uint8Array,
  byteLengthOf,
  cutText,
  defineProperty,
  errorClasses,
  hasInstance,
  indexOf,
  isError,
  keys,
  lengthOf,
  parse,
  plainJson,
  slice,
  split,
  textOf,
  textOfError,
  toWellFormed,
} from "./builtins.ts";
import { captureBuiltIns } from "./captured.ts";
import { createCloneRules } from "./cloneRules.ts";
import { disableProto, removeUnsharedMembers } from "./ecmaScript.ts";
import { freezeIntrinsics } from "./freeze.ts";
import { createFunctions } from "./functions.ts";
import { prepareGlobalObject } from "./globalObject.ts";
import { attributeType } from "./importAttributes.ts";
import { shareFormats } from "./intl.ts";
import type { Chunk, Internals } from "./internals.ts";
import type { OpenRealm } from "./realmTypes.ts";
import { createConsole } from "./plainConsole.ts";
import { ASK, TELL, type Host } from "./protocol.ts";
import { type PromiseStates, recordPromises } from "./promises.ts";
import { type ProxyParts, recordProxies } from "./proxies.ts";
import { readThrown } from "./thrown.ts";
import { createTimers } from "./timers.ts";
import type { NodeErrors } from "./buffer/errors.ts";
import { encodeUtf8 } from "./utf8.ts";

const noBytes = new Uint8Array(0);

interface StartLimits {
  readonly maxResponseBytes: number;
  readonly maxConsoleBytes: number;
  readonly maxErrorChars: number;
  readonly observe: boolean;
}

const visible: PropertyDescriptor = {
  __proto__: null,
  writable: true,
  enumerable: true,
  configurable: true,
} as never;

/** Longest specifier passed to the host, in characters; the host's own limit is far lower. */
const MAX_SPECIFIER_CHARS = 65_536;

/** Chunks of the web's classes, whose code uses their members as they were made. */
const WEB_CHUNKS = " clone crypto events fetch file streams text url ";

type ImportModule = (specifier: unknown, options?: unknown) => Promise<unknown>;
type Source = (run: object, importModule: ImportModule) => () => Promise<unknown>;

/** Prepares the global object and returns `dispatch`, through which the host sends this context its commands. */
export default function boot(
  host: Host,
): (tell: number, a?: unknown, b?: unknown, c?: unknown, d?: unknown, e?: unknown, f?: unknown) => unknown {
  removeUnsharedMembers();
  disableProto();
  shareFormats();
  let isObserved = false;
  /** Number of chunks being set up: what they read meanwhile isn't attributed to the source. */
  let loading = 0;
  /** Whether `makeHttpRequest` starts its timer, whose use of time is that of an HTTP request. */
  let isRequesting = false;
  const touch = (what: "time" | "randomness"): void => {
    if (isObserved && loading === 0) host(ASK.touch, isRequesting ? "http" : what);
  };
  const timers = createTimers(host, touch);
  const chunks: Record<string, Readonly<Record<string, unknown>>> = { __proto__: null } as never;
  const calls: Record<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void; isFetch?: boolean }
  > = {
    __proto__: null,
  } as never;
  let nextCall = 1;
  let handedOver: unknown;
  /** Whether a timer's callback threw an error, which has left the isolate. */
  let hasThrown = false;
  /** The built-ins before the source ran, if it may replace some; the chunks are then hardened. */
  let captured: ReturnType<typeof captureBuiltIns> | undefined;
  /** The source as a function. */
  let running: ReturnType<Source> | undefined;
  /** Console characters left; negative once some were dropped. */
  let printable = 0;
  let maxErrorChars = 0;
  const functions = createFunctions((start) => {
    isRequesting = true;
    try {
      return start();
    } finally {
      isRequesting = false;
    }
  });
  let proxyParts: (value: object) => ProxyParts | undefined = () => undefined;
  let promises: PromiseStates = { stateOf: () => undefined, note: () => {} };

  const internals: Internals = {
    hostCall: (name, bytes, onStart) =>
      new Promise((resolve, reject) => {
        const id = nextCall++;
        calls[id] = { resolve, reject, isFetch: name === "fetch" };
        host(ASK.call, id, name, bytes);
        onStart?.(() => {
          delete calls[id];
          host(ASK.cancel, id);
        });
      }),
    native: (name, header, bytes = noBytes) => {
      const answer = host(ASK.native, name, plainJson(header), bytes);
      if (typeof answer !== "string") return answer as Uint8Array;
      const text = slice(answer, 1, answer.length);
      if (answer[0] === "!") throw nativeError(text, load);
      return text;
    },
    print,
    load,
    // The first line of its text is the wrapper's.
    sourceLine: (line) => split(textOf(running), "\n")[line] ?? "",
    exit: (code, error) => {
      let [message, stack] = ["", ""];
      try {
        if (isError(error)) {
          message = cutText(textOfError(error), maxErrorChars);
          stack = readThrown(error, maxErrorChars).stack;
        } else if (error === null || !/^(?:undefined|object|function)$/.test(typeof error))
          message = cutText(error, maxErrorChars);
      } catch {
        // A value whose text can't be had.
      }
      host(ASK.fail, 2, message, stack);
      // A source that catches what follows prints no more.
      printable = -1;
      throw new Error(`The program ended with code ${code}`);
    },
    cloneRules: createCloneRules(),
    proxyParts: (value) => proxyParts(value),
    promiseState: (promise) => promises.stateOf(promise),
    notePromise: (promise, state) => promises.note(promise, state),
    openRealm: () => {
      const number = host(ASK.realm) as number;
      return { number, setUp: takeOver() as OpenRealm["setUp"] };
    },
    runScript: (context, code, timeoutMs) => {
      const before = { loading, isRequesting };
      try {
        host(ASK.script, context, code, timeoutMs);
      } catch (error) {
        // A time limit ends the script's code without its `finally`.
        ({ loading, isRequesting } = before);
        throw error;
      }
      return takeOver();
    },
    encodeUtf8,
    decodeUtf8: (bytes, fatal, keepsMark) =>
      (load("text")["decodeUtf8"] as Internals["decodeUtf8"])(bytes, fatal, keepsMark),
    exception: (message, name) =>
      new (load("events")["DOMException"] as new (message: string, name: string) => Error)(message, name),
    setTimeout: timers.start,
    clearTimeout: timers.clearTimeout,
    nextTick: (callback) =>
      timers.nextTick(() => {
        try {
          callback();
        } catch (error) {
          if (!isErrorHandled(error)) throw error;
        }
      }),
    loseTime: timers.loseTime,
    noteProcess: timers.noteProcess,
    bindContext,
    touch,
  };

  function bindContext<T extends (...args: never[]) => unknown>(callback: T): T {
    const callbacks = chunks["node"]?.["callbacks"] as { readonly bind: (callback: T) => T } | undefined;
    return callbacks === undefined ? callback : callbacks.bind(callback);
  }

  /** Prints to the console. Text that the host would drop anyway is cut here, so a huge text never leaves this heap. */
  function print(text: string): void {
    if (printable < 0) return;
    const kept = text.length > printable ? slice(text, 0, printable + 1) : text;
    printable -= text.length;
    host(ASK.print, toWellFormed(kept));
  }

  function takeOver(): unknown {
    const given = handedOver;
    handedOver = undefined;
    return given;
  }

  function load(name: string): Readonly<Record<string, unknown>> {
    const known = chunks[name];
    if (known !== undefined) return known;
    host(ASK.load, name, captured !== undefined);
    const given = takeOver();
    const chunk = (
      captured === undefined ? given : (given as (captured: object) => unknown)(captured)
    ) as Chunk;
    loading += 1;
    try {
      const exports = chunk(internals);
      // What sources replace in Node's classes counts in them.
      if (indexOf(WEB_CHUNKS, ` ${name} `) >= 0) captured?.keepClasses(exports);
      return (chunks[name] = exports);
    } finally {
      loading -= 1;
    }
  }

  /** Returns the exports behind an entry of `nodeModules`: those of a chunk, or those of `chunk#member`. */
  function loadModule(entry: string): Readonly<Record<string, unknown>> {
    const at = indexOf(entry, "#");
    if (at < 0) return load(entry);
    return load(slice(entry, 0, at))[slice(entry, at + 1, entry.length)] as Readonly<Record<string, unknown>>;
  }

  const fillGlobalObject = prepareGlobalObject({
    load,
    findLoaded: (name) => chunks[name],
    bindContext,
    timers,
    createConsole: () => createConsole(internals),
  });

  /** Replaces `import(…)` in the source; its `meta` property replaces `import.meta`. */
  const importModule: ImportModule = (specifier, options) =>
    new Promise((resolve, reject) => {
      // A template literal throws for a symbol, as import() does; String() would not.
      const name = slice(`${specifier as string | number}`, 0, MAX_SPECIFIER_CHARS);
      const type = attributeType(options);
      const id = nextCall++;
      calls[id] = { resolve, reject };
      host(ASK.import, id, name, type);
    });
  defineProperty(importModule, "meta", {
    __proto__: null,
    value: {
      __proto__: null,
      url: "file:///source.ts",
      main: true,
      resolve: (specifier: unknown) => cutText(specifier, MAX_SPECIFIER_CHARS),
      filename: "/source.ts",
      dirname: "/",
    },
  } as PropertyDescriptor);

  async function run(source: Source, inputs: string, limits: StartLimits): Promise<void> {
    const { args, bytesArgs, secrets } = parse(inputs) as {
      args: unknown;
      bytesArgs: unknown;
      secrets: unknown;
    };
    const { maxResponseBytes } = limits;
    maxErrorChars = limits.maxErrorChars;
    printable = limits.maxConsoleBytes;
    if (limits.observe) load("observe");
    isObserved = limits.observe;
    let refused = false;
    try {
      running = source({ args, bytesArgs, secrets, Functions: functions }, importModule);
      const value = await running();
      if (!hasInstance(ArrayBuffer, value) && !hasInstance(Uint8Array, value)) {
        refused = true;
        throw new Error("returned value not an ArrayBuffer or Uint8Array");
      }
      // The length is checked first: a copy of a huge result wouldn't fit into the remaining memory.
      const tooLong = byteLengthOf(value) > maxResponseBytes;
      const bytes = tooLong ? undefined : new Uint8Array(value as ArrayBuffer);
      if (bytes === undefined || lengthOf(bytes) > maxResponseBytes) {
        host(ASK.fail, 1, `response >${maxResponseBytes} bytes`, "");
      } else host(ASK.succeed, bytes);
    } catch (thrown) {
      try {
        const { message, stack } = readThrown(thrown, maxErrorChars);
        host(ASK.fail, refused ? 1 : 0, message, stack);
      } catch {
        host(ASK.fail, 2, "", "");
      }
    }
    dropFetches();
  }

  /**
   * Rejects the fetches in flight: the nodes close their proxy once a source has ended. A rejection that nobody handles
   * ends the program.
   */
  function dropFetches(): void {
    for (const id in calls) {
      const call = calls[id];
      if (call?.isFetch === true) call.reject(new TypeError("fetch failed"));
    }
  }

  /** Passes an uncaught error to the listeners of the source. */
  function isErrorHandled(error: unknown): boolean {
    const handle = chunks["events"]?.["isHandled"] as ((error: unknown) => boolean) | undefined;
    return handle !== undefined && handle(error);
  }

  /** Passes a rejection that nobody handled to the listeners of the source, unless an error was thrown meanwhile. */
  function isRejectionHandled(reason: unknown): boolean {
    const handle = chunks["events"]?.["isRejectionHandled"] as ((reason: unknown) => boolean) | undefined;
    return !hasThrown && handle !== undefined && handle(reason);
  }

  return (tell, a, b, c, d, e, f) => {
    switch (tell) {
      case TELL.start:
        if (e === true) captured = captureBuiltIns();
        if (d === true) {
          proxyParts = recordProxies();
          promises = recordPromises();
          fillGlobalObject(f === true);
        }
        void run(a as Source, b as string, parse(c as string) as StartLimits);
        return undefined;
      case TELL.tick:
        hasThrown = true;
        const waitMs = timers.tick();
        hasThrown = false;
        return waitMs;
      case TELL.reply: {
        const call = calls[a as number];
        delete calls[a as number];
        if (call === undefined) return undefined;
        if (b === null) call.resolve(c as never);
        else {
          call.reject(makeError(parse(b as string) as ErrorParts));
        }
        return undefined;
      }
      case TELL.exportNames:
        return plainJson(keys(loadModule(a as string)));
      case TELL.fill:
        (a as (exports: object) => void)(loadModule(b as string));
        return undefined;
      case TELL.rejected:
        return isRejectionHandled(b === null ? a : makeError(parse(b as string) as ErrorParts));
      case TELL.freeze:
        freezeIntrinsics(functions);
        return undefined;
      default:
        handedOver = a;
        return undefined;
    }
  };
}

interface ErrorParts {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

/** Creates an error from what the host says of it. */
function makeError({ name, message, code, stack }: ErrorParts): Error {
  const error = new (errorClasses[name] ?? Error)(message);
  if (code !== undefined) defineProperty(error, "code", { ...visible, value: code });
  if (stack !== undefined) {
    defineProperty(error, "stack", { ...visible, value: stack, enumerable: false });
    if (error.name !== name) defineProperty(error, "name", { ...visible, value: name, enumerable: false });
  }
  return error;
}

/** Creates the error that a native has thrown, from JSON; Node's own codes say that it is one of Node's. */
function nativeError(text: string, load: Internals["load"]): Error {
  const { type, message, code, errno } = parse(text) as Record<string, string | null>;
  const Type = errorClasses[type as string] ?? Error;
  if (
    errno === null &&
    typeof code === "string" &&
    slice(code, 0, 4) === "ERR_" &&
    slice(code, 4, 8) !== "OSSL"
  )
    return (load("node")["errors"] as NodeErrors).nodeError(code, message as string, Type);
  const error = new Type(message as string);
  if (errno !== null) defineProperty(error, "errno", { ...visible, value: errno });
  if (code !== null) defineProperty(error, "code", { ...visible, value: code });
  return error;
}
