import type ivm from "isolated-vm";
import { ASK, TELL } from "../../guest/protocol.ts";
import { CRASH_TEXT, type RunError, type Touch } from "../../run.ts";
import { MAX_ERROR_CHARS, type ReplyMessage, type RunMessage } from "../messages.ts";
import { compileSource, SourceSyntaxError, type CompiledSource } from "./compile.ts";
import type { PreparedContext } from "./context.ts";
import { describeThrown, plainMessage, stopError, thrownError, timeoutError } from "./errors.ts";
import { describesProperties, namesGlobals, replacesBuiltIns } from "./namesGlobals.ts";
import { createImports, type Imports } from "./imports.ts";
import { refuse } from "./modules.ts";
import type { Outbox } from "./outbox.ts";
import type { ImportRequest } from "../net/importRequest.ts";
import { createNatives } from "./natives/natives.ts";
import { createSubtleCalls } from "./subtleCall.ts";

/** How a run ended. */
export interface RunOutcome {
  readonly error: RunError | null;
  readonly bytes: Uint8Array;
  readonly timeMs: number;
  readonly memoryBytes: number;
  /** What the source asked for in this process; complete for time and randomness only if the run is observed. */
  readonly touched: readonly Touch[];
  /**
   * Whether the process may take another run: false if the isolate was stopped by force or Web Crypto is still at
   * work.
   */
  readonly reusable: boolean;
}

/** A run in progress. */
export interface Execution {
  readonly outcome: Promise<RunOutcome>;
  /** Passes in the answer to a host call. */
  readonly reply: (message: ReplyMessage, body: Uint8Array) => void;
}

/** Name of the host call that this process answers itself: Web Crypto. */
const SUBTLE = "subtle";
/** Natives whose answer differs each time, by what their header then has; a signature may include a random nonce. */
const RANDOM_NATIVES: ReadonlyMap<string, string> = new Map([
  ["random", ""],
  ["uuid", ""],
  ["sign", ""],
  ["prime", ""],
  ["keyPair", ""],
  ["ecdh", '"action":"generate"'],
  ["crypt", '"operation":"publicEncrypt"'],
  ["keyExport", '"cipher":'],
]);
const NO_BYTES = new Uint8Array(0);

/**
 * Executes one source in a prepared context. Every entry into the isolate has isolated-vm's own timeout for the
 * remaining time; while the source waits, a timer of this process enforces the same deadline. Microtasks belong to the
 * entry that queued them.
 */
export function execute(prepared: PreparedContext, message: RunMessage, outbox: Outbox): Execution {
  const run = new SourceRun(prepared, message, outbox);
  run.start();
  return { outcome: run.outcome, reply: (reply, body) => run.reply(reply, body) };
}

/** A value that enters the isolate without a copy. */
type Told = string | number | boolean | null | ReturnType<ivm.Reference["derefInto"]>;

/**
 * The state of a run. `running`: the source's code runs or waits. `answered`: the code has returned or thrown, and the
 * entry in which it did so is finishing. `ended`: nothing enters the isolate again.
 */
type RunState =
  | { readonly kind: "running" }
  | { readonly kind: "answered"; readonly error: RunError | null; readonly bytes: Uint8Array }
  | { readonly kind: "ended" };

/**
 * The time that a source's timers are due by, in ms: what it has run, and waited no longer than it asked to. It stands still while other
 * programs hold this process up, so that a busy machine reorders no timers.
 */
function createRunClock() {
  const ranMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let waitedMs = 0;
  let wakeMs = 0;
  let left = { atMs: performance.now(), ranMs: ranMs() };
  const now = (): number => ranMs() + waitedMs;
  return {
    now,
    /** A timer is due after that time; without one, how long the source waits is of no account. */
    wakeIn(delayMs: number): void {
      wakeMs = now() + delayMs;
    },
    /** The source runs until `leave`. */
    enter(): void {
      const idleMs = performance.now() - left.atMs - (ranMs() - left.ranMs);
      waitedMs += Math.max(0, Math.min(idleMs, wakeMs - left.ranMs - waitedMs));
    },
    leave(): void {
      left = { atMs: performance.now(), ranMs: ranMs() };
    },
  };
}

class SourceRun {
  readonly outcome: Promise<RunOutcome>;
  readonly #resolve: (outcome: RunOutcome) => void;
  readonly #prepared: PreparedContext;
  readonly #message: RunMessage;
  readonly #outbox: Outbox;
  readonly #imports: Imports;
  readonly #touched = new Set<Touch>();
  readonly #startMs = performance.now();
  readonly #deadline: NodeJS.Timeout;
  #state: RunState = { kind: "running" };
  #source: CompiledSource | undefined;
  /** Wakes the source's own timers. */
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  /** Absent until the source sets a timer. */
  #clock: ReturnType<typeof createRunClock> | undefined;
  readonly #subtle = createSubtleCalls(() => this.#touched.add("randomness"));
  readonly #natives = createNatives(this.#subtle.natives);

  constructor(prepared: PreparedContext, message: RunMessage, outbox: Outbox) {
    const { promise, resolve } = Promise.withResolvers<RunOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#prepared = prepared;
    this.#message = message;
    this.#outbox = outbox;
    this.#imports = createImports(prepared, {
      leftMs: () => this.#leftMs(),
      answer: (id, namespace) => this.#tell(TELL.reply, id, null, namespace.derefInto()),
      refuse: (id, error) => this.#refuse(id, error),
      ask: (id, request) => this.#call(id, "import", request),
    });
    this.#deadline = setTimeout(() => this.#end(timeoutError(), NO_BYTES, false), message.limits.timeoutMs);
    prepared.ask = (ask, a, b, c) => this.#hear(ask, a, b, c);
  }

  /** Compiles the source and runs it to its first wait. */
  start(): void {
    const { source, inputs, isPure } = this.#message;
    let factory: ivm.Reference;
    try {
      factory = this.#compile();
    } catch (thrown) {
      const stopped = stopError(this.#prepared.isolate, thrown);
      if (stopped !== null) return this.#end(stopped, NO_BYTES, false);
      return this.#end(crashError("syntax", thrown, this.#source), NO_BYTES, true);
    }
    this.#enter(() =>
      this.#tell(
        TELL.start,
        factory.derefInto({ release: !isPure }),
        inputs,
        this.#guestLimits(),
        !isPure && namesGlobals(source),
        !isPure && replacesBuiltIns(source),
        !isPure && describesProperties(source),
      ),
    );
  }

  /** Passes in the answer to a host call. */
  reply({ call, error }: ReplyMessage, body: Uint8Array): void {
    this.#outbox.answered(call);
    this.#enter(() => {
      if (error !== null) this.#refuse(call, error);
      else if (!this.#imports.finish(call, body)) this.#answerBytes(call, body);
    });
  }

  /** Returns the factory of the source's function; a context that runs share compiles it once. */
  #compile(): ivm.Reference {
    const { isolate, context, compiled } = this.#prepared;
    if (compiled !== undefined) {
      this.#source = compiled.source;
      return compiled.factory;
    }
    this.#source = compileSource(isolate, this.#message.source);
    const { module } = this.#source;
    module.instantiateSync(context, refuse);
    module.evaluateSync({ timeout: this.#leftMs() });
    const { namespace } = module;
    const factory = namespace.getSync("default", { reference: true });
    // Every handle keeps the whole context alive until this process's own garbage collector finds it.
    namespace.release();
    module.release();
    if (this.#message.isPure) this.#prepared.compiled = { source: this.#source, factory };
    return factory;
  }

  #guestLimits(): string {
    const { limits, observe } = this.#message;
    const { maxResponseBytes, maxConsoleBytes } = limits;
    return JSON.stringify({ maxResponseBytes, maxConsoleBytes, maxErrorChars: MAX_ERROR_CHARS, observe });
  }

  #leftMs(): number {
    return Math.max(1, Math.ceil(this.#message.limits.timeoutMs - (performance.now() - this.#startMs)));
  }

  /** Enters the isolate; any exception that leaves it was not caught by the source. */
  #enter(work: () => void): void {
    if (this.#state.kind === "ended") return;
    this.#clock?.enter();
    try {
      work();
    } catch (thrown) {
      const stopped = stopError(this.#prepared.isolate, thrown);
      if (stopped !== null) return this.#end(stopped, NO_BYTES, false);
      // Deno exits on an uncaught error or rejection, and the nodes report every such exit with this text.
      if (!this.#isPrevented(thrown))
        return this.#end(crashError("thrown", thrown, this.#source), NO_BYTES, true);
      this.#wake(0);
    }
    this.#clock?.leave();
    const state = this.#state as RunState;
    if (state.kind === "answered") this.#end(state.error, state.bytes, true);
  }

  /** Whether a listener of the source has handled the rejection that left the isolate. */
  #isPrevented(thrown: unknown): boolean {
    try {
      return this.#tell(TELL.rejected, ...rejection(thrown)) === true;
    } catch {
      return false;
    }
  }

  #end(error: RunError | null, bytes: Uint8Array, reusable: boolean): void {
    if (this.#state.kind === "ended") return;
    this.#state = { kind: "ended" };
    clearTimeout(this.#deadline);
    this.#timer?.[Symbol.dispose]();
    this.#prepared.ask = () => undefined;
    this.#natives.close();
    this.#outbox.flush();
    if (reusable) this.#imports.release();
    this.#resolve({
      error,
      bytes,
      timeMs: performance.now() - this.#startMs,
      memoryBytes: reusable ? usedBytes(this.#prepared.isolate) : 0,
      touched: [...this.#touched],
      // A key derivation that nobody awaits may run for minutes.
      reusable: reusable && this.#subtle.pending === 0,
    });
  }

  #tell(...args: readonly Told[]): unknown {
    return this.#prepared.dispatch.applySync(undefined, [...args], { timeout: this.#leftMs() });
  }

  readonly #handOver = (value: ivm.Reference): void => {
    this.#prepared.dispatch.applySync(undefined, [TELL.chunk, value.derefInto()]);
  };

  /** Serves the guest's requests; the guest is inside the isolate meanwhile. */
  #hear(ask: number, a: unknown, b: unknown, c: unknown): string | number | Uint8Array | undefined {
    switch (ask) {
      case ASK.native:
        return this.#callNative(String(a), String(b), asBytes(c));
      case ASK.print:
        this.#outbox.print(String(a));
        break;
      case ASK.wake:
        this.#wake(Number(a));
        break;
      case ASK.call:
        if (b === SUBTLE) this.#runSubtle(Number(a), asBytes(c));
        else this.#call(Number(a), String(b), asBytes(c));
        break;
      case ASK.cancel:
        this.#outbox.cancel(Number(a));
        break;
      case ASK.succeed:
        this.#answered(null, asBytes(a));
        break;
      case ASK.fail:
        this.#answered(thrownError(Number(a), String(b), String(c), this.#source), NO_BYTES);
        break;
      case ASK.import:
        this.#import(Number(a), { specifier: String(b), type: String(c) });
        break;
      case ASK.touch:
        this.#touched.add(a === "time" || a === "http" ? a : "randomness");
        break;
      case ASK.now:
        return (this.#clock ??= createRunClock()).now();
      case ASK.load:
        this.#prepared.loadChunk(String(a), b === true, this.#handOver);
        break;
      case ASK.realm:
        return this.#prepared.openRealm(this.#handOver);
      case ASK.script:
        this.#prepared.runScript(Number(a), String(b), Number(c), this.#handOver);
        break;
    }
    // An answer from one of V8's own tasks (WebAssembly) arrives outside every entry.
    if (this.#state.kind === "answered") setImmediate(() => this.#enter(() => {}));
    return undefined;
  }

  #callNative(name: string, header: string, body: Uint8Array): string | Uint8Array {
    const mark = RANDOM_NATIVES.get(name);
    if (mark !== undefined && header.includes(mark)) this.#touched.add("randomness");
    return this.#natives.call(name, header, body);
  }

  #answered(error: RunError | null, bytes: Uint8Array): void {
    if (this.#state.kind === "running") this.#state = { kind: "answered", error, bytes };
  }

  #wake(delayMs: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#clock?.wakeIn(delayMs);
    if (delayMs === 0) this.#timer = setImmediate(() => this.#tick());
    else if (delayMs > 0) this.#timer = setTimeout(() => this.#tick(), delayMs);
  }

  #tick(): void {
    this.#timer = undefined;
    this.#enter(() => {
      const waitMs = this.#tell(TELL.tick) as number;
      // Microtasks run after the guest has computed its answer; one of them may have asked for an earlier wake-up.
      if (waitMs >= 0 && this.#timer === undefined) this.#wake(waitMs);
    });
  }

  #call(id: number, name: string, body: Uint8Array): void {
    const message = this.#outbox.call(id, name, body);
    if (message !== undefined)
      setImmediate(() => this.#enter(() => this.#refuse(id, { name: "Error", message })));
  }

  #import(id: number, request: ImportRequest): void {
    this.#imports.announce(id, request);
    setImmediate(() => this.#enter(() => this.#imports.start(id, request)));
  }

  #answerBytes(id: number, body: Uint8Array): void {
    this.#prepared.dispatch.applySync(undefined, [TELL.reply, id, null, new Uint8Array(body)], {
      arguments: { copy: true },
      timeout: this.#leftMs(),
    });
  }

  #refuse(
    id: number,
    error: { readonly name: string; readonly message: string; readonly code?: string },
  ): void {
    this.#tell(TELL.reply, id, JSON.stringify(error));
  }

  /** Answers a Web Crypto call in this process. */
  #runSubtle(id: number, request: Uint8Array): void {
    this.#subtle.run(request, (answer) => this.#enter(() => this.#answerBytes(id, answer)));
  }
}

/** The arguments of `TELL.rejected`; isolated-vm copies errors and primitive values, nothing else. */
function rejection(thrown: unknown): [Told, string | null] {
  if (thrown instanceof Error) {
    const { name, stack = "" } = thrown;
    const message = plainMessage(thrown);
    return [null, JSON.stringify({ name, message, stack })];
  }
  const isPlain = thrown === null || ["string", "number", "boolean"].includes(typeof thrown);
  return [isPlain ? (thrown as Told) : (undefined as never), null];
}

function asBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : NO_BYTES;
}

function usedBytes(isolate: ivm.Isolate): number {
  const heap = isolate.getHeapStatisticsSync();
  return heap.used_heap_size + heap.externally_allocated_size;
}

/**
 * Creates the error the nodes report for a source that does not compile or ends with something uncaught, along with the
 * cause.
 */
function crashError(
  kind: "syntax" | "thrown",
  thrown: unknown,
  source: CompiledSource | undefined,
): RunError {
  const described =
    thrown instanceof SourceSyntaxError
      ? { detail: thrown.detail, ...thrown.place }
      : describeThrown(thrown, source);
  return { ...described, kind, message: CRASH_TEXT };
}
