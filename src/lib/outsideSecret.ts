import { readFileSync } from "node:fs";
import { messageOf, TycheError } from "./errors.ts";

/** A secret that the operator keeps outside the data directory. */
export interface OutsideSecret {
  /** As found; surrounding white space is ignored. */
  readonly text: string;
  /** Where it came from, for messages: the name of a variable or a file. */
  readonly from: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the master key (64 hex digits) from the variable TYCHE_MASTER_KEY or the file named by TYCHE_MASTER_KEY_FILE; `undefined` when
 * neither is set.
 *
 * @throws {TycheError} `data_dir_unusable` when both are set, or the file can't be read.
 */
export function findOutsideKey(env: Environment): OutsideSecret | undefined {
  return findOutsideSecret(env, { variable: "TYCHE_MASTER_KEY", what: "key", holds: "the master key" });
}

/**
 * Reads the token that signs the operator in from TYCHE_OPERATOR_TOKEN or the file named by TYCHE_OPERATOR_TOKEN_FILE; `undefined` when
 * neither is set.
 *
 * @throws {TycheError} `data_dir_unusable` when both are set, or the file can't be read.
 */
export function findOutsideToken(env: Environment): OutsideSecret | undefined {
  return findOutsideSecret(env, {
    variable: "TYCHE_OPERATOR_TOKEN",
    what: "token",
    holds: "the operator token",
  });
}

function findOutsideSecret(
  env: Environment,
  { variable, what, holds }: { readonly variable: string; readonly what: string; readonly holds: string },
): OutsideSecret | undefined {
  const fileVariable = `${variable}_FILE`;
  const { [variable]: text, [fileVariable]: file } = env;
  if (text && file)
    throw new TycheError(`set ${variable} or ${fileVariable}, not both: one of them names the ${what}`, {
      code: "data_dir_unusable",
      blame: "caller",
    });
  if (text) return { text, from: variable };
  if (!file) return undefined;
  try {
    return { text: readFileSync(file, "utf8"), from: file };
  } catch (cause) {
    throw new TycheError(
      `the file ${file} that ${fileVariable} names can't be read (${messageOf(cause)}); name a file that holds ${holds}`,
      { code: "data_dir_unusable", blame: "caller", cause },
    );
  }
}
