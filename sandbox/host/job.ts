import { StringDecoder } from "node:string_decoder";
import {
  type RunResult,
  type RunUsage,
  type Touch,
  CRASH_TEXT,
  ENDED_TEXT,
  TIMEOUT_TEXT,
  type RunError,
} from "../run.ts";
import type { ChildMessage, ReplyMessage, ResultMessage, RunMessage } from "./messages.ts";
import type { SecretGuard } from "./secretGuard.ts";
import type { Death, Worker } from "./worker.ts";
import { MAX_CALLS, MAX_OPEN_CALLS, type RunLimits } from "../limits.ts";
import { HostCallRefusal, type HostCall, type HostUsage } from "./hostCall.ts";

/** A run that a pool has accepted, from its place in the queue to its result. */
export interface Job {
  readonly message: RunMessage;
  readonly caller: string;
  readonly guard: SecretGuard;
  readonly resolve: (result: RunResult) => void;
  readonly reject: (error: Error) => void;
  session?: Session;
  startedMs: number;
  isAborted: boolean;
  /** Whether a child has already died during this run. */
  isRetried: boolean;
  worker?: Worker;
}

/** Whether a run may go to a child together with another; true within a group. */
export function belongs({ message: { group } }: Job, next: Job): boolean {
  return group !== null && group === next.message.group;
}

/** Host calls whose answer may differ in another run. */
const TOUCH_OF: Readonly<Record<string, Touch>> = { fetch: "http", import: "imports" };

/**
 * The parent's side of one run: counts and caps what the child sends during it, and serves its host calls.
 */
export interface Session {
  /** Handles a message; false if the child broke a rule and must be killed. */
  readonly take: (message: Exclude<ChildMessage, { type: "ready" } | ResultMessage>) => boolean;
  /** Ends all open host calls and returns the run's usage. */
  readonly finish: () => Pick<RunUsage, "console" | "consoleTruncated" | "httpRequests" | "touched">;
  /** Returns the host calls' explanation of a failed run, if its error says too little. */
  readonly hint: () => string | undefined;
  /** Returns what its host calls are waiting for, or were waiting for when the run ended. */
  readonly waitsFor: () => string | undefined;
}

/** Creates the session of a run that is about to start. */
export function createSession(options: {
  readonly limits: RunLimits;
  readonly caller: string;
  readonly guard: SecretGuard;
  readonly run: number;
  readonly hostCalls: Readonly<Record<string, HostCall>>;
  readonly reply: (message: ReplyMessage, body: Uint8Array | string) => void;
}): Session {
  const { limits, caller, guard, run, hostCalls, reply } = options;
  const usage: HostUsage = { httpRequests: 0, imports: 0, importedBytes: 0 };
  const open = new Map<number, AbortController>();
  const touched = new Set<Touch>();
  let calls = 0;
  let cancels = 0;
  let printedBytes = 0;
  let truncated = false;
  let printed = "";
  /** Holds back the start of a character whose rest is in the next piece; dropped at the end. */
  const decoder = new StringDecoder("utf8");

  async function serve(id: number, name: string, request: Uint8Array, signal: AbortSignal): Promise<void> {
    let error: ReplyMessage["error"] = null;
    let answer: Uint8Array | string = "";
    try {
      const hostCall = Object.hasOwn(hostCalls, name) ? hostCalls[name] : undefined;
      if (hostCall === undefined) throw new HostCallRefusal(`${name} is not available here`);
      answer = await hostCall(request, { limits, caller, guard, signal, usage });
    } catch (thrown) {
      error =
        thrown instanceof HostCallRefusal
          ? {
              name: thrown.errorName,
              message: thrown.message,
              ...(thrown.code === undefined ? {} : { code: thrown.code }),
            }
          : { name: "Error", message: "host call failed" };
    }
    if (open.delete(id)) reply({ run, call: id, error }, error === null ? answer : "");
  }

  return {
    take: (message) => {
      if (message.type === "console") {
        if (truncated) return true;
        const left = limits.maxConsoleBytes - printedBytes;
        truncated = message.body.length > left;
        printed += decoder.write(message.body.subarray(0, left));
        printedBytes += message.body.length;
        return true;
      }
      if (message.type === "cancel") {
        cancels += 1;
        if (cancels > MAX_CALLS) return false;
        open.get(message.call)?.abort();
        open.delete(message.call);
        return true;
      }
      calls += 1;
      const touch = Object.hasOwn(TOUCH_OF, message.name) ? TOUCH_OF[message.name] : undefined;
      if (touch !== undefined) touched.add(touch);
      if (open.size >= MAX_OPEN_CALLS || calls > MAX_CALLS || open.has(message.call)) return false;
      const controller = new AbortController();
      open.set(message.call, controller);
      // The body is a view into the stream's chunk, which the call outlives.
      void serve(message.call, message.name, new Uint8Array(message.body), controller.signal);
      return true;
    },
    finish: () => {
      for (const controller of open.values()) controller.abort();
      open.clear();
      const { httpRequests } = usage;
      const console = guard.mask(printed);
      return { console, consoleTruncated: truncated, httpRequests, touched: [...touched] };
    },
    hint: () => usage.hint,
    waitsFor: () => usage.waitsFor,
  };
}

/**
 * Creates a run's result from its child's message, which is checked again against the run's limits.
 * @param explain What the host knows about a failed run, used if the source's error has no detail.
 */
export function resultOf(
  message: ResultMessage,
  limits: RunLimits,
  usage: RunUsage,
  explain: Explain,
): RunResult {
  const error = message.error ?? tooLong(message.body, limits);
  if (error === null) return { ok: true, bytes: new Uint8Array(message.body), ...usage };
  const detail = error.detail ?? detailOf(error, limits, explain);
  return { ok: false, error: detail === undefined ? error : { ...error, detail }, ...usage };
}

/** Keeps a run's secrets out of its error, and fails a run that tried to send one where it may not go. */
export function guarded({ guard }: Pick<Job, "guard">, result: RunResult): RunResult {
  const breach = guard.breach();
  if (breach !== undefined) {
    const { console, consoleTruncated, timeMs, memoryBytes, httpRequests, touched } = result;
    const usage = { console, consoleTruncated, timeMs, memoryBytes, httpRequests, touched };
    return { ok: false, error: { kind: "thrown", ...breach }, ...usage };
  }
  if (result.ok) return result;
  const { message, detail, stack, ...error } = result.error;
  const { mask } = guard;
  return {
    ...result,
    error: {
      ...error,
      message: mask(message),
      ...(detail === undefined ? {} : { detail: mask(detail) }),
      ...(stack === undefined ? {} : { stack: mask(stack) }),
    },
  };
}

/** What the host knows about a run. */
interface Explain {
  /** The hint of its last failed host call. */
  readonly hint: () => string | undefined;
  /** What its host calls in flight are waiting for. */
  readonly waitsFor: () => string | undefined;
}

function tooLong(body: Uint8Array, { maxResponseBytes }: RunLimits): RunError | null {
  if (body.length <= maxResponseBytes) return null;
  return { kind: "result", message: `response >${maxResponseBytes} bytes` };
}

function detailOf(error: RunError, limits: RunLimits, explain: Explain): string | undefined {
  switch (error.kind) {
    case "thrown":
      return explain.hint();
    case "timeout":
      return describeTimeout(limits, explain);
    case "result":
      if (error.message.startsWith("response >"))
        return `The result is longer than the ${limits.maxResponseBytes} bytes that this network takes.`;
      return (
        "Return bytes: Functions.encodeUint256(number), Functions.encodeInt256(number) and Functions.encodeString(text) " +
        "create them; a Uint8Array or ArrayBuffer is returned as it is."
      );
    default:
      return undefined;
  }
}

function describeTimeout({ timeoutMs }: RunLimits, { waitsFor }: Explain): string {
  const waited = waitsFor();
  if (waited === undefined) return `The source ran longer than ${timeoutMs} ms.`;
  return `The run reached its limit of ${timeoutMs} ms while it waited for ${waited}.`;
}

/** Creates the error of a run whose child ended without a verdict. */
export function errorOfDeath(death: Death, limits: RunLimits, explain: Explain): RunError {
  switch (death) {
    case "timeout":
      return { kind: "timeout", message: TIMEOUT_TEXT, detail: describeTimeout(limits, explain) };
    case "memory":
    case "crash-memory":
      return { kind: "memory", message: CRASH_TEXT, detail: "The source exceeded its memory limit." };
    default:
      return { kind: "sandbox", message: ENDED_TEXT };
  }
}
