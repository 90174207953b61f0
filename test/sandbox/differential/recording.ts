import type { Answer } from "./reference.ts";

/** The committed file with the reference's answers, written by `record.ts`. */
export const RECORDING_FILE = new URL("reference.json", import.meta.url);

/** The reference's answer to every case, by case id. */
export interface Recording {
  /** The versions that gave the answers. */
  readonly reference: string;
  readonly answers: Record<string, Answer & { readonly fingerprint: string }>;
}
