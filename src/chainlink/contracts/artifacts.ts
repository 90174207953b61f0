import { existsSync, readFileSync } from "node:fs";
import type { Abi, Hex } from "viem";
import { TycheError } from "../../lib/errors.ts";
import { once } from "../../lib/memo.ts";
import { cacheFileOf, type ContractName, readCompilationUnits } from "./compilerInput.ts";

/** The compiler's output for one contract. */
export interface Artifact {
  /** The whole interface, errors and events included. `abi.ts` has typed fragments of the parts in use. */
  readonly abi: Abi;
  /** Creation code, without constructor arguments. */
  readonly bytecode: Hex;
}

/** The npm package contains the compiled contracts, and no compilers. */
const PACKAGED = new URL("./artifacts.json", import.meta.url);

/**
 * Reads the compiled contracts, once: from the npm package or, in a checkout, from the cache that `npm run prepare` fills. The
 * cache key is a hash of the sources, so the artifacts always match the sources on disk.
 *
 * @throws {TycheError} `contracts_not_compiled` when the cache lacks them.
 */
export const loadArtifacts = once((): Readonly<Record<ContractName, Artifact>> => {
  if (existsSync(PACKAGED))
    return JSON.parse(readFileSync(PACKAGED, "utf8")) as Readonly<Record<ContractName, Artifact>>;
  const artifacts = {};
  for (const unit of readCompilationUnits()) Object.assign(artifacts, readCached(cacheFileOf(unit)));
  return artifacts as Record<ContractName, Artifact>;
});

function readCached(file: string): object {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as object;
  } catch (cause) {
    throw new TycheError("the contracts are not compiled, or were changed since: run `npm run prepare`", {
      code: "contracts_not_compiled",
      blame: "us",
      cause,
    });
  }
}
