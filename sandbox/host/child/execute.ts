import type ivm from "isolated-vm";
import { ASK, TELL } from "../../guest/protocol.ts";
import { CRASH_TEXT, type RunError } from "../../run.ts";
import { MAX_ERROR_CHARS, type ReplyMessage, type RunMessage } from "../messages.ts";
import { compileSource, type CompiledSource } from "./compile.ts";
import type { PreparedContext } from "./context.ts";
import { describeThrown, positionIn, stopError, timeoutError } from "./errors.ts";
import { namesGlobals } from "./namesGlobals.ts";
import { createModules, refuse } from "./modules.ts";
import { formatCallMessage } from "../net/callMessage.ts";
import { callNative } from "./natives/natives.ts";
import { createSubtleHost, type SubtleHost } from "./natives/subtle.ts";

/** What a run tells the parent while it goes on. */
export interface RunOutput {
  readonly print: (text: string) => void;
  readonly call: (call: number, name: string, body: Uint8Array) => void;
  readonly cancel: (call: number) => void;
}

/** How a run ended. */
export interface RunOutcome {
  readonly error: RunError | null;
  readonly bytes: Uint8Array;
  readonly timeMs: number;
  readonly memoryBytes: number;
  /** False when the isolate was stopped by force: the process is not to be trusted with another run. */
  readonly reusable: boolean;
}

/** A run under way. */
export interface Execution {
  readonly outcome: Promise<RunOutcome>;
  /** Hands over the answer of a host call. */
  readonly reply: (message: ReplyMessage, body: Uint8Array) => void;
}

/** Name of the host call that this process answers itself: Web Crypto. */
const SUBTLE = "subtle";
const NO_BYTES = new Uint8Array(0);

/**
 * Executes one source in a prepared context. Every entry into the isolate has isolated-vm's own timeout for the time
 * that is left; while the source waits, a timer of this process holds the same deadline. Microtasks are part of the
 * entry that queued them.
 */
export function execute(prepared: PreparedContext, message: RunMessage, output: RunOutput): Execution {
  const { isolate, dispatch } = prepared;
  const { limits } = message;
  const startMs = performance.now();
  const { promise: outcome, resolve } = Promise.withResolvers<RunOutcome>();
  let ended = false;
  let source: CompiledSource | undefined;
  let timer: NodeJS.Timeout | undefined;
  let subtle: SubtleHost | undefined;
  let subtlePending = 0;
  const deadline = setTimeout(() => end(timeoutError(), NO_BYTES, false), limits.timeoutMs);

  const leftMs = (): number => Math.max(1, Math.ceil(limits.timeoutMs - (performance.now() - startMs)));

  function end(error: RunError | null, bytes: Uint8Array, reusable: boolean): void {
    if (ended) return;
    ended = true;
    clearTimeout(deadline);
    clearTimeout(timer);
    prepared.ask = () => undefined;
    if (reusable) modules.release();
    resolve({
      error,
      bytes,
      timeMs: performance.now() - startMs,
      memoryBytes: reusable ? usedBytes(isolate) : 0,
      // A key derivation that nobody waits for may go on for minutes.
      reusable: reusable && subtlePending === 0,
    });
  }

  let answered: { error: RunError | null; bytes: Uint8Array } | undefined;

  /** Enters the isolate; whatever comes out of it as an exception was not caught by the source. */
  function enter(work: () => void): void {
    if (ended) return;
    try {
      work();
    } catch (thrown) {
      const stopped = stopError(isolate, thrown);
      if (stopped !== null) end(stopped, NO_BYTES, false);
      // Deno ends when an error or a rejection stays uncaught, and the nodes say this of any such end.
      else end({ ...describeThrown(thrown, source), kind: "thrown", message: CRASH_TEXT }, NO_BYTES, true);
      return;
    }
    if (answered !== undefined) end(answered.error, answered.bytes, true);
  }

  function tick(): void {
    timer = undefined;
    enter(() => {
      const waitMs = dispatch.applySync(undefined, [TELL.tick], { timeout: leftMs() }) as number;
      if (waitMs >= 0) wake(waitMs);
    });
  }

  function wake(delayMs: number): void {
    clearTimeout(timer);
    if (delayMs >= 0) timer = setTimeout(tick, delayMs);
  }

  prepared.ask = (ask, a, b, c) => {
    switch (ask) {
      case ASK.native:
        return callNative(String(a), String(b), asBytes(c));
      case ASK.print:
        output.print(String(a));
        break;
      case ASK.wake:
        wake(Number(a));
        break;
      case ASK.call:
        if (b === SUBTLE) runSubtle(Number(a), asBytes(c));
        else output.call(Number(a), String(b), asBytes(c));
        break;
      case ASK.cancel:
        output.cancel(Number(a));
        break;
      case ASK.succeed:
        answered ??= { error: null, bytes: asBytes(a) };
        break;
      case ASK.fail:
        answered ??= { error: thrownError(Number(a), String(b), String(c), source), bytes: NO_BYTES };
        break;
      case ASK.import:
        imports.set(Number(a), `${String(c)} ${String(b)}`);
        setImmediate(() => startImport(Number(a), String(b), String(c)));
        break;
      case ASK.load:
        prepared.loadChunk(String(a), (chunk) => {
          dispatch.applySync(undefined, [TELL.chunk, chunk.derefInto()]);
        });
        break;
    }
    // An answer that comes from a task of V8's own (WebAssembly) arrives outside of every entry.
    if (answered !== undefined) setImmediate(() => enter(() => {}));
    return undefined;
  };

  const imports = new Map<number, string>();
  const modules = createModules(prepared);

  /** Answers from what is here, or asks the parent. */
  function startImport(id: number, specifier: string, type: string): void {
    enter(() => {
      const found = attempt(id, () => modules.findOwn(specifier, type, leftMs()));
      if (found === null) output.call(id, "import", Buffer.from(JSON.stringify({ specifier, type })));
      else if (found !== undefined) answer(id, found);
    });
  }

  /** A module that does not compile, or throws, is the importing source's to catch: then there is no value. */
  function attempt<T>(id: number, work: () => T): T | undefined {
    try {
      return work();
    } catch (thrown) {
      if (stopError(isolate, thrown) !== null || !(thrown instanceof Error)) throw thrown;
      refuseCall(id, { name: thrown.name, message: thrown.message });
      return undefined;
    }
  }

  function answer(id: number, namespace: ivm.Reference): void {
    dispatch.applySync(undefined, [TELL.reply, id, null, namespace.derefInto()], { timeout: leftMs() });
  }

  function refuseCall(
    id: number,
    error: { readonly name: string; readonly message: string; readonly code?: string },
  ): void {
    dispatch.applySync(undefined, [TELL.reply, id, JSON.stringify(error)], { timeout: leftMs() });
  }

  const guestLimits = JSON.stringify({
    maxResponseBytes: limits.maxResponseBytes,
    maxConsoleBytes: limits.maxConsoleBytes,
    maxErrorChars: MAX_ERROR_CHARS,
  });

  let factory: ivm.Reference | undefined;
  try {
    source = compileSource(isolate, message.source);
    const { module } = source;
    module.instantiateSync(prepared.context, refuse);
    module.evaluateSync({ timeout: leftMs() });
    const { namespace } = module;
    factory = namespace.getSync("default", { reference: true });
    // Every handle keeps the whole context alive until this process's own garbage collector finds it.
    namespace.release();
    module.release();
  } catch (thrown) {
    const stopped = stopError(isolate, thrown);
    if (stopped !== null) end(stopped, NO_BYTES, false);
    else end({ ...describeThrown(thrown, source), kind: "syntax", message: CRASH_TEXT }, NO_BYTES, true);
  }
  if (factory !== undefined) {
    const start = factory;
    enter(() => {
      dispatch.applySync(
        undefined,
        [
          TELL.start,
          start.derefInto({ release: true }),
          message.inputs,
          guestLimits,
          namesGlobals(message.source),
        ],
        {
          timeout: leftMs(),
        },
      );
    });
  }

  function runSubtle(call: number, request: Uint8Array): void {
    subtle ??= createSubtleHost();
    subtlePending += 1;
    const { header, body } = splitCall(request);
    void subtle.run(header, body).then((answered) => {
      subtlePending -= 1;
      reply({ run: message.run, call, error: null }, formatCallMessage(answered.header, answered.body));
    });
  }

  function reply({ call, error }: ReplyMessage, body: Uint8Array): void {
    enter(() => {
      const key = imports.get(call);
      if (error !== null) refuseCall(call, error);
      else if (key !== undefined) {
        const code = Buffer.from(body).toString();
        const namespace = attempt(call, () => modules.evaluate(key, code, leftMs()));
        if (namespace !== undefined) answer(call, namespace);
      } else {
        dispatch.applySync(undefined, [TELL.reply, call, null, new Uint8Array(body)], {
          arguments: { copy: true },
          timeout: leftMs(),
        });
      }
    });
  }

  return { outcome, reply };
}

/** Splits a call's message into its header (JSON text) and its body; see `sandbox/guest/hostCalls.ts`. */
function splitCall(message: Uint8Array): { readonly header: string; readonly body: Uint8Array } {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = bytes.length < 4 ? bytes.length : Math.min(bytes.length, 4 + bytes.readUInt32BE(0));
  return { header: bytes.toString("utf8", 4, end), body: bytes.subarray(end) };
}

function asBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : NO_BYTES;
}

function usedBytes(isolate: ivm.Isolate): number {
  const heap = isolate.getHeapStatisticsSync();
  return heap.used_heap_size + heap.externally_allocated_size;
}

function thrownError(
  kind: number,
  message: string,
  stack: string,
  source: CompiledSource | undefined,
): RunError {
  if (kind === 1) return { kind: "result", message };
  if (kind === 2) return { kind: "thrown", message: CRASH_TEXT };
  return { kind: "thrown", message, ...positionIn(stack, source) };
}
