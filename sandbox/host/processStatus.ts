import { readFileSync } from "node:fs";

/**
 * Resident memory of a process in bytes; 0 where it can't be read (gone, or no Linux). The kernel makes the answer on the spot: waiting for
 * it would cost several times what reading it does.
 */
export function readResidentBytes(pid: number): number {
  const PAGE_BYTES = 4_096;
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1];
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
