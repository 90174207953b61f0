import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { readFileSync } from "node:fs";
import { encodeFrame } from "./frames.ts";
import { createLastWords } from "./lastWords.ts";
import { createMeter, readMetered } from "./meter.ts";
import {
  isRepeat,
  parseChildMessage,
  TO_CHILD,
  type ChildMessage,
  type RepeatMessage,
  type ReplyMessage,
  type ResultMessage,
  type RunMessage,
} from "./messages.ts";

/** A new child must be ready within this time; alone on an idle machine it takes 0.2 s. */
const START_TIMEOUT_MS = 15_000;
/** A child that has answered must be ready for the next run within this time. */
const READY_TIMEOUT_MS = 5_000;
/** How often resident memory is read while a source runs. */
const WATCH_INTERVAL_MS = 50;
/** Resident memory of a child on top of its source's limit: Node itself, V8's reserves, the TypeScript compiler. */
const BASE_RESIDENT_BYTES = 192 * 1024 * 1024;
/** An idle child with more resident memory is replaced: one of its parsers that met a huge source keeps the memory. */
const MAX_IDLE_RESIDENT_BYTES = 208 * 1024 * 1024;
/** If this process goes this long between two checks, it stood still itself: stopped by a signal, or its machine was paused. */
const STANDSTILL_MS = 2_000;
/** Shortest interval between reads of an idle child's memory while its runs are quick. */
const IDLE_CHECK_MS = 1_000;
/** The parent's kill comes this long after the source's own time limit, so that the child's two timers fire first. */
const KILL_GRACE_MS = 300;

/** Signals that no fault of a program raises: somebody else sent them, or the kernel for lack of memory. */
const FOREIGN_SIGNALS: ReadonlySet<NodeJS.Signals | null> = new Set([
  "SIGKILL",
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
]);

/** Most runs sent to a child at once, counting the one it executes but not repeats: enough that it never waits for the next. */
const MAX_SENT = 4;

/** Why a child was killed, or how it died on its own. */
export type Death =
  | "timeout"
  | "memory"
  | "protocol"
  | "aborted"
  | "closed"
  | "crash"
  | "crash-memory"
  | "killed"
  | "not-reusable"
  | "bloated"
  | "idle";

/** What a worker reports to the pool. */
export interface WorkerEvents {
  readonly onReady: (worker: Worker) => void;
  readonly onMessage: (
    worker: Worker,
    message: Exclude<ChildMessage, { type: "ready" } | ResultMessage>,
  ) => void;
  readonly onResult: (worker: Worker, message: ResultMessage) => void;
  /** The process is gone or about to be; runs without a result are in `worker.runs`. */
  readonly onDeath: (worker: Worker, death: Death, detail: string) => void;
}

/** One child process as the pool sees it: runs go in, in order; messages come out; any breach ends it. */
export interface Worker {
  readonly pid: number;
  /** `starting`: not ready for the first time yet; `idle`: may take runs; `busy`: has runs or is preparing; `dead`. */
  readonly state: "starting" | "idle" | "busy" | "dead";
  /** Runs without a result, in order; the first one is being executed. */
  readonly runs: readonly RunMessage[];
  /** Number of those that have not been sent to the child yet. */
  readonly unsent: number;
  /** How the process ended, as reported by the system: a signal, an exit code, or an error code if it never started. */
  readonly end: string;
  /** Takes back the runs that have not been sent to the child yet. */
  readonly reclaim: () => readonly RunMessage[];
  /** Trust group of the last run, whose isolate the child may still hold; null: none. */
  readonly lastGroup: string | null;
  readonly start: (runs: readonly RunMessage[]) => void;
  /** Answers a host call; `body` is bytes or ASCII text. */
  readonly reply: (message: ReplyMessage, body: Uint8Array | string) => void;
  readonly kill: (death: Death) => void;
  /** Kills it if a signal has stopped it: otherwise it would hold a run until the source's time is over. */
  readonly killIfStopped: () => void;
}

/**
 * Wraps a started child. The parent's timer and its watch on resident memory run while a source does. Nothing that the child writes
 * can throw here: an unexpected or malformed message kills the child.
 */
export function createWorker(child: ChildProcess, events: WorkerEvents): Worker {
  let state: Worker["state"] = "starting";
  let lastGroup: string | null = null;
  /** Runs that it reported done when it was last ready; −1 before the first report. */
  let doneBefore = -1;
  let spawnError: string | undefined;
  const pid = child.pid ?? -1;
  const meter = createMeter();
  const replies = createReplyQueue(child.stdin);
  const lastWords = createLastWords();
  const queue = createRunQueue(child.stdin);
  const watch = createWatch(pid, die);
  const reading = readMetered(child.stdout, {
    meter,
    onFrame: (frame) => receive(parseChildMessage(frame)),
    onBreach: () => die("protocol"),
  });

  const worker: Worker = {
    pid,
    get state() {
      return state;
    },
    get runs() {
      return queue.runs;
    },
    get unsent() {
      return queue.unsent;
    },
    get lastGroup() {
      return lastGroup;
    },
    get end() {
      const { signalCode, exitCode } = child;
      if (spawnError !== undefined) return spawnError;
      if (signalCode !== null) return `signal ${signalCode}`;
      return exitCode === null ? "it did not get ready" : `exit code ${exitCode}`;
    },
    start: (messages) => {
      state = "busy";
      lastGroup = messages.at(-1)?.group ?? null;
      queue.begin(messages);
      beginFirst();
    },
    reclaim: () => queue.reclaim(),
    reply: (message, body) => {
      if (state === "busy") replies.push(message, body);
    },
    kill: die,
    killIfStopped: () => {
      if (isStopped(pid)) die("killed");
    },
  };

  /** The child begins its first run, or has to get ready for the next ones. */
  function beginFirst(): void {
    const [first] = queue.runs;
    meter.begin(first?.limits);
    watch.begin(first?.limits);
  }

  function receive(message: ChildMessage): void {
    if (state === "dead") return;
    if (message.type === "ready") takeReady(message.done);
    else if (message.run !== queue.runs[0]?.run) die("protocol");
    else if (message.type === "result") takeResult(message);
    else events.onMessage(worker, message);
  }

  function takeReady(done: number): void {
    if (done <= doneBefore) return die("protocol");
    doneBefore = done;
    // Sent before the runs in flight reached the child: it will report again.
    if (state === "busy" && done < queue.given) return;
    if (state === "idle" || queue.runs.length > 0 || done !== queue.given) return die("protocol");
    state = "idle";
    watch.rest();
    events.onReady(worker);
  }

  function takeResult(message: ResultMessage): void {
    if (message.error?.kind === "timeout" && watch.hasStoodStill()) return die("killed");
    queue.shift();
    beginFirst();
    events.onResult(worker, message);
    if (!message.reusable) die("not-reusable");
  }

  function die(death: Death): void {
    if (state === "dead") return;
    state = "dead";
    watch.stop();
    reading.stop();
    replies.clear();
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.kill("SIGKILL");
    events.onDeath(worker, death, lastWords.text);
  }

  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (!lastWords.hear(text)) child.stderr?.destroy();
  });
  // A pipe whose other end died reports errors; the exit event decides what to do.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
  child.on("error", (error: NodeJS.ErrnoException) => {
    spawnError = error.code ?? error.name;
    die("crash");
  });
  child.on("close", (_code, signal) => {
    if (lastWords.tellOfMemory) die("crash-memory");
    else die(FOREIGN_SIGNALS.has(signal) ? "killed" : "crash");
  });
  return worker;
}

/** Creates the queue of a child's runs, which are sent to it in order, a few at a time. */
function createRunQueue(input: Writable | null) {
  let runs: RunMessage[] = [];
  /** How many of them the child has. */
  let sent = 0;
  /** Runs sent to the child in its lifetime. */
  let given = 0;

  /** Whether the run at that index repeats the one before it. */
  const isRepeatAt = (at: number): boolean =>
    at > 0 && at < runs.length && isRepeat(runs[at] as RunMessage, runs[at - 1] as RunMessage);

  /** Runs that the child has been sent, not counting repeats. */
  function inHand(): number {
    let count = 0;
    for (let at = 0; at < sent; at++) if (!isRepeatAt(at)) count += 1;
    return count;
  }

  function send(): void {
    const frames: Buffer[] = [];
    for (let room = MAX_SENT - inHand(); sent < runs.length; sent++, given++) {
      const message = runs[sent] as RunMessage;
      const repeats = isRepeatAt(sent);
      if (!repeats && room-- === 0) break;
      const header: RunMessage | RepeatMessage = repeats ? { run: message.run, repeat: true } : message;
      frames.push(encodeFrame(TO_CHILD.run, header));
    }
    if (frames.length > 0) input?.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
  }

  return {
    get runs(): readonly RunMessage[] {
      return runs;
    },
    get unsent() {
      return runs.length - sent;
    },
    get given() {
      return given;
    },
    begin(messages: readonly RunMessage[]): void {
      runs = [...messages];
      sent = 0;
      send();
    },
    /** The first run has its result. */
    shift(): void {
      runs.shift();
      sent -= 1;
      // Refilled in pairs: a write costs more than the run it carries.
      if (sent < runs.length && inHand() <= MAX_SENT / 2) send();
    },
    reclaim: (): readonly RunMessage[] => runs.splice(sent),
  };
}

/** Creates the watch on a child's time and memory. It calls `die` for one that has to go. */
function createWatch(pid: number, die: (death: Death) => void) {
  let timer: NodeJS.Timeout | undefined = setTimeout(() => die("crash"), START_TIMEOUT_MS);
  let interval: NodeJS.Timeout | undefined;
  /** Limits of the run being executed. */
  let limits: RunMessage["limits"] | undefined;
  /** When that run was last checked, and whether a standstill was seen since it began, so that it did not get its full time. */
  let watchedMs = 0;
  let stoodStill = false;
  /** When the memory of the idle child was last read; 0 if it has to be read next time. */
  let restedMs = 0;

  /** Whether a signal has stopped the child since its run began, or this process itself was stopped. */
  function hasStoodStill(): boolean {
    const now = performance.now();
    stoodStill ||= now - watchedMs > STANDSTILL_MS || isStopped(pid);
    watchedMs = now;
    return stoodStill;
  }

  function checkMemory({ memoryLimitMb }: RunMessage["limits"]): void {
    // A run that lasts this long makes its child's memory worth checking afterwards.
    restedMs = 0;
    if (readResidentBytes(pid) > BASE_RESIDENT_BYTES + 2 * memoryLimitMb * 1024 * 1024) die("memory");
  }

  function stop(): void {
    clearTimeout(timer);
    clearInterval(interval);
    interval = undefined;
  }

  return {
    hasStoodStill,
    /** Watches the next run; without one, the child has to get ready. */
    begin(next: RunMessage["limits"] | undefined): void {
      clearTimeout(timer);
      limits = next;
      watchedMs = performance.now();
      stoodStill = false;
      timer =
        next === undefined
          ? setTimeout(() => die("crash"), READY_TIMEOUT_MS)
          : // A run that did not get its full time is to be repeated.
            setTimeout(() => die(hasStoodStill() ? "killed" : "timeout"), next.timeoutMs + KILL_GRACE_MS);
      interval ??= setInterval(() => {
        hasStoodStill();
        if (limits !== undefined) checkMemory(limits);
      }, WATCH_INTERVAL_MS);
    },
    /** The child is idle, and may have grown meanwhile. */
    rest(): void {
      stop();
      if (performance.now() - restedMs <= IDLE_CHECK_MS) return;
      restedMs = performance.now();
      if (readResidentBytes(pid) > MAX_IDLE_RESIDENT_BYTES) die("bloated");
    },
    stop,
  };
}

/**
 * Returns a process's resident memory in bytes; 0 if it can't be read (process gone, or not Linux). The kernel generates the answer on the
 * spot: an asynchronous read would cost several times as much as the read itself.
 */
function readResidentBytes(pid: number): number {
  const PAGE_BYTES = 4_096;
  try {
    const pages = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1];
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** Whether a signal has stopped the process (`T` in proc(5)), in which case its source never had its time. */
function isStopped(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^ [Tt]/.test(status.slice(status.lastIndexOf(")") + 1));
  } catch {
    return false;
  }
}

/**
 * Answers that the pipe to a child may hold, in bytes; any further ones wait unencoded, sharing memory with whoever
 * created them.
 */
const MAX_UNREAD_BYTES = 1024 * 1024;

/**
 * Creates the queue of answers to a child's host calls: a child that asks but does not read must not fill this process's memory with
 * answers.
 */
function createReplyQueue(input: Writable | null) {
  let waiting: { readonly message: ReplyMessage; readonly body: Uint8Array | string }[] = [];

  function send(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if ((input?.writableLength ?? 0) > MAX_UNREAD_BYTES) {
        input?.once("drain", send);
        return;
      }
      waiting.shift();
      input?.write(encodeFrame(TO_CHILD.reply, next.message, next.body));
    }
  }

  return {
    /** Sends an answer once the pipe has room; `body` is bytes or ASCII text. */
    push: (message: ReplyMessage, body: Uint8Array | string): void => {
      waiting.push({ message, body });
      if (waiting.length === 1) send();
    },
    /** Drops the answers that have not been sent. */
    clear: (): void => {
      waiting = [];
    },
  };
}
