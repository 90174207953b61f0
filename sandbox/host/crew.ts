import { buildChild } from "./build.ts";
import type { Launcher } from "./launch.ts";
import { createWorker, type Death, type Worker, type WorkerEvents } from "./worker.ts";

/** Children above the standing number are stopped after this time without work. */
const IDLE_WORKER_MS = 10_000;
/** After that many children in a row that end before they are ready, none is started again. */
const MAX_START_FAILURES = 3;

/** The children of a pool: started, counted, replaced, stopped. */
export interface Crew {
  readonly workers: ReadonlySet<Worker>;
  /** Children started so far. */
  readonly started: number;
  /** Children gone so far, by how they ended. */
  readonly ended: Readonly<Record<string, number>>;
  /** Starts one child more than the standing number, unless one is starting already; it goes when it has nothing to do. */
  readonly reinforce: () => void;
  /** Kills all and starts none again. */
  readonly close: () => void;
}

/**
 * Builds the child's file if need be, starts one child, and the others of the standing number when it is ready: the
 * first has the machine to itself, so that the pool can serve soon. A child that ends is replaced at once.
 * @param options.onFailure Called once when children can't be built or don't start here; the crew is then closed.
 */
export function createCrew(options: {
  readonly launcher: Launcher;
  /** Children that are kept. */
  readonly standing: number;
  /** Children at most. */
  readonly max: number;
  readonly events: Omit<WorkerEvents, "onDeath"> & {
    readonly onDeath: (worker: Worker, death: Death) => void;
  };
  readonly onFailure: (reason: string, cause?: unknown) => void;
}): Crew {
  const { launcher, standing, max, events, onFailure } = options;
  const workers = new Set<Worker>();
  const ended: Record<string, number> = {};
  let script: string | undefined;
  let started = 0;
  let startFailures = 0;
  let isWarm = false;
  let closed = false;

  function refill(): void {
    while (!closed && workers.size < (isWarm ? standing : 1)) start();
  }

  function start(): void {
    if (script === undefined) return;
    started += 1;
    let wasReady = false;
    const worker = createWorker(launcher.launch(script), {
      ...events,
      onReady: (ready) => {
        wasReady = true;
        startFailures = 0;
        isWarm = true;
        refill();
        events.onReady(ready);
      },
      onDeath: (dead, death, detail) => {
        workers.delete(dead);
        ended[death] = (ended[death] ?? 0) + 1;
        if (!closed && !wasReady && ++startFailures >= MAX_START_FAILURES) {
          close();
          onFailure(`Sandbox processes do not start here: ${detail || "they end at once"}.`);
        }
        refill();
        events.onDeath(dead, death);
      },
    });
    workers.add(worker);
  }

  function close(): void {
    closed = true;
    clearInterval(shrink);
    for (const worker of workers) worker.kill("closed");
  }

  const shrink = setInterval(() => {
    for (const worker of workers) {
      if (workers.size > standing && worker.state === "idle") worker.kill("idle");
    }
  }, IDLE_WORKER_MS);
  shrink.unref();

  buildChild().then(
    (path) => {
      script = path;
      refill();
    },
    (cause: unknown) => onFailure("The sandbox process could not be built.", cause),
  );

  return {
    workers,
    get started() {
      return started;
    },
    ended,
    reinforce: () => {
      if (closed || workers.size >= max || [...workers].some((worker) => worker.state === "starting")) return;
      start();
    },
    close,
  };
}
