/**
 * Entry of a sandbox process: takes runs from standard input, executes one at a time, answers on standard output.
 * Bundled into one file; the only other file it reads is the native part of isolated-vm, whose path is its argument.
 */
import { writeSync } from "node:fs";
import type ivm from "isolated-vm";
import { DEFAULT_LIMITS } from "../../run.ts";
import { createFrameReader, encodeFrame, type Frame } from "../frames.ts";
import { TO_CHILD, TO_PARENT, type RepeatMessage, type ReplyMessage, type RunMessage } from "../messages.ts";
import { createContextFactory, type PreparedContext } from "./context.ts";
import { execute, type Execution } from "./execute.ts";
import { confine } from "./confine.ts";
import { encodeResult } from "./encodeResult.ts";
import { createOutbox } from "./outbox.ts";

/** Frames of the parent, which is trusted: a source with its inputs, the largest answer of a host call; with room to spare. */
const FROM_PARENT = { maxHeaderBytes: 64 * 1024 * 1024, maxBodyBytes: 64 * 1024 * 1024 };
/** Isolates shared by a group serve that many runs, so that what one leaves behind is soon gone. */
const MAX_RUNS_PER_ISOLATE = 256;
/** Share of the memory limit that may be in use when a shared isolate takes another run. */
const MAX_SHARED_HEAP = 0.5;

const vm = require(process.argv[2] as string) as { ivm: typeof ivm };
const createContext = createContextFactory(vm.ivm);

interface Shared {
  readonly isolate: ivm.Isolate;
  runs: number;
  /** Heap in use after its last run. */
  usedBytes: number;
}

let spare: PreparedContext | undefined;
let shared:
  | {
      readonly group: string;
      readonly memoryLimitMb: number;
      readonly holder: Shared;
      spare?: PreparedContext;
    }
  | undefined;
let current: { readonly run: number; readonly execution: Execution } | undefined;
const waiting: RunMessage[] = [];
let lastTaken: RunMessage | undefined;
let busy = false;
let done = 0;

function write(frame: Buffer): void {
  for (let sent = 0; sent < frame.length;) {
    try {
      sent += writeSync(1, frame, sent);
    } catch (error) {
      // The pipe is full and the parent has not read yet: this process has nothing better to do than to wait.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function newIsolate(memoryLimitMb: number): ivm.Isolate {
  return new vm.ivm.Isolate({ memoryLimit: memoryLimitMb });
}

/** Makes the next run's context while no one waits for it. */
function prepare(): void {
  if (shared !== undefined) {
    shared.spare ??= createContext(shared.holder.isolate);
    return;
  }
  spare ??= createContext(newIsolate(DEFAULT_LIMITS.memoryLimitMb));
}

/**
 * Takes a context that no code has run in: an isolate of its own, or a fresh context in its group's isolate.
 * There is never more than one isolate: each reserves 512 MB for code, which counts against the limit on data.
 */
function takeContext(message: RunMessage): PreparedContext {
  const { memoryLimitMb } = message.limits;
  if (message.group === null) {
    dropShared();
    if (memoryLimitMb !== DEFAULT_LIMITS.memoryLimitMb) dropSpare();
    const taken = spare ?? createContext(newIsolate(memoryLimitMb));
    spare = undefined;
    return taken;
  }
  dropSpare();
  if (
    shared?.group !== message.group ||
    shared.memoryLimitMb !== memoryLimitMb ||
    isWorn(shared.holder, memoryLimitMb)
  ) {
    dropShared();
    shared = {
      group: message.group,
      memoryLimitMb,
      holder: { isolate: newIsolate(memoryLimitMb), runs: 0, usedBytes: 0 },
    };
  }
  shared.holder.runs += 1;
  const taken = shared.spare ?? createContext(shared.holder.isolate);
  delete shared.spare;
  return taken;
}

function isWorn(holder: Shared, memoryLimitMb: number): boolean {
  return (
    holder.runs >= MAX_RUNS_PER_ISOLATE || holder.usedBytes > memoryLimitMb * 1024 * 1024 * MAX_SHARED_HEAP
  );
}

function dropSpare(): void {
  spare?.isolate.dispose();
  spare = undefined;
}

function dropShared(): void {
  shared?.holder.isolate.dispose();
  shared = undefined;
}

async function work(): Promise<void> {
  if (busy) return;
  busy = true;
  for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) await runOne(message);
  busy = false;
  prepare();
  write(encodeFrame(TO_PARENT.ready, { done }));
}

async function runOne(message: RunMessage): Promise<void> {
  const { run } = message;
  const prepared = takeContext(message);
  const execution = execute(prepared, message, createOutbox({ run, limits: message.limits, write }));
  current = { run, execution };
  const { bytes, ...outcome } = await execution.outcome;
  current = undefined;
  done += 1;
  if (shared !== undefined) shared.holder.usedBytes = outcome.memoryBytes;
  write(encodeResult({ run, ...outcome }, bytes));
  if (!outcome.reusable) {
    // The parent kills this process; nothing more is done in it, no dispose that could hang.
    await new Promise(() => {});
  }
  if (message.group === null) prepared.isolate.dispose();
  else prepared.release();
}

function receive(frame: Frame): void {
  if (frame.type === TO_CHILD.run) {
    const header = frame.header as RunMessage | RepeatMessage;
    lastTaken = "repeat" in header ? { ...(lastTaken as RunMessage), run: header.run } : header;
    waiting.push(lastTaken);
    void work();
  } else if (frame.type === TO_CHILD.reply) {
    const reply = frame.header as ReplyMessage;
    if (current?.run === reply.run) current.execution.reply(reply, frame.body);
  }
}

process.stdin.on("data", createFrameReader({ limits: () => FROM_PARENT, onFrame: receive }));
process.stdin.on("end", () => process.kill(process.pid, "SIGKILL"));
confine(process.argv[3]);
prepare();
write(encodeFrame(TO_PARENT.ready, { done }));
