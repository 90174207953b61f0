import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ModuleFailureError } from "./moduleFailure.ts";

/**
 * Largest package, unpacked, in bytes: six times the usual contents of a tarball of the largest allowed size.
 */
const MAX_UNPACKED_BYTES = 64 * 1_024 * 1_024;
const MAX_FILES = 20_000;
const BLOCK_BYTES = 512;

/**
 * Unpacks an npm tarball in memory.
 *
 * @param tarball A gzipped tar (ustar, with pax or GNU long names) whose entries are in one folder.
 * @returns Regular files by path inside that folder, with `/` between names. Links, devices and paths that
 * point outside are skipped: nothing is ever written.
 * @throws {ModuleFailureError} If it is not a tarball, or is too large.
 */
export async function unpackTarball(tarball: Uint8Array): Promise<ReadonlyMap<string, Uint8Array>> {
  const tar = await promisify(gunzip)(tarball, { maxOutputLength: MAX_UNPACKED_BYTES }).catch(() => {
    throw new ModuleFailureError(
      "Failed extracting tarball",
      `It is not a gzip file, or holds more than ${MAX_UNPACKED_BYTES} bytes.`,
    );
  });
  const files = new Map<string, Uint8Array>();
  let longName: string | undefined;
  for (let at = 0; at + BLOCK_BYTES <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK_BYTES);
    if (header[0] === 0) break;
    const size = parseSize(header);
    const body = tar.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + size);
    if (body.length < size) throw new ModuleFailureError("Failed extracting tarball", "It is cut short.");
    at += BLOCK_BYTES + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    switch (String.fromCharCode(header[156] ?? 0)) {
      case "x":
        longName = paxPath(body) ?? longName;
        break;
      case "L":
        longName = text(body);
        break;
      case "0":
      case "\0": {
        const path = innerPath(longName ?? ustarName(header));
        if (path !== null) files.set(path, body);
        if (files.size > MAX_FILES)
          throw new ModuleFailureError("Failed extracting tarball", `It holds more than ${MAX_FILES} files.`);
        longName = undefined;
        break;
      }
      default:
        longName = undefined;
    }
  }
  return files;
}

/** Parses octal digits (POSIX ustar, offset 124, 12 bytes); the base-256 form is for files beyond 8 GiB. */
function parseSize(header: Uint8Array): number {
  const size = Number.parseInt(text(header.subarray(124, 136)).trim() || "0", 8);
  if (!Number.isSafeInteger(size) || size < 0)
    throw new ModuleFailureError("Failed extracting tarball", "A size is malformed.");
  return size;
}

function ustarName(header: Uint8Array): string {
  const prefix = text(header.subarray(257, 262)) === "ustar" ? text(header.subarray(345, 500)) : "";
  const name = text(header.subarray(0, 100));
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Reads `path` from a pax extended header: records of the form `length key=value\n`. */
function paxPath(body: Uint8Array): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(Buffer.from(body).toString())?.[1];
}

/** Strips the archive's own folder; `null` for a path that would leave it. */
function innerPath(name: string): string | null {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return parts.includes("..") || parts.length < 2 ? null : parts.slice(1).join("/");
}

/** Decodes UTF-8 up to the first NUL. */
function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return Buffer.from(end === -1 ? bytes : bytes.subarray(0, end)).toString();
}
