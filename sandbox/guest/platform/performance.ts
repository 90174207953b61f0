import type { Internals } from "../internals.ts";
import { exposeInterface, printGetters, toText } from "../webIdl.ts";

/** High Resolution Time and User Timing. */
export function createPerformance({ load }: Internals): Readonly<Record<string, unknown>> {
  const originMs = Date.now();
  const now = (): number => Date.now() - originMs;
  const { EventTarget } = load("events") as { EventTarget: new () => object };
  let entries: PerformanceEntry[] = [];

  class PerformanceEntry {
    readonly #fields: {
      name: string;
      entryType: string;
      startTime: number;
      duration: number;
      detail: unknown;
    };
    constructor(
      name: string,
      entryType: string,
      startTime: number,
      duration: number,
      detail: unknown = null,
    ) {
      this.#fields = { name, entryType, startTime, duration, detail };
    }
    get name(): string {
      return this.#fields.name;
    }
    get entryType(): string {
      return this.#fields.entryType;
    }
    get startTime(): number {
      return this.#fields.startTime;
    }
    get duration(): number {
      return this.#fields.duration;
    }
    get detail(): unknown {
      return this.#fields.detail;
    }
    toJSON(): object {
      return { ...this.#fields };
    }
  }
  class PerformanceMark extends PerformanceEntry {
    constructor(name: string, options: { startTime?: number; detail?: unknown } = {}) {
      super(name, "mark", options.startTime ?? now(), 0, options.detail);
    }
  }
  class PerformanceMeasure extends PerformanceEntry {}
  class Performance extends EventTarget {
    get timeOrigin(): number {
      return originMs;
    }
    now(): number {
      return now();
    }
    mark(name: unknown, options: object = {}): PerformanceMark {
      const mark = new PerformanceMark(toText(name), options);
      entries.push(mark);
      return mark;
    }
    measure(name: unknown, start?: unknown, end?: unknown): PerformanceMeasure {
      const options = (typeof start === "object" && start !== null ? start : { start, end }) as {
        start?: unknown;
        end?: unknown;
        duration?: number;
        detail?: unknown;
      };
      const at = (mark: unknown, fallback: number): number => {
        if (mark === undefined) return fallback;
        if (typeof mark === "number") return mark;
        const known = entries.findLast((entry) => entry.name === mark && entry.entryType === "mark");
        if (known !== undefined) return known.startTime;
        const { DOMException } = load("events") as {
          DOMException: new (message: string, name: string) => Error;
        };
        throw new DOMException(`Cannot find mark: "${mark as string}"`, "SyntaxError");
      };
      const from = at(options.start, 0);
      const to = at(options.end, options.duration === undefined ? now() : from + options.duration);
      const measure = new PerformanceMeasure(toText(name), "measure", from, to - from, options.detail);
      entries.push(measure);
      return measure;
    }
    clearMarks(name?: unknown): void {
      entries = entries.filter(
        (entry) => entry.entryType !== "mark" || (name !== undefined && entry.name !== name),
      );
    }
    clearMeasures(name?: unknown): void {
      entries = entries.filter(
        (entry) => entry.entryType !== "measure" || (name !== undefined && entry.name !== name),
      );
    }
    getEntries(): PerformanceEntry[] {
      return [...entries].sort((a, b) => a.startTime - b.startTime);
    }
    getEntriesByName(name: unknown, type?: unknown): PerformanceEntry[] {
      return this.getEntries().filter(
        (entry) => entry.name === name && (type === undefined || entry.entryType === type),
      );
    }
    getEntriesByType(type: unknown): PerformanceEntry[] {
      return this.getEntries().filter((entry) => entry.entryType === type);
    }
    toJSON(): object {
      return { timeOrigin: originMs };
    }
  }
  for (const type of [PerformanceEntry, PerformanceMark, PerformanceMeasure, Performance])
    exposeInterface(type);
  printGetters(PerformanceMark, ["name", "entryType", "startTime", "duration", "detail"]);
  printGetters(PerformanceMeasure, ["name", "entryType", "startTime", "duration", "detail"]);
  return {
    performance: new Performance(),
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
  };
}
