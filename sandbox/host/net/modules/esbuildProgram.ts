import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Lets a process that may open no file, and whose user may have no access to our files, still execute esbuild's program. */
export interface EsbuildProgram {
  /** Descriptors the process inherits after its channel: at most one, the open program. */
  readonly inherited: readonly number[];
  /** Environment of the process, through which esbuild's JavaScript finds the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Call it once the process has started. */
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
      // Go interrupts its threads with signals to its own process id, which a filter can't know before the
      // process exists.
      GODEBUG: "asyncpreemptoff=1",
    },
    close: () => closeSync(descriptor),
  };
}
