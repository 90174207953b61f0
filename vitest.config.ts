import path from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ClosingLine } from "./test/closingLine.ts";

// Some hundreds of services and commands load the same modules: what V8 has compiled is kept between them and between runs.
process.env["NODE_COMPILE_CACHE"] ??= path.join(import.meta.dirname, "node_modules/.cache/compile");

/** What a file starts, by the suffix of its name, the longest first. A file without a suffix (`x.test.ts`) is a unit test. */
const SUFFIXES = ["slow", "browser", "service", "chain"] as const;

/** Starts unit tests first, then the others in the order of {@link SUFFIXES}, so that no long file is left to one worker at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      SUFFIXES.findIndex((suffix) => moduleId.endsWith(`.${suffix}.test.ts`));
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // Sources may have changed since the last install; nothing to do takes 60 ms.
    globalSetup: "test/support/globalSetup.ts",
    setupFiles: ["test/support/setup.ts"],
    pool: "forks",
    isolate: false,
    // Three for each of two cores: of a file's time, a third is processor time. Eight took 946 s in place of 794. `findFreePorts` has ports for
    // no more than eight.
    maxWorkers: 6,
    // Limits are for what hangs: on a busy machine a test takes ten times as long as alone.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A worker ends once its service, PostgreSQL and Chromium have.
    teardownTimeout: 300_000,
    // What is waited for may take its time on a busy machine; the defaults are a second, and 20 looks in it (see test/support/setup.ts).
    expect: { poll: { timeout: 60_000, interval: 100 } },
    // Workers that start at once gain nothing from what V8 has compiled, and take 6 s each to write it down at their end.
    env: { NODE_DISABLE_COMPILE_CACHE: "1" },
    unstubEnvs: true,
    retry: 0,
    allowOnly: false,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", new ClosingLine()],
    // Files of one worker share its modules: a module is loaded once, and each file leaves it as it found it. One project shares its workers.
    projects: [
      {
        extends: true,
        test: {
          name: "processes",
          include: SUFFIXES.map((suffix) => `test/**/*.${suffix}.test.ts`),
          // isolated-vm crashes in a process that was started from Node's own snapshot.
          execArgv: ["--no-node-snapshot"],
        },
      },
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: SUFFIXES.map((suffix) => `test/**/*.${suffix}.test.ts`),
          setupFiles: ["test/support/startsNothing.ts"],
          pool: "threads",
        },
      },
    ],
  },
});
