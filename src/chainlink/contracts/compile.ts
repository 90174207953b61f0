/**
 * Compiles the Solidity that Tyche deploys, unless the output is already cached. npm's `prepare` runs it, so it needs only
 * what `npm ci` installs. The compilation units run in parallel, each in its own thread.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { messageOf } from "../../lib/errors.ts";
import { cacheFileOf, type CompilationUnit, readCompilationUnits } from "./compilerInput.ts";

/**
 * Compiles every unit that the cache lacks and stores its output there, writing each file atomically.
 *
 * @returns names of the contracts that were compiled; empty if nothing had changed.
 * @throws Error with the compiler's own messages when a source does not compile, or one of ours causes a warning.
 */
export async function compileContracts(): Promise<readonly string[]> {
  const stale = readCompilationUnits().filter((unit) => !existsSync(cacheFileOf(unit)));
  await Promise.all(stale.map(compileUnit));
  return stale.flatMap((unit) => Object.keys(unit.contracts));
}

async function compileUnit(unit: CompilationUnit): Promise<void> {
  const artifacts = await new Promise<string>((resolve, reject) => {
    const worker = new Worker(new URL("./solcWorker.ts", import.meta.url), { workerData: unit });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`${unit.compiler} stopped with exit code ${code}`)));
  });
  const file = cacheFileOf(unit);
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, artifacts);
  renameSync(partial, file);
}

if (import.meta.main) {
  const startedAt = performance.now();
  try {
    const compiled = await compileContracts();
    if (compiled.length > 0) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.log(`compiled ${compiled.length} contracts in ${seconds} s`);
    }
  } catch (error) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}
