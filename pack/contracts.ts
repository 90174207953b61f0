import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadArtifacts } from "../src/chainlink/contracts/artifacts.ts";
import { readCompilationUnits } from "../src/chainlink/contracts/compilerInput.ts";

/** Writes the compiled contracts and what they were built from: the package has neither the compilers nor the Solidity sources. */
export function writeContracts(dist: string): void {
  const folder = path.join(dist, "src/chainlink/contracts");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "artifacts.json"), JSON.stringify(loadArtifacts()));
  writeFileSync(path.join(folder, "compilationUnits.json"), JSON.stringify(readCompilationUnits()));
}
