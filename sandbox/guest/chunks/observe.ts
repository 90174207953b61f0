import type { Internals } from "../internals.ts";

const { defineProperty, getOwnPropertyDescriptor } = Object;
const { apply, construct } = Reflect;

type Method = (...args: unknown[]) => unknown;

/**
 * Replaces V8's own sources of time and randomness with probes that report their use; the host itself counts what it
 * provides. A probe is a Proxy, so names, lengths and prototypes stay unchanged.
 */
export default function observe({ touch }: Pick<Internals, "touch">): Readonly<Record<string, unknown>> {
  /** Replaces a method with a probe; calls whose arguments satisfy `isPure` aren't reported. */
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

  // Intl.DateTimeFormat's `format` is a getter; the function it returns formats the current time if it is given no date.
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
