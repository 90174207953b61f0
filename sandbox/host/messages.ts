import { DEFAULT_LIMITS, type RunLimits } from "../limits.ts";
import { TOUCHES, type RunError, type RunErrorKind, type Touch } from "../run.ts";
import { FrameError, type Frame } from "./frames.ts";

/** Frame types from parent to child. */
export const TO_CHILD = { run: 1, reply: 2 } as const;
/** Frame types from child to parent. */
export const TO_PARENT = { ready: 1, console: 2, call: 3, cancel: 4, result: 5 } as const;

const limitNames = Object.keys(DEFAULT_LIMITS) as (keyof RunLimits)[];

/** Longest error text, stack or detail passed on, in UTF-16 units: a source can throw 100 MB. */
export const MAX_ERROR_CHARS = 16_384;
/** Longest name of a host call, in UTF-16 units. */
const MAX_CALL_NAME_CHARS = 64;
/** Largest line or column in a source; a source has at most 4 MB. */
const MAX_PLACE = 100_000_000;

/** Header of `run`: one source for the child to execute. */
export interface RunMessage {
  readonly run: number;
  readonly source: string;
  /** Runs that name the same group may share an isolate; null: an isolate of its own. */
  readonly group: string | null;
  /**
   * Whether the run may use a global object that earlier runs of the same source have used, because the source is known to be
   * pure.
   */
  readonly isPure: boolean;
  /** JSON text of `{ args, bytesArgs, secrets }`, parsed inside the isolate. */
  readonly inputs: string;
  readonly limits: RunLimits;
  /** Whether to report the use of time and randomness. */
  readonly observe: boolean;
}

/** Header of `run` for one that differs from the previous run only in its number: all nodes of a network run the same. */
export interface RepeatMessage {
  readonly run: number;
  readonly repeat: true;
}

/** Whether two runs execute the same source with the same inputs and limits. */
export function isRepeat(run: RunMessage, before: RunMessage): boolean {
  return (
    run.source === before.source &&
    run.inputs === before.inputs &&
    run.group === before.group &&
    run.isPure === before.isPure &&
    run.observe === before.observe &&
    limitNames.every((name) => run.limits[name] === before.limits[name])
  );
}

/** Header of `reply`, the answer to a host call; the body holds the bytes if `error` is null. */
export interface ReplyMessage {
  readonly run: number;
  readonly call: number;
  readonly error: {
    readonly name: "Error" | "TypeError";
    readonly message: string;
    readonly code?: string;
  } | null;
}

/** The messages that a child may send. Everything in them is a claim: a child whose isolate was escaped can send anything. */
export type ChildMessage =
  /** Ready for more; `done` counts the runs it has finished in its lifetime. */
  | { readonly type: "ready"; readonly done: number }
  /** Console output, UTF-8. */
  | { readonly type: "console"; readonly run: number; readonly body: Uint8Array }
  | {
      readonly type: "call";
      readonly run: number;
      readonly call: number;
      readonly name: string;
      readonly body: Uint8Array;
    }
  | { readonly type: "cancel"; readonly run: number; readonly call: number }
  | ResultMessage;

/** The outcome of a run as reported by the child. */
export interface ResultMessage {
  readonly type: "result";
  readonly run: number;
  /** Null on success; the result is `body`. */
  readonly error: RunError | null;
  readonly timeMs: number;
  readonly memoryBytes: number;
  /** What the source asked for inside the child. */
  readonly touched: readonly Touch[];
  /** Whether the child believes it can be used again. */
  readonly reusable: boolean;
  readonly body: Uint8Array;
}

const ERROR_KINDS: readonly RunErrorKind[] = ["thrown", "syntax", "timeout", "memory", "result", "sandbox"];

/**
 * Parses a frame from a child, as hostile input: exact types, bounded texts, nothing passed through.
 * @throws {FrameError} If it is not a message that a child may send.
 */
export function parseChildMessage(frame: Frame): ChildMessage {
  const header = frame.header;
  if (typeof header !== "object" || header === null || Array.isArray(header))
    throw new FrameError("a header that is no object");
  const fields = header as Readonly<Record<string, unknown>>;
  switch (frame.type) {
    case TO_PARENT.ready:
      return { type: "ready", done: count(fields["done"]) };
    case TO_PARENT.console:
      return { type: "console", run: count(fields["run"]), body: frame.body };
    case TO_PARENT.call:
      return {
        type: "call",
        run: count(fields["run"]),
        call: count(fields["call"]),
        name: text(fields["name"], MAX_CALL_NAME_CHARS),
        body: frame.body,
      };
    case TO_PARENT.cancel:
      return { type: "cancel", run: count(fields["run"]), call: count(fields["call"]) };
    case TO_PARENT.result:
      return {
        type: "result",
        run: count(fields["run"]),
        error: fields["error"] === null ? null : parseError(fields["error"]),
        timeMs: amount(fields["timeMs"]),
        memoryBytes: count(fields["memoryBytes"]),
        touched: parseTouched(fields["touched"]),
        reusable: fields["reusable"] === true,
        body: frame.body,
      };
    default:
      throw new FrameError(`the unknown frame type ${frame.type}`);
  }
}

function parseTouched(value: unknown): Touch[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > TOUCHES.length)
    throw new FrameError("a list of touches that is no list");
  return TOUCHES.filter((touch) => value.includes(touch));
}

function parseError(value: unknown): RunError {
  if (typeof value !== "object" || value === null) throw new FrameError("an error that is no object");
  const fields = value as Readonly<Record<string, unknown>>;
  const kind = ERROR_KINDS.find((known) => known === fields["kind"]);
  if (kind === undefined) throw new FrameError("an error of unknown kind");
  return {
    kind,
    message: text(fields["message"], MAX_ERROR_CHARS),
    ...(fields["detail"] === undefined ? {} : { detail: text(fields["detail"], MAX_ERROR_CHARS) }),
    ...(fields["line"] === undefined ? {} : { line: place(fields["line"]) }),
    ...(fields["column"] === undefined ? {} : { column: place(fields["column"]) }),
    ...(fields["stack"] === undefined ? {} : { stack: text(fields["stack"], MAX_ERROR_CHARS) }),
  };
}

function count(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new FrameError("a number that is no count");
  return value as number;
}

function place(value: unknown): number {
  const found = count(value);
  if (found < 1 || found > MAX_PLACE) throw new FrameError("a place that no source has");
  return found;
}

function amount(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
    throw new FrameError("a number that is no amount");
  return value;
}

function text(value: unknown, maxChars: number): string {
  if (typeof value !== "string") throw new FrameError("a text that is no string");
  if (value.length > maxChars)
    throw new FrameError(`a text of ${value.length} characters, at most ${maxChars} are taken`);
  return value;
}
