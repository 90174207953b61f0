import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";

/** A database up to this size is checked during startup: at about 1 GB/s, in a tenth of a second. */
const QUICK_BYTES = 100 * 2 ** 20;

/**
 * Checks a whole database for damage (`PRAGMA quick_check`: every page and record, but not whether indexes match them). A small one is
 * checked at once, a large one in a separate thread while the caller continues.
 *
 * @param onDamage called with SQLite's description of the damage; for a small database, before this returns.
 */
export function checkDatabaseFile(file: string, onDamage: (problem: string) => void): void {
  if (!existsSync(file)) return;
  if (statSync(file).size <= QUICK_BYTES) {
    const problem = findDamage(file);
    if (problem !== undefined) onDamage(problem);
    return;
  }
  const worker = new Worker(new URL("./databaseCheckWorker.ts", import.meta.url), {
    workerData: { file },
    execArgv: [],
  });
  worker.on("message", (problem: string | undefined) => {
    if (problem !== undefined) onDamage(problem);
  });
  // A check that can't be made says nothing about the file.
  worker.on("error", () => {});
  worker.unref();
}

/** Returns SQLite's description of a database's damage, or `undefined`. */
export function findDamage(file: string): string | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec("PRAGMA busy_timeout = 5000");
    const answer = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    return answer.quick_check === "ok" ? undefined : answer.quick_check.replaceAll(/\s+/g, " ");
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    // 11 and 26: malformed, or not a database. Any other error says nothing about the bytes.
    if (errcode !== undefined && [11, 26].includes(errcode & 0xff)) return message;
    throw error;
  } finally {
    database?.close();
  }
}
