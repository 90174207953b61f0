import { wrongArgument, wrongType } from "../buffer/errors.ts";

type Listener = (message: unknown, name: string | symbol) => void;
type Context = Record<string, unknown>;
type Work = (...args: unknown[]) => unknown;

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;

/** Creates `node:diagnostics_channel`. */
export function createDiagnostics(reportError: (error: unknown) => void): Readonly<Record<string, unknown>> {
  const channels = new Map<string | symbol, Channel>();

  class Channel {
    #listeners: readonly Listener[] = [];
    readonly name: string | symbol;
    constructor(name: string | symbol) {
      this.name = name;
    }
    subscribe(subscription: unknown): void {
      if (typeof subscription !== "function") throw wrongType("subscription", "function", subscription);
      this.#listeners = [...this.#listeners, subscription as Listener];
    }
    unsubscribe(subscription: unknown): boolean {
      const at = this.#listeners.indexOf(subscription as Listener);
      if (at >= 0) this.#listeners = this.#listeners.toSpliced(at, 1);
      return at >= 0;
    }
    bindStore(): never {
      throw new Error("node:diagnostics_channel: bindStore is not available in this sandbox");
    }
    unbindStore(): boolean {
      return false;
    }
    get hasSubscribers(): boolean {
      return this.#listeners.length > 0;
    }
    publish(message: unknown): void {
      for (const listener of this.#listeners) {
        try {
          listener(message, this.name);
        } catch (error) {
          reportError(error);
        }
      }
    }
    runStores(message: unknown, work: Work, self?: unknown, ...args: unknown[]): unknown {
      this.publish(message);
      return Reflect.apply(work, self, args);
    }
  }
  const channel = (name: unknown): Channel => {
    if (typeof name !== "string" && typeof name !== "symbol")
      throw wrongArgument("channel", "one of type string or symbol", name);
    const known = channels.get(name) ?? new Channel(name);
    channels.set(name, known);
    return known;
  };

  class TracingChannel {
    readonly #channels: Readonly<Record<(typeof EVENTS)[number], Channel>>;
    constructor(find: (event: string) => Channel) {
      this.#channels = Object.fromEntries(EVENTS.map((event) => [event, find(event)])) as never;
    }
    static channelOf(tracing: TracingChannel, event: (typeof EVENTS)[number]): Channel {
      return tracing.#channels[event];
    }
    get hasSubscribers(): boolean {
      return EVENTS.some((event) => this.#channels[event].hasSubscribers);
    }
    subscribe(handlers: Readonly<Record<string, unknown>>): void {
      for (const event of EVENTS) if (handlers[event]) this.#channels[event].subscribe(handlers[event]);
    }
    unsubscribe(handlers: Readonly<Record<string, unknown>>): boolean {
      const found = EVENTS.filter((event) => handlers[event]).map((event) =>
        this.#channels[event].unsubscribe(handlers[event]),
      );
      return !found.includes(false);
    }
    /** Runs the work between `start` and `end`. */
    #run<T>(context: Context, work: () => T): T {
      const { start, end, error } = this.#channels;
      start.publish(context);
      try {
        return work();
      } catch (thrown) {
        context["error"] = thrown;
        error.publish(context);
        throw thrown;
      } finally {
        end.publish(context);
      }
    }
    traceSync(work: Work, context: Context = {}, self?: unknown, ...args: unknown[]): unknown {
      if (!this.hasSubscribers) return Reflect.apply(work, self, args);
      return this.#run(context, () => {
        const result: unknown = Reflect.apply(work, self, args);
        context["result"] = result;
        return result;
      });
    }
    tracePromise(work: Work, context: Context = {}, self?: unknown, ...args: unknown[]): unknown {
      if (!this.hasSubscribers) return Reflect.apply(work, self, args);
      const { asyncStart, asyncEnd, error } = this.#channels;
      const settle = (name: "error" | "result", value: unknown): void => {
        context[name] = value;
        if (name === "error") error.publish(context);
        asyncStart.publish(context);
        asyncEnd.publish(context);
      };
      return this.#run(context, () =>
        Promise.resolve(Reflect.apply(work, self, args)).then(
          (value) => {
            settle("result", value);
            return value;
          },
          (reason: unknown) => {
            settle("error", reason);
            throw reason;
          },
        ),
      );
    }
    traceCallback(): never {
      throw new Error("node:diagnostics_channel: traceCallback is not available in this sandbox");
    }
  }
  const { channelOf } = TracingChannel;
  delete (TracingChannel as { channelOf?: unknown }).channelOf;
  for (const event of EVENTS)
    Object.defineProperty(TracingChannel.prototype, event, {
      get(this: TracingChannel) {
        return channelOf(this, event);
      },
      configurable: true,
    });

  const names = {
    Channel,
    channel,
    hasSubscribers: (name: string | symbol) => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name: unknown, subscription: unknown) => channel(name).subscribe(subscription),
    unsubscribe: (name: unknown, subscription: unknown) => channel(name).unsubscribe(subscription),
    tracingChannel: (given: unknown) =>
      new TracingChannel((event) =>
        typeof given === "string"
          ? channel(`tracing:${given}:${event}`)
          : ((given as Record<string, Channel>)[event] as Channel),
      ),
  };
  return { ...names, default: names };
}
