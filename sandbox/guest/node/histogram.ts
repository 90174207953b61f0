import { checkInteger, nodeError, outOfRange, wrongArgument, wrongType } from "../buffer/errors.ts";

const MAX_VALUE = Number.MAX_SAFE_INTEGER;
/** The least of a histogram without values. */
const NO_MINIMUM = 2 ** 63;
const CREATE = Symbol("create");

/** Counts a value, or those of another histogram. */
let count: (histogram: Histogram, value: number | Histogram) => void;

/** A high dynamic range histogram: values are counted in buckets that keep `figures` significant digits. */
class Histogram {
  static {
    count = (histogram, value) => {
      if (typeof value === "number") {
        if (value > histogram.#highest) histogram.#exceeds++;
        else histogram.#add(value, 1);
        return;
      }
      for (const [start, times] of value.#counts) histogram.#add(start, times);
      histogram.#exceeds += value.#exceeds;
    };
  }
  readonly #highest: number;
  /** Values below this power of two have buckets of one. */
  readonly #exact: number;
  readonly #counts = new Map<number, number>();
  #exceeds = 0;
  constructor(secret: unknown, lowest = 1, highest = MAX_VALUE, figures = 3) {
    if (secret !== CREATE) throw nodeError("ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor", TypeError);
    this.#highest = highest;
    this.#exact = 2 ** (Math.ceil(Math.log2(2 * 10 ** figures)) + Math.floor(Math.log2(lowest)));
  }
  /** Returns the size of the bucket that a value belongs to. */
  #width(value: number): number {
    return 2 ** Math.max(0, Math.floor(Math.log2(value)) + 1 - Math.log2(this.#exact));
  }
  #sorted(): [number, number][] {
    return [...this.#counts].sort(([a], [b]) => a - b);
  }
  #add(value: number, count: number): void {
    const width = this.#width(value);
    const start = Math.floor(value / width) * width;
    this.#counts.set(start, (this.#counts.get(start) ?? 0) + count);
  }
  get count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }
  get countBigInt(): bigint {
    return BigInt(this.count);
  }
  get min(): number {
    return this.#sorted()[0]?.[0] ?? NO_MINIMUM;
  }
  get minBigInt(): bigint {
    return this.#counts.size === 0 ? BigInt(NO_MINIMUM) - 1n : BigInt(this.min);
  }
  get max(): number {
    const last = this.#sorted().at(-1)?.[0];
    return last === undefined ? 0 : last + this.#width(last) - 1;
  }
  get maxBigInt(): bigint {
    return BigInt(this.max);
  }
  #mean(of: (value: number) => number): number {
    const sum = this.#sorted().reduce(
      (total, [start, count]) => total + count * of(start + Math.floor(this.#width(start) / 2)),
      0,
    );
    return sum / this.count;
  }
  get mean(): number {
    return this.#mean((value) => value);
  }
  get stddev(): number {
    const { mean } = this;
    return Math.sqrt(this.#mean((value) => (value - mean) ** 2));
  }
  get exceeds(): number {
    return this.#exceeds;
  }
  get exceedsBigInt(): bigint {
    return BigInt(this.#exceeds);
  }
  get percentiles(): Map<number, number> {
    const found = new Map<number, number>();
    if (this.#counts.size > 0)
      for (let at = 0, value = 0; value < this.max; at += (100 - at) / 2)
        found.set(at, (value = this.percentile(at || Number.MIN_VALUE)));
    return found.set(100, this.max);
  }
  get percentilesBigInt(): Map<number, bigint> {
    return new Map([...this.percentiles].map(([at, value]) => [at, BigInt(value)]));
  }
  percentile(percentile: unknown): number {
    if (typeof percentile !== "number") throw wrongType("percentile", "number", percentile);
    if (!(percentile > 0 && percentile <= 100)) throw outOfRange("percentile", "> 0 && <= 100", percentile);
    let left = Math.max(1, Math.ceil((percentile / 100) * this.count));
    for (const [start, count] of this.#sorted())
      if ((left -= count) <= 0) return start + this.#width(start) - 1;
    return 0;
  }
  percentileBigInt(percentile: unknown): bigint {
    return BigInt(this.percentile(percentile));
  }
  reset(): void {
    this.#counts.clear();
    this.#exceeds = 0;
  }
  toJSON(): object {
    const { count, min, max, mean, exceeds, stddev, percentiles } = this;
    return { count, min, max, mean, exceeds, stddev, percentiles: Object.fromEntries(percentiles) };
  }
  [Symbol.for("nodejs.util.inspect.custom")](
    depth: number,
    options: object,
    inspect: (value: object, options: object) => string,
  ): unknown {
    if (depth < 0) return this;
    const { min, max, mean, exceeds, stddev, count, percentiles } = this;
    return `Histogram ${inspect({ min, max, mean, exceeds, stddev, count, percentiles }, options)}`;
  }
}

/** What `createHistogram` returns. */
export class RecordableHistogram extends Histogram {
  #lastMs: number | undefined;
  record(value: unknown): void {
    if (typeof value === "bigint") {
      if (value < 1n || value > 2n ** 63n - 1n) throw outOfRange("val", "a positive integer", value);
    } else if (typeof value !== "number" || !Number.isInteger(value))
      throw wrongArgument("val", "of type bigint or integer", value);
    else if (value < 1 || value > MAX_VALUE) throw outOfRange("val", `>= 1 && <= ${MAX_VALUE}`, value);
    count(this, Number(value));
  }
  recordDelta(): void {
    const nowMs = performance.now();
    if (this.#lastMs !== undefined) this.record(Math.max(1, Math.round((nowMs - this.#lastMs) * 1e6)));
    this.#lastMs = nowMs;
  }
  add(other: unknown): void {
    if (!(other instanceof RecordableHistogram))
      throw wrongArgument("other", "an instance of RecordableHistogram", other);
    count(this, other);
  }
}

/** `createHistogram` of `node:perf_hooks`. */
export function createHistogram(options: unknown = {}): RecordableHistogram {
  if (typeof options !== "object" || options === null) throw wrongType("options", "object", options);
  const { lowest = 1, highest = MAX_VALUE, figures = 3 } = options as Record<string, unknown>;
  const check = (value: unknown, name: string, min: number): number => {
    if (typeof value !== "bigint" && !Number.isInteger(value))
      throw wrongArgument(name, "of type bigint or integer", value);
    if (Number(value) >= min && Number(value) <= MAX_VALUE) return Number(value);
    throw outOfRange(name, `>= ${min} && <= ${MAX_VALUE}`, value);
  };
  const least = check(lowest, "options.lowest", 1);
  const most = check(highest, "options.highest", 2 * least);
  if (!Number.isInteger(figures)) throw wrongArgument("options.figures", "integer", figures);
  return new RecordableHistogram(CREATE, least, most, checkInteger(figures, "options.figures", 1, 5));
}

/** What `monitorEventLoopDelay` of `node:perf_hooks` creates: sources have no event loop of their own, so it records nothing. */
class EventLoopDelayHistogram extends Histogram {
  #isOn = false;
  #turn(isOn: boolean): boolean {
    const changes = this.#isOn !== isOn;
    this.#isOn = isOn;
    return changes;
  }
  enable(): boolean {
    return this.#turn(true);
  }
  disable(): boolean {
    return this.#turn(false);
  }
  [Symbol.dispose](): void {
    this.disable();
  }
}
export function monitorEventLoopDelay(options?: { resolution?: unknown }): Histogram {
  const { resolution = 10 } = options === undefined ? {} : { resolution: options.resolution };
  if (typeof resolution !== "number") throw new TypeError("expected i32");
  return new EventLoopDelayHistogram(CREATE);
}
