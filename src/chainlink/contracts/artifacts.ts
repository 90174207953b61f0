import { existsSync, readFileSync } from "node:fs";
import type { Abi, Hex } from "viem";
import { TycheError } from "../../lib/errors.ts";
import { cacheFileOf, type ContractName, readCompilationUnits } from "./compilerInput.ts";

/** What the compiler made of one contract. */
export interface Artifact {
  /** The whole interface, errors and events included. `abi.ts` has the fragments in use with their types. */
  readonly abi: Abi;
  /** Creation code, without constructor arguments. */
  readonly bytecode: Hex;
}

/** The npm package holds what was compiled, and no compilers. */
const PACKAGED = new URL("./artifacts.json", import.meta.url);

/**
 * Reads the compiled contracts: those of the npm package, in a checkout from the cache that `npm run prepare` fills. The sources are hashed on the way, so
 * the artifacts are always those of the sources on disk.
 *
 * @throws ContractsNotCompiledError when the cache lacks them.
 */
export function loadArtifacts(): Readonly<Record<ContractName, Artifact>> {
  if (existsSync(PACKAGED))
    return JSON.parse(readFileSync(PACKAGED, "utf8")) as Readonly<Record<ContractName, Artifact>>;
  const artifacts = {};
  for (const unit of readCompilationUnits()) Object.assign(artifacts, readCached(cacheFileOf(unit)));
  return artifacts as Record<ContractName, Artifact>;
}

function readCached(file: string): object {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as object;
  } catch (cause) {
    throw new ContractsNotCompiledError(cause);
  }
}

/** The contracts, as they are on disk, have not been compiled. */
export class ContractsNotCompiledError extends TycheError {
  constructor(cause: unknown) {
    super("the contracts are not compiled, or were changed since: run `npm run prepare`", {
      code: "contracts_not_compiled",
      blame: "us",
      cause,
    });
  }
}
