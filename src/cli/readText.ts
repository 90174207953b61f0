import { readFile } from "node:fs/promises";

/** Reads a text file: UTF-8, with or without a byte order mark, or UTF-16 with one, as Windows PowerShell writes it. */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  // The decoder leaves the mark out.
  return new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes);
}
