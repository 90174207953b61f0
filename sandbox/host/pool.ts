import { availableParallelism } from "node:os";
import { TycheError } from "../../src/lib/errors.ts";
import { DEFAULT_LIMITS, type RunResult } from "../run.ts";
import { createCrew } from "./crew.ts";
import { createLauncher } from "./launch.ts";
import type { ResultMessage, RunMessage } from "./messages.ts";
import { errorOfDeath, resultOf } from "./outcome.ts";
import type { SandboxPool, SandboxPoolOptions } from "./poolTypes.ts";
import { createFairQueue } from "./queue.ts";
import { createSession, type Session } from "./session.ts";
import { parseRunRequest } from "./validate.ts";
import type { Death, Worker } from "./worker.ts";

/** Runs of a group handed to a child in one go. */
const MAX_BATCH = 16;
/** A run older than this no longer counts against `concurrency`: slow sources must not hold the quick ones up. */
const SLOW_MS = 50;
interface Job {
  readonly message: RunMessage;
  readonly caller: string;
  readonly resolve: (result: RunResult) => void;
  readonly reject: (error: Error) => void;
  session?: Session;
  startedMs: number;
  isAborted: boolean;
  worker?: Worker;
}

/** Creates a pool and starts its children: one per quick source at once, and a warm spare. */
export function createSandboxPool(options: SandboxPoolOptions = {}): SandboxPool {
  const concurrency = options.concurrency ?? availableParallelism();
  const standing = concurrency + 1;
  const maxWorkers = Math.max(standing, options.maxWorkers ?? 4 * concurrency + 1);
  const perCaller = Math.max(1, Math.floor(maxWorkers / 2));
  const maxQueue = options.maxQueue ?? 4_096;
  const maxQueuePerCaller = options.maxQueuePerCaller ?? Math.ceil(maxQueue / 2);
  const hostCalls = options.hostCalls ?? {};
  const launcher = createLauncher();
  for (const warning of launcher.containment.warnings) options.onWarning?.(warning);

  const queue = createFairQueue<Job>();
  const jobs = new Map<number, Job>();
  const firstReady = Promise.withResolvers<void>();
  firstReady.promise.catch(() => {});
  let nextRun = 1;
  let runs = 0;
  let closed = false;
  let pump: NodeJS.Timeout | undefined;

  const crew = createCrew({
    launcher,
    standing,
    max: maxWorkers,
    events: {
      onReady: () => {
        firstReady.resolve();
        dispatch();
      },
      onMessage: (worker, message) => {
        if (jobs.get(message.run)?.session?.take(message) === false) worker.kill("protocol");
      },
      onResult: (_worker, message) => settle(message),
      onDeath: (worker, death) => {
        buryRuns(worker, death);
        dispatch();
      },
    },
    onFailure: (reason, cause) => shutDown(new SandboxClosedError(reason, cause)),
  });

  /** Gives waiting runs to idle workers, as far as concurrency and fairness allow. */
  function dispatch(): void {
    if (closed) return;
    clearTimeout(pump);
    const nowMs = performance.now();
    let quick = 0;
    let unsent = 0;
    const idle: Worker[] = [];
    const workersOf = new Map<string, number>();
    for (const worker of crew.workers) {
      if (worker.state === "idle") idle.push(worker);
      const first = jobs.get(worker.runs[0]?.run ?? 0);
      if (first === undefined) continue;
      workersOf.set(first.caller, (workersOf.get(first.caller) ?? 0) + 1);
      if (nowMs - first.startedMs < SLOW_MS) quick += 1;
      // What waits behind a slow run goes to whoever is free.
      else for (const run of worker.reclaim()) requeue(jobs.get(run.run));
      unsent += worker.unsent;
    }
    while (queue.size > 0 && quick < concurrency && idle.length > 0) {
      const batch = queue.take({
        mayTake: (caller) => (workersOf.get(caller) ?? 0) < perCaller,
        max: Math.max(1, Math.min(MAX_BATCH, Math.ceil(queue.size / concurrency))),
        belongs: (first, next) => first.message.group !== null && first.message.group === next.message.group,
      });
      if (batch === undefined) break;
      const { caller, message } = batch[0] as Job;
      begin(takeWorker(idle, message.group), batch, nowMs);
      workersOf.set(caller, (workersOf.get(caller) ?? 0) + 1);
      quick += 1;
      unsent += 1;
    }
    // Everything is taken by slow runs: there will be work for one child more.
    if (queue.size > 0 && idle.length === 0 && quick < concurrency) crew.reinforce();
    // Look again when a quick run has become a slow one.
    if (queue.size > 0 || unsent > 0) pump = setTimeout(dispatch, SLOW_MS / 2);
  }

  /** Prefers a worker whose isolate already serves that group, or none when the run wants one of its own. */
  function takeWorker(idle: Worker[], group: string | null): Worker {
    const at = idle.findLastIndex((worker) => worker.lastGroup === group);
    return idle.splice(at < 0 ? idle.length - 1 : at, 1)[0] as Worker;
  }

  function begin(worker: Worker, batch: readonly Job[], nowMs: number): void {
    for (const job of batch) {
      job.worker = worker;
      job.startedMs = nowMs;
      jobs.set(job.message.run, job);
      job.session = createSession({
        limits: job.message.limits,
        caller: job.caller,
        run: job.message.run,
        hostCalls,
        reply: (message, body) => worker.reply(message, body),
      });
    }
    worker.start(batch.map((job) => job.message));
  }

  /** Takes a job out of the running ones and returns what it used. */
  function finish(job: Job): ReturnType<Session["finish"]> {
    jobs.delete(job.message.run);
    return (job.session as Session).finish();
  }

  /** Puts a run that has not begun back into the queue. */
  function requeue(job: Job | undefined): void {
    if (job === undefined) return;
    finish(job);
    delete job.session;
    delete job.worker;
    if (!job.isAborted) queue.push(job.caller, job);
  }

  function settle(message: ResultMessage): void {
    const job = jobs.get(message.run);
    if (job === undefined) return;
    runs += 1;
    const nowMs = performance.now();
    const timeMs = Math.min(message.timeMs, nowMs - job.startedMs);
    const usage = { ...finish(job), timeMs, memoryBytes: message.memoryBytes };
    const following = jobs.get(job.worker?.runs[0]?.run ?? 0);
    if (following !== undefined) following.startedMs = nowMs;
    job.resolve(resultOf(message, job.message.limits, usage, () => job.session?.hint()));
  }

  /** The first run of a dead worker is what killed it; those behind it had not begun and go to others. */
  function buryRuns(worker: Worker, death: Death): void {
    const [first, ...untouched] = worker.runs
      .map((run) => jobs.get(run.run))
      .filter((job) => job !== undefined);
    untouched.forEach(closed ? abandon : requeue);
    if (first === undefined) return;
    runs += 1;
    const usage = { ...finish(first), timeMs: performance.now() - first.startedMs, memoryBytes: 0 };
    if (death === "closed") first.reject(new SandboxClosedError());
    else first.resolve({ ok: false, error: errorOfDeath(death), ...usage });
  }

  function abandon(job: Job): void {
    finish(job);
    job.reject(new SandboxClosedError());
  }

  function shutDown(error: SandboxClosedError): void {
    if (closed) return;
    closed = true;
    firstReady.reject(error);
    clearTimeout(pump);
    for (const job of queue.clear()) job.reject(error);
    crew.close();
  }

  /** Takes a run back: a waiting one leaves the queue, one under way loses its child, one behind another is ignored. */
  function abort(job: Job): void {
    job.isAborted = true;
    job.reject(new RunAbortedError());
    if (queue.remove(job.caller, job)) return;
    if (job.worker?.runs[0]?.run === job.message.run) job.worker.kill("aborted");
  }

  return {
    run: async (request) => {
      const { source, inputs, caller, group, limits } = parseRunRequest(request);
      if (closed) throw new SandboxClosedError();
      if (request.signal?.aborted === true) throw new RunAbortedError();
      if (queue.size >= maxQueue || queue.sizeOf(caller) >= maxQueuePerCaller) {
        throw new SandboxOverloadedError(queue.size, queue.size >= maxQueue ? maxQueue : maxQueuePerCaller);
      }
      const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
      const message = { run: nextRun++, source, group, inputs, limits: { ...DEFAULT_LIMITS, ...limits } };
      const job: Job = { message, caller, resolve, reject, startedMs: 0, isAborted: false };
      const onAbort = (): void => abort(job);
      request.signal?.addEventListener("abort", onAbort, { once: true });
      queue.push(caller, job);
      dispatch();
      try {
        return await promise;
      } finally {
        request.signal?.removeEventListener("abort", onAbort);
      }
    },
    ready: () => firstReady.promise,
    stats: () => ({
      workers: crew.workers.size,
      busy: jobs.size,
      queued: queue.size,
      containment: launcher.containment,
      started: crew.started,
      runs,
      killed: { ...crew.ended },
    }),
    close: async () => shutDown(new SandboxClosedError()),
  };
}

/** More runs wait than may: answer 503 and let the caller come back. */
export class SandboxOverloadedError extends TycheError {
  constructor(queued: number, limit: number) {
    super(
      `The sandbox has ${queued} runs waiting; a caller's next one is taken below ${limit}. Try again shortly.`,
      {
        code: "sandbox_overloaded",
        blame: "us",
        retryable: true,
        details: { queued, limit },
      },
    );
  }
}

/** The pool is closed, or its children can't be started on this machine. */
export class SandboxClosedError extends TycheError {
  constructor(message = "The sandbox is closed.", cause?: unknown) {
    super(message, { code: "sandbox_closed", blame: "us", cause });
  }
}

/** The run's own signal took it back. */
export class RunAbortedError extends TycheError {
  constructor() {
    super("The run was aborted by its caller.", { code: "run_aborted", blame: "caller" });
  }
}
