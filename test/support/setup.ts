import { afterAll, vi } from "vitest";

/** Time limit for anything a test waits for, as a busy machine may be slow; the default of `vi.waitFor` is a second. */
const PATIENCE_MS = 60_000;

const { waitFor } = vi;
// The files of a worker share `vi`: it is wrapped once.
if (waitFor.name !== "waitPatiently")
  vi.waitFor = function waitPatiently(callback, options = PATIENCE_MS) {
    return waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
  };

// The files of a worker share its globals.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
