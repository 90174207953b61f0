import { readFileSync } from "node:fs";
import { TycheError, messageOf } from "./errors.ts";

/** A master key that the operator keeps outside the data directory. */
export interface OutsideKey {
  /** 64 hex digits; white space around them is ignored. */
  readonly text: string;
  /** Where it came from, for messages: the name of a variable or a file. */
  readonly from: string;
}

/**
 * Reads the master key from the variable TYCHE_MASTER_KEY or the file that TYCHE_MASTER_KEY_FILE names; `undefined` when neither is set.
 *
 * @throws {OutsideKeyError} when both are set, or the file can't be read.
 */
export function findOutsideKey(env: Readonly<Record<string, string | undefined>>): OutsideKey | undefined {
  const { TYCHE_MASTER_KEY: text, TYCHE_MASTER_KEY_FILE: file } = env;
  if (text && file)
    throw new OutsideKeyError(
      "set TYCHE_MASTER_KEY or TYCHE_MASTER_KEY_FILE, not both: one of them names the key",
    );
  if (text) return { text, from: "TYCHE_MASTER_KEY" };
  if (!file) return undefined;
  try {
    return { text: readFileSync(file, "utf8"), from: file };
  } catch (cause) {
    throw new OutsideKeyError(
      `the file ${file} that TYCHE_MASTER_KEY_FILE names can't be read (${messageOf(cause)}); name one that holds the master key`,
      cause,
    );
  }
}

/** The key outside can't be read; the message says why and what to do. */
export class OutsideKeyError extends TycheError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: "data_dir_unusable", blame: "caller", cause });
  }
}
