import {
  type RunLimits,
  MAX_CALL_HEADER_BYTES,
  MAX_CALLS,
  MAX_CONSOLE_PIECE_BYTES,
  MAX_OPEN_CALLS,
} from "../../limits.ts";
import { encodeFrame } from "../frames.ts";
import { TO_PARENT } from "../messages.ts";
import { CONSOLE_INTERVAL_MS } from "../meter.ts";

/** Pieces of console output sent immediately, so that what a source printed before a crash gets out. */
const MAX_PROMPT_PIECES = 256;

/** What one run sends to the parent, kept within the limits past which the parent ends a child. */
export interface Outbox {
  /** Takes console output. */
  readonly print: (text: string) => void;
  /** Starts a host call; returns the reason if the call is not allowed. */
  readonly call: (call: number, name: string, body: Uint8Array) => string | undefined;
  /** Withdraws a host call. */
  readonly cancel: (call: number) => void;
  /** Records that a host call was answered, so that the next one waiting may go. */
  readonly answered: (call: number) => void;
  /** Sends what was printed but not yet sent. */
  readonly flush: () => void;
}

/** Creates the outbox of a run. */
export function createOutbox(options: {
  readonly run: number;
  readonly limits: RunLimits;
  readonly write: (frame: Buffer) => void;
}): Outbox {
  const { run, limits, write } = options;
  const waiting = new Map<number, { readonly name: string; readonly body: Uint8Array }>();
  const open = new Set<number>();
  const made: Record<string, number> = { __proto__: null } as never;
  let calls = 0;
  let pieces = 0;
  let printed: Buffer[] = [];
  let printedBytes = 0;
  /** One byte more than is kept shows that some was dropped. */
  let consoleLeft = limits.maxConsoleBytes + 1;
  let sentMs = 0;

  function flush(): void {
    if (printedBytes === 0) return;
    const text = Buffer.concat(printed, printedBytes);
    printed = [];
    printedBytes = 0;
    sentMs = performance.now();
    for (let at = 0; at < text.length; at += MAX_CONSOLE_PIECE_BYTES) {
      pieces += 1;
      write(encodeFrame(TO_PARENT.console, { run }, text.subarray(at, at + MAX_CONSOLE_PIECE_BYTES)));
    }
  }

  function send(call: number, name: string, body: Uint8Array): void {
    open.add(call);
    made[name] = (made[name] ?? 0) + 1;
    write(
      encodeFrame(TO_PARENT.call, { run, call, name }, trimCall(name, body, { limits, count: made[name] })),
    );
  }

  return {
    print: (text) => {
      if (consoleLeft <= 0) return;
      const bytes = Buffer.from(text).subarray(0, consoleLeft);
      consoleLeft -= bytes.length;
      printed.push(bytes);
      printedBytes += bytes.length;
      const isDue =
        pieces < MAX_PROMPT_PIECES ||
        printedBytes >= MAX_CONSOLE_PIECE_BYTES ||
        performance.now() - sentMs >= CONSOLE_INTERVAL_MS;
      if (isDue) flush();
    },
    call: (call, name, body) => {
      calls += 1;
      if (calls > MAX_CALLS) return `Exceeded maximum of ${MAX_CALLS} host calls`;
      const isKnown = name === "fetch" || name === "import";
      if (!isKnown && body.length > MAX_CALL_HEADER_BYTES) return "malformed host call";
      if (open.size < MAX_OPEN_CALLS) send(call, name, body);
      else waiting.set(call, { name, body });
      return undefined;
    },
    cancel: (call) => {
      if (waiting.delete(call) || !open.has(call)) return;
      write(encodeFrame(TO_PARENT.cancel, { run, call }));
      answered(call);
    },
    answered,
    flush,
  };

  function answered(call: number): void {
    open.delete(call);
    const next = waiting.entries().next().value;
    if (next === undefined || open.size >= MAX_OPEN_CALLS) return;
    waiting.delete(next[0]);
    send(next[0], next[1].name, next[1].body);
  }
}

const NO_BYTES = new Uint8Array(0);
/** Characters of a request's headers that are sent; the parent refuses a request with more than 16 KiB. */
const MAX_HEADERS_CHARS = 17 * 1_024;

/**
 * Cuts a host call's message down to what the parent needs to answer it: an overlong part stays just long enough to
 * be too long, and a call beyond the run's limit is emptied, as it is refused whatever it holds.
 * @param options.count Number of calls of that name that the run has made, including this one.
 */
function trimCall(
  name: string,
  message: Uint8Array,
  options: { readonly limits: RunLimits; readonly count: number },
): Uint8Array {
  const { limits, count } = options;
  if (name === "import") return count > limits.maxImports ? EMPTY_IMPORT : message;
  if (name !== "fetch") return message;
  if (count > limits.maxHttpRequests) return EMPTY_FETCH;
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const headerBytes = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  const body = bytes.subarray(4 + headerBytes, 4 + headerBytes + limits.maxHttpRequestBytes + 1);
  if (headerBytes <= MAX_CALL_HEADER_BYTES) return bytes.subarray(0, 4 + headerBytes + body.length);
  return joined(shorten(bytes.toString("utf8", 4, 4 + headerBytes), limits), body);
}

function shorten(json: string, { maxHttpUrlLength }: RunLimits): object {
  const request = JSON.parse(json) as { url: string; headers: [string, string][] };
  let left = MAX_HEADERS_CHARS;
  const headers: [string, string][] = [];
  for (const [name, value] of request.headers) {
    if (left <= 0) break;
    headers.push([name.slice(0, left), value.slice(0, left)]);
    left -= name.length + value.length;
  }
  return { ...request, url: request.url.slice(0, maxHttpUrlLength + 1), headers };
}

function joined(header: object, body: Uint8Array): Uint8Array {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, json, body]);
}

const EMPTY_FETCH = joined(
  { url: "", method: "GET", headers: [], redirect: "follow", hasBody: false },
  NO_BYTES,
);
const EMPTY_IMPORT = Buffer.from(JSON.stringify({ specifier: "", type: "" }));
