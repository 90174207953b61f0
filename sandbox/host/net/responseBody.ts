import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { FetchFailureError } from "./fetchFailure.ts";

/**
 * Reads a whole response body, decoded, and counts while it streams: the decoder is fed piece by piece and stopped at
 * the first byte past the limit, so a decompression bomb costs at most the limit. Bytes on the wire are counted
 * separately, because an endless series of empty gzip members decodes to nothing.
 *
 * Like Deno, it decodes only a single `gzip` or `br`; `deflate`, `zstd` and stacked encodings are passed through
 * undecoded.
 *
 * @param contentEncoding The response's `content-encoding`, absent or empty for none.
 * @throws {FetchFailureError} `responseSizeLimit`, or `network` if the encoding is broken or the body is cut short.
 */
export async function readResponseBody(
  body: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const decoder = decoderOf(contentEncoding);
  if (decoder === null) return collect(body, maxBytes);
  let wireBytes = 0;
  body.on("data", (chunk: Buffer) => {
    wireBytes += chunk.length;
    if (wireBytes > maxBytes) decoder.destroy(tooLarge(maxBytes));
  });
  body.once("error", (error) => decoder.destroy(error));
  body.pipe(decoder);
  try {
    return await collect(decoder, maxBytes);
  } finally {
    body.unpipe(decoder);
    body.destroy();
  }
}

async function collect(stream: Readable, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

function decoderOf(contentEncoding: string | undefined) {
  if (contentEncoding === "gzip") return createGunzip();
  return contentEncoding === "br" ? createBrotliDecompress() : null;
}

function tooLarge(maxBytes: number): FetchFailureError {
  const text = `Response payload size exceeds ${maxBytes} byte limit`;
  return new FetchFailureError("responseSizeLimit", text, `${text}; ask the server for less.`);
}
