import { TextDecoder as Decoder, normalizeEncoding } from "@exodus/bytes/encoding.js";

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
      const decoder = new Decoder(name, options);
      return (bytes: Uint8Array, stream: boolean): string => decoder.decode(bytes, { stream });
    },
  };
}
