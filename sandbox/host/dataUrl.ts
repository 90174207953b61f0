/** The contents of a `data:` URL. */
export interface DataUrl {
  /** Lower case, without parameters; may be empty. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** Parses a `data:` URL (fetch standard, "data: URL processor", with lenient base64); `null` if it isn't one. */
export function parseDataUrl(url: string): DataUrl | null {
  const match = /^data:([^,;]*)(?:;[^,]*?)??(;base64)?,([^#]*)/is.exec(url);
  if (match === null) return null;
  const [, mediaType = "", base64, data = ""] = match;
  const decoded = percentDecoded(data);
  const bytes = base64 === undefined ? decoded : Buffer.from(decoded.toString("latin1"), "base64");
  return { mediaType: mediaType.trim().toLowerCase(), bytes };
}

/** URL standard, "percent-decode": anything but an escape stays as it is. */
function percentDecoded(text: string): Buffer {
  const binary = Buffer.from(text).toString("latin1");
  const decoded = binary.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, "latin1");
}
