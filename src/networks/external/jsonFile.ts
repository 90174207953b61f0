import { isObject } from "../../lib/isObject.ts";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isAddress, isHash, type Hex } from "viem";
import { TycheError, messageOf } from "../../lib/errors.ts";
import { flushPath } from "../../lib/flushFile.ts";
import { makeFolder } from "../../lib/makeFolder.ts";

/** The content of a file that an operator may have edited. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON file that contains an object.
 *
 * @param remedy what to do when the file doesn't exist; completes the message.
 * @throws {NetworkFileError} when it can't be read or contains something else.
 */
export function readJsonFile(path: string, remedy: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      throw new NetworkFileError(path, `is not there; ${remedy}`, cause);
    throw new NetworkFileError(path, `can't be read: ${messageOf(cause)}`, cause);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NetworkFileError(path, `is not JSON: ${messageOf(cause)}`, cause);
  }
  if (isObject(value)) return value;
  throw new NetworkFileError(path, "must hold a JSON object");
}

/** Writes a JSON file atomically and flushes it to disk; creates its folder. */
export function writeJsonFile(path: string, value: unknown): void {
  makeFolder(dirname(path));
  const temporary = `${path}.new`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o644, flush: true });
  renameSync(temporary, path);
  flushPath(dirname(path));
}

/** Creates readers for the members of such a file; each throws {@link NetworkFileError} with the member's name. */
export function membersOf(path: string, object: JsonObject) {
  const refuse = (name: string, expected: string): never => {
    throw new NetworkFileError(path, `${name} must be ${expected}; got ${JSON.stringify(object[name])}`);
  };
  return {
    address(name: string): Hex {
      const value = object[name];
      return typeof value === "string" && isAddress(value) ? value : refuse(name, "an address");
    },
    hash(name: string): Hex {
      const value = object[name];
      return typeof value === "string" && isHash(value) ? value : refuse(name, "0x and 64 hex digits");
    },
    count(name: string): number {
      const value = object[name];
      return Number.isSafeInteger(value) && Number(value) >= 0
        ? Number(value)
        : refuse(name, "a whole number");
    },
    text(name: string): string {
      const value = object[name];
      return typeof value === "string" && value !== "" ? value : refuse(name, "a string");
    },
    flag(name: string): boolean {
      const value = object[name];
      return typeof value === "boolean" ? value : refuse(name, "true or false");
    },
    object(name: string): JsonObject {
      const value = object[name];
      return isObject(value) ? value : refuse(name, "an object");
    },
    list(name: string): readonly unknown[] {
      const value = object[name];
      return Array.isArray(value) ? value : refuse(name, "an array");
    },
  };
}

/** A network's file can't be used; the message names it and says what to do. */
export class NetworkFileError extends TycheError {
  constructor(path: string, why: string, cause?: unknown) {
    super(`${path} ${why}`, { code: "invalid_config", blame: "caller", cause });
  }
}
