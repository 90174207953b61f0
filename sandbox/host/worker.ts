import type { ChildProcess } from "node:child_process";
import { encodeFrame } from "./frames.ts";
import { createLastWords } from "./lastWords.ts";
import { createMeter } from "./meter.ts";
import { readMetered } from "./readMetered.ts";
import { createReplyQueue } from "./replyQueue.ts";
import { isStopped, readResidentBytes } from "./processStatus.ts";
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
/** Resident memory of a child besides the limit of its source: Node itself, V8's reserves, the type stripper. */
const BASE_RESIDENT_BYTES = 192 * 1024 * 1024;
/** An idle child with more resident memory is replaced: a parser of its own that met a huge source keeps what it took. */
const MAX_IDLE_RESIDENT_BYTES = 208 * 1024 * 1024;
/** This process missed so many looks only if it stood still: stopped by a signal, or its machine paused. */
const STANDSTILL_MS = 2_000;
/** How often an idle child's memory is read at most, while its runs are quick. */
const IDLE_CHECK_MS = 1_000;
/** The parent's kill comes this long after the source's own time, so that the child's two timers come first. */
const KILL_GRACE_MS = 300;

/** Signals that no fault of a program raises: somebody else sent them, or the kernel for want of memory. */
const FOREIGN_SIGNALS: ReadonlySet<NodeJS.Signals | null> = new Set([
  "SIGKILL",
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
]);

/** Runs a child has in hand at most, the one it executes included and repeats left out: enough that it never waits for the next. */
const MAX_SENT = 4;

/** Why a child was killed, or how it died by itself. */
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

/** What a worker tells the pool. */
export interface WorkerEvents {
  readonly onReady: (worker: Worker) => void;
  readonly onMessage: (
    worker: Worker,
    message: Exclude<ChildMessage, { type: "ready" } | ResultMessage>,
  ) => void;
  readonly onResult: (worker: Worker, message: ResultMessage) => void;
  /** The process is gone or as good as gone; runs without a result are in `worker.runs`. */
  readonly onDeath: (worker: Worker, death: Death, detail: string) => void;
}

/** One child process as the pool sees it: runs go in, in order; messages come out; any breach ends it. */
export interface Worker {
  readonly pid: number;
  /** `starting`: not ready for the first time; `idle`: may take runs; `busy`: has runs or is preparing; `dead`. */
  readonly state: "starting" | "idle" | "busy" | "dead";
  /** Runs without a result, in order; the first one is being executed. */
  readonly runs: readonly RunMessage[];
  /** How many of them the child does not have yet. */
  readonly unsent: number;
  /** How the process ended, as the system tells: a signal, an exit code, or an error code where it never began. */
  readonly end: string;
  /** Takes back the runs that the child does not have yet. */
  readonly reclaim: () => readonly RunMessage[];
  /** Trust group of the last run, whose isolate the child may still hold; null: none. */
  readonly lastGroup: string | null;
  readonly start: (runs: readonly RunMessage[]) => void;
  /** Answers a host call; `body` is bytes, or a text in ASCII. */
  readonly reply: (message: ReplyMessage, body: Uint8Array | string) => void;
  readonly kill: (death: Death) => void;
  /** Ends it if a signal has stopped it: it would keep a run until the source's time is over. */
  readonly killIfStopped: () => void;
}

/**
 * Wraps a started child. The parent's timer and its watch on resident memory run while a source does.
 * Nothing of what the child writes can throw here: a message out of turn or out of form kills it.
 */
export function createWorker(child: ChildProcess, events: WorkerEvents): Worker {
  let state: Worker["state"] = "starting";
  let runs: RunMessage[] = [];
  let sent = 0;
  /** Runs the child was given in its life. */
  let given = 0;
  /** Runs it said it had done when it was last ready; −1 before it was. */
  let doneBefore = -1;
  const meter = createMeter();
  const replies = createReplyQueue(child.stdin);
  let spawnError: string | undefined;
  let checkedMs = 0;
  let isBloated = false;
  const lastWords = createLastWords();
  let lastGroup: string | null = null;
  let timer: NodeJS.Timeout | undefined = setTimeout(() => die("crash"), START_TIMEOUT_MS);
  let watch: NodeJS.Timeout | undefined;
  const reading = readMetered(child.stdout, {
    meter,
    onFrame: (frame) => receive(parseChildMessage(frame)),
    onBreach: () => die("protocol"),
  });
  /** When the first run was last watched, and whether it was found to stand still since it began: then its time was not its own. */
  let watchedMs = 0;
  let stoodStill = false;

  const worker: Worker = {
    pid: child.pid ?? -1,
    get state() {
      return state;
    },
    get runs() {
      return runs;
    },
    get lastGroup() {
      return lastGroup;
    },
    start: (messages) => {
      state = "busy";
      lastGroup = messages.at(-1)?.group ?? null;
      runs = [...messages];
      watchFirst();
      watch = setInterval(() => {
        lookForStop();
        checkMemory();
      }, WATCH_INTERVAL_MS);
      sent = 0;
      send();
    },
    get unsent() {
      return runs.length - sent;
    },
    get end() {
      const { signalCode, exitCode } = child;
      if (spawnError !== undefined) return spawnError;
      if (signalCode !== null) return `signal ${signalCode}`;
      return exitCode === null ? "it did not get ready" : `exit code ${exitCode}`;
    },
    reclaim: () => runs.splice(sent),
    reply: (message, body) => {
      if (state === "busy") replies.push(message, body);
    },
    kill: die,
    killIfStopped: () => {
      if (isStopped(worker.pid)) die("killed");
    },
  };

  /** Whether the run at that place of the line is the one before it once more. */
  const isRepeatAt = (at: number): boolean =>
    at > 0 && at < runs.length && isRepeat(runs[at] as RunMessage, runs[at - 1] as RunMessage);

  /** Runs the child has in hand, repeats left out. */
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
    if (frames.length > 0) child.stdin?.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
  }

  /** Notices a child that a signal has stopped, and this process having been stopped itself. */
  function lookForStop(): void {
    const now = performance.now();
    stoodStill ||= now - watchedMs > STANDSTILL_MS || isStopped(worker.pid);
    watchedMs = now;
  }

  /** Ends a run whose time is over: as one that is to be done again, where the time was not its own. */
  function endOverdue(): void {
    lookForStop();
    die(stoodStill ? "killed" : "timeout");
  }

  function watchFirst(): void {
    clearTimeout(timer);
    watchedMs = performance.now();
    stoodStill = false;
    const first = runs[0];
    meter.begin(first?.limits);
    timer =
      first === undefined
        ? setTimeout(() => die("crash"), READY_TIMEOUT_MS)
        : setTimeout(endOverdue, first.limits.timeoutMs + KILL_GRACE_MS);
  }

  function checkIdleMemory(): void {
    checkedMs = performance.now();
    if (readResidentBytes(worker.pid) <= MAX_IDLE_RESIDENT_BYTES) return;
    isBloated = true;
    if (state === "idle") die("bloated");
  }

  function checkMemory(): void {
    const first = runs[0];
    if (first === undefined) return;
    // A run that lasts is worth a look at what it leaves.
    checkedMs = 0;
    const resident = readResidentBytes(worker.pid);
    if (runs[0] === first && resident > BASE_RESIDENT_BYTES + 2 * first.limits.memoryLimitMb * 1024 * 1024)
      die("memory");
  }

  function receive(message: ChildMessage): void {
    if (state === "dead") return;
    const first = runs[0];
    if (message.type === "ready") {
      if (message.done <= doneBefore) return die("protocol");
      doneBefore = message.done;
      // Said before the runs that are under way reached it: it will say so again.
      if (state === "busy" && message.done < given) return;
      if (state === "idle" || first !== undefined || message.done !== given) return die("protocol");
      state = "idle";
      clearTimeout(timer);
      clearInterval(watch);
      if (isBloated) return die("bloated");
      if (performance.now() - checkedMs > IDLE_CHECK_MS) checkIdleMemory();
      events.onReady(worker);
    } else if (message.run !== first?.run) die("protocol");
    else if (message.type === "result") {
      if (message.error?.kind === "timeout") {
        lookForStop();
        if (stoodStill) return die("killed");
      }
      runs.shift();
      sent -= 1;
      // Refilled in pairs: a write costs more than the run it carries.
      if (sent < runs.length && inHand() <= MAX_SENT / 2) send();
      watchFirst();
      events.onResult(worker, message);
      if (!message.reusable) die("not-reusable");
    } else events.onMessage(worker, message);
  }

  function die(death: Death): void {
    if (state === "dead") return;
    state = "dead";
    clearTimeout(timer);
    reading.stop();
    clearInterval(watch);
    replies.clear();
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.kill("SIGKILL");
    events.onDeath(worker, death, lastWords.text);
  }

  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (!lastWords.hear(text)) child.stderr?.destroy();
  });
  // A pipe whose other end died reports errors; the exit tells what to do.
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
