import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createFrameReader, encodeFrame } from "./frames.ts";
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

/** Longest frame taken from a child, in bytes: the largest is a host call with an HTTP request in it, or a long result. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;
/** Standard error that is kept to find out why a child died, in characters. */
const MAX_STDERR_CHARS = 8_192;
/** A child that has answered must be ready for the next run within this time. */
const READY_TIMEOUT_MS = 5_000;
/** How often resident memory is read while a source runs. */
const WATCH_INTERVAL_MS = 50;
/** Resident memory of a child besides the limit of its source: Node itself, V8's reserves, the type stripper. */
const BASE_RESIDENT_BYTES = 192 * 1024 * 1024;
/** An idle child with more resident memory is replaced: a parser of its own that met a huge source keeps what it took. */
const MAX_IDLE_RESIDENT_BYTES = 208 * 1024 * 1024;
/** How often an idle child's memory is read at most, while its runs are quick. */
const IDLE_CHECK_MS = 1_000;
/** The parent's kill comes this long after the source's own time, so that the child's two timers come first. */
const KILL_GRACE_MS = 300;

/** What V8 and the C++ runtime print before they abort for want of memory, or over a size that no memory would hold. */
const OUT_OF_MEMORY = /out of memory|allocation failed|bad_alloc|invalid size error|OOM/i;

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
  /** Takes back the runs that the child does not have yet. */
  readonly reclaim: () => readonly RunMessage[];
  /** Trust group of the last run, whose isolate the child may still hold; null: none. */
  readonly lastGroup: string | null;
  readonly start: (runs: readonly RunMessage[]) => void;
  readonly reply: (message: ReplyMessage, body: Uint8Array) => void;
  readonly kill: (death: Death) => void;
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
  let checkedMs = 0;
  let isBloated = false;
  let stderr = "";
  let lastGroup: string | null = null;
  let timer: NodeJS.Timeout | undefined = setTimeout(() => die("crash"), READY_TIMEOUT_MS);
  let watch: NodeJS.Timeout | undefined;

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
      watch = setInterval(() => void checkMemory(), WATCH_INTERVAL_MS);
      sent = 0;
      send();
    },
    get unsent() {
      return runs.length - sent;
    },
    reclaim: () => runs.splice(sent),
    reply: (message, body) => {
      if (state === "busy") child.stdin?.write(encodeFrame(TO_CHILD.reply, message, body));
    },
    kill: die,
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

  function watchFirst(): void {
    clearTimeout(timer);
    const first = runs[0];
    timer =
      first === undefined
        ? setTimeout(() => die("crash"), READY_TIMEOUT_MS)
        : setTimeout(() => die("timeout"), first.limits.timeoutMs + KILL_GRACE_MS);
  }

  async function checkIdleMemory(): Promise<void> {
    checkedMs = performance.now();
    if ((await readResidentBytes(worker.pid)) <= MAX_IDLE_RESIDENT_BYTES) return;
    isBloated = true;
    if (state === "idle") die("bloated");
  }

  async function checkMemory(): Promise<void> {
    const first = runs[0];
    if (first === undefined) return;
    // A run that lasts is worth a look at what it leaves.
    checkedMs = 0;
    const resident = await readResidentBytes(worker.pid);
    if (runs[0] === first && resident > BASE_RESIDENT_BYTES + 2 * first.limits.memoryLimitMb * 1024 * 1024)
      die("memory");
  }

  function receive(message: ChildMessage): void {
    if (state === "dead") return;
    const first = runs[0];
    if (message.type === "ready") {
      // Said before the runs that are under way reached it: it will say so again.
      if (state === "busy" && message.done < given) return;
      if (state === "idle" || first !== undefined || message.done !== given) return die("protocol");
      state = "idle";
      clearTimeout(timer);
      clearInterval(watch);
      if (isBloated) return die("bloated");
      if (performance.now() - checkedMs > IDLE_CHECK_MS) void checkIdleMemory();
      events.onReady(worker);
    } else if (message.run !== first?.run) die("protocol");
    else if (message.type === "result") {
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
    clearInterval(watch);
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.kill("SIGKILL");
    events.onDeath(worker, death, stderr.trim());
  }

  const read = createFrameReader({
    maxFrameBytes: MAX_FRAME_BYTES,
    onFrame: (frame) => receive(parseChildMessage(frame)),
  });
  child.stdout?.on("data", (chunk: Buffer) => {
    try {
      if (state !== "dead") read(chunk);
    } catch {
      die("protocol");
    }
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (stderr.length < MAX_STDERR_CHARS) stderr = (stderr + text).slice(0, MAX_STDERR_CHARS);
  });
  // A pipe whose other end died reports errors; the exit tells what to do.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {});
  child.on("error", () => die("crash"));
  child.on("close", () => die(OUT_OF_MEMORY.test(stderr) ? "crash-memory" : "crash"));
  return worker;
}

/** Resident memory of a process in bytes; 0 where it can't be read (gone, or no Linux). */
async function readResidentBytes(pid: number): Promise<number> {
  const PAGE_BYTES = 4_096;
  try {
    const pages = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ")[1];
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
