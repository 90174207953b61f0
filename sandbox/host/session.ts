import { StringDecoder } from "node:string_decoder";
import { MAX_CALLS, MAX_OPEN_CALLS } from "../limits.ts";
import { HostCallRefusal, type HostCall, type HostUsage } from "./hostCall.ts";
import type { ChildMessage, ReplyMessage, ResultMessage } from "./messages.ts";
import type { SecretGuard } from "./secretGuard.ts";
import type { RunLimits } from "../limits.ts";
import type { RunUsage, Touch } from "../run.ts";

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
