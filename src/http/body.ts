import getRawBody from "raw-body";
import { TycheError } from "../lib/errors.ts";
import type { HttpContext } from "./context.ts";
import { MalformedJsonError, parseJson, type JsonValue } from "../lib/parseJson.ts";

/**
 * Reads the JSON body of a request; `undefined` when there is none (of 0 bytes, whatever its type).
 *
 * Throws {@link BodyTooLargeError} past `maxBytes`, {@link UnsupportedMediaTypeError} for another type, charset or any
 * Content-Encoding, `MalformedJsonError` for what is not JSON in UTF-8, {@link MalformedHttpError} for a body cut short.
 */
export async function readJsonBody(ctx: HttpContext, maxBytes: number): Promise<JsonValue | undefined> {
  const isChunked = ctx.req.headers["transfer-encoding"] !== undefined;
  // Node's parser has checked that it is a whole number, and that it is absent when the body is chunked.
  const declared = Number(ctx.req.headers["content-length"] ?? 0);
  if (!isChunked && declared === 0) return undefined;
  if (declared > maxBytes) throw new BodyTooLargeError(maxBytes);
  assertPlain(ctx);
  const bytes = await readBytes(ctx, maxBytes, isChunked ? null : declared);
  if (bytes.length === 0) return undefined;
  assertJson(ctx);
  return parseJson(decodeUtf8(bytes), "The body");
}

/** A body over the limit. */
export class BodyTooLargeError extends TycheError {
  constructor(maxBytes: number) {
    super(`The body is larger than the limit of ${maxBytes} bytes`, {
      code: "body_too_large",
      blame: "caller",
    });
  }
}

/** A body of another type than JSON in UTF-8, or an encoded one. */
export class UnsupportedMediaTypeError extends TycheError {
  constructor(message: string) {
    super(message, { code: "unsupported_media_type", blame: "caller" });
  }
}

/** A request that ended before its body did. */
export class MalformedHttpError extends TycheError {
  constructor(message: string, cause: unknown) {
    super(message, { code: "malformed_http", blame: "caller", cause });
  }
}

function assertPlain(ctx: HttpContext): void {
  const encoding = ctx.get("Content-Encoding").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return;
  // RFC 7694, section 3: a 415 for an encoding says what would be taken.
  ctx.set("Accept-Encoding", "identity");
  throw new UnsupportedMediaTypeError(
    `Content-Encoding ${quote(encoding)} is not supported: send the body unencoded`,
  );
}

function assertJson(ctx: HttpContext): void {
  const type = ctx.get("Content-Type");
  const [media = "", ...attributes] = type.split(";").map((part) => part.trim().toLowerCase());
  if (media !== "application/json") {
    const found = type === "" ? "the request has no Content-Type" : `the Content-Type is ${quote(type)}`;
    throw new UnsupportedMediaTypeError(`A body must be sent as application/json; ${found}`);
  }
  const charset = attributes.find((attribute) => attribute.startsWith("charset="))?.slice(8);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) {
    throw new UnsupportedMediaTypeError(`A body must be in UTF-8; the charset is ${quote(charset)}`);
  }
}

async function readBytes(ctx: HttpContext, limit: number, length: number | null): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { limit, length });
  } catch (error) {
    const type = (error as Partial<getRawBody.RawBodyError>).type;
    if (type === "entity.too.large") {
      // raw-body leaves the stream paused. Closing now would reset the connection under a client that still writes and never
      // reads the answer, so the rest is dropped as it comes, for as long as the server's request timeout lets it.
      ctx.req.resume();
      throw new BodyTooLargeError(limit);
    }
    throw new MalformedHttpError("The connection ended before the body was complete", error);
  }
}

// Not fatal for a byte order mark: RFC 8259, section 8.1 lets a parser ignore it, and the decoder drops it.
const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new MalformedJsonError("The body", `byte ${firstInvalidByte(bytes)} is not valid UTF-8`);
  }
}

/** Position of the first byte that can't be decoded, found by halving: a prefix is fine as long as it decodes as a stream. */
function firstInvalidByte(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (good < bad) {
    const middle = (good + bad + 1) >> 1;
    if (decodes(bytes.subarray(0, middle))) good = middle;
    else bad = middle - 1;
  }
  return good;
}

function decodes(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
