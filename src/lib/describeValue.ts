/** Longest part of a caller's value that a message repeats, in UTF-16 code units. */
const MAX_SHOWN = 60;

/** Formats a value for a message: short texts and numbers as JSON, the rest by kind. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    return value.length > MAX_SHOWN
      ? `${JSON.stringify(value.slice(0, MAX_SHOWN))}… (${value.length} characters)`
      : JSON.stringify(value);
  }
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "bigint" ? value.toString() : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} digits)` : text;
}
