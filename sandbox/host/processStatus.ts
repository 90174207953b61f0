import { readFileSync } from "node:fs";

/**
 * Returns a process's resident memory in bytes; 0 if it can't be read (process gone, or not Linux). The kernel generates the answer on the
 * spot: an asynchronous read would cost several times as much as the read itself.
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

/** Whether a signal has stopped the process (`T` in proc(5)), in which case its source never had its time. */
export function isStopped(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^ [Tt]/.test(status.slice(status.lastIndexOf(")") + 1));
  } catch {
    return false;
  }
}
