/** Reported for an error without a text: empty bytes would mean success. */
export const UNNAMED_ERROR = "error";

/**
 * Returns text as UTF-8 of at most `maxBytes`, cut between characters, as the nodes report an error. Empty text becomes
 * {@link UNNAMED_ERROR}.
 */
export function truncateUtf8(text: string, maxBytes: number): Uint8Array {
  const bytes = new TextEncoder().encode(text === "" ? UNNAMED_ERROR : text);
  if (bytes.length <= maxBytes) return bytes;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}
