import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { messageOf } from "../../lib/errors.ts";
import { flushPath } from "../../lib/flushFile.ts";
import type { AnvilState } from "./anvilState.ts";

/**
 * The checksum is the last member of the file's JSON object, over the text before it: Anvil, which reads the file itself, passes over
 * members that it does not know, and one rename puts both in place.
 */
const CHECKSUM = /,"checksum":"([0-9a-f]{8})"\}\s*$/;

/** Writes a state with its checksum, and brings it to the disk itself. */
export function writeState(file: string, state: AnvilState): void {
  const text = JSON.stringify(state).slice(0, -1);
  writeFileSync(file, `${text},"checksum":"${checksumOf(text)}"}`, { mode: 0o600, flush: true });
}

/**
 * Puts a written state in place of the stored one, which stays beside it under the name of {@link previousOf}: with the blocks logged
 * since then, it makes up for a newer one that is damaged.
 */
export function replaceState(next: string, file: string): void {
  const previous = previousOf(file);
  rmSync(previous, { force: true });
  try {
    linkSync(file, previous);
  } catch (error) {
    // The first state has none before it.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  renameSync(next, file);
  flushPath(dirname(file));
}

/** Path of the state that was stored before the present one. */
export function previousOf(file: string): string {
  return file.replace(/\.json$/, ".previous.json");
}

/**
 * Says what is wrong with a stored state, or gives back `undefined` when it is whole. One from before there were checksums is whole when
 * it is JSON.
 *
 * @throws what the file system throws when it can't be read for another reason than that it isn't there or is no file.
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
