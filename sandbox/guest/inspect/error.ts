import { isNativeError } from "../types.ts";
import { getPrefix } from "./names.ts";

/** The inspection state that an error's text depends on. */
interface ErrorInspection {
  readonly showHidden: boolean;
  readonly seen: unknown[];
  indentation: number;
}

/**
 * Returns the text of an error: its stack, or `[Name: message]` without one. Removes from `keys` those that the text
 * already shows, and adds `cause` and `errors`. `show` formats a stack that isn't a string.
 */
export function formatError(
  state: ErrorInspection,
  error: Error,
  constructor: string | null,
  tag: string,
  keys: PropertyKey[],
  show: (value: unknown) => string,
): string {
  let stack: string;
  try {
    stack = stackOf(state, error, show);
  } catch {
    return Object.prototype.toString.call(error);
  }
  const { message, name } = readable(error);
  if (!state.showHidden) {
    remove(keys, "stack");
    for (const [key, shown] of [
      ["message", message],
      ["name", name],
    ] as const) {
      if (shown === undefined || typeof shown !== "string" || stack.includes(shown)) remove(keys, key);
    }
  }
  if ("cause" in error && !keys.includes("cause")) keys.push("cause");
  const { errors } = error as AggregateError;
  if (Array.isArray(errors) && !keys.includes("errors")) keys.push("errors");
  stack = improve(stack, constructor, name, tag);
  const at = typeof message === "string" && message !== "" ? stack.indexOf(message) : -1;
  const frames = stack.indexOf("\n    at", at === -1 ? 0 : at + String(message).length);
  if (frames === -1) stack = `[${stack}]`;
  return state.indentation === 0 ? stack : stack.replaceAll("\n", `\n${" ".repeat(state.indentation)}`);
}

function stackOf(state: ErrorInspection, error: Error, show: (value: unknown) => string): string {
  let stack: unknown;
  try {
    stack = error.stack;
  } catch {
    stack = undefined;
  }
  // Frames of our own code mean nothing to the caller.
  if (typeof stack === "string" && stack !== "")
    return withMessage(error, stack).replace(/\n[ \t]+at [^\n]*\btyche:\w+[^\n]*/g, "");
  const plain = Error.prototype.toString.call(error);
  if (!stack) return plain;
  state.seen.push(error);
  state.indentation += 4;
  const text = show(stack);
  state.indentation -= 4;
  state.seen.pop();
  return `${plain}\n    ${text}`;
}

/** Puts an error's message into its stack: here V8 keeps the first one, and Deno's reads it once somebody asks for the stack. */
function withMessage(error: Error, stack: string): string {
  // What a source sets has no such places.
  const frames = stack.search(/\n {4}at [^\n]*:\d+:\d+/);
  const { message, name } = readable(error);
  if (frames < 0 || !isNativeError(error) || typeof message !== "string" || typeof name !== "string")
    return stack;
  const head = stack.slice(0, frames);
  if (head !== name && !head.startsWith(`${name}: `)) return stack;
  return `${name}${message === "" ? "" : `: ${message}`}${stack.slice(frames)}`;
}

function readable(error: Error): { message: unknown; name: unknown } {
  const read = (key: "message" | "name"): unknown => {
    try {
      return error[key];
    } catch {
      return undefined;
    }
  };
  return { message: read("message"), name: read("name") ?? "Error" };
}

/**
 * Puts the class's name at the start of a stack that begins with another one: `class PriceError extends Error {}`
 * prints as `PriceError`.
 */
function improve(given: string, constructor: string | null, named: unknown, tag: string): string {
  const name = String(named);
  let stack = given;
  if (typeof named !== "string")
    stack = stack.replace(name, () => `${name} [${getPrefix(constructor, tag, "Error").slice(0, -1)}]`);
  const startsWithName =
    typeof named === "string" &&
    name.endsWith("Error") &&
    stack.startsWith(name) &&
    /^(?:$|:|\n)/.test(stack.slice(name.length));
  if (constructor !== null && !startsWithName) return stack;
  let fallback = "Error";
  let { length } = name;
  if (constructor === null) {
    const start =
      /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n {4}at)/.exec(stack) ?? /^([a-z_A-Z0-9-]*Error)$/.exec(stack);
    fallback = start?.[1] ?? "Error";
    length = start?.[1]?.length ?? 0;
  }
  const prefix = getPrefix(constructor, tag, fallback).slice(0, -1);
  if (name === prefix) return stack;
  if (prefix.includes(name)) return length === 0 ? `${prefix}: ${stack}` : prefix + stack.slice(length);
  return `${prefix} [${name}]${stack.slice(length)}`;
}

function remove(keys: PropertyKey[], key: string): void {
  const at = keys.indexOf(key);
  if (at !== -1) keys.splice(at, 1);
}
