import type { RunLimits } from "../run.ts";

/** Host calls a source may make in all; more is no program, but a flood. */
export const MAX_CALLS = 1_000;
/** Host calls of a run that are served at once; the child holds others back. */
export const MAX_OPEN_CALLS = 64;
/** Longest header of a host call, in bytes: a URL, a request's headers (16 KiB) and a method, with room to escape. */
export const MAX_CALL_HEADER_BYTES = 128 * 1_024;
/** Console output in one frame, in bytes at most. */
export const MAX_CONSOLE_PIECE_BYTES = 16 * 1_024;

/** Longest message of a host call, in bytes. One byte more of a request's body than is allowed says that it is too long. */
export function maxCallBytes({ maxHttpRequestBytes }: RunLimits): number {
  return 4 + MAX_CALL_HEADER_BYTES + maxHttpRequestBytes + 1;
}
