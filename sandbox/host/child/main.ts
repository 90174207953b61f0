/**
 * Entry of a sandbox process: reads runs from standard input, executes one at a time, answers on standard output. Bundled into
 * one file; beside it lie its parts. The native part of isolated-vm is its argument.
 */
import { readFileSync, writeSync } from "node:fs";
import { deserialize, setFlagsFromString } from "node:v8";
import type ivm from "isolated-vm";
import { createFrameReader, encodeFrame, type Frame } from "../frames.ts";
import {
  TO_CHILD,
  TO_PARENT,
  type RepeatMessage,
  type ReplyMessage,
  type ResultMessage,
  type RunMessage,
} from "../messages.ts";
import { partsFile, type ChildParts } from "../childParts.ts";
import { takeCompilers } from "./compileTypeScript.ts";
import { createContextFactory } from "./context.ts";
import { execute, type Execution } from "./execute.ts";
import { confine } from "./confine.ts";
import { createIsolates } from "./isolates.ts";
import { createOutbox } from "./outbox.ts";
import type { RunError } from "../../run.ts";
import { MAX_HEADER_BYTES } from "../meter.ts";

/**
 * Limits for frames from the parent, which is trusted: a source with its inputs, or the largest answer to a host call, with
 * room to spare.
 */
const FROM_PARENT = { maxHeaderBytes: 64 * 1024 * 1024, maxBodyBytes: 64 * 1024 * 1024 };
// What a source runs is compiled and runs immediately and once, and compiling a function on its first call parses it twice. Halves the time
// of a small source, and of the first use of a chunk. As an option of Node it would compile all of Node and of this file: a quarter of a start.
setFlagsFromString("--no-lazy");
const vm = require(process.argv[2] as string) as { ivm: typeof ivm };
const parts = deserialize(readFileSync(partsFile(process.argv[1] as string))) as ChildParts;
takeCompilers(parts.compilers);
const isolates = createIsolates({
  createIsolate: (memoryLimitMb) => new vm.ivm.Isolate({ memoryLimit: memoryLimitMb }),
  createContext: createContextFactory(vm.ivm, parts),
});

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
      // The pipe is full and the parent has not read yet; there is nothing to do but wait.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(1);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

async function work(): Promise<void> {
  if (busy) return;
  busy = true;
  for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) await runOne(message);
  busy = false;
  isolates.prepare();
  write(encodeFrame(TO_PARENT.ready, { done }));
}

async function runOne(message: RunMessage): Promise<void> {
  const { run } = message;
  const prepared = isolates.take(message);
  const execution = execute(prepared, message, createOutbox({ run, limits: message.limits, write }));
  current = { run, execution };
  const { bytes, ...outcome } = await execution.outcome;
  current = undefined;
  done += 1;
  write(encodeResult({ run, ...outcome }, bytes));
  if (!outcome.reusable) {
    // The parent kills this process; do nothing more in it, as a dispose could hang.
    await new Promise(() => {});
  }
  isolates.giveBack(message, prepared, outcome.memoryBytes);
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
isolates.prepare();
write(encodeFrame(TO_PARENT.ready, { done }));

/** Length that a detail is cut to if the error's texts are too long together, in UTF-16 units. */
const SHORT_DETAIL_CHARS = 1_024;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Encodes the result of a run. An error whose texts exceed a header, when escaped as JSON, loses its stack and most of its
 * detail.
 */
function encodeResult(header: Omit<ResultMessage, "type" | "body">, body: Uint8Array): Buffer {
  const { error } = header;
  if (error === null || Buffer.byteLength(JSON.stringify(header)) <= MAX_HEADER_BYTES)
    return encodeFrame(TO_PARENT.result, header, body);
  const { detail, ...short }: Mutable<RunError> = error;
  delete short.stack;
  const shortDetail = detail?.slice(0, SHORT_DETAIL_CHARS);
  return encodeFrame(
    TO_PARENT.result,
    { ...header, error: shortDetail === undefined ? short : { ...short, detail: shortDetail } },
    body,
  );
}
