import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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

export interface CompiledContract {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

const MODULES = join(PROJECT_ROOT, "node_modules");
const CACHE = join(MODULES, ".cache/solidity");

/**
 * Compiles one Solidity contract for a test, with solc 0.8.19; imports resolve from `node_modules`. That takes a second or two, so the result is
 * cached by the hash of the input and of the installed packages' versions.
 */
export function compileSolidity(name: string, source: string): CompiledContract {
  const input = JSON.stringify({
    language: "Solidity",
    sources: { "test.sol": { content: source } },
    settings: {
      evmVersion: "paris",
      outputSelection: { "test.sol": { [name]: ["abi", "evm.bytecode.object"] } },
    },
  });
  const packages = readFileSync(join(MODULES, ".package-lock.json"));
  const key = createHash("sha256").update(packages).update(input).digest("hex");
  const file = join(CACHE, `${key}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as CompiledContract;
  const compiled = compile(name, input);
  mkdirSync(CACHE, { recursive: true });
  // Other workers may compile the same, and never read a half-written file.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(compiled));
  renameSync(`${file}.${process.pid}`, file);
  return compiled;
}

function compile(name: string, input: string): CompiledContract {
  const solc = createRequire(import.meta.url)("solc-0.8.19") as Compiler;
  const output = JSON.parse(
    solc.compile(input, {
      import: (path) => ({ contents: readFileSync(join(MODULES, path), "utf8") }),
    }),
  ) as CompilerOutput;
  const contract = output.contracts?.["test.sol"][name];
  if (contract === undefined)
    throw new Error(output.errors?.map((error) => error.formattedMessage).join("\n"));
  return { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}
