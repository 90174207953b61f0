import { any, dictionary, double, string, type Convert } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { order } from "../shape.ts";
import {
  defineGetters,
  exposeInterface,
  exposeStatics,
  illegalConstructor,
  moveToEnd,
  printGetters,
  requireArguments,
} from "../webIdl.ts";

const time = double();
const readMarkOptions = dictionary<{ detail?: unknown; startTime?: number }>("PerformanceMarkOptions", {
  detail: [any],
  startTime: [time],
});
/** A time, or the name of the mark whose time it is. */
const mark: Convert<number | string> = (value, prefix, context) =>
  typeof value === "number" ? time(value, prefix, context) : string(value, prefix, context);
interface EntryFields {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
  readonly detail: unknown;
}
interface MeasureOptions {
  readonly detail?: unknown;
  readonly start?: number | string;
  readonly duration?: number;
  readonly end?: number | string;
}
const readMeasureOptions = dictionary<MeasureOptions>("PerformanceMeasureOptions", {
  detail: [any],
  duration: [time],
  end: [mark],
  start: [mark],
});

/** High Resolution Time, User Timing and Performance Timeline. */
export function createPerformance({ load, exception }: Internals): Readonly<Record<string, unknown>> {
  const originMs = Date.now();
  const now = (): number => Date.now() - originMs;
  const { EventTarget } = load("events") as { EventTarget: new () => object };
  const clone = (value: unknown): unknown => (load("clone")["copy"] as (value: unknown) => unknown)(value);
  const SECRET = {};
  let entries: PerformanceEntry[] = [];

  let fieldsOf: (entry: PerformanceEntry) => EntryFields;
  class PerformanceEntry {
    readonly #fields: EntryFields;
    static {
      fieldsOf = (entry) => entry.#fields;
    }
    constructor(
      name: unknown = null,
      entryType: unknown = null,
      startTime: unknown = null,
      duration: unknown = null,
      secret: unknown = undefined,
      detail: unknown = null,
    ) {
      if (secret !== SECRET) throw illegalConstructor();
      this.#fields = { name, entryType, startTime, duration, detail: clone(detail) } as EntryFields;
    }
    toJSON(): object {
      const { name, entryType, startTime, duration } = this.#fields;
      return { name, entryType, startTime, duration };
    }
  }
  class PerformanceMark extends PerformanceEntry {
    constructor(name: unknown, options: unknown = undefined) {
      const prefix = "Failed to construct 'PerformanceMark'";
      requireArguments(arguments.length, 1, prefix);
      const text = string(name);
      const { detail = null, startTime = now() } = readMarkOptions(options, prefix, "Argument 2");
      if (startTime < 0)
        throw new TypeError(
          `Cannot construct PerformanceMark: startTime cannot be negative, received ${startTime}`,
        );
      super(text, "mark", startTime, 0, SECRET, detail);
    }
    override toJSON(): object {
      return { ...fieldsOf(this) };
    }
  }
  class PerformanceMeasure extends PerformanceEntry {
    constructor(
      name: unknown = null,
      startTime: unknown = null,
      duration: unknown = null,
      detail: unknown = null,
      secret: unknown = undefined,
    ) {
      super(name, "measure", startTime, duration, secret, detail);
    }
    override toJSON(): object {
      return { ...fieldsOf(this) };
    }
  }
  const KEYS = ["name", "entryType", "startTime", "duration"] as const;
  defineGetters(PerformanceEntry, KEYS, (entry) => fieldsOf(entry));
  order(PerformanceEntry.prototype, `constructor ${KEYS.join(" ")} toJSON`);
  for (const type of [PerformanceMark, PerformanceMeasure])
    defineGetters(type, ["detail", "entryType"], (entry) => fieldsOf(entry));

  /** Returns the time of a mark. */
  function timeOf(point: number | string): number {
    if (typeof point === "number") {
      if (point < 0) throw new TypeError(`Mark cannot be negative: received ${point}`);
      return point;
    }
    const found = select(entries, undefined, "mark").findLast((entry) => fieldsOf(entry).name === point);
    if (found === undefined) throw exception(`Cannot find mark: "${point}"`, "SyntaxError");
    return fieldsOf(found).startTime;
  }

  function keep<E extends PerformanceEntry>(entry: E): E {
    entries.push(entry);
    for (const observer of observers) notify(observer, entry);
    return entry;
  }
  const select = (list: readonly PerformanceEntry[], name?: string, type?: string): PerformanceEntry[] =>
    list.filter((entry) => {
      const fields = fieldsOf(entry);
      return (!name || fields.name === name) && (!type || fields.entryType === type);
    });

  class Performance extends EventTarget {
    constructor(secret: unknown = null) {
      if (secret !== SECRET) throw illegalConstructor();
      super();
    }
    get timeOrigin(): number {
      return originMs;
    }
    clearMarks(name: unknown = undefined): void {
      clear("mark", name, "Failed to execute 'clearMarks' on 'Performance'");
    }
    clearMeasures(name: unknown = undefined): void {
      clear("measure", name, "Failed to execute 'clearMeasures' on 'Performance'");
    }
    clearResourceTimings(): void {}
    setResourceTimingBufferSize(_size: unknown): void {
      const prefix = "Failed to execute 'setResourceTimingBufferSize' on 'Performance'";
      requireArguments(arguments.length, 1, prefix);
    }
    getEntries(): PerformanceEntry[] {
      return [...entries];
    }
    getEntriesByName(name: unknown, type: unknown = undefined): PerformanceEntry[] {
      const prefix = "Failed to execute 'getEntriesByName' on 'Performance'";
      requireArguments(arguments.length, 1, prefix);
      return select(entries, string(name), type === undefined ? undefined : string(type));
    }
    getEntriesByType(type: unknown): PerformanceEntry[] {
      const prefix = "Failed to execute 'getEntriesByName' on 'Performance'";
      requireArguments(arguments.length, 1, prefix);
      return select(entries, undefined, string(type, prefix, "Argument 1"));
    }
    mark(name: unknown, options: unknown = undefined): PerformanceMark {
      const prefix = "Failed to execute 'mark' on 'Performance'";
      requireArguments(arguments.length, 1, prefix);
      const text = string(name, prefix, "Argument 1");
      return keep(new PerformanceMark(text, readMarkOptions(options, prefix, "Argument 2")));
    }
    measure(name: unknown, start: unknown = {}, end: unknown = undefined): PerformanceMeasure {
      const prefix = "Failed to execute 'measure' on 'Performance'";
      requireArguments(arguments.length, 1, prefix);
      const text = string(name, prefix, "Argument 1");
      const isOptions = (typeof start === "object" && start !== null) || typeof start === "function";
      const options: MeasureOptions = isOptions
        ? readMeasureOptions(start, prefix, "Argument 2")
        : { start: string(start, prefix, "Argument 2") };
      const endMark = end === undefined ? undefined : string(end, prefix, "Argument 3");
      if (isOptions && Object.keys(options).length > 0) {
        if (endMark) throw new TypeError('Options cannot be passed with "endMark"');
        if ("start" in options && "duration" in options && "end" in options)
          throw new TypeError('Cannot specify "start", "end", and "duration" together in options');
      }
      const length = options.duration === undefined ? undefined : timeOf(options.duration);
      const given = endMark || options.end;
      const to =
        given !== undefined
          ? timeOf(given)
          : options.start !== undefined && length !== undefined
            ? timeOf(options.start) + length
            : now();
      const from =
        options.start !== undefined
          ? timeOf(options.start)
          : options.end !== undefined && length !== undefined
            ? to - length
            : 0;
      return keep(new PerformanceMeasure(text, from, to - from, options.detail ?? null, SECRET));
    }
    now(): number {
      return now();
    }
    toJSON(): object {
      return { timeOrigin: originMs };
    }
  }

  function clear(type: string, name: unknown, prefix: string): void {
    const only = name === undefined ? undefined : string(name, prefix, "Argument 1");
    const gone = select(entries, undefined, type).filter(
      (entry) => only === undefined || fieldsOf(entry).name === only,
    );
    entries = entries.filter((entry) => !gone.includes(entry));
  }

  class PerformanceObserverEntryList {
    readonly #entries: readonly PerformanceEntry[];
    constructor(list: unknown, secret: unknown = undefined) {
      if (secret !== SECRET) throw illegalConstructor();
      this.#entries = list as readonly PerformanceEntry[];
    }
    getEntries(): PerformanceEntry[] {
      return [...this.#entries];
    }
    getEntriesByType(type: unknown): PerformanceEntry[] {
      const prefix = "Failed to execute 'getEntriesByType' on 'PerformanceObserverEntryList'";
      requireArguments(arguments.length, 1, prefix);
      return select(this.#entries, undefined, string(type, prefix, "Argument 1"));
    }
    getEntriesByName(name: unknown, type: unknown = undefined): PerformanceEntry[] {
      const prefix = "Failed to execute 'getEntriesByName' on 'PerformanceObserverEntryList'";
      requireArguments(arguments.length, 1, prefix);
      return select(this.#entries, string(name), type === undefined ? undefined : string(type));
    }
  }

  const SUPPORTED = ["mark", "measure"];
  const observers = new Set<PerformanceObserver>();
  let notify: (observer: PerformanceObserver, entry: PerformanceEntry) => void;
  type ObserverCallback = (list: PerformanceObserverEntryList, observer: PerformanceObserver) => void;

  class PerformanceObserver {
    static get supportedEntryTypes(): string[] {
      return [...SUPPORTED];
    }
    readonly #callback: ObserverCallback;
    #types: readonly unknown[] = [];
    #records: PerformanceEntry[] = [];
    #isScheduled = false;
    static {
      notify = (observer, entry) => {
        if (!observer.#types.includes(fieldsOf(entry).entryType)) return;
        observer.#records.push(entry);
        if (observer.#isScheduled) return;
        observer.#isScheduled = true;
        void Promise.resolve().then(() => {
          observer.#isScheduled = false;
          const records = observer.#records;
          observer.#records = [];
          if (records.length > 0)
            observer.#callback(new PerformanceObserverEntryList(records, SECRET), observer);
        });
      };
    }
    constructor(callback: unknown) {
      const prefix = "Failed to construct 'PerformanceObserver'";
      requireArguments(arguments.length, 1, prefix);
      if (typeof callback !== "function")
        throw new TypeError(`${prefix}: The callback provided as parameter 1 is not a function.`);
      this.#callback = callback as ObserverCallback;
    }
    observe(options: unknown = {}): void {
      const prefix = "Failed to execute 'observe' on 'PerformanceObserver'";
      if (options === null) throw new TypeError(`${prefix}: 1 argument required, but only 0 present.`);
      const { entryTypes, type, buffered } = options as Record<string, unknown>;
      if (entryTypes !== undefined && type !== undefined)
        throw new TypeError(`${prefix}: Cannot specify both 'entryTypes' and 'type'.`);
      if (entryTypes === undefined && type === undefined)
        throw new TypeError(`${prefix}: Either 'entryTypes' or 'type' must be specified.`);
      if (entryTypes !== undefined && !Array.isArray(entryTypes))
        throw new TypeError(`${prefix}: 'entryTypes' must be an array.`);
      const known = ((entryTypes ?? [type]) as unknown[]).filter((each) =>
        SUPPORTED.includes(each as string),
      );
      if (known.length === 0) return;
      this.#types = known;
      this.#records = [];
      observers.add(this);
      if (type !== undefined && buffered === true) for (const entry of entries) notify(this, entry);
    }
    disconnect(): void {
      observers.delete(this);
      this.#types = [];
      this.#records = [];
    }
    takeRecords(): PerformanceEntry[] {
      const records = this.#records;
      this.#records = [];
      return records;
    }
  }

  Object.defineProperty(PerformanceMark, "length", { value: 1, configurable: true });
  Object.defineProperty(Performance, "length", { value: 0, configurable: true });
  for (const type of [
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    Performance,
    PerformanceObserver,
    PerformanceObserverEntryList,
  ])
    exposeInterface(type);
  for (const type of [PerformanceMark, PerformanceMeasure]) moveToEnd(type, ["toJSON"]);
  exposeStatics(PerformanceObserver, "supportedEntryTypes");
  printGetters(PerformanceEntry, KEYS);
  for (const type of [PerformanceMark, PerformanceMeasure]) printGetters(type, [...KEYS, "detail"]);
  printGetters(Performance, ["timeOrigin"]);
  return {
    performance: new Performance(SECRET),
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    PerformanceObserver,
    PerformanceObserverEntryList,
  };
}
