import type { Internals } from "../internals.ts";
import { formatArguments } from "../inspect/format.ts";
import { inspect } from "../inspect/inspect.ts";
import { type InspectOptions, proxies } from "../inspect/inspection.ts";
import { tableText } from "../inspect/table.ts";

/** `console` with Deno's formatting, and `inspect` for the chunks that print or format. */
export default function consoleChunk({
  print,
  proxyParts,
  promiseState,
}: Internals): Readonly<Record<string, unknown>> {
  proxies.partsOf = proxyParts;
  proxies.stateOf = promiseState;
  const counts = new Map<string, number>();
  const timers = new Map<string, number>();
  let indent = 0;

  const write = (text: string): void => {
    const margin = "  ".repeat(indent);
    print(`${indent === 0 ? text : margin + text.replaceAll("\n", `\n${margin}`)}\n`);
  };
  /** Counts and times aren't indented. */
  const line = (text: string): void => print(`${text}\n`);
  const log = (...args: unknown[]): void => write(formatArguments(args));
  const since = (start: number): string => `${Math.trunc(Date.now() - start)}ms`;
  const namespace = Object.create({}) as object;

  const dir = (value: unknown = undefined, options: InspectOptions = {}): void =>
    write(formatArguments([value], options));
  const group = (...label: unknown[]): void => {
    if (label.length > 0) log(...label);
    indent++;
  };
  const methods: Record<string, unknown> = {
    log,
    debug: log,
    info: log,
    dir,
    dirxml: log,
    warn: log,
    error: log,
    assert(condition: unknown = false, ...args: unknown[]) {
      if (condition) return;
      if (args.length === 0) log("Assertion failed");
      else if (typeof args[0] === "string") log(`Assertion failed: ${args[0]}`, ...args.slice(1));
      else log("Assertion failed:", ...args);
    },
    count(label: unknown = "default") {
      const name = String(label);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      line(`${name}: ${counts.get(name)}`);
    },
    countReset(label: unknown = "default") {
      const name = String(label);
      if (counts.has(name)) counts.set(name, 0);
      else line(`Count for '${name}' does not exist`);
    },
    table(data: unknown = undefined, properties: unknown = undefined) {
      const text = tableText(data, properties);
      if (text === undefined) log(data);
      else write(text);
    },
    time(label: unknown = "default") {
      const name = String(label);
      if (timers.has(name)) line(`Timer '${name}' already exists`);
      else timers.set(name, Date.now());
    },
    timeLog(label: unknown = "default", ...args: unknown[]) {
      const name = String(label);
      const start = timers.get(name);
      if (start === undefined) line(`Timer '${name}' does not exist`);
      else log(`${name}: ${since(start)}`, ...args);
    },
    timeEnd(label: unknown = "default") {
      const name = String(label);
      const start = timers.get(name);
      timers.delete(name);
      line(start === undefined ? `Timer '${name}' does not exist` : `${name}: ${since(start)}`);
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      if (indent > 0) indent--;
    },
    clear() {
      indent = 0;
      print("\u001b[1;1H\u001b[0J");
    },
    trace(...args: unknown[]) {
      const error = new Error(formatArguments(args));
      error.name = "Trace";
      log(error.stack);
    },
    profile() {},
    profileEnd() {},
    timeStamp() {},
    context(_name: unknown) {},
    createTask: () => ({ run: (work: () => unknown) => work() }),
    indentLevel: 0,
  };
  const console = Object.assign(namespace, methods);
  Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });
  return {
    console,
    inspect,
    formatArguments,
  };
}
