import { writeSync } from "node:fs";
import { installFilter } from "./kernel/filter.ts";
import { openKernel, type Kernel } from "./kernel/kernel.ts";
import { setLimits } from "./kernel/limits.ts";

/** How far a sandbox process gives up its rights; it gets this as its argument, in JSON. */
export interface Confinement {
  /** User and group id to change to; null where the parent is no root, whose user the process keeps. */
  readonly uid: number | null;
  /** Whether the process ends rather than go on without limits and filter: false only by the operator's word. */
  readonly isFilterRequired: boolean;
  /** File of the addon that limits and filter are set with; `null` where there is none for this machine. */
  readonly kernel: string | null;
}

/** Enough for Node's own descriptors. */
const MAX_OPEN_FILES = 64;
/** Threads of Node, V8 and isolated-vm; counted per user id, so it is set only where the process has one of its own. */
const MAX_THREADS = 64;

/**
 * Gives up, before any caller's code runs, what only starting up needed: the root identity, reading files, loading
 * native code, and every system call that is not on a short list.
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

/** What the operator reads when no sandbox process starts. */
function endFor(error: Error): void {
  writeSync(
    2,
    `system-calls: ${error.message}. TYCHE_ACCEPT_MISSING=system-calls runs sources without this layer`,
  );
  process.kill(process.pid, "SIGKILL");
}

/** All threads change with this one: the C library sees to it. */
export function changeUser(uid: number): void {
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
  if (process.getuid?.() !== uid) throw new Error("the sandbox process could not give up its user");
}

function confineInKernel(kernel: Kernel, hasOwnUser: boolean): void {
  setLimits(kernel, { maxOpenFiles: MAX_OPEN_FILES, ...(hasOwnUser ? { maxThreads: MAX_THREADS } : {}) });
  installFilter(kernel);
  // libuv has an io_uring for its bookkeeping, which the filter has just cut off: built anew, the loop does without.
  kernel.renewEventLoop();
}

/** Everything Node's permission model knows. A scope it does not know is dropped without a word, hence the check. */
const SCOPES = ["fs", "fs.read", "fs.write", "addon", "child", "worker", "net", "inspector", "wasi", "ffi"];
