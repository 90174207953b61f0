import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import path from "node:path";

/** A file system in memory, which Linux mounts for every user. */
const IN_MEMORY = "/dev/shm";
/** Least room there, and least memory that is free, in bytes: several times what a run of all tests keeps there at once. */
const MIN_ROOM = 8 * 2 ** 30;

/**
 * Moves the temporary folder into memory where there is room. The tests create and remove files by the ten thousand, and ext4 looks through
 * every inode that was freed within the last minute before it gives one to a new file.
 *
 * Runs once for each project: the first moves the folder, for all. It is removed as the run ends.
 */
export function setup(): void {
  if (process.env["TMPDIR"]?.startsWith(IN_MEMORY) === true || !hasRoom()) return;
  removeLeft();
  const folder = path.join(IN_MEMORY, `tyche-${process.pid}`);
  mkdirSync(folder);
  // As open as /tmp: some tests start programs as another user.
  chmodSync(folder, 0o1777);
  process.env["TMPDIR"] = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
}

function hasRoom(): boolean {
  if (!existsSync(IN_MEMORY)) return false;
  const mount = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .find((line) => line.split(" ")[1] === IN_MEMORY);
  // Containers may forbid to run what is there, such as an installed Node.
  if (mount === undefined || /\bnoexec\b/.test(mount)) return false;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) >= MIN_ROOM;
}

/** Removes the folders of runs that were killed. */
function removeLeft(): void {
  for (const name of readdirSync(IN_MEMORY)) {
    const [, pid] = /^tyche-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      rmSync(path.join(IN_MEMORY, name), { recursive: true, force: true });
  }
}
