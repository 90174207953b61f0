import { vi } from "vitest";

/** Time limit for anything a test waits for, as a busy machine may be slow; the default of `vi.waitFor` is a second. */
const PATIENCE_MS = 60_000;

const waitFor = vi.waitFor.bind(vi);
vi.waitFor = (callback, options = PATIENCE_MS) =>
  waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
