/**
 * Formats dates and durations identically on every version of Node, where V8 13.6 of Node 24 and V8 14.6 of Node 26
 * differ. Replaced methods are proxies of V8's own, so they look native.
 */
import { defineProperty, hasInstance } from "./builtins.ts";

const { Intl, Number, Proxy, RangeError, Reflect, String, TypeError } = globalThis;
const { isInteger } = Number;
const { apply } = Reflect;
const { replaceAll } = String.prototype;

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string, Method>;

/** A duration's fields in the order in which they are read (ECMA-402, ToDurationRecord). */
const DURATION_FIELDS =
  "days hours microseconds milliseconds minutes months nanoseconds seconds weeks years".split(" ");

/** Replaces the methods that differ. Must be called before any of the caller's code runs. */
export function shareFormats(): void {
  const dates = Intl.DateTimeFormat.prototype as unknown as Methods;
  for (const name of ["formatToParts", "formatRange", "formatRangeToParts"])
    replace(dates, name, (native, of, args) => widenSpaces(apply(native, of, args)));
  const durations = (Intl as unknown as { readonly DurationFormat: { readonly prototype: Methods } })
    .DurationFormat.prototype;
  for (const name of ["format", "formatToParts"])
    replace(durations, name, (native, of, args) =>
      formatDuration(native, of, args.length > 0 ? args[0] : undefined),
    );
}

function replace(
  holder: Methods,
  name: string,
  call: (native: Method, of: unknown, args: readonly unknown[]) => unknown,
): void {
  const native = holder[name] as Method;
  defineProperty(holder, name, {
    __proto__: null,
    value: new Proxy(native, { __proto__: null, apply: call } as ProxyHandler<Method>),
  } as PropertyDescriptor);
}

/**
 * Replaces ICU's narrow no-break spaces and, as V8 15, the thin ones around a range's dash with plain ones. V8's `format` already does the
 * former in both versions, the other methods only in V8 14.6.
 */
const widen = (text: string): string =>
  apply(replaceAll, apply(replaceAll, text, ["\u202f", " "]), ["\u2009", " "]) as string;
function widenSpaces(written: unknown): unknown {
  if (typeof written === "string") return widen(written);
  const parts = written as { value: string }[];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as { value: string };
    part.value = widen(part.value);
  }
  return parts;
}

/** Formats a duration after checking it: V8 13.6 accepts no text, accepts NaN as a number, and names files of its own in its errors. */
function formatDuration(native: Method, of: unknown, duration: unknown): unknown {
  if (typeof duration === "string") throw new RangeError("A duration in text is not supported");
  if ((typeof duration !== "object" && typeof duration !== "function") || duration === null)
    throw new TypeError("Temporal error: Duration argument must be Duration or string.");
  const fields: Record<string, number> = { __proto__: null } as never;
  let isEmpty = true;
  for (let at = 0; at < DURATION_FIELDS.length; at++) {
    const name = DURATION_FIELDS[at] as string;
    const value = (duration as Record<string, unknown>)[name];
    if (value === undefined) continue;
    const number = +(value as string);
    if (!isInteger(number)) throw new RangeError("Temporal error: Expected finite integer.");
    fields[name] = number;
    isEmpty = false;
  }
  if (isEmpty) throw new TypeError("Temporal error: Did not provide any valid Duration fields.");
  try {
    return apply(native, of, [fields]);
  } catch (error) {
    // V8's messages differ between versions; the cause is fields with different signs, or too large ones.
    if (hasInstance(RangeError, error)) throw new RangeError("Temporal error: Duration was not valid.");
    throw error;
  }
}
