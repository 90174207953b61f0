import { createHash } from "node:crypto";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Context } from "koa";

/** What is sent over and over: compressed once, and known by its hash. */
export interface StoredFile {
  /** Value of `Content-Type`. */
  readonly type: string;
  readonly content: Buffer;
  /** The content, gzipped. */
  readonly compressed: Buffer;
  /** A weak ETag, as it stands for the content however it is encoded. */
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

/** Returns the `Content-Type` of a file by the end of its name; `undefined` for files that are not served. */
export function typeOfFile(name: string): string | undefined {
  return TYPES[path.extname(name)];
}

/** Compresses and hashes a text, or bytes. */
export function storeFile(type: string, text: string | Buffer): StoredFile {
  const content = Buffer.from(text);
  const hash = createHash("sha256").update(content).digest("base64url").slice(0, 22);
  return { type, content, compressed: gzipSync(content), etag: `W/"${hash}"` };
}

/** Answers with the file, compressed for those who accept that, or with 304 for those who have it. */
export function sendStored(ctx: Context, { type, content, compressed, etag }: StoredFile): void {
  ctx.status = 200;
  ctx.set("Content-Type", type);
  ctx.set("ETag", etag);
  ctx.vary("Accept-Encoding");
  // Not `ctx.fresh`: Node's `fetch` adds `no-cache` to a request that brings an ETag.
  const known = ctx.get("If-None-Match");
  if (known === "*" || known.includes(etag)) {
    ctx.status = 304;
    return;
  }
  const isCompressed = ctx.acceptsEncodings("gzip", "identity") === "gzip";
  if (isCompressed) ctx.set("Content-Encoding", "gzip");
  ctx.body = isCompressed ? compressed : content;
}
