import { ERROR_TABLE } from "../lib/errorTable.ts";

const INTRODUCTION = [
  "Every answer of the API is an object with one member `data`, errors included.",
  "Each parameter is listed in one place, but a POST accepts it in the query or in the JSON body; if it is in both, the values must be equal. " +
    "Unknown parameters are refused, and all violations are listed at once.",
  "**Waiting.** A call answers when its result is on chain. `Prefer: respond-async` answers 202 at once with the address of the " +
    "request; `Prefer: wait=10` waits for at most that many seconds; `Accept: text/event-stream` streams the states as they come.",
  "**Idempotency.** With an `Idempotency-Key` header, a call may be repeated: it gets the same answer and never sends a second " +
    "transaction.",
  "**Limits.** `RateLimit` and `RateLimit-Policy` headers say how much is left; 429 and 503 carry `Retry-After`.",
  "Pages of any origin may call the API (CORS). Only the key counts; cookies are ignored. If the service listens on a loopback address, " +
    "endpoints that need no key refuse calls from pages of other sites.",
].join("\n\n");

/** Returns the text that `/openapi.json` begins with, in Markdown: what holds for every call, and the table of the errors. */
export function describeUse(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { status, meaning, remedy }]) => `| \`${code}\` | ${status} | ${meaning} | ${remedy} |`,
  );
  return `${INTRODUCTION}\n\n| Code | Status | Meaning | Remedy |\n|---|---|---|---|\n${rows.join("\n")}`;
}
