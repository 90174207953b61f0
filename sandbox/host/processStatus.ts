import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Resident memory of a process in bytes; 0 where it can't be read (gone, or no Linux). */
export async function readResidentBytes(pid: number): Promise<number> {
  const PAGE_BYTES = 4_096;
  try {
    const pages = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1];
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** Whether a signal has stopped the process (`T` in proc(5)): its source had no time to run out of. */
export function isStopped(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^ [Tt]/.test(status.slice(status.lastIndexOf(")") + 1));
  } catch {
    return false;
  }
}
