import type { Kernel } from "./kernel.ts";

/** Address space for data, in bytes: V8 does not start with 1 GiB, and 1.5 GiB bounds what passes every other limit. */
const MAX_DATA_BYTES = 1_536 * 1024 * 1024;

/** `RLIMIT_*` and `PR_*` of Linux, the same on x64 and arm64. */
const RLIMIT_FSIZE = 1;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;
const RLIMIT_NPROC = 6;
const RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9;

/**
 * Bounds this process and what it starts: no core dump, no writes to files, no new privileges, limited memory, no life
 * beyond its parent's. Call it after changing user, which resets the last of these.
 * @param limits.maxThreads Processes and threads of this user; absent if others share the user.
 */
export function setLimits(
  kernel: Kernel,
  limits: { readonly maxOpenFiles: number; readonly maxThreads?: number },
): void {
  kernel.prctl("PR_SET_PDEATHSIG", PR_SET_PDEATHSIG, SIGKILL);
  kernel.prctl("PR_SET_NO_NEW_PRIVS", PR_SET_NO_NEW_PRIVS, 1);
  kernel.setLimit("RLIMIT_CORE", RLIMIT_CORE, 0);
  kernel.setLimit("RLIMIT_FSIZE", RLIMIT_FSIZE, 0);
  kernel.setLimit("RLIMIT_NOFILE", RLIMIT_NOFILE, limits.maxOpenFiles);
  kernel.setLimit("RLIMIT_DATA", RLIMIT_DATA, MAX_DATA_BYTES);
  if (limits.maxThreads !== undefined) kernel.setLimit("RLIMIT_NPROC", RLIMIT_NPROC, limits.maxThreads);
}
