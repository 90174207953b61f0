import { createObject, defineProperty } from "./descriptors.ts";
import { consoleChunk } from "./globals.ts";
import type { Internals } from "./internals.ts";

const { Reflect, Symbol } = globalThis;
const { apply } = Reflect;
const bind = Function.prototype.call.bind(Function.prototype.bind) as (work: object) => Method;

const CONSOLE_METHODS =
  "log debug info dir dirxml warn error assert count countReset table time timeLog timeEnd group groupCollapsed groupEnd clear trace profile profileEnd timeStamp createTask context";
const METHODS = CONSOLE_METHODS.split(" ");
/** The methods that print a single text as it is. */
const PLAIN_METHODS = { __proto__: null, log: 1, debug: 1, info: 1, warn: 1, error: 1 } as object;

type Method = (...args: unknown[]) => unknown;
type ConsoleMethods = Record<string, Method>;

/**
 * Creates `console`. Single strings are printed directly; the first call that needs more loads the formatting chunk,
 * and from then on every call goes through it.
 */
export function createConsole({ print, load }: Internals): object {
  let rich: ConsoleMethods | undefined;
  const getRich = (): ConsoleMethods => (rich ??= load(consoleChunk)["console"] as ConsoleMethods);
  const console = createObject({}) as Record<string, unknown>;
  for (let at = 0; at < METHODS.length; at++) {
    const name = METHODS[at] as string;
    const isPlain = name in PLAIN_METHODS;
    // Bound, as in Deno: the text of such a function shows no code.
    const method = bind((...args: unknown[]): unknown => {
      if (
        rich === undefined &&
        isPlain &&
        (args.length === 0 || (args.length === 1 && typeof args[0] === "string"))
      ) {
        print(args.length === 0 ? "\n" : `${args[0] as string}\n`);
        return undefined;
      }
      return apply(getRich()[name] as () => unknown, undefined, args);
    });
    defineProperty(method, "name", { value: name, configurable: true });
    if (name === "createTask") console["indentLevel"] = 0;
    console[name] = method;
  }
  defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });
  console[Symbol("isConsoleInstance") as never] = true;
  return console;
}
