import { wrongArgument, wrongType } from "../buffer/errors.ts";

type Listener = (message: unknown, name: string | symbol) => void;
type Context = Record<string, unknown>;
type Work = (...args: unknown[]) => unknown;
/** An `AsyncLocalStorage`. */
interface Store {
  run(context: unknown, work: () => unknown): unknown;
}
type Transform = (message: unknown) => unknown;

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;

/** Creates `node:diagnostics_channel`. */
export function createDiagnostics(reportError: (error: unknown) => void): Readonly<Record<string, unknown>> {
  const channels = new Map<string | symbol, Channel>();

  /** A channel that somebody listens to: a `Channel` has this prototype then, as in Node. */
  class ActiveChannel {
    declare _subscribers: readonly Listener[];
    declare _stores: Map<Store, Transform | undefined>;
    declare readonly name: string | symbol;
    subscribe(subscription: unknown): void {
      if (typeof subscription !== "function") throw wrongType("subscription", "function", subscription);
      this._subscribers = [...this._subscribers, subscription as Listener];
    }
    unsubscribe(subscription: unknown): boolean {
      const at = this._subscribers.indexOf(subscription as Listener);
      if (at < 0) return false;
      this._subscribers = this._subscribers.toSpliced(at, 1);
      deactivate(this);
      return true;
    }
    bindStore(store: Store, transform?: Transform): void {
      this._stores.set(store, transform);
    }
    unbindStore(store: Store): boolean {
      if (!this._stores.delete(store)) return false;
      deactivate(this);
      return true;
    }
    get hasSubscribers(): boolean {
      return true;
    }
    publish(message: unknown): void {
      for (const listener of this._subscribers) {
        try {
          listener(message, this.name);
        } catch (error) {
          reportError(error);
        }
      }
    }
    runStores(message: unknown, work: Work, self?: unknown, ...args: unknown[]): unknown {
      let run = (): unknown => {
        this.publish(message);
        return Reflect.apply(work, self, args);
      };
      for (const [store, transform] of this._stores) {
        const next = run;
        run = () => {
          let context: unknown;
          try {
            context = transform === undefined ? message : transform(message);
          } catch (error) {
            reportError(error);
            return next();
          }
          return store.run(context, next);
        };
      }
      return run();
    }
  }
  function deactivate(channel: ActiveChannel): void {
    if (channel._subscribers.length > 0 || channel._stores.size > 0) return;
    Object.setPrototypeOf(channel, Channel.prototype);
    Object.assign(channel, { _subscribers: undefined, _stores: undefined });
  }
  function activate(channel: Channel): ActiveChannel {
    Object.setPrototypeOf(channel, ActiveChannel.prototype);
    return Object.assign(channel as unknown as ActiveChannel, { _subscribers: [], _stores: new Map() });
  }
  class Channel {
    _subscribers: readonly Listener[] | undefined = undefined;
    _stores: Map<Store, Transform | undefined> | undefined = undefined;
    readonly name: string | symbol;
    static [Symbol.hasInstance](value: unknown): boolean {
      if (typeof value !== "object" || value === null) return false;
      const prototype: unknown = Object.getPrototypeOf(value);
      return prototype === Channel.prototype || prototype === ActiveChannel.prototype;
    }
    constructor(name: string | symbol) {
      this.name = name;
      channels.set(name, this);
    }
    subscribe(subscription: unknown): void {
      activate(this).subscribe(subscription);
    }
    unsubscribe(_subscription?: unknown): boolean {
      return false;
    }
    bindStore(store: Store, transform?: Transform): void {
      activate(this).bindStore(store, transform);
    }
    unbindStore(_store?: Store): boolean {
      return false;
    }
    get hasSubscribers(): boolean {
      return false;
    }
    publish(_message?: unknown): void {}
    runStores(_message: unknown, work: Work, self?: unknown, ...args: unknown[]): unknown {
      return Reflect.apply(work, self, args);
    }
  }
  const channel = (name: unknown): Channel => {
    if (typeof name !== "string" && typeof name !== "symbol")
      throw wrongArgument("channel", "one of type string or symbol", name);
    return channels.get(name) ?? new Channel(name);
  };
  const tracedBy = (given: unknown, event: string): Channel => {
    if (typeof given === "string") return channel(`tracing:${given}:${event}`);
    if (typeof given !== "object" || given === null)
      throw wrongArgument(
        "nameOrChannels",
        "of type string or an instance of TracingChannel or Object",
        given,
      );
    const own = (given as Record<string, unknown>)[event];
    if (own === undefined || own === null) throw new TypeError("Cannot convert undefined or null to object");
    if (!(own instanceof Channel))
      throw wrongArgument(`nameOrChannels.${event}`, "an instance of Channel", own);
    return own;
  };

  class TracingChannel {
    declare readonly start: Channel;
    declare readonly end: Channel;
    declare readonly asyncStart: Channel;
    declare readonly asyncEnd: Channel;
    declare readonly error: Channel;
    constructor(given: unknown) {
      for (const event of EVENTS) Object.defineProperty(this, event, { value: tracedBy(given, event) });
    }
    get hasSubscribers(): boolean {
      return EVENTS.some((event) => this[event].hasSubscribers);
    }
    subscribe(handlers: Readonly<Record<string, unknown>>): void {
      for (const event of EVENTS) if (handlers[event]) this[event].subscribe(handlers[event]);
    }
    unsubscribe(handlers: Readonly<Record<string, unknown>>): boolean {
      let isDone = true;
      for (const event of EVENTS)
        if (handlers[event] && !this[event].unsubscribe(handlers[event])) isDone = false;
      return isDone;
    }
    traceSync(work: Work, context: Context = noContext(), self?: unknown, ...args: unknown[]): unknown {
      if (!this.hasSubscribers) return Reflect.apply(work, self, args);
      return traced(this, context, () => {
        const result: unknown = Reflect.apply(work, self, args);
        context["result"] = result;
        return result;
      });
    }
    tracePromise(work: Work, context: Context = noContext(), self?: unknown, ...args: unknown[]): unknown {
      if (!this.hasSubscribers) return Reflect.apply(work, self, args);
      const { asyncStart, asyncEnd, error } = this;
      const settle = (name: "error" | "result", value: unknown): void => {
        context[name] = value;
        if (name === "error") error.publish(context);
        asyncStart.runStores(context, () => {});
        asyncEnd.publish(context);
      };
      return traced(this, context, () =>
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
    traceCallback(
      work: Work,
      position = -1,
      context: Context = noContext(),
      self?: unknown,
      ...args: unknown[]
    ): unknown {
      if (!this.hasSubscribers) return Reflect.apply(work, self, args);
      const { asyncStart, asyncEnd, error } = this;
      const callback = args.at(position);
      if (typeof callback !== "function") throw wrongType("callback", "function", callback);
      function wrappedCallback(this: unknown, ...answers: unknown[]): void {
        const [reason, result] = answers;
        if (reason) {
          context["error"] = reason;
          error.publish(context);
        } else context["result"] = result;
        asyncStart.runStores(context, () => {
          try {
            return Reflect.apply<unknown, unknown[], unknown>(callback as Work, this, answers);
          } finally {
            asyncEnd.publish(context);
          }
        });
      }
      args.splice(position, 1, wrappedCallback);
      return traced(this, context, () => Reflect.apply(work, self, args));
    }
  }
  /** Runs the work between `start` and `end`, in the stores of `start`. */
  function traced({ start, end, error }: TracingChannel, context: Context, work: () => unknown): unknown {
    return start.runStores(context, () => {
      try {
        return work();
      } catch (thrown) {
        context["error"] = thrown;
        error.publish(context);
        throw thrown;
      } finally {
        end.publish(context);
      }
    });
  }

  const names = {
    Channel,
    channel,
    hasSubscribers: (name: string | symbol) => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name: unknown, subscription: unknown) => channel(name).subscribe(subscription),
    unsubscribe: (name: unknown, subscription: unknown) => channel(name).unsubscribe(subscription),
    tracingChannel: (given: unknown) => new TracingChannel(given),
  };
  return { ...names, default: names };
}

const noContext = (): Context => ({ __proto__: null });
