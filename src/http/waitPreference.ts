import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { describeValue } from "../lib/describeValue.ts";
import type { HttpContext } from "./context.ts";
import { readHeaderText } from "./headerText.ts";

/** The response form a caller wants, from `Accept` and `Prefer` (RFC 7240). */
export interface Preferences {
  readonly form: "json" | "events";
  /** Whether to answer 202 instead of 504 when the wait times out. */
  readonly respondAsync: boolean;
  /** How long to wait for the result; `undefined`: up to the server's limit. */
  readonly waitMs: number | undefined;
}

/** Reads `Accept` and `Prefer`. Ignores unknown preferences, as RFC 7240, section 2 requires. */
export function readPreferences(ctx: HttpContext): Preferences {
  const prefer = ctx
    .get("Prefer")
    .split(",")
    .map((preference) => preference.trim().toLowerCase());
  const respondAsync = prefer.includes("respond-async");
  const wait = prefer.map((preference) => /^wait *= *([0-9]{1,6})$/.exec(preference)?.[1]).find(Boolean);
  return {
    form: wantsEvents(ctx) ? "events" : "json",
    respondAsync,
    waitMs: wait === undefined ? (respondAsync ? 0 : undefined) : Number(wait) * 1000,
  };
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
