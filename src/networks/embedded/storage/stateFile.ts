import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { messageOf } from "../../../lib/errors.ts";
import { flushPath } from "../../../lib/flushFile.ts";
import type { AnvilState } from "./anvilState.ts";

/**
 * The checksum is the last member of the file's JSON object and covers the text before it: Anvil, which reads the file itself, ignores
 * unknown members, and a single rename replaces state and checksum together.
 */
const CHECKSUM = /,"checksum":"([0-9a-f]{8})"\}\s*$/;

/** Writes a state with its checksum, and flushes it to disk. */
export function writeState(file: string, state: AnvilState): void {
  const text = JSON.stringify(state).slice(0, -1);
  writeFileSync(file, `${text},"checksum":"${checksumOf(text)}"}`, { mode: 0o600, flush: true });
}

/**
 * Replaces the stored state with a newly written one. The old state stays next to it under the name of {@link previousOf}: together with
 * the blocks logged since, it stands in for a newer state that is damaged.
 */
export function replaceState(next: string, file: string): void {
  const previous = previousOf(file);
  rmSync(previous, { force: true });
  try {
    linkSync(file, previous);
  } catch (error) {
    // The first state has no predecessor.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  renameSync(next, file);
  flushPath(dirname(file));
}

/** Returns the path of the state that was stored before the current one. */
export function previousOf(file: string): string {
  return file.replace(/\.json$/, ".previous.json");
}

/**
 * Says what is wrong with a stored state; `undefined` when it is intact. A state written before checksums were introduced is intact if
 * it is valid JSON.
 *
 * @throws the file system's error when the file can't be read for any reason other than being absent or a folder.
 */
export function findStateDamage(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "it is missing";
    if (code === "EISDIR") return "it is a folder";
    throw error;
  }
  const found = CHECKSUM.exec(text);
  if (found !== null)
    return checksumOf(text.slice(0, found.index)) === found[1] ? undefined : "its checksum does not match";
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
