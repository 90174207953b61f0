/** 24 hours. */
export const DAY_MS = 86_400_000;

/** Writes a time, in milliseconds since 1970, in ISO 8601. */
export function formatTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Splits a text at times in ISO 8601 and UTC, which are at odd positions. */
export function splitAtTimes(text: string): string[] {
  return text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/);
}

/** Writes a time for people, in UTC and to the second: `2026-12-24 18:00:00 UTC`. */
export function readableTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Writes the times in a text for people. */
export function readableTimes(text: string): string {
  return splitAtTimes(text)
    .map((part, i) => (i % 2 === 0 ? part : readableTime(part)))
    .join("");
}
