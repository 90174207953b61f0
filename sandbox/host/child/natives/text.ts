import type { Native } from "./native.ts";

/** The platform's text encodings. */
export const textNatives: Readonly<Record<string, Native>> = {
  /** `{encoding, fatal, ignoreBOM, stream}` and bytes → text. */
  decode: ({ encoding, fatal, ignoreBOM, stream }, body) =>
    new TextDecoder(String(encoding), { fatal: fatal === true, ignoreBOM: ignoreBOM === true }).decode(body, {
      stream: stream === true,
    }),
  /** `{label}` → the encoding's name. */
  encodingName: ({ label }) => new TextDecoder(String(label)).encoding,
};
