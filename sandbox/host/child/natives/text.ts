import type { Native } from "./native.ts";

/** The platform's UTF-8. */
export const textNatives: Readonly<Record<string, Native>> = {
  /** `{fatal, ignoreBOM}` and bytes → text. */
  decodeUtf8: ({ fatal, ignoreBOM }, body) =>
    new TextDecoder("utf-8", { fatal: fatal === true, ignoreBOM: ignoreBOM === true }).decode(body),
};
