import { ASK, type Host } from "./protocol.ts";

const { Math, Number, Reflect, TypeError } = globalThis;
const { apply } = Reflect;
const { floor } = Math;

/** Longest delay of a timer, in ms; a longer one fires immediately, as in Deno. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

interface Timer {
  readonly id: number;
  readonly callback: (...args: unknown[]) => void;
  readonly args: unknown[];
  /** Interval in ms; −1 for a timer that fires once. */
  readonly everyMs: number;
  readonly isImmediate: boolean;
  dueMs: number;
  order: number;
}

/** The timers of one run: the functions for the global object, and `tick` for the host. */
export interface Timers {
  readonly setTimeout: (
    callback: (...args: unknown[]) => void,
    delayMs?: unknown,
    ...args: unknown[]
  ) => number;
  readonly setInterval: Timers["setTimeout"];
  /** As `setTimeout`, but a delay of 0 is none, where that one waits for a millisecond. */
  readonly start: Timers["setTimeout"];
  /** Calls back without a delay; the next timer has the number that this one would have had. */
  readonly startImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) => number;
  readonly clearTimeout: (id?: unknown) => void;
  readonly clearInterval: Timers["clearTimeout"];
  /**
   * Calls back as Node's `process.nextTick` does: at the end of the timer callback that runs, otherwise once all microtasks have run.
   */
  readonly nextTick: (callback: () => void) => void;
  /**
   * Makes the timers of a millisecond due, once, as they are in Deno after a source's first turn has loaded `process`; until a callback has
   * run, these come before what waits for the next tick.
   */
  readonly loseTime: () => void;
  /** Says that the source has loaded `process`. */
  readonly noteProcess: () => void;
  /**
   * Runs what waits for the next tick, or one due timer; returns the delay to the next one in ms, 0 if it is already due, −1 if there is
   * none.
   */
  readonly tick: () => number;
}

/**
 * Creates the timers of a run. They live in the isolate, sorted by due time, so a flood of them counts against the
 * source's own memory; the host holds one timer, for the first of them. A delay above 0 depends on the time and is
 * reported through `touch`.
 */
export function createTimers(host: Host, touch: (what: "time") => void): Timers {
  // A binary heap ordered by (dueMs, order). Not an array: the source may have put setters for indices on its prototype.
  const heap: Record<number, Timer> = { __proto__: null } as never;
  const live: Record<number, Timer> = { __proto__: null } as never;
  const now = (): number => host(ASK.now) as number;
  let size = 0;
  let nextId = 1;
  let nextUnnumbered = -1;
  /** Whether `process` has been loaded; until it has been, and in the callback that loads it, the next tick is a microtask. */
  let hasProcess = false;
  let ticksAreMicrotasks = false;
  let nextOrder = 0;
  let wakeAtMs = Number.POSITIVE_INFINITY;

  /** What waits for the next tick, by number; from `firstTick` on. */
  const ticks: Record<number, () => void> = { __proto__: null } as never;
  let firstTick = 0;
  let endTick = 0;
  let isTicking = false;
  /** Whether no callback has run yet. */
  let isFirstTurn = true;
  let hasLostTime = false;
  /** When the last callback began: as in Deno, what is immediate comes before the timers that are set with it. */
  let turnMs = 0;

  function runTicks(): void {
    while (firstTick < endTick) {
      const callback = ticks[firstTick] as () => void;
      delete ticks[firstTick++];
      callback();
    }
  }

  const before = (a: Timer, b: Timer): boolean =>
    a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

  function insert(timer: Timer): void {
    let at = size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Timer;
      if (!before(timer, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = timer;
  }

  function removeFirst(): void {
    const last = heap[--size] as Timer;
    delete heap[size];
    if (size === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= size) break;
      if (child + 1 < size && before(heap[child + 1] as Timer, heap[child] as Timer)) child += 1;
      if (!before(heap[child] as Timer, last)) break;
      heap[at] = heap[child] as Timer;
      at = child;
    }
    heap[at] = last;
  }

  function dropCleared(): Timer | undefined {
    while (size > 0 && live[(heap[0] as Timer).id] !== heap[0]) removeFirst();
    return heap[0];
  }

  function add(
    callback: Timer["callback"],
    delay: unknown,
    args: unknown[],
    leastMs: number,
    repeats = false,
    isNumbered = true,
  ): number {
    if (typeof callback !== "function") throw new TypeError("The callback of a timer must be a function");
    let delayMs = Number(delay);
    if (!(delayMs > 0) || delayMs > MAX_DELAY_MS) delayMs = 0;
    if (delayMs > 0) touch("time");
    // A fraction of a millisecond doesn't count, so that timers keep their order.
    delayMs = floor(delayMs);
    if (delayMs < leastMs) delayMs = leastMs;
    const timer: Timer = {
      id: isNumbered ? nextId++ : nextUnnumbered--,
      callback,
      args,
      everyMs: repeats ? delayMs : -1,
      isImmediate: leastMs === 0,
      dueMs: delayMs === 0 && !isFirstTurn ? turnMs : now() + delayMs,
      order: nextOrder++,
    };
    live[timer.id] = timer;
    insert(timer);
    if (timer.dueMs < wakeAtMs) {
      wakeAtMs = timer.dueMs;
      host(ASK.wake, delayMs);
    }
    return timer.id;
  }

  const clear = (id?: unknown): void => {
    delete live[id as number];
  };

  return {
    setTimeout: (callback, delayMs, ...args) => add(callback, delayMs, args, 1),
    setInterval: (callback, delayMs, ...args) => add(callback, delayMs, args, 1, true),
    start: (callback, delayMs, ...args) => add(callback, delayMs, args, 0),
    startImmediate: (callback, ...args) => add(callback, 0, args, 0, false, false),
    clearTimeout: clear,
    clearInterval: clear,
    nextTick: (callback) => {
      if (ticksAreMicrotasks) {
        void afterMicrotasks(callback);
        return;
      }
      ticks[endTick++] = callback;
      if (isTicking || endTick - firstTick > 1) return;
      wakeAtMs = 0;
      host(ASK.wake, 0);
    },
    noteProcess: () => {
      hasProcess = true;
    },
    loseTime: () => {
      if (!isFirstTurn || hasLostTime) return;
      hasLostTime = true;
      const latest = now() + 1;
      const count = size;
      size = 0;
      for (let at = 0; at < count; at++) {
        const timer = heap[at] as Timer;
        if (!timer.isImmediate && timer.dueMs <= latest) timer.dueMs = 0;
        insert(timer);
      }
    },
    tick: () => {
      const time = now();
      const first = dropCleared();
      turnMs = time;
      const isDue = first !== undefined && first.dueMs <= time;
      const isTimerFirst = isFirstTurn && first?.dueMs === 0;
      if (isDue || firstTick < endTick) isFirstTurn = false;
      // While the callback runs, timers request no wake-up: the host waits for what `tick` returns.
      wakeAtMs = Number.NEGATIVE_INFINITY;
      isTicking = true;
      try {
        if (firstTick < endTick && !isTimerFirst) runTicks();
        else if (isDue) {
          removeFirst();
          if (first.everyMs >= 0) {
            first.dueMs = time + first.everyMs;
            first.order = nextOrder++;
            insert(first);
          } else delete live[first.id];
          const { callback, args } = first;
          ticksAreMicrotasks = !hasProcess;
          try {
            apply(callback, undefined, args);
          } finally {
            ticksAreMicrotasks = false;
          }
          runTicks();
        }
      } finally {
        isTicking = false;
        wakeAtMs = Number.POSITIVE_INFINITY;
      }
      const next = dropCleared();
      if (next === undefined) return -1;
      wakeAtMs = next.dueMs;
      const waitMs = next.dueMs - now();
      return waitMs > 0 ? waitMs : 0;
    },
  };
}

async function afterMicrotasks(callback: () => void): Promise<void> {
  // eslint-disable-next-line typescript/await-thenable -- a microtask, whatever the source has made of `Promise`
  await undefined;
  callback();
}
