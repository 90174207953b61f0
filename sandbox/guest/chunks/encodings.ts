import { TextDecoder as Decoder, normalizeEncoding } from "@exodus/bytes/encoding.js";
import { concatBytes } from "../webIdl.ts";

/** The legacy encodings, UTF-16 and all labels of the Encoding Standard (@exodus/bytes); large, so it is loaded for other labels than UTF-8's only. */
export default function encodingsChunk(): Readonly<Record<string, unknown>> {
  return {
    /** Returns the encoding of a label, null if there is none. */
    encodingOf: (label: string): string | null => {
      const name = normalizeEncoding(label);
      return name === "replacement" ? null : name;
    },
    /** Creates the decoder of an encoding, which keeps what a piece of a stream leaves open. It throws on data that are not valid, if fatal. */
    createDecoder: (name: string, options: { fatal: boolean; ignoreBOM: boolean }) => {
      let decoder = new Decoder(name, options);
      if (!options.fatal || !name.startsWith("utf-16"))
        return (bytes: Uint8Array, stream: boolean): string => decoder.decode(bytes, { stream });
      const read = unitReader(name === "utf-16be");
      /** What earlier pieces have left open. */
      let open: Uint8Array = new Uint8Array(0);
      let isFresh = false;
      return (piece: Uint8Array, stream: boolean): string => {
        const all = concatBytes([open, piece]);
        try {
          const text = decoder.decode(isFresh ? all : piece, { stream });
          open = all.slice(openFrom(all, read));
          isFresh = false;
          return text;
        } catch (error) {
          open = open.length > 0 ? afterWrong(all, read) : open;
          decoder = new Decoder(name, { ...options, ignoreBOM: true });
          isFresh = true;
          throw error;
        }
      };
    },
  };
}

/** Reads the top six bits of the unit of UTF-16 at an index: 54 of the first unit of a pair, 55 of the second. */
type ReadUnit = (bytes: Uint8Array, at: number) => number;
const FIRST = 54;
const SECOND = 55;
const unitReader =
  (isBig: boolean): ReadUnit =>
  (bytes, at) =>
    (bytes[isBig ? at : at + 1] as number) >> 2;

/** Returns where the incomplete end of valid UTF-16 begins. */
function openFrom(bytes: Uint8Array, read: ReadUnit): number {
  const end = bytes.length - (bytes.length % 2);
  return end >= 2 && read(bytes, end - 2) === FIRST ? end - 2 : end;
}

/** Returns the unit behind a first half of a pair that an earlier piece left open: the nodes' decoder has read it, and decodes it with the next piece. */
function afterWrong(bytes: Uint8Array, read: ReadUnit): Uint8Array {
  const isRead = bytes.length >= 4 && read(bytes, 0) === FIRST && read(bytes, 2) !== SECOND;
  return isRead ? bytes.slice(2, 4) : new Uint8Array(0);
}
