import type ivm from "isolated-vm";
import { CRASH_TEXT, TIMEOUT_TEXT, type RunError } from "../../run.ts";
import { MAX_ERROR_CHARS } from "../messages.ts";
import type { Place } from "./syntaxFailure.ts";

/** Name of the caller's source in stacks. */
export const SOURCE_NAME = "source.js";

/** Maps places back to the caller's text when the compiled text differs from it. */
interface PlaceMap {
  readonly placeOf: (place: Place) => Place;
}

/** isolated-vm's message for a thrown object that it does not copy. */
const NOT_AN_ERROR = "An object was thrown from supplied code";

/** Line and column, both from 1, where they are known. */
interface Position {
  readonly line?: number;
  readonly column?: number;
}

/** The source ran out of time. */
export function timeoutError(): RunError {
  return { kind: "timeout", message: TIMEOUT_TEXT };
}

/** Maps isolated-vm's messages, the only way to tell its stops apart; null for an ordinary exception. */
export function stopError(isolate: ivm.Isolate, thrown: unknown): RunError | null {
  const text = thrown instanceof Error ? thrown.message : "";
  if (
    isolate.isDisposed ||
    text.startsWith("Isolate was disposed") ||
    text.startsWith("Isolate is disposed")
  ) {
    return { kind: "memory", message: CRASH_TEXT, detail: "The source exceeded its memory limit." };
  }
  return text === "Script execution timed out." ? timeoutError() : null;
}

/** Describes a source's failure as reported by the guest; kinds as in `ASK.fail`. */
export function thrownError(
  kind: number,
  message: string,
  stack: string,
  source: PlaceMap | undefined,
): RunError {
  if (kind === 1) return { kind: "result", message };
  if (kind === 2)
    return message === ""
      ? { kind: "thrown", message: CRASH_TEXT }
      : { kind: "thrown", message: CRASH_TEXT, detail: message, ...positionIn(stack, source) };
  return { kind: "thrown", message, ...positionIn(stack, source) };
}

/**
 * Reads an exception that crossed from the isolate: a copy with plain properties, whose names are still the
 * caller's.
 */
export function describeThrown(
  thrown: unknown,
  source: PlaceMap | undefined,
): { readonly detail: string } & Position {
  if (!(thrown instanceof Error)) return { detail: String(thrown).slice(0, MAX_ERROR_CHARS) };
  if (thrown.message.startsWith(NOT_AN_ERROR))
    return { detail: "A value that is not an Error was thrown and not caught." };
  const detail = `${thrown.name}: ${plainMessage(thrown)}`.slice(0, MAX_ERROR_CHARS);
  const { line, column } = positionIn(`${thrown.message}\n${thrown.stack ?? ""}`, source);
  return { detail, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
}

/** Returns an error's message without the place that isolated-vm adds. */
export const plainMessage = ({ message }: Error): string => message.replace(/ \[[^\]]*:\d+:\d+\]$/, "");

/** Finds the topmost position in the caller's source and removes our own frames from the stack. */
export function positionIn(
  stack: string,
  source: PlaceMap | undefined,
): Position & { readonly stack?: string } {
  if (stack === "") return {};
  const lines = stack
    .split("\n")
    .filter((line) => !/^\s+at (?:.*\btyche:\w+:\d+|\(<isolated-vm boundary>\)$)/.test(line));
  const mapped = lines.map((line) =>
    line.replace(POSITION, (_match, row: string, at: string) => {
      const { line, column } = placeOf(source, row, at);
      return `${SOURCE_NAME}:${line}:${column}`;
    }),
  );
  const found = POSITION.exec(stack);
  return { ...(found && placeOf(source, found[1], found[2])), stack: mapped.join("\n") };
}

const POSITION = new RegExp(`${SOURCE_NAME.replace(".", "\\.")}:(\\d{1,9}):(\\d{1,9})`);

function placeOf(source: PlaceMap | undefined, line: string | undefined, column: string | undefined): Place {
  const place = { line: Number(line), column: Number(column) };
  return source?.placeOf(place) ?? place;
}
