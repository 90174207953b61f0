import path from "node:path";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/closingLine.ts";

// Some two hundred services and workers load the same modules: what V8 has compiled is kept between them and between runs.
process.env["NODE_COMPILE_CACHE"] ??= path.join(import.meta.dirname, "node_modules/.cache/compile");

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Sources may have changed since the last install; nothing to do takes 60 ms.
    globalSetup: "test/support/compiledContracts.ts",
    setupFiles: "test/support/patience.ts",
    pool: "forks",
    // isolated-vm crashes in a process that was started from Node's own snapshot.
    execArgv: ["--no-node-snapshot"],
    maxWorkers: 2,
    // Limits are for what hangs: on a busy machine a test takes ten times as long as alone.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is waited for may take its time on a busy machine; the default is a second.
    expect: { poll: { timeout: 60_000 } },
    retry: 0,
    allowOnly: false,
    reporters: ["default", new ClosingLine()],
  },
});
