import type { SandboxPool } from "../../../sandbox/index.ts";
import type { RunSource } from "../../verify/runSource.ts";

/** Kinds of failure that are due to this machine, not to the source. */
const CUT: readonly string[] = ["timeout", "memory", "sandbox"];

/** Creates the port through which a verification runs sources in a sandbox. HTTP requests are refused and reported. */
export function createSourceRunner(pool: Pick<SandboxPool, "run">): RunSource {
  return async ({ source, args, bytesArgs, maxResponseBytes, caller, signal }) => {
    const limits = { maxResponseBytes, maxHttpRequests: 0, maxImports: 0 };
    const run = await pool.run({
      source,
      args,
      bytesArgs,
      limits,
      caller,
      group: caller,
      observe: true,
      ...(signal === undefined ? {} : { signal }),
    });
    const { touched } = run;
    if (run.ok) return { kind: "result", bytes: run.bytes, touched };
    if (CUT.includes(run.error.kind)) return { kind: "cut", touched };
    return { kind: "error", message: run.error.message, touched };
  };
}
