import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { messageOf } from "../lib/errors.ts";
import { MalformedJsonError, parseJson, type JsonValue } from "../lib/parseJson.ts";

/** Largest configuration file; one with every member takes about 4 KB. */
const MAX_FILE_BYTES = 1_048_576;

/** A configuration file's members before validation. */
export type Members = { [name: string]: JsonValue };

/**
 * Reads a configuration file: JSON in UTF-8, with or without a byte order mark. Rejects a pipe or device without waiting for it.
 *
 * @throws {Error} whose message says what is wrong with the file, as the end of a sentence.
 */
export function readConfigFile(path: string): Members {
  let value: JsonValue;
  try {
    value = parseJson(decode(readBytes(path)), "it");
  } catch (cause) {
    if (cause instanceof ConfigFileError || cause instanceof MalformedJsonError) throw cause;
    throw new ConfigFileError(`can't be read: ${messageOf(cause)}`, cause);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new ConfigFileError("must be a JSON object");
}

function readBytes(path: string): Buffer {
  // A blocking open of a pipe would wait for its writer.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) throw new ConfigFileError("is not a regular file");
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    let length = 0;
    for (let bytesRead = -1; bytesRead !== 0; length += bytesRead)
      bytesRead = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (length > MAX_FILE_BYTES) throw new ConfigFileError(`is larger than ${MAX_FILE_BYTES} bytes`);
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ConfigFileError("is not UTF-8 text; save it in that encoding", cause);
  }
}

/** The file is unusable, whatever its members are. */
class ConfigFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConfigFileError";
  }
}
