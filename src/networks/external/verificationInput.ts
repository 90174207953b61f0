import { basename, dirname, join } from "node:path";
import { getContractAddress, type Hex } from "viem";
import { loadArtifacts } from "../../chainlink/contracts/artifacts.ts";
import { readCompilationUnits, type ContractName } from "../../chainlink/contracts/compilerInput.ts";
import type { DeploymentStep } from "../../chainlink/stackPlan.ts";
import { writeJsonFile } from "./jsonFile.ts";

/** The compilers' names on block explorers. */
const COMPILERS = {
  "solc-0.8.6": "v0.8.6+commit.11564f7e",
  "solc-0.8.19": "v0.8.19+commit.7dd6d404",
} as const;

/**
 * Writes the files that block explorers need to verify a contract's source, into the folder `FILE.sources` next to the contracts file: the
 * compilers' standard JSON inputs, and `contracts.json` with each deployed contract's address, name, compiler and constructor arguments.
 */
export function writeVerificationInput(options: {
  readonly contractsFile: string;
  readonly steps: readonly DeploymentStep[];
  readonly deployer: Hex;
  /** Nonce of the first step. */
  readonly firstNonce: number;
}): void {
  const { contractsFile, steps, deployer, firstNonce } = options;
  const folder = join(dirname(contractsFile), `${basename(contractsFile, ".json")}.sources`);
  const artifacts = loadArtifacts();
  const units = readCompilationUnits();
  for (const { name, input } of units) writeJsonFile(join(folder, `${name}.json`), JSON.parse(input));
  const contracts = steps.flatMap(({ name, to, data }, i) => {
    const unit = units.find((one) => Object.hasOwn(one.contracts, name));
    if (to !== undefined || unit === undefined) return [];
    return [
      {
        address: getContractAddress({ from: deployer, nonce: BigInt(firstNonce + i) }),
        contract: `${unit.contracts[name]}:${name}`,
        compiler: COMPILERS[unit.compiler],
        input: `${unit.name}.json`,
        constructorArguments: data.slice(artifacts[name as ContractName].bytecode.length),
      },
    ];
  });
  writeJsonFile(join(folder, "contracts.json"), contracts);
}
