import type { Internals } from "../internals.ts";

const { defineProperty, getOwnPropertyDescriptor } = Object;
const { apply, construct } = Reflect;

type Method = (...args: unknown[]) => unknown;

/**
 * Replaces what tells the time or draws on randomness within V8 by probes that report their use; what the host answers is
 * counted there. A probe is a Proxy, so that names, lengths and prototypes stay as they are.
 */
export default function observe({ touch }: Internals): Readonly<Record<string, unknown>> {
  /** Puts a probe in place of a method; one that was given what `isPure` accepts asks for nothing. */
  function probe(
    holder: object | undefined,
    name: string,
    what: "time" | "randomness",
    isPure?: (args: unknown[]) => boolean,
  ) {
    const found = holder === undefined ? undefined : getOwnPropertyDescriptor(holder, name);
    if (holder === undefined || typeof found?.value !== "function") return;
    const value = new Proxy(
      found.value as Method,
      {
        __proto__: null,
        apply(target: Method, self: unknown, args: unknown[]): unknown {
          if (isPure?.(args) !== true) touch(what);
          return apply(target, self, args);
        },
      } as ProxyHandler<Method>,
    );
    defineProperty(holder, name, { ...found, value });
  }
  const hasDate = (args: unknown[]): boolean => args[0] !== undefined;

  probe(Math, "random", "randomness");
  probe(Date, "now", "time");
  probe(Intl.DateTimeFormat.prototype, "formatToParts", "time", hasDate);

  // `format` of Intl.DateTimeFormat is a getter of a function that takes the present where it is given nothing.
  const format = getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format");
  if (format?.get !== undefined) {
    const { get } = format;
    defineProperty(Intl.DateTimeFormat.prototype, "format", {
      ...format,
      get(this: unknown): unknown {
        const bound = apply(get, this, []) as Method;
        return (date?: unknown): unknown => {
          if (date === undefined) touch("time");
          return bound(date);
        };
      },
    });
  }

  const NativeDate = Date;
  const ProbedDate = new Proxy(NativeDate, {
    __proto__: null,
    apply(target: DateConstructor): string {
      touch("time");
      return target();
    },
    construct(target: DateConstructor, args: unknown[], newTarget: NewableFunction): object {
      if (args.length === 0) touch("time");
      return construct(target, args, newTarget) as object;
    },
  } as ProxyHandler<DateConstructor>);
  defineProperty(NativeDate.prototype, "constructor", {
    value: ProbedDate,
    writable: true,
    configurable: true,
  });
  defineProperty(globalThis, "Date", { value: ProbedDate, writable: true, configurable: true });
  return {};
}
