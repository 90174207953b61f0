const strictUtf8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Returns a header's value as its sender most likely meant it: as UTF-8, which curl and most programs send, if it is that. Node decodes
 * each byte as Latin-1, which is what browsers and `fetch` send.
 */
export function readHeaderText(value: string): string {
  try {
    return strictUtf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}
