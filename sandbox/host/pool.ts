import { availableParallelism } from "node:os";
import { DEFAULT_LIMITS } from "../limits.ts";
import { TOUCHES, type RunRequest, type RunResult } from "../run.ts";
import { createWorkerSet, takeWorker, type StartTrouble, type WorkerSet } from "./workerSet.ts";
import { createChildLauncher, layersOf, type Launcher } from "./launch.ts";
import { belongs, createSession, errorOfDeath, guarded, resultOf, type Job, type Session } from "./job.ts";
import { oneLine } from "./lastWords.ts";
import type { ResultMessage } from "./messages.ts";
import {
  describeTrouble,
  RunAbortedError,
  SandboxClosedError,
  SandboxInterruptedError,
  SandboxOverloadedError,
  SandboxUnavailableError,
} from "./poolErrors.ts";
import type { SandboxPool, SandboxPoolOptions } from "./poolTypes.ts";
import { createFairQueue, type FairQueue } from "./queue.ts";
import type { SandboxError } from "./sandboxError.ts";
import { createSecretGuard } from "./secretGuard.ts";
import { parseRunRequest, type ParsedRun } from "./validate.ts";
import type { Death, Worker } from "./worker.ts";
import { buildChild } from "../build/buildChild.ts";
import { acceptedByEnvironment } from "./layers.ts";

/**
 * Creates a pool and starts its children: one for each quick source at once, and a warm spare.
 * @throws {MissingLayersError} `sandbox_layers_missing` if children can't be contained as promised.
 */
export function createSandboxPool(options: SandboxPoolOptions = {}): SandboxPool {
  const launcher = createChildLauncher({ acceptMissing: options.acceptMissing ?? acceptedByEnvironment() });
  for (const warning of launcher.containment.warnings) options.onWarning?.(warning);
  return createPool(options, { launcher, build: buildChild });
}

/** Creates a pool on top of a launcher for its children. */
export function createPool(
  options: SandboxPoolOptions,
  { launcher, build }: { readonly launcher: Launcher; readonly build: () => Promise<string> },
): SandboxPool {
  const settings = settingsOf(options);
  const { standing, maxWorkers } = settings;
  const layers = layersOf(launcher.containment);
  const queue = createFairQueue<Job>();
  let closed = false;

  const workerSet: WorkerSet = createWorkerSet({
    launcher,
    build,
    standing,
    max: maxWorkers,
    events: {
      onReady: () => {
        readiness.onReady();
        dispatch.now();
      },
      onMessage: (worker, message) => running.take(worker, message),
      onResult: (worker, message) => running.settle(worker, message),
      onDeath: (worker, death) => {
        // Whoever stopped one may also have stopped those that its run would go to.
        if (death === "killed") for (const other of workerSet.workers) other.killIfStopped();
        running.bury(worker, death);
        dispatch.now();
      },
    },
    onTrouble: (trouble) => {
      readiness.onTrouble(trouble);
      refuseIfDown();
    },
  });
  const readiness = createReadiness(workerSet, options.onWarning);
  const running = createRunning({ ...settings, queue, workerSet, isClosed: () => closed });
  const dispatch = createDispatch({ queue, workerSet, running, settings });

  /** Rejects the waiting runs if the pool is down: nobody should wait for a child that may never come. */
  function refuseIfDown(): void {
    const trouble = readiness.down();
    if (trouble === undefined) return;
    const error = new SandboxUnavailableError(trouble);
    for (const job of queue.clear()) job.reject(error);
    readiness.fail(error);
  }

  /** Aborts a run: a waiting one leaves the queue, one in progress loses its child, one behind another in a child is ignored. */
  function abort(job: Job): void {
    job.isAborted = true;
    job.reject(new RunAbortedError());
    if (queue.remove(job.caller, job)) return;
    if (job.worker?.runs[0]?.run === job.message.run) job.worker.kill("aborted");
  }

  const admit = createAdmission(queue, settings);
  return {
    run: async (request) => {
      const parsed = parseRunRequest(request);
      if (closed) throw new SandboxClosedError();
      const trouble = readiness.down();
      if (trouble !== undefined) throw new SandboxUnavailableError(trouble);
      if (request.signal?.aborted === true) throw new RunAbortedError();
      const { promise, job } = admit(request, parsed);
      const onAbort = (): void => abort(job);
      request.signal?.addEventListener("abort", onAbort, { once: true });
      dispatch.now();
      try {
        return await promise;
      } finally {
        request.signal?.removeEventListener("abort", onAbort);
      }
    },
    ready: readiness.ready,
    status: () => ({ ...readiness.status(), layers }),
    stats: () => ({
      workers: workerSet.workers.size,
      idle: [...workerSet.workers].filter(({ state }) => state === "idle").length,
      busy: running.count(),
      queued: queue.size,
      containment: launcher.containment,
      started: workerSet.started,
      runs: running.ended(),
      killed: { ...workerSet.ended },
    }),
    close: async () => {
      if (closed) return;
      closed = true;
      const error = new SandboxClosedError();
      readiness.close(error);
      dispatch.stop();
      for (const job of queue.clear()) job.reject(error);
      workerSet.close();
    },
  };
}

/** Creates what hands waiting runs to idle workers, as far as concurrency and fairness allow. */
function createDispatch(options: {
  readonly queue: FairQueue<Job>;
  readonly workerSet: WorkerSet;
  readonly running: ReturnType<typeof createRunning>;
  readonly settings: Settings;
}) {
  const { queue, workerSet, running, settings } = options;
  const { concurrency } = settings;
  let pump: NodeJS.Timeout | undefined;
  let isStopped = false;

  function now(): void {
    if (isStopped) return;
    clearTimeout(pump);
    const nowMs = performance.now();
    let quick = 0;
    let busy = 0;
    let unsent = 0;
    const idle: Worker[] = [];
    const holders = countHolders(settings);
    for (const worker of workerSet.workers) {
      if (worker.state === "idle") idle.push(worker);
      const first = running.firstOf(worker);
      if (first === undefined) continue;
      busy += 1;
      holders.add(first.caller);
      if (nowMs - first.startedMs < SLOW_MS) quick += 1;
      // Runs waiting behind a slow one go to whoever is free.
      else running.reclaim(worker);
      unsent += worker.unsent;
    }
    while (queue.size > 0 && quick < concurrency && idle.length > 0) {
      const max = Math.max(1, Math.min(MAX_BATCH, Math.ceil(queue.size / concurrency)));
      // Callers without any child come first.
      const batch =
        queue.take({ max, belongs, mayTake: holders.hasNone }) ??
        queue.take({ max, belongs, mayTake: holders.mayTake });
      if (batch === undefined) break;
      const { caller, message } = batch[0] as Job;
      running.begin(takeWorker(idle, message.group), batch, nowMs);
      holders.add(caller);
      busy += 1;
      quick += 1;
      unsent += 1;
    }
    // A spare is ready before it is needed.
    if (busy > 0) workerSet.keep(busy + 1);
    // Slow runs occupy every child: there is work for one more.
    if (queue.size > 0 && idle.length === 0 && quick < concurrency) workerSet.reinforce();
    // Look again once a quick run has become a slow one.
    if (queue.size > 0 || unsent > 0) pump = setTimeout(now, SLOW_MS / 2);
  }

  return {
    now,
    stop(): void {
      isStopped = true;
      clearTimeout(pump);
    },
  };
}

/** Creates what puts runs into the queue, unless that is full. */
function createAdmission(queue: FairQueue<Job>, { maxQueue, maxQueuePerCaller }: Settings) {
  let nextRun = 1;
  return (
    request: RunRequest,
    { limits, caller, ...parsed }: ParsedRun,
  ): { readonly job: Job; readonly promise: Promise<RunResult> } => {
    if (queue.size >= maxQueue || queue.sizeOf(caller) >= maxQueuePerCaller)
      throw new SandboxOverloadedError(queue.size, queue.size >= maxQueue ? maxQueue : maxQueuePerCaller);
    const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
    const job: Job = {
      message: { run: nextRun++, ...parsed, limits: { ...DEFAULT_LIMITS, ...limits } },
      caller,
      guard: createSecretGuard(request),
      resolve,
      reject,
      startedMs: 0,
      isAborted: false,
      isRetried: false,
    };
    queue.push(caller, job);
    return { job, promise };
  };
}

/** Creates the knowledge of whether a pool serves, and what it tells of that. */
function createReadiness(workerSet: WorkerSet, onWarning: SandboxPoolOptions["onWarning"]) {
  let firstReady = Promise.withResolvers<void>();
  firstReady.promise.catch(() => {});
  let wasReady = false;
  /** Whether anyone was told about failed starts. */
  let isWarned = false;

  /** Returns the trouble that keeps the pool from taking runs: no child serves, and none starts. */
  function down(): StartTrouble | undefined {
    const { trouble } = workerSet;
    if (trouble === undefined || trouble.failures < MAX_START_FAILURES) return undefined;
    return [...workerSet.workers].some((worker) => worker.state !== "starting") ? undefined : trouble;
  }

  return {
    down,
    ready: () => firstReady.promise,
    onReady(): void {
      wasReady = true;
      firstReady.resolve();
      if (isWarned) onWarning?.("Sandbox processes are starting again.");
      isWarned = false;
    },
    onTrouble({ reason, detail, retryMs }: StartTrouble): void {
      const more = detail === "" ? "" : `: ${oneLine(detail)}`;
      onWarning?.(`A sandbox process did not start (${reason}); the next attempt is in ${retryMs} ms${more}`);
      isWarned = true;
    },
    /** Rejects those that wait; others may wait after them. */
    fail(error: SandboxUnavailableError): void {
      firstReady.reject(error);
      firstReady = Promise.withResolvers<void>();
      firstReady.promise.catch(() => {});
    },
    close: (error: SandboxClosedError) => firstReady.reject(error),
    status() {
      const { trouble } = workerSet;
      const isReady = wasReady && down() === undefined;
      if (trouble === undefined)
        return { isReady, ...(isReady ? {} : { why: "the first sandbox process is starting" }) };
      const { failures, reason, retryMs } = trouble;
      return { isReady, why: describeTrouble(trouble), failures, reason, retryMs };
    },
  };
}

interface RunningOptions extends Pick<Settings, "hostCalls" | "maxWorkers"> {
  readonly queue: FairQueue<Job>;
  readonly workerSet: WorkerSet;
  readonly isClosed: () => boolean;
}

/** Creates the runs that a pool's children have, from when they get them until they have ended. */
function createRunning({ queue, workerSet, hostCalls, maxWorkers, isClosed }: RunningOptions) {
  const jobs = new Map<number, Job>();
  let ended = 0;

  const firstOf = (worker: Worker): Job | undefined => jobs.get(worker.runs[0]?.run ?? 0);

  /** Removes a job from the running ones and returns its usage. */
  function finish(job: Job): ReturnType<Session["finish"]> {
    jobs.delete(job.message.run);
    return (job.session as Session).finish();
  }

  /** Puts a run that has not started back into the queue. */
  function requeue(job: Job | undefined): void {
    if (job === undefined) return;
    finish(job);
    delete job.session;
    delete job.worker;
    if (!job.isAborted) queue.push(job.caller, job);
  }

  /** Whether a caller without a child waits while no child is free and no more may be started. */
  function isSomebodyLeftOut(): boolean {
    const workers = [...workerSet.workers];
    if (workers.length < maxWorkers || workers.some(({ runs: own }) => own.length === 0)) return false;
    const holding = new Set(jobs.values().map(({ caller }) => caller));
    return queue.some((caller) => !holding.has(caller));
  }

  function end(job: Job, error: SandboxError): void {
    finish(job);
    job.reject(error);
  }

  /** Ends a run according to how its child died. */
  function verdict(job: Job, death: Death): void {
    ended += 1;
    const explain = job.session as Session;
    const usage = { ...finish(job), timeMs: performance.now() - job.startedMs, memoryBytes: 0 };
    const error = errorOfDeath(death, job.message.limits, explain);
    job.resolve(guarded(job, { ok: false, error, ...usage }));
  }

  return {
    firstOf,
    count: () => jobs.size,
    ended: () => ended,
    begin(worker: Worker, batch: readonly Job[], nowMs: number): void {
      for (const job of batch) {
        const { message, caller, guard } = job;
        job.worker = worker;
        job.startedMs = nowMs;
        jobs.set(message.run, job);
        job.session = createSession({
          ...message,
          caller,
          guard,
          hostCalls,
          reply: (answer, body) => worker.reply(answer, body),
        });
      }
      worker.start(batch.map((job) => job.message));
    },
    /** Takes back the runs that a worker has not begun. */
    reclaim(worker: Worker): void {
      for (const run of worker.reclaim()) requeue(jobs.get(run.run));
    },
    take(worker: Worker, message: Parameters<Session["take"]>[0]): void {
      if (jobs.get(message.run)?.session?.take(message) === false) worker.kill("protocol");
    },
    settle(worker: Worker, message: ResultMessage): void {
      const job = jobs.get(message.run);
      if (job === undefined) return;
      ended += 1;
      const nowMs = performance.now();
      const timeMs = Math.min(message.timeMs, nowMs - job.startedMs);
      const used = finish(job);
      const touched = TOUCHES.filter((one) => used.touched.includes(one) || message.touched.includes(one));
      const usage = { ...used, touched, timeMs, memoryBytes: message.memoryBytes };
      const following = firstOf(worker);
      if (following !== undefined) {
        // The child can't be asked to return runs.
        if (nowMs - job.startedMs > LONG_MS && isSomebodyLeftOut()) worker.kill("not-reusable");
        else following.startedMs = nowMs;
      }
      job.resolve(guarded(job, resultOf(message, job.message.limits, usage, job.session as Session)));
    },
    /**
     * Settles a dead worker's runs: the first one killed it, unless the worker was ended after a run that has its result; those that had
     * not started go to other workers.
     */
    bury(worker: Worker, death: Death): void {
      const [first, ...untouched] = worker.runs
        .map((run) => jobs.get(run.run))
        .filter((job) => job !== undefined);
      for (const job of untouched)
        if (isClosed()) end(job, new SandboxClosedError());
        else requeue(job);
      if (first === undefined) return;
      if (death === "not-reusable" && !isClosed()) return requeue(first);
      if (death === "crash" && isOverdue(first)) return verdict(first, "timeout");
      // Killed from outside, or by a defect that may not strike twice. A source that kills its child will do so again.
      if ((death === "crash" || death === "killed") && !first.isRetried && !isClosed()) {
        first.isRetried = true;
        return requeue(first);
      }
      if (death === "killed") return end(first, new SandboxInterruptedError());
      if (death === "closed") return end(first, new SandboxClosedError());
      verdict(first, death);
    },
  };
}

/** Whether a run's time is over: its child was being stopped, so the way it ended says nothing. */
function isOverdue({ message, startedMs }: Job): boolean {
  return performance.now() - startedMs >= message.limits.timeoutMs;
}

/** Most runs of a group handed to a child at once. */
const MAX_BATCH = 16;
/** A run older than this no longer counts against `concurrency`: slow sources must not hold up the quick ones. */
const SLOW_MS = 50;
/** After a run that took this long, the runs queued in its child go elsewhere if others wait: a caller's turn is one such run. */
const LONG_MS = 1_000;
/** After this many failed starts in a row, and with no child that serves, runs are refused instead of kept waiting. */
const MAX_START_FAILURES = 3;

type Settings = ReturnType<typeof settingsOf>;

/** Returns a pool's settings with their defaults; see {@link SandboxPoolOptions}. */
function settingsOf(options: SandboxPoolOptions) {
  const concurrency = options.concurrency ?? availableParallelism();
  const maxWorkers = Math.max(1, options.maxWorkers ?? 4 * concurrency + 1);
  const maxQueue = options.maxQueue ?? 4_096;
  return {
    concurrency,
    /** Most children kept running without work: one for each quick source at once, and a warm spare. */
    standing: Math.min(concurrency + 1, maxWorkers),
    maxWorkers,
    /** Children that one caller may hold. */
    perCaller: Math.max(1, Math.floor(maxWorkers / 2)),
    maxQueue,
    maxQueuePerCaller: options.maxQueuePerCaller ?? Math.ceil(maxQueue / 2),
    hostCalls: options.hostCalls ?? {},
  };
}

/** Creates the count of the children that each caller holds, in which nobody holds any. */
function countHolders({ perCaller, maxWorkers }: Settings) {
  const held = new Map<string, number>();
  let total = 0;
  return {
    add: (caller: string): void => {
      held.set(caller, (held.get(caller) ?? 0) + 1);
      total += 1;
    },
    hasNone: (caller: string): boolean => !held.has(caller),
    /**
     * Whether a caller may take one more: it must leave at least as many free as it holds, so that callers together don't
     * take all.
     */
    mayTake: (caller: string): boolean => (held.get(caller) ?? 0) < Math.min(perCaller, maxWorkers - total),
  };
}
