import type { Launcher } from "./launch.ts";
import { messageOf } from "./sandboxError.ts";
import { createWorker, type Death, type Worker, type WorkerEvents } from "./worker.ts";

/** How often idle children above the kept number are stopped. */
const IDLE_WORKER_MS = 10_000;
/** Wait after a child did not start; doubled with each further failure in a row, up to the longest. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/**
 * Wait between starts once as many children as allowed were started in a row: a start costs this process 4 to 8 ms, and a child that
 * breaks the protocol is killed at once. A child itself takes longer to get ready.
 */
const START_INTERVAL_MS = 300;
/** A child that ends this soon after it was ready, without a run, counts as not started. */
const SETTLED_MS = 1_000;

/** A child did not start, and the next attempt is waiting. */
export interface StartTrouble {
  /** Failed starts in a row. */
  readonly failures: number;
  /** Why the last one failed: an error code, an exit code, a signal. */
  readonly reason: string;
  /** What it wrote to standard error, for the log; no source has run in it. May be empty. */
  readonly detail: string;
  /** Wait until the next attempt, in ms. */
  readonly retryMs: number;
}

/** The children of a pool: started, counted, replaced, stopped. */
export interface WorkerSet {
  readonly workers: ReadonlySet<Worker>;
  /** Children started so far. */
  readonly started: number;
  /** Children that have ended so far, by how they ended. */
  readonly ended: Readonly<Record<string, number>>;
  /** The last failed start, as long as none has succeeded since. */
  readonly trouble: StartTrouble | undefined;
  /** Keeps as many children running from now on, and never fewer again; at most the standing number. */
  readonly keep: (count: number) => void;
  /** Starts one child more than are kept, unless one is already starting; it is stopped when it has nothing to do. */
  readonly reinforce: () => void;
  /** Kills all and never starts another. */
  readonly close: () => void;
}

/**
 * Builds the child's file if needed and starts one child; others follow as they are needed. A child that ends is replaced at once. If
 * children can't be built or end before they are ready, it keeps trying while the set is open, less and less often: whatever kept them
 * from starting (no memory, no descriptors) passes.
 */
export function createWorkerSet(options: {
  readonly launcher: Pick<Launcher, "launch">;
  /** Returns the path of the child's file. */
  readonly build: () => Promise<string>;
  /** Most children to keep running whether or not they have work. */
  readonly standing: number;
  /** Most children. */
  readonly max: number;
  readonly events: Omit<WorkerEvents, "onDeath"> & {
    readonly onDeath: (worker: Worker, death: Death) => void;
  };
  /** Called for every start that fails. */
  readonly onTrouble: (trouble: StartTrouble) => void;
}): WorkerSet {
  const { launcher, build, standing, max, events, onTrouble } = options;
  const workers = new Set<Worker>();
  const ended: Record<string, number> = {};
  let script: string | undefined;
  let isBuilding = false;
  let started = 0;
  let trouble: StartTrouble | undefined;
  let retry: NodeJS.Timeout | undefined;
  let kept = 1;
  /** Starts allowed now; replenished over time. */
  let startsLeft = max;
  let countedMs = performance.now();
  let closed = false;

  function refill(): void {
    if (closed || retry !== undefined) return;
    if (script === undefined) return prepare();
    while (retry === undefined && workers.size < kept) {
      if (mayStart()) start(script);
      else wait(START_INTERVAL_MS);
    }
  }

  function mayStart(): boolean {
    const nowMs = performance.now();
    startsLeft = Math.min(max, startsLeft + (nowMs - countedMs) / START_INTERVAL_MS);
    countedMs = nowMs;
    return startsLeft >= 1;
  }

  function wait(ms: number): void {
    clearTimeout(retry);
    retry = setTimeout(() => {
      retry = undefined;
      refill();
    }, ms);
  }

  function prepare(): void {
    if (isBuilding) return;
    isBuilding = true;
    build()
      .finally(() => (isBuilding = false))
      .then(
        (path) => {
          script = path;
          refill();
        },
        (error: unknown) => fail(`its code could not be built (${nameOf(error)})`, messageOf(error)),
      );
  }

  function start(path: string): void {
    started += 1;
    startsLeft -= 1;
    let readyMs: number | undefined;
    let hasRun = false;
    const child = launch(path);
    if (child === undefined) return;
    const worker = createWorker(child, {
      ...events,
      onReady: (ready) => {
        hasRun = readyMs !== undefined;
        readyMs ??= performance.now();
        trouble = undefined;
        events.onReady(ready);
      },
      onDeath: (dead, death, detail) => {
        workers.delete(dead);
        ended[death] = (ended[death] ?? 0) + 1;
        const isFailure =
          readyMs === undefined ||
          ((death === "crash" || death === "killed") &&
            !hasRun &&
            dead.runs.length === 0 &&
            performance.now() - readyMs < SETTLED_MS);
        if (isFailure && death !== "closed") fail(dead.end, readyMs === undefined ? detail : "");
        refill();
        events.onDeath(dead, death);
      },
    });
    workers.add(worker);
  }

  function launch(path: string): ReturnType<Launcher["launch"]> | undefined {
    try {
      return launcher.launch(path);
    } catch (error) {
      // Some system errors are thrown, others arrive with the process's `error` event.
      fail(nameOf(error), messageOf(error));
      return undefined;
    }
  }

  function fail(reason: string, detail: string): void {
    if (closed) return;
    const failures = (trouble?.failures ?? 0) + 1;
    const retryMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
    trouble = { failures, reason, detail, retryMs };
    wait(retryMs);
    onTrouble(trouble);
  }

  const shrink = setInterval(() => {
    for (const worker of workers) {
      if (workers.size > kept && worker.state === "idle") worker.kill("idle");
    }
  }, IDLE_WORKER_MS);
  shrink.unref();

  refill();

  return {
    workers,
    get started() {
      return started;
    },
    ended,
    get trouble() {
      return trouble;
    },
    keep: (count) => {
      if (count <= kept) return;
      kept = Math.min(standing, count);
      refill();
    },
    reinforce: () => {
      if (closed || script === undefined || retry !== undefined || workers.size >= max || !mayStart()) return;
      if (![...workers].some((worker) => worker.state === "starting")) start(script);
    },
    close: () => {
      closed = true;
      clearInterval(shrink);
      clearTimeout(retry);
      for (const worker of workers) worker.kill("closed");
    },
  };
}

/**
 * Removes from `idle` a worker whose isolate already serves that group, or else any other; null: the run needs an isolate of its
 * own.
 */
export function takeWorker(idle: Worker[], group: string | null): Worker {
  const at = idle.findLastIndex((worker) => worker.lastGroup === group);
  return idle.splice(at < 0 ? idle.length - 1 : at, 1)[0] as Worker;
}

/** Returns a system error's code, or the error's class: nothing that names a path. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "an unknown error";
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
