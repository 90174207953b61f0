import { afterAll, vi } from "vitest";

// It holds for the workers alone (see vitest.config.ts), not for what they start.
delete process.env["NODE_DISABLE_COMPILE_CACHE"];

/** Time limit for anything a test waits for, as a busy machine may be slow; the default of `vi.waitFor` and `vi.waitUntil` is a second. */
const PATIENCE_MS = 60_000;
/**
 * How often a test looks whether what it waits for has come; the default is 50. Each look takes its test 0.5 ms of processor time, and a call of
 * a service several times as much.
 */
const LOOK_INTERVAL_MS = 100;

const { waitFor, waitUntil } = vi;
// The files of a worker share `vi`: it is wrapped once.
if (waitFor.name !== "waitPatiently") {
  vi.waitFor = function waitPatiently(callback, options = PATIENCE_MS) {
    return waitFor(callback, patient(options));
  };
  vi.waitUntil = (callback, options = PATIENCE_MS) => waitUntil(callback, patient(options));
}

function patient(options: number | object): object {
  const given = typeof options === "number" ? { timeout: options } : options;
  return { timeout: PATIENCE_MS, interval: LOOK_INTERVAL_MS, ...given };
}

// The files of a worker share its globals.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
