import { SandboxError } from "./sandboxError.ts";

/** Bytes before the header: length of the rest (u32), type (u8), header length (u32), all big-endian. */
const PREFIX_BYTES = 9;
const NO_BYTES = new Uint8Array(0);
/** Initial buffer for the start of an unfinished frame; it grows for a longer one. */
const FIRST_ROOM_BYTES = 4_096;

/** One message between parent and child: a number, a JSON value and raw bytes. */
export interface Frame {
  readonly type: number;
  readonly header: unknown;
  /** A view into memory that the next frame overwrites: copy it to keep it. */
  readonly body: Uint8Array;
  /** Length of the whole frame, in bytes. */
  readonly bytes: number;
}

/** The limits a reader enforces. */
export interface FrameLimits {
  /** Longest header, in bytes. */
  readonly maxHeaderBytes: number;
  /** Longest body, in bytes. */
  readonly maxBodyBytes: number;
  /** Deepest nesting of a header: `{}` is 1. Default: unlimited. */
  readonly maxDepth?: number;
}

/**
 * Encodes a frame: u32 length of the rest ‖ u8 type ‖ u32 header length ‖ header (UTF-8 JSON) ‖ body. Both lengths count
 * bytes and are big-endian.
 * @param body Bytes, or ASCII text.
 */
export function encodeFrame(type: number, header: unknown, body: Uint8Array | string = NO_BYTES): Buffer {
  const text = JSON.stringify(header);
  const headerBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + headerBytes + body.length);
  frame.writeUInt32BE(PREFIX_BYTES - 4 + headerBytes + body.length, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt32BE(headerBytes, 5);
  frame.write(text, PREFIX_BYTES);
  if (typeof body === "string") frame.write(body, PREFIX_BYTES + headerBytes, "latin1");
  else frame.set(body, PREFIX_BYTES + headerBytes);
  return frame;
}

/**
 * Returns a function that takes chunks of a byte stream and calls `onFrame` for every complete frame. A frame over the
 * limits is refused after its first nine bytes; the buffer for an unfinished frame is at most twice what has arrived.
 * @param options.limits Called for every frame: what the other side may send depends on what it was asked.
 * @throws {FrameError} On a frame over the limits or a header that is not JSON; the stream is then lost.
 */
export function createFrameReader(options: {
  readonly limits: () => FrameLimits;
  readonly onFrame: (frame: Frame) => void;
}): (chunk: Uint8Array) => void {
  const { limits, onFrame } = options;
  /**
   * Start of an unfinished frame. One array for all its chunks: otherwise a stream of single bytes would cost an object per
   * byte.
   */
  let kept = Buffer.alloc(0);
  let keptBytes = 0;

  function keep(bytes: Uint8Array): void {
    if (keptBytes + bytes.length > kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(FIRST_ROOM_BYTES, 2 * keptBytes, keptBytes + bytes.length));
      grown.set(kept.subarray(0, keptBytes));
      kept = grown;
    }
    kept.set(bytes, keptBytes);
    keptBytes += bytes.length;
  }

  return (chunk) => {
    const isContinued = keptBytes > 0;
    if (isContinued) keep(chunk);
    let data = isContinued
      ? kept.subarray(0, keptBytes)
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    for (let bytes = frameBytes(data, limits); bytes <= data.length; bytes = frameBytes(data, limits)) {
      const bodyStart = PREFIX_BYTES + data.readUInt32BE(5);
      const header = parseHeader(data.subarray(PREFIX_BYTES, bodyStart), limits().maxDepth);
      const frame = { type: data.readUInt8(4), header, body: data.subarray(bodyStart, bytes), bytes };
      data = data.subarray(bytes);
      onFrame(frame);
    }
    if (isContinued && data.length > 0 && data.length === keptBytes) return;
    const rest = data;
    keptBytes = 0;
    // A large array is released with the frame it was allocated for.
    if (rest.length === 0 || kept.length > FIRST_ROOM_BYTES) kept = Buffer.alloc(0);
    if (rest.length > 0) keep(rest);
  };
}

/** Returns the first frame's length, even if its rest hasn't arrived; infinite while its beginning is missing. */
function frameBytes(data: Buffer, limits: () => FrameLimits): number {
  if (data.length < PREFIX_BYTES) return data.length < 4 ? Infinity : assertLength(data, limits());
  const length = assertLength(data, limits());
  const { maxHeaderBytes, maxBodyBytes } = limits();
  const headerBytes = data.readUInt32BE(5);
  if (headerBytes > length - 5)
    throw new FrameError(`a header of ${headerBytes} bytes in a frame of ${length}`);
  if (headerBytes > maxHeaderBytes)
    throw new FrameError(`a header of ${headerBytes} bytes, at most ${maxHeaderBytes} are taken`);
  const bodyBytes = length - 5 - headerBytes;
  if (bodyBytes > maxBodyBytes)
    throw new FrameError(`a body of ${bodyBytes} bytes, at most ${maxBodyBytes} are taken`);
  return length + 4;
}

function assertLength(data: Buffer, { maxHeaderBytes, maxBodyBytes }: FrameLimits): number {
  const length = data.readUInt32BE(0);
  const max = PREFIX_BYTES - 4 + maxHeaderBytes + maxBodyBytes;
  if (length > max) throw new FrameError(`a frame of ${length} bytes, at most ${max} are taken`);
  if (length < PREFIX_BYTES - 4) throw new FrameError(`a frame of ${length} bytes, at least 5 are needed`);
  return data.length < PREFIX_BYTES ? Infinity : length;
}

function parseHeader(bytes: Buffer, maxDepth: number | undefined): unknown {
  if (maxDepth !== undefined && !isShallow(bytes, maxDepth))
    throw new FrameError(`a header nested deeper than ${maxDepth}`);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new FrameError("a header that is not JSON", cause);
  }
}

/** Whether JSON text nests objects and lists at most that deep. For text that isn't JSON the answer means nothing. */
export function isShallow(json: Uint8Array, maxDepth: number): boolean {
  const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [34, 92, 91, 93, 123, 125];
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > maxDepth) return false;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return true;
}

/** The other side broke the framing; nothing after it can be trusted. */
export class FrameError extends SandboxError {
  constructor(found: string, cause?: unknown) {
    super(`Sandbox stream holds ${found}.`, { code: "sandbox_protocol", blame: "us", cause });
  }
}
