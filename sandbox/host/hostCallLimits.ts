import type { RunLimits } from "../run.ts";

/** Host calls that a source may make in all; more than that is a flood. */
export const MAX_CALLS = 1_000;
/** Host calls of a run that are served at once; the child holds back the others. */
export const MAX_OPEN_CALLS = 64;
/** Longest header of a host call, in bytes: a URL, a request's headers (16 KiB) and a method, with room for escapes. */
export const MAX_CALL_HEADER_BYTES = 128 * 1_024;
/** Most console output in one frame, in bytes. */
export const MAX_CONSOLE_PIECE_BYTES = 16 * 1_024;

/** Longest message of a host call, in bytes. A request body is cut one byte past its limit, to show that it is too long. */
export function maxCallBytes({ maxHttpRequestBytes }: RunLimits): number {
  return 4 + MAX_CALL_HEADER_BYTES + maxHttpRequestBytes + 1;
}
