import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";

/** A database up to this size is checked within a start: at about 1 GB/s, in a tenth of a second. */
const QUICK_BYTES = 100 * 2 ** 20;

/**
 * Looks through a whole database for damage (`PRAGMA quick_check`: every page and record, not what indexes say of them). A small one is
 * checked at once, a large one in a thread of its own while the caller goes on.
 *
 * @param onDamage told, in SQLite's words, what is wrong; before this returns for a small one.
 */
export function checkDatabase(file: string, onDamage: (problem: string) => void): void {
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
  // A check that can't be made says nothing of the file.
  worker.on("error", () => {});
  worker.unref();
}

/** Returns what is wrong with a database, in SQLite's words, or `undefined`. */
export function findDamage(file: string): string | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec("PRAGMA busy_timeout = 5000");
    const answer = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    return answer.quick_check === "ok" ? undefined : answer.quick_check.replaceAll(/\s+/g, " ");
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    // 11 and 26: malformed, or no database at all. Anything else is no verdict about the bytes.
    if (errcode !== undefined && [11, 26].includes(errcode & 0xff)) return message;
    throw error;
  } finally {
    database?.close();
  }
}
