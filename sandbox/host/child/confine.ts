import { writeSync } from "node:fs";
import { installFilter } from "./kernel/filter.ts";
import { openKernel, type Kernel } from "./kernel/kernel.ts";
import { setLimits } from "./kernel/limits.ts";

/** How far a sandbox process gives up its rights; passed to it as an argument, in JSON. */
export interface Confinement {
  /**
   * User and group id to switch to; null if the parent is not root, in which case the process keeps the parent's user.
   */
  readonly uid: number | null;
  /** Whether the process ends rather than continue without limits and filter; false only if the operator says so. */
  readonly isFilterRequired: boolean;
  /** File of the addon that sets limits and filter; `null` if there is none for this machine. */
  readonly kernel: string | null;
}

/** Enough for Node's own descriptors. */
const MAX_OPEN_FILES = 64;
/** Threads of Node, V8 and isolated-vm; counted per user id, so it is set only where the process has one of its own. */
const MAX_THREADS = 64;

/**
 * Gives up, before any caller's code runs, everything that only startup needed: the root identity, reading files,
 * loading native code, and every system call that is not on a short list.
 * @param argument A {@link Confinement} in JSON.
 * @throws If anything could not be given up.
 */
export function confine(argument: string | undefined): void {
  const { uid, isFilterRequired, kernel: path } = JSON.parse(argument ?? "") as Confinement;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (isFilterRequired) endFor(error as Error);
    }
  };
  let kernel: Kernel | undefined;
  attempt(() => {
    kernel = openKernel(path);
  });
  if (uid !== null) changeUser(uid);
  attempt(() => kernel && confineInKernel(kernel, uid !== null));
  const { permission } = process;
  for (const scope of ["fs", "addon"]) permission.drop(scope);
  const left = SCOPES.filter((scope) => permission.has(scope));
  if (left.length > 0) throw new Error(`the sandbox process could not give up ${left.join(", ")}`);
}

/** Reports to the operator why no sandbox process starts, and ends this one. */
function endFor(error: Error): void {
  writeSync(
    2,
    `system-calls: ${error.message}. TYCHE_ACCEPT_MISSING=system-calls runs sources without this layer`,
  );
  process.kill(process.pid, "SIGKILL");
}

/** The C library applies the change to all threads. */
export function changeUser(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid) throw new Error("the sandbox process could not give up its user");
}

function confineInKernel(kernel: Kernel, hasOwnUser: boolean): void {
  setLimits(kernel, { maxOpenFiles: MAX_OPEN_FILES, ...(hasOwnUser ? { maxThreads: MAX_THREADS } : {}) });
  installFilter(kernel);
  // libuv keeps an io_uring for its bookkeeping, which the filter has just cut off: rebuilt, the loop does without it.
  kernel.renewEventLoop();
}

/** Every scope of Node's permission model. Node silently ignores dropping an unknown scope, hence the check. */
const SCOPES = ["fs", "fs.read", "fs.write", "addon", "child", "worker", "net", "inspector", "wasi", "ffi"];
