import { checkInteger, checkObject, invalidArgument, nodeError, wrongArgument } from "../buffer/errors.ts";
import { areEntries, leftIn } from "../inspect/iterators.ts";
import { tableText } from "../inspect/table.ts";
import { isMapIterator, isSetIterator } from "../types.ts";
import { callable } from "./crypto/callable.ts";
import { type NodeOptions, formatWith, inspect } from "./util.ts";

interface Stream {
  readonly isTTY?: unknown;
  readonly _writableState?: { readonly errorEmitted: boolean };
  getColorDepth?(): number;
  write(text: string, done?: (error?: unknown) => void): unknown;
  listenerCount(event: string): number;
  once(event: string, listener: () => void): void;
  removeListener(event: string, listener: () => void): void;
}
interface Settings {
  readonly stdout?: unknown;
  readonly stderr?: unknown;
  readonly ignoreErrors?: unknown;
  readonly colorMode?: unknown;
  readonly inspectOptions?: NodeOptions;
  readonly groupIndentation?: unknown;
}
const METHODS =
  "log info debug warn error dir time timeEnd timeLog trace assert clear count countReset group groupEnd table dirxml groupCollapsed".split(
    " ",
  );
const MAX_INDENTATION = 1_000;
const MONOCHROME_BITS = 2;
const ignore = (): void => {};

function checkStream(stream: unknown, name: string): Stream {
  if (typeof Object(stream).write === "function") return stream as Stream;
  const text = `Console expects a writable stream instance for ${name}`;
  throw nodeError("ERR_CONSOLE_WRITABLE_STREAM", text, TypeError);
}

function warn(text: string): void {
  (globalThis as unknown as { process: { emitWarning(text: string): void } }).process.emitWarning(text);
}

class ConsoleImpl {
  readonly #stdout: Stream;
  readonly #stderr: Stream;
  readonly #ignoresErrors: boolean;
  /** The source's own object, which keeps whether the first stream shows colours. */
  readonly #options: NodeOptions | undefined;
  readonly #colorMode: unknown;
  readonly #width: number;
  readonly #counts = new Map<string, number>();
  readonly #startsMs = new Map<string, number>();
  #margin = "";

  constructor(first?: unknown, second?: unknown, third?: unknown) {
    const isStream = !first || typeof (first as Stream).write === "function";
    const settings = (isStream ? { stdout: first, stderr: second, ignoreErrors: third } : first) as Settings;
    this.#stdout = checkStream(settings.stdout, "stdout");
    this.#stderr = checkStream(settings.stderr ?? settings.stdout, "stderr");
    const { colorMode = "auto", inspectOptions, groupIndentation = 2 } = settings;
    if (!["auto", true, false].includes(colorMode as string))
      throw invalidArgument("colorMode", colorMode, "must be one of: 'auto', true, false");
    if (inspectOptions !== undefined) {
      checkObject(inspectOptions, "options.inspectOptions");
      if (inspectOptions.colors !== undefined && settings.colorMode !== undefined) {
        const text =
          'Option "options.inspectOptions.color" cannot be used in combination with option "colorMode"';
        throw nodeError("ERR_INCOMPATIBLE_OPTION_PAIR", text, TypeError);
      }
    }
    this.#options = inspectOptions;
    this.#colorMode = colorMode;
    const { ignoreErrors = true } = settings;
    this.#ignoresErrors = Boolean(ignoreErrors);
    this.#width = checkInteger(groupIndentation, "groupIndentation", 0, MAX_INDENTATION);
    for (const name of METHODS) {
      // Bound, so that it can be passed on alone.
      const method = (this as unknown as Record<string, () => void>)[name]!.bind(this);
      Object.defineProperty(method, "name", { value: name, configurable: true });
      Object.assign(this, { [name]: method });
    }
    for (const [name, value] of Object.entries({
      _stdout: this.#stdout,
      _stderr: this.#stderr,
      _ignoreErrors: this.#ignoresErrors,
    }))
      Object.defineProperty(this, name, { value, writable: true, configurable: true });
  }
  static isInstance(value: unknown): boolean {
    return value === globalThis.console || #stdout in (Object(value) as object);
  }
  /** What is printed to a stream is coloured if that shows colours, and nobody says otherwise. */
  #optionsFor(stream: Stream): NodeOptions {
    const isShown = stream.isTTY && !((stream.getColorDepth?.() ?? 8) <= MONOCHROME_BITS);
    const colors = Boolean(this.#colorMode === "auto" ? isShown : this.#colorMode);
    if (this.#options === undefined) return colors ? { colors } : {};
    if (this.#options.colors === undefined) Object.assign(this.#options, { colors });
    return this.#options;
  }
  /** Prints; what fails, at once or later, is ignored unless the console says otherwise. */
  #print(stream: Stream, text: string): void {
    const line = `${this.#margin}${text.replaceAll("\n", `\n${this.#margin}`)}\n`;
    if (!this.#ignoresErrors) {
      stream.write(line);
      return;
    }
    const listen = (): void => {
      if (stream.listenerCount("error") === 0) stream.once("error", ignore);
    };
    try {
      listen();
      stream.write(line, (error) => {
        if (error && !stream._writableState?.errorEmitted) listen();
      });
    } catch (error) {
      if (error instanceof RangeError && error.message.startsWith("Maximum call stack")) throw error;
    } finally {
      stream.removeListener("error", ignore);
    }
  }
  #time(label: unknown, ends: boolean, data: readonly unknown[] = []): void {
    const name = `${label as number}`;
    const startMs = this.#startsMs.get(name);
    if (startMs === undefined)
      return warn(`No such label '${name}' for console.${ends ? "timeEnd" : "timeLog"}()`);
    if (ends) this.#startsMs.delete(name);
    this.log("%s: %s", name, `${Number((performance.now() - startMs).toFixed(3))}ms`, ...data);
  }
  log(...args: unknown[]): void {
    this.#print(this.#stdout, formatWith(this.#optionsFor(this.#stdout), args));
  }
  info(...args: unknown[]): void {
    this.#print(this.#stdout, formatWith(this.#optionsFor(this.#stdout), args));
  }
  debug(...args: unknown[]): void {
    this.#print(this.#stdout, formatWith(this.#optionsFor(this.#stdout), args));
  }
  warn(...args: unknown[]): void {
    this.#print(this.#stderr, formatWith(this.#optionsFor(this.#stderr), args));
  }
  error(...args: unknown[]): void {
    this.warn(...args);
  }
  dir(value: unknown, options?: NodeOptions): void {
    const own = this.#optionsFor(this.#stdout);
    this.#print(this.#stdout, inspect(value, { customInspect: false, ...own, ...options }));
  }
  time(label: unknown = "default"): void {
    const name = `${label as number}`;
    if (this.#startsMs.has(name)) warn(`Label '${name}' already exists for console.time()`);
    else this.#startsMs.set(name, performance.now());
  }
  timeEnd(label: unknown = "default"): void {
    this.#time(label, true);
  }
  timeLog(label: unknown = "default", ...data: unknown[]): void {
    this.#time(label, false, data);
  }
  trace(...args: unknown[]): void {
    const error = new Error(formatWith(this.#optionsFor(this.#stderr), args));
    error.name = "Trace";
    this.error(error.stack);
  }
  assert(condition?: unknown, ...args: unknown[]): void {
    if (condition) return;
    const [first, ...rest] = args;
    this.warn(args.length === 0 ? "Assertion failed" : `Assertion failed: ${String(first)}`, ...rest);
  }
  clear(): void {}
  count(label: unknown = "default"): void {
    const name = `${label as number}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.log(`${name}: ${this.#counts.get(name)}`);
  }
  countReset(label: unknown = "default"): void {
    if (!this.#counts.delete(`${label as number}`)) warn(`Count for '${String(label)}' does not exist`);
  }
  group(...label: unknown[]): void {
    if (label.length > 0) this.log(...label);
    this.#margin += " ".repeat(this.#width);
  }
  groupEnd(): void {
    this.#margin = this.#margin.slice(0, Math.max(0, this.#margin.length - this.#width));
  }
  table(data: unknown, properties?: unknown): void {
    if (properties !== undefined && !Array.isArray(properties))
      throw wrongArgument("properties", "an instance of Array", properties);
    const own = this.#optionsFor(this.#stdout);
    const cell = (value: unknown): string => {
      const isLarge =
        !Array.isArray(value) && typeof value === "object" && Object.keys(value ?? {}).length > 2;
      const depth = isLarge ? -1 : 0;
      return inspect(value, { depth, maxArrayLength: 3, breakLength: Number.POSITIVE_INFINITY, ...own });
    };
    const kind = isMapIterator(data) ? "Map" : isSetIterator(data) ? "Set" : undefined;
    const left = kind && leftIn(kind, data as object);
    // An entry of a set is twice the same.
    const items = kind === "Set" && left !== undefined && areEntries(kind, left) ? left.flat() : left;
    const isPairs = kind === "Map" && items !== undefined && areEntries(kind, items);
    const text = tableText(isPairs ? new Map(items) : data, properties, {
      items: isPairs ? undefined : items,
      cell,
      index: "index",
      iteration: "iteration index",
      isNode: true,
    });
    this.log(text ?? data);
  }
}
Object.assign(ConsoleImpl.prototype, {
  dirxml: ConsoleImpl.prototype.log,
  groupCollapsed: ConsoleImpl.prototype.group,
});
for (const name of Object.getOwnPropertyNames(ConsoleImpl.prototype))
  if (name !== "constructor") Object.defineProperty(ConsoleImpl.prototype, name, { enumerable: true });
Object.defineProperty(ConsoleImpl.prototype, Symbol.toStringTag, { value: "console", configurable: true });

/** Creates `node:console`, which gives the global `console` its `Console`: it prints to streams as `util.format` does. */
export function createConsoleModule(): Readonly<Record<string, unknown>> {
  const { console } = globalThis as unknown as { console: Record<string, unknown> };
  const names = Object.entries(console).filter(([name]) => name !== "context" && name !== "createTask");
  const Console = Object.defineProperties(callable(ConsoleImpl, "Console"), {
    length: { value: 1, configurable: true },
    [Symbol.hasInstance]: { value: ConsoleImpl.isInstance },
  });
  Object.defineProperty(ConsoleImpl.prototype, "constructor", { value: Console });
  console["Console"] = Console;
  return { ...Object.fromEntries(names), Console, default: console };
}
