import { afterAll, vi } from "vitest";

// It holds for the workers alone (see vitest.config.ts), not for what they start.
delete process.env["NODE_DISABLE_COMPILE_CACHE"];

/** Time limit for anything a test waits for, as a busy machine may be slow; the default of `vi.waitFor` and `vi.waitUntil` is a second. */
const PATIENCE_MS = 60_000;

const { waitFor, waitUntil } = vi;
// The files of a worker share `vi`: it is wrapped once.
if (waitFor.name !== "waitPatiently") {
  vi.waitFor = function waitPatiently(callback, options = PATIENCE_MS) {
    return waitFor(callback, patient(options));
  };
  vi.waitUntil = (callback, options = PATIENCE_MS) => waitUntil(callback, patient(options));
}

function patient<Options extends object>(options: number | Options): number | Options {
  return typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options };
}

// The files of a worker share its globals.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
