import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../../../lib/errors.ts";
import { EmbeddedChainError } from "./anvil.ts";

/** Suffix of the file next to a chain's folder that holds the path of its socket's temporary folder. */
const NOTE = ".socket";
const PREFIX = "tyche-";
const SOCKET_NAME = "ipc";
/** Longest path of a Unix socket: 108 bytes of `sockaddr_un` including the terminating zero; 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

/**
 * Creates the temporary folder for a chain's socket, and removes the one that an earlier process could not clean up: its path is
 * noted next to the chain's folder, which only one process uses at a time. A note with any other kind of path is ignored. The
 * folder is not in the data directory, whose path may be too long for a socket's.
 *
 * @throws {EmbeddedChainError} `chain_unavailable` when the folder can't be created, or the socket's path would be too long.
 */
export function openSocketFolder(chainFolder: string): {
  readonly path: string;
  readonly socketPath: string;
  readonly remove: () => void;
} {
  const note = `${chainFolder}${NOTE}`;
  const left = readNote(note);
  if (left !== undefined) rmSync(left, { recursive: true, force: true });
  assertSocketFits();
  const path = makeTemporaryFolder();
  writeFileSync(note, `${path}\n`, { mode: 0o600 });
  return {
    path,
    socketPath: join(path, SOCKET_NAME),
    remove() {
      rmSync(path, { recursive: true, force: true });
      rmSync(note, { force: true });
    },
  };
}

function assertSocketFits(): void {
  const length = Buffer.byteLength(join(tmpdir(), `${PREFIX}XXXXXX`, SOCKET_NAME));
  if (length <= MAX_SOCKET_PATH_BYTES) return;
  throw new EmbeddedChainError(
    `the temporary folder ${tmpdir()} has too long a path for a chain's socket: the socket's path would have ${length} bytes, and the system allows ${MAX_SOCKET_PATH_BYTES}; name a shorter one in TMPDIR`,
  );
}

function makeTemporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), PREFIX));
  } catch (cause) {
    throw new EmbeddedChainError(
      `no folder can be created in the temporary folder ${tmpdir()} (${messageOf(cause)}); make room there, or name another one in TMPDIR`,
      cause,
    );
  }
}

function readNote(note: string): string | undefined {
  try {
    const path = readFileSync(note, "utf8").trim();
    return dirname(path) === tmpdir() && /^tyche-[\w-]{6}$/.test(basename(path)) ? path : undefined;
  } catch {
    return undefined;
  }
}
