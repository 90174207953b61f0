import { type Converter, convert } from "./converter.ts";
import { library } from "./library.ts";

const FIXED_BYTES = 10;
const TRAILER_BYTES = 8;
/** A header is read again with each of its pieces; its extra field has up to 64 KiB. */
const MAX_HEADER_BYTES = 131_072;
const NOTHING = Buffer.alloc(0);

/** Reads the next piece of a member of gzip; the last one checks its length and checksum. */
export type ReadMember = (piece: Uint8Array, isLast: boolean) => Uint8Array;

/**
 * Reads one member of gzip (RFC 1952, §2.3) with a converter of raw deflated data, as Deno's library does: what is wrong with the checksum
 * shows at the end, and nothing may follow the member.
 */
export function createMemberReader(converter: Converter): ReadMember {
  /** The header, until there is all of it. */
  let header: Buffer | undefined = NOTHING;
  let trailer: Buffer = NOTHING;
  let isEnded = false;
  let checksum = 0;
  let size = 0;
  return (piece, isLast) => {
    let rest: Uint8Array = piece;
    if (header !== undefined) {
      header = Buffer.concat([header, piece]);
      const length = headerLength(header);
      if (length === undefined && header.length > MAX_HEADER_BYTES) throw new Error("incorrect header check");
      rest = length === undefined ? NOTHING : header.subarray(length);
      if (length !== undefined) header = undefined;
    }
    let output: Uint8Array = NOTHING;
    if (!isEnded && rest.length > 0) {
      output = convert(converter, rest, library.zlib.constants.Z_SYNC_FLUSH);
      checksum = library.zlib.crc32(output, checksum);
      size = (size + output.length) % 2 ** 32;
      rest = rest.subarray(converter.bytesWritten);
      isEnded = rest.length > 0;
    }
    if (trailer.length + rest.length > TRAILER_BYTES)
      throw new TypeError("trailing data after the end of the stream");
    trailer = Buffer.concat([trailer, rest]);
    const isWhole = trailer.length === TRAILER_BYTES;
    if (isLast && !(isWhole && trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === size))
      throw new Error("incorrect data check");
    return output;
  };
}

/** Returns the length of a header; undefined if more bytes are needed. */
function headerLength(bytes: Buffer): number | undefined {
  if (bytes.length < FIXED_BYTES) return undefined;
  const flags = bytes[3] as number;
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8 || flags > 0x1f)
    throw new Error("incorrect header check");
  let at: number = FIXED_BYTES;
  if (flags & 4) {
    if (bytes.length < at + 2) return undefined;
    at += 2 + bytes.readUInt16LE(at);
  }
  // A name and a comment, each up to a zero byte.
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  if (flags & 2) at += 2;
  return at <= bytes.length ? at : undefined;
}
