import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BackupError } from "./backup.ts";

const run = promisify(execFile);

/**
 * Packs a folder's contents into a new `.tar.gz`.
 *
 * @throws {BackupError}
 */
export async function packFolder(folder: string, file: string): Promise<void> {
  await tar(["-czf", file, "-C", folder, "."]);
}

/**
 * Unpacks a `.tar.gz` into an existing folder.
 *
 * @throws {BackupError} when it is damaged or isn't one.
 */
export async function unpackArchive(file: string, folder: string): Promise<void> {
  await tar(["-xzf", file, "-C", folder, "--no-same-owner", "--no-same-permissions"]);
}

async function tar(args: readonly string[]): Promise<void> {
  try {
    await run("tar", args);
  } catch (cause) {
    const { code, stderr } = cause as { readonly code?: unknown; readonly stderr?: string };
    const [said] = (stderr ?? "").trim().split("\n");
    throw new BackupError(code === "ENOENT" ? "the program tar is missing" : said || String(cause), cause);
  }
}
