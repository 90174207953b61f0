/**
 * `node --import shiftedClock.ts`: shifts the process's clock by `TYCHE_TEST_CLOCK_SHIFT_MS`; clocks that measure durations are unaffected.
 */
const shiftMs = Number(process.env["TYCHE_TEST_CLOCK_SHIFT_MS"]);
const realNow = Date.now.bind(Date);
const now = (): number => realNow() + shiftMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new Date(now()).toString(),
  get: (target, property, receiver) => (property === "now" ? now : Reflect.get(target, property, receiver)),
});
