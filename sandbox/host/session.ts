import { StringDecoder } from "node:string_decoder";
import { HostCallRefusal, type HostCall, type HostUsage } from "./hostCall.ts";
import type { ChildMessage, ReplyMessage, ResultMessage } from "./messages.ts";
import type { RunLimits, RunUsage } from "../run.ts";

/** Host calls a source may have open at once; more is no program, but a flood. */
const MAX_OPEN_CALLS = 64;
/** Host calls a source may make in all. */
const MAX_CALLS = 1_000;
/** Console messages a source may send; a message costs the parent more than its bytes. */
const MAX_PRINTS = 20_000;

/** The parent's side of one run: counts and caps what the child says during it, and serves its host calls. */
export interface Session {
  /** Takes a message; false if the child broke a rule and must go. */
  readonly take: (message: Exclude<ChildMessage, { type: "ready" } | ResultMessage>) => boolean;
  /** Ends all open host calls and returns what was used. */
  readonly finish: () => Pick<RunUsage, "console" | "consoleTruncated" | "httpRequests">;
  /** What explains a failure of the run besides its error; the host calls know. */
  readonly hint: () => string | undefined;
}

/** Creates the session of a run that is about to start. */
export function createSession(options: {
  readonly limits: RunLimits;
  readonly caller: string;
  readonly run: number;
  readonly hostCalls: Readonly<Record<string, HostCall>>;
  readonly reply: (message: ReplyMessage, body: Uint8Array) => void;
}): Session {
  const { limits, caller, run, hostCalls, reply } = options;
  const usage: HostUsage = { httpRequests: 0, imports: 0 };
  const open = new Map<number, AbortController>();
  let calls = 0;
  let cancels = 0;
  let prints = 0;
  let printedBytes = 0;
  let truncated = false;
  let printed = "";

  async function serve(id: number, name: string, request: Uint8Array, signal: AbortSignal): Promise<void> {
    let error: ReplyMessage["error"] = null;
    let answer: Uint8Array = new Uint8Array(0);
    try {
      const hostCall = Object.hasOwn(hostCalls, name) ? hostCalls[name] : undefined;
      if (hostCall === undefined) throw new HostCallRefusal(`${name} is not available here`);
      answer = await hostCall(request, { limits, caller, signal, usage });
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
    if (open.delete(id)) reply({ run, call: id, error }, error === null ? answer : new Uint8Array(0));
  }

  return {
    take: (message) => {
      if (message.type === "console") {
        prints += 1;
        if (truncated) return prints <= MAX_PRINTS * 2;
        const bytes = Buffer.byteLength(message.text);
        if (printedBytes + bytes > limits.maxConsoleBytes || prints > MAX_PRINTS) {
          truncated = true;
          if (prints <= MAX_PRINTS) printed += cut(message.text, limits.maxConsoleBytes - printedBytes);
        } else printed += message.text;
        printedBytes += bytes;
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
      if (open.size >= MAX_OPEN_CALLS || calls > MAX_CALLS || open.has(message.call)) return false;
      const controller = new AbortController();
      open.set(message.call, controller);
      // The body is a view into the stream's chunk: the call outlives it.
      void serve(message.call, message.name, new Uint8Array(message.body), controller.signal);
      return true;
    },
    finish: () => {
      for (const controller of open.values()) controller.abort();
      open.clear();
      return { console: printed, consoleTruncated: truncated, httpRequests: usage.httpRequests };
    },
    hint: () => usage.hint,
  };
}

/** The first bytes of a text as UTF-8, without a broken last character. */
function cut(text: string, maxBytes: number): string {
  return new StringDecoder("utf8").write(Buffer.from(text).subarray(0, Math.max(0, maxBytes)));
}
