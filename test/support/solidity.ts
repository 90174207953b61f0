import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Abi, Hex } from "viem";
import { PROJECT_ROOT } from "../../src/chainlink/contracts/compilerInput.ts";

interface Compiler {
  compile(input: string, callbacks: { import: (path: string) => { contents: string } }): string;
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: {
    readonly "test.sol": Record<
      string,
      { readonly abi: Abi; readonly evm: { readonly bytecode: { readonly object: string } } }
    >;
  };
}

/** Compiles one Solidity contract for a test, with solc 0.8.19; imports resolve from `node_modules`. Takes a second. */
export function compileSolidity(name: string, source: string): { readonly abi: Abi; readonly bytecode: Hex } {
  const solc = createRequire(import.meta.url)("solc-0.8.19") as Compiler;
  const input = {
    language: "Solidity",
    sources: { "test.sol": { content: source } },
    settings: {
      evmVersion: "paris",
      outputSelection: { "test.sol": { [name]: ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: readFileSync(join(PROJECT_ROOT, "node_modules", path), "utf8") }),
    }),
  ) as CompilerOutput;
  const contract = output.contracts?.["test.sol"][name];
  if (contract === undefined)
    throw new Error(output.errors?.map((error) => error.formattedMessage).join("\n"));
  return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}
