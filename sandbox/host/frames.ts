import { TycheError } from "../../src/lib/errors.ts";

/** Bytes before the header: length of the rest (u32), type (u8), header length (u32), all big-endian. */
const PREFIX_BYTES = 9;
const NO_BYTES = new Uint8Array(0);

/** One message between parent and child: a number, a JSON value and raw bytes. */
export interface Frame {
  readonly type: number;
  readonly header: unknown;
  /** A view into the received chunk: copy it to keep it. */
  readonly body: Uint8Array;
}

/**
 * Encodes a frame: u32 length of the rest ‖ u8 type ‖ u32 header length ‖ header (UTF-8 JSON) ‖ body.
 * Both lengths count bytes and are big-endian.
 */
export function encodeFrame(type: number, header: unknown, body: Uint8Array = NO_BYTES): Buffer {
  const text = JSON.stringify(header);
  const headerBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + headerBytes + body.length);
  frame.writeUInt32BE(PREFIX_BYTES - 4 + headerBytes + body.length, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt32BE(headerBytes, 5);
  frame.write(text, PREFIX_BYTES);
  frame.set(body, PREFIX_BYTES + headerBytes);
  return frame;
}

/**
 * Returns a function that takes chunks of a byte stream and calls `onFrame` for every whole frame in them.
 * @param options.maxFrameBytes Largest frame without its length field; a longer one is refused before it is buffered.
 * @throws {FrameError} On a frame that is too long, too short, or whose header is not JSON; the stream is then lost.
 */
export function createFrameReader(options: {
  readonly maxFrameBytes: number;
  readonly onFrame: (frame: Frame) => void;
}): (chunk: Uint8Array) => void {
  const { maxFrameBytes, onFrame } = options;
  let parts: Uint8Array[] = [];
  let buffered = 0;
  let needed = 4;
  return (chunk) => {
    parts.push(chunk);
    buffered += chunk.length;
    if (buffered < needed) return;
    // Joined only when a frame is whole: a large frame in small chunks is copied once, not once per chunk.
    const first = parts[0] as Uint8Array;
    let data =
      parts.length === 1
        ? Buffer.from(first.buffer, first.byteOffset, first.length)
        : Buffer.concat(parts, buffered);
    while (data.length >= 4) {
      const length = data.readUInt32BE(0);
      if (length > maxFrameBytes)
        throw new FrameError(`a frame of ${length} bytes, at most ${maxFrameBytes} are taken`);
      if (length < PREFIX_BYTES - 4)
        throw new FrameError(`a frame of ${length} bytes, at least 5 are needed`);
      if (data.length < length + 4) break;
      const headerBytes = data.readUInt32BE(5);
      if (headerBytes > length - 5)
        throw new FrameError(`a header of ${headerBytes} bytes in a frame of ${length}`);
      const bodyStart = PREFIX_BYTES + headerBytes;
      const header = parseHeader(data.subarray(PREFIX_BYTES, bodyStart));
      const type = data.readUInt8(4);
      const body = data.subarray(bodyStart, length + 4);
      data = data.subarray(length + 4);
      onFrame({ type, header, body });
    }
    parts = data.length === 0 ? [] : [data];
    buffered = data.length;
    needed = data.length < 4 ? 4 : data.readUInt32BE(0) + 4;
  };
}

function parseHeader(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new FrameError("a header that is not JSON", cause);
  }
}

/** The other side broke the framing; nothing after it can be trusted. */
export class FrameError extends TycheError {
  constructor(found: string, cause?: unknown) {
    super(`Sandbox stream holds ${found}.`, { code: "sandbox_protocol", blame: "us", cause });
  }
}
