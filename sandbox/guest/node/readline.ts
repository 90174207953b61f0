import {
  AbortError,
  checkInteger,
  checkSignal,
  invalidArgument,
  missing,
  nodeError,
  outOfRange,
  type SignalLike,
  wrongArgument,
  wrongType,
} from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { emitKeypressEvents } from "./keypress.ts";

type Callback = () => void;
type Answer = (line: string) => void;
interface Output {
  write(text: string, callback?: Callback): boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
}
interface Emitter {
  emit(name: string, ...values: unknown[]): boolean;
  on(name: string, listener: (...values: never[]) => void): this;
  off(name: string, listener: (...values: never[]) => void): this;
  once(name: string, listener: (...values: never[]) => void): this;
}
interface Input extends Emitter {
  pause(): void;
  resume(): void;
}
type Options = Readonly<Record<string, unknown>>;
interface QuestionOptions {
  readonly signal?: SignalLike;
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;
const MIN_CRLF_DELAY_MS = 100;
const HISTORY_SIZE = 30;
const ESCAPE_TIMEOUT_MS = 500;
const MAX_TAB_SIZE = 2 ** 32;

/** Creates `node:readline` and its promises; an interface reads from a stream, not from a terminal. */
export function createReadline({
  load,
  nextTick,
  setTimeout,
  clearTimeout,
}: Internals): Readonly<Record<string, unknown>> {
  const node = load("node") as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const { EventEmitter, on } = node["events"] as {
    EventEmitter: new () => Emitter;
    on(emitter: object, name: string, options: object): AsyncIterableIterator<unknown[]>;
  };
  const { StringDecoder } = node["stringDecoder"] as {
    StringDecoder: new (encoding: string) => { write(bytes: unknown): string };
  };
  const { promisify } = node["util"] as { promisify: { custom: symbol } };

  /** Calls the work now, or rejects if the signal is aborted; `cancel` is called if that happens later. */
  function untilAborted(
    signal: SignalLike | undefined,
    cancel: () => void,
    work: (done: (line: string) => void) => void,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      if (signal === undefined) return work(resolve);
      checkSignal(signal, "options.signal");
      const abort = (): void => {
        cancel();
        reject(new AbortError({ cause: signal.reason }));
      };
      if (signal.aborted) return reject(new AbortError({ cause: signal.reason }));
      signal.addEventListener("abort", abort, { once: true });
      work((line) => {
        signal.removeEventListener("abort", abort);
        resolve(line);
      });
    });
  }

  let ask: (asked: InterfaceBase, query: string, answer: Answer) => void;
  let cancel: (asked: InterfaceBase) => void;

  class InterfaceBase extends EventEmitter {
    static {
      ask = (asked, query, answer) => asked.#ask(query, answer);
      cancel = (asked) => asked.#cancel();
    }
    declare closed?: boolean;
    declare paused?: boolean;
    line = "";
    terminal = false;
    tabSize = 8;
    completer: unknown = undefined;
    history: unknown[] = [];
    historySize = HISTORY_SIZE;
    removeHistoryDuplicates = false;
    crlfDelay = MIN_CRLF_DELAY_MS;
    escapeCodeTimeout = ESCAPE_TIMEOUT_MS;
    isCompletionEnabled = true;
    input: Input;
    output: Output | undefined;
    #decoder = new StringDecoder("utf8");
    #rest = "";
    #returnAtMs = 0;
    #prompt = "> ";
    #oldPrompt = "";
    #answer: Answer | undefined;
    #lines: AsyncIterableIterator<string> | undefined;

    constructor(given: unknown, output?: unknown, completer?: unknown, terminal?: unknown) {
      super();
      const options = (given as { input?: unknown } | undefined)?.input
        ? (given as Options)
        : { input: given, output, completer, terminal };
      this.#configure(options);
      // Named as in the error of what isn't a stream.
      const e = (this.input = options["input"] as Input);
      this.output = options["output"] as Output | undefined;
      this.terminal = Boolean(options["terminal"] ?? this.output?.isTTY);
      if (this.terminal) missing("readline: terminal")();
      const onError = (error: unknown): void => void this.emit("error", error);
      const onData = (bytes: unknown): void => this.#read(bytes);
      const onEnd = (): void => {
        if (this.#rest !== "") this.emit("line", this.#rest);
        this.close();
      };
      e.on("error", onError);
      e.on("data", onData);
      e.on("end", onEnd);
      this.once("close", () => e.off("error", onError).off("data", onData).off("end", onEnd));
      const signal = options["signal"] as SignalLike | undefined;
      if (signal?.aborted) nextTick(() => this.close());
      else if (signal) {
        const close = (): void => this.close();
        signal.addEventListener("abort", close, { once: true });
        this.once("close", () => signal.removeEventListener("abort", close));
      }
      e.resume();
    }
    #configure({ tabSize, escapeCodeTimeout, completer, history, historySize, ...options }: Options): void {
      const { prompt, crlfDelay, removeHistoryDuplicates, signal } = options;
      if (prompt !== undefined) this.#prompt = prompt as string;
      if (tabSize !== undefined) {
        const range = `>= 1 && < ${MAX_TAB_SIZE}`;
        this.tabSize = checkInteger(tabSize, "tabSize", 1, MAX_TAB_SIZE - 1, range);
      }
      if (removeHistoryDuplicates !== undefined)
        this.removeHistoryDuplicates = Boolean(removeHistoryDuplicates);
      if (escapeCodeTimeout !== undefined) {
        if (!Number.isFinite(escapeCodeTimeout))
          throw nodeError(
            "ERR_INVALID_ARG_VALUE",
            `The property 'input.escapeCodeTimeout' is invalid. Received ${ESCAPE_TIMEOUT_MS}`,
            TypeError,
          );
        this.escapeCodeTimeout = escapeCodeTimeout as number;
      }
      if (signal) checkSignal(signal, "options.signal");
      if (completer !== undefined && typeof completer !== "function")
        throw invalidArgument("completer", completer);
      this.completer = completer;
      if (history !== undefined && !Array.isArray(history))
        throw wrongArgument("history", "an instance of Array", history);
      this.history = history ?? [];
      if (historySize !== undefined) {
        if (typeof historySize !== "number") throw wrongType("historySize", "number", historySize);
        if (!(historySize >= 0)) throw outOfRange("historySize", ">= 0", historySize);
        this.historySize = historySize;
      }
      if (crlfDelay) this.crlfDelay = Math.max(MIN_CRLF_DELAY_MS, crlfDelay as number);
    }
    /** Splits what has come into lines; the last begins the next. */
    #read(bytes: unknown): void {
      if (bytes === undefined) return;
      let text = this.#decoder.write(bytes);
      if (this.#returnAtMs > 0 && Date.now() - this.#returnAtMs <= this.crlfDelay) {
        if (text.startsWith("\n")) text = text.slice(1);
        this.#returnAtMs = 0;
      }
      const lines = (this.#rest + text).split(LINE_END);
      if (lines.length > 1) this.#returnAtMs = text.endsWith("\r") ? Date.now() : 0;
      this.#rest = lines.pop() as string;
      for (const line of lines) this.#give(line);
    }
    #give(line: string): void {
      const answer = this.#answer;
      if (answer === undefined) this.emit("line", line);
      else {
        this.#answer = undefined;
        this.#prompt = this.#oldPrompt;
        answer(line);
      }
    }
    #checkOpen(): void {
      if (this.closed) throw nodeError("ERR_USE_AFTER_CLOSE", "readline was closed");
    }
    get columns(): number {
      return this.output?.columns ?? Infinity;
    }
    getPrompt(): string {
      return this.#prompt;
    }
    setPrompt(prompt: string): void {
      this.#prompt = prompt;
    }
    prompt(_preserveCursor?: boolean): void {
      if (this.paused) this.resume();
      this.#write(this.#prompt);
    }
    #write(text: unknown): void {
      if (typeof text !== "string") throw wrongType("stringToWrite", "string", text);
      this.output?.write(text);
    }
    close(): void {
      if (this.closed) return;
      this.pause();
      this.closed = true;
      this.emit("close");
    }
    pause(): this | undefined {
      this.#checkOpen();
      if (this.paused) return undefined;
      this.input.pause();
      this.paused = true;
      this.emit("pause");
      return this;
    }
    resume(): this | undefined {
      this.#checkOpen();
      if (!this.paused) return undefined;
      this.input.resume();
      this.paused = false;
      this.emit("resume");
      return this;
    }
    write(data: unknown, _key?: unknown): void {
      this.#checkOpen();
      if (this.paused) this.resume();
      this.#read(data);
    }
    clearLine(): void {
      this.#write("\r\n");
      this.line = "";
    }
    getCursorPos(): { cols: number; rows: number } {
      return { cols: Array.from(this.#prompt + this.line).length, rows: 0 };
    }
    /** Asks a question; its answer is the next line. */
    #ask(query: string, answer: Answer): void {
      this.#checkOpen();
      if (this.#answer === undefined) {
        this.#oldPrompt = this.#prompt;
        this.#prompt = query;
        this.#answer = answer;
      }
      this.prompt();
    }
    #cancel(): void {
      if (this.#answer === undefined) return;
      this.#answer = undefined;
      this.#prompt = this.#oldPrompt;
      this.clearLine();
    }
    [Symbol.asyncIterator](): AsyncIterableIterator<string> {
      const events = on(this, "line", { close: ["close"], highWaterMark: 1024 });
      return (this.#lines ??= (async function* () {
        for await (const [line] of events) yield line as string;
      })());
    }
  }
  const askLater = (self: InterfaceBase, query: string, { signal }: QuestionOptions): Promise<string> =>
    untilAborted(
      signal,
      () => cancel(self),
      (done) => ask(self, query, done),
    );
  class CallbackInterface extends InterfaceBase {
    question(query: string, options: unknown, callback?: unknown): void {
      const answer = (typeof options === "function" ? options : callback) as Answer;
      const { signal } = (typeof options === "object" && options !== null ? options : {}) as QuestionOptions;
      if (typeof answer !== "function") return;
      if (signal === undefined) return ask(this, query, answer);
      checkSignal(signal, "options.signal");
      if (signal.aborted) return undefined;
      const abort = (): void => cancel(this);
      signal.addEventListener("abort", abort, { once: true });
      return ask(this, query, (line) => {
        signal.removeEventListener("abort", abort);
        answer(line);
      });
    }
  }
  Object.defineProperty(CallbackInterface.prototype.question, promisify.custom, {
    value(this: InterfaceBase, query: string, options: QuestionOptions = {}): Promise<string> {
      return askLater(this, query, options);
    },
  });
  function Interface(input: unknown, output?: unknown, completer?: unknown, terminal?: unknown): object {
    return Reflect.construct(
      CallbackInterface,
      [input, output, completer, terminal],
      new.target ?? Interface,
    ) as object;
  }
  Object.setPrototypeOf(Interface, InterfaceBase);
  Interface.prototype = CallbackInterface.prototype;
  Object.defineProperty(Interface.prototype, "constructor", { value: Interface, writable: true });
  Object.defineProperty(Interface, "length", { value: 4 });

  class PromiseInterface extends InterfaceBase {
    question(query: string, options: QuestionOptions = {}): Promise<string> {
      return askLater(this, query, options);
    }
  }
  Object.defineProperty(PromiseInterface, "name", { value: "Interface" });
  Object.defineProperty(PromiseInterface, "length", { value: 4 });

  function send(stream: Output | null | undefined, text: string, callback?: unknown): boolean {
    if (callback !== undefined && typeof callback !== "function")
      throw wrongType("callback", "function", callback);
    if (stream !== null && stream !== undefined && text !== "")
      return stream.write(text, callback as Callback);
    if (callback !== undefined) nextTick(callback as Callback);
    return true;
  }
  function cursorTo(stream: Output | null, x: unknown, y?: unknown, callback?: unknown): boolean {
    const done = typeof y === "function" ? y : callback;
    const row = typeof y === "function" ? undefined : y;
    if (Number.isNaN(x)) throw invalidArgument("x", x);
    if (Number.isNaN(row)) throw invalidArgument("y", row);
    if (stream === null || stream === undefined || (typeof x !== "number" && typeof row !== "number"))
      return send(null, "", done);
    if (typeof x !== "number") {
      const text = "Cannot set cursor row without setting its column";
      throw nodeError("ERR_INVALID_CURSOR_POS", text, TypeError);
    }
    return send(stream, toColumn(x, row as number | undefined), done);
  }
  const readline = {
    Interface,
    clearLine: (stream: Output, dir: number, callback?: unknown) => send(stream, clearing(dir), callback),
    clearScreenDown: (stream: Output, callback?: unknown) => send(stream, CLEAR_DOWN, callback),
    createInterface: (input: unknown, output?: unknown, completer?: unknown, terminal?: unknown) =>
      Interface(input, output, completer, terminal),
    cursorTo,
    emitKeypressEvents: (stream: never, from: { escapeCodeTimeout?: number } = {}) =>
      emitKeypressEvents(stream, from.escapeCodeTimeout ?? ESCAPE_TIMEOUT_MS, {
        createDecoder: () => new StringDecoder("utf8"),
        setTimeout,
        clearTimeout,
      }),
    moveCursor: (stream: Output, dx: number, dy: number, callback?: unknown) =>
      send(stream, moving(dx, dy), callback),
  };

  class Readline {
    readonly #stream: Output;
    readonly #commits: boolean;
    #todo: string[] = [];
    constructor(stream: unknown, options?: { autoCommit?: unknown }) {
      if (typeof (stream as Output | undefined)?.write !== "function")
        throw wrongArgument("stream", "an instance of Writable", stream);
      const commits = options?.autoCommit;
      if (commits !== undefined && commits !== null && typeof commits !== "boolean")
        throw wrongType("options.autoCommit", "boolean", commits);
      this.#stream = stream as Output;
      this.#commits = commits === true;
    }
    #add(text: string): this {
      if (this.#commits) nextTick(() => void this.#stream.write(text));
      else this.#todo.push(text);
      return this;
    }
    cursorTo(x: unknown, y?: unknown): this {
      const isRow = y !== undefined && y !== null;
      return this.#add(toColumn(checkAny(x, "x"), isRow ? checkAny(y, "y") : undefined));
    }
    moveCursor(dx: unknown, dy: unknown): this {
      return this.#add(moving(checkAny(dx, "dx"), checkAny(dy, "dy")));
    }
    clearLine(dir: unknown): this {
      return this.#add(clearing(checkInteger(dir, "dir", -1, 1)));
    }
    clearScreenDown(): this {
      return this.#add(CLEAR_DOWN);
    }
    commit(): Promise<void> {
      return new Promise((resolve) => {
        this.#stream.write(this.#todo.join(""), resolve);
        this.#todo = [];
      });
    }
    rollback(): this {
      this.#todo = [];
      return this;
    }
  }
  const promises = {
    Interface: PromiseInterface,
    Readline,
    createInterface: (input: unknown, output?: unknown, completer?: unknown, terminal?: unknown) =>
      new PromiseInterface(input, output, completer, terminal),
  };
  const whole = { ...readline, promises: { ...promises } };
  return { readline: { ...whole, default: whole }, promises: { ...promises, default: promises } };
}

const CLEAR_DOWN = "\x1b[0J";
const checkAny = (value: unknown, name: string): number => checkInteger(value, name, Number.MIN_SAFE_INTEGER);
const clearing = (dir: number): string => `\x1b[${dir < 0 ? 1 : dir > 0 ? 0 : 2}K`;
const toColumn = (x: number, y?: number): string =>
  typeof y === "number" ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`;
const moving = (dx: number, dy: number): string =>
  [[dx, "D", "C"] as const, [dy, "A", "B"] as const]
    .map(([by, back, forth]) => (by < 0 ? `\x1b[${-by}${back}` : by > 0 ? `\x1b[${by}${forth}` : ""))
    .join("");
