import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { describeValue } from "../lib/describeValue.ts";
import { type HttpContext, readHeaderText } from "./context.ts";
import type { HttpLimits } from "../config/httpLimits.ts";

/** The response form a caller wants, from `Accept` and `Prefer` (RFC 7240). */
export interface Preferences {
  readonly form: "json" | "events";
  /** Whether to answer 202 instead of 504 when the wait times out. */
  readonly respondAsync: boolean;
  /** How long to wait for the result. */
  readonly waitMs: number;
}

/**
 * Reads `Accept` and `Prefer`, and decides how long a call waits: as it prefers, at most `waitTimeoutMs`. Ignores unknown preferences, as RFC 7240, section 2 requires. Throws `invalid_parameter` for a `wait` that
 * isn't a number of seconds: ignored, it would let the caller wait for the server's limit.
 */
export function readPreferences(
  ctx: HttpContext,
  { waitTimeoutMs }: Pick<HttpLimits, "waitTimeoutMs">,
): Preferences {
  const preferences = ctx
    .get("Prefer")
    .split(",")
    .map((preference) => /^([^=;]*)(?:=([^;]*))?/.exec(preference)!)
    .map(([, name = "", value = ""]) => ({ name: name.trim().toLowerCase(), value: value.trim() }));
  const respondAsync = preferences.some(({ name }) => name === "respond-async");
  // Of a repeated preference only the first counts: RFC 7240, section 2.
  const wait = preferences.find(({ name }) => name === "wait");
  const defaultMs = respondAsync ? 0 : waitTimeoutMs;
  const preferredMs = wait === undefined ? defaultMs : parseSeconds(wait.value) * 1000;
  return {
    form: wantsEvents(ctx) ? "events" : "json",
    respondAsync,
    waitMs: Math.min(preferredMs, waitTimeoutMs),
  };
}

function parseSeconds(value: string): number {
  const seconds = /^(?:([0-9]+)|"([0-9]+)")$/.exec(value);
  if (seconds !== null) return Number(seconds[1] ?? seconds[2]);
  const message = `wait must be a whole number of seconds, such as wait=10; got ${describeValue(readHeaderText(value))}`;
  throw new InvalidParameterError([{ path: "/Prefer", message }]);
}

/** Whether the caller asks for an event stream by name; `Accept: *` alone means JSON. */
export function wantsEvents(ctx: HttpContext): boolean {
  return /(?:^|,) *text\/event-stream *(?:[;,]|$)/i.test(ctx.get("Accept"));
}

/** Reads `Idempotency-Key`. Throws `invalid_parameter` unless it is 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(ctx: HttpContext): string | undefined {
  const key = ctx.req.headers["idempotency-key"];
  if (key === undefined) return undefined;
  // Node joins repeated headers with ", ": the space makes the value invalid here.
  if (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new InvalidParameterError([
    {
      path: "/Idempotency-Key",
      message: `must be 1 to 255 visible ASCII characters without blanks; got ${describeValue(readHeaderText(String(key)))}`,
    },
  ]);
}
