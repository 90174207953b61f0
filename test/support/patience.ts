import { vi } from "vitest";

/** What a test waits for may take its time on a busy machine; vitest gives `vi.waitFor` a second. */
const PATIENCE_MS = 60_000;

const waitFor = vi.waitFor.bind(vi);
vi.waitFor = (callback, options = PATIENCE_MS) =>
  waitFor(callback, typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options });
