import getRawBody from "raw-body";
import { TycheError } from "../lib/errors.ts";
import { type HttpContext, readHeaderText } from "./context.ts";
import { MalformedJsonError, parseJson, type JsonValue } from "../lib/parseJson.ts";

/**
 * Reads the JSON body of a request; returns `undefined` if there is none (0 bytes, whatever its type).
 *
 * Throws {@link BodyTooLargeError} above `maxBytes`, {@link UnsupportedMediaTypeError} for another type, charset or any
 * Content-Encoding, `MalformedJsonError` for anything but JSON in UTF-8, `malformed_http` for a body cut short.
 */
export async function readJsonBody(ctx: HttpContext, maxBytes: number): Promise<JsonValue | undefined> {
  const bytes = await readBody(ctx, maxBytes);
  if (bytes.length === 0) return undefined;
  assertJson(ctx);
  return parseJson(decodeUtf8(bytes), "The body");
}

/** Reads the body of a request as UTF-8, whatever its type; throws as {@link readJsonBody} does. */
export async function readTextBody(ctx: HttpContext, maxBytes: number): Promise<string> {
  return decodeUtf8(await readBody(ctx, maxBytes));
}

async function readBody(ctx: HttpContext, maxBytes: number): Promise<Buffer> {
  const isChunked = ctx.req.headers["transfer-encoding"] !== undefined;
  // Node's parser has already checked that it is a whole number, and that it is absent from chunked requests.
  const declared = Number(ctx.req.headers["content-length"] ?? 0);
  if (!isChunked && declared === 0) return Buffer.alloc(0);
  if (declared > maxBytes) throw new BodyTooLargeError(maxBytes);
  assertPlain(ctx);
  return await readBytes(ctx, maxBytes, isChunked ? null : declared);
}

/** A body exceeds the limit. */
export class BodyTooLargeError extends TycheError {
  constructor(maxBytes: number) {
    super(`The body is larger than the limit of ${maxBytes} bytes`, {
      code: "body_too_large",
      blame: "caller",
    });
  }
}

/** A body is not JSON in UTF-8, or has a content encoding. */
export class UnsupportedMediaTypeError extends TycheError {
  constructor(message: string) {
    super(message, { code: "unsupported_media_type", blame: "caller" });
  }
}

function assertPlain(ctx: HttpContext): void {
  const encoding = readHeaderText(ctx.get("Content-Encoding")).trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return;
  // RFC 7694, section 3: a 415 for an encoding says which encodings are accepted.
  ctx.set("Accept-Encoding", "identity");
  throw new UnsupportedMediaTypeError(
    `Content-Encoding ${quote(encoding)} is not supported: send the body unencoded`,
  );
}

function assertJson(ctx: HttpContext): void {
  const type = readHeaderText(ctx.get("Content-Type"));
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

/** Whether the caller waits for 100 before it sends its body. Node answers any other expectation; HTTP/1.0 has none. */
export function awaitsContinue({ req, state }: HttpContext): boolean {
  return req.headers.expect !== undefined && req.httpVersion === "1.1" && state.isContinued !== true;
}

async function readBytes(ctx: HttpContext, limit: number, length: number | null): Promise<Buffer> {
  if (awaitsContinue(ctx)) {
    ctx.state.isContinued = true;
    ctx.res.writeContinue();
  }
  try {
    return await getRawBody(ctx.req, { limit, length });
  } catch (error) {
    const type = (error as Partial<getRawBody.RawBodyError>).type;
    if (type === "entity.too.large") {
      // raw-body leaves the stream paused. Closing now would reset the connection of a client that is still writing, so it
      // would never read the response. The rest is discarded as it arrives, until the server's request timeout at the latest.
      ctx.req.resume();
      throw new BodyTooLargeError(limit);
    }
    throw new TycheError("The connection ended before the body was complete", {
      code: "malformed_http",
      blame: "caller",
      cause: error,
    });
  }
}

// Drops a byte order mark instead of failing: RFC 8259, section 8.1 lets a parser ignore it.
const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new MalformedJsonError("The body", `byte ${firstInvalidByte(bytes)} is not valid UTF-8`);
  }
}

/**
 * Finds the position of the first byte that can't be decoded by bisection: a prefix is valid as long as it decodes as a
 * stream.
 */
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
