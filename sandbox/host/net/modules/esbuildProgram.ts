import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

/** How a process that may open no file, and whose user may not reach ours, still executes esbuild's program. */
export interface EsbuildProgram {
  /** What the process inherits behind its channel: at most one descriptor, of the open program. */
  readonly inherited: readonly number[];
  /** Environment of the process, by which esbuild's JavaScript finds the program. */
  readonly env: Readonly<Record<string, string>>;
  /** To be called once the process is started. */
  readonly close: () => void;
}

/** Opens esbuild's program for this machine. */
export function openEsbuild(): EsbuildProgram {
  if (process.platform !== "linux") return { inherited: [], env: {}, close: () => {} };
  const require = createRequire(import.meta.url);
  const manifest = createRequire(require.resolve("esbuild")).resolve(
    `@esbuild/${process.platform}-${process.arch}/package.json`,
  );
  const descriptor = openSync(`${dirname(manifest)}/bin/esbuild`, "r");
  return {
    inherited: [descriptor],
    env: {
      ESBUILD_BINARY_PATH: "/proc/self/fd/4",
      // Go interrupts its threads by signals to its own process id, which no filter can know before there is one.
      GODEBUG: "asyncpreemptoff=1",
    },
    close: () => closeSync(descriptor),
  };
}
