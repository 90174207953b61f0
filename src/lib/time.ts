/** 24 hours. */
export const DAY_MS = 86_400_000;

/** Writes a time, in milliseconds since 1970, in ISO 8601. */
export function formatTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
