/** Thread that runs one Solidity compiler on one unit and posts the artifacts as JSON text. */
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { CompilationUnit } from "./compilerInput.ts";

interface CompilerOutput {
  readonly errors?: readonly {
    readonly severity: string;
    readonly formattedMessage: string;
    readonly sourceLocation?: { readonly file: string };
  }[];
  readonly contracts?: Record<
    string,
    Record<
      string,
      { readonly abi: unknown; readonly evm: { readonly bytecode: { readonly object: string } } }
    >
  >;
}

const { compiler, contracts, input } = workerData as CompilationUnit;
const solc = createRequire(import.meta.url)(compiler) as { compile(input: string): string };
const output = JSON.parse(solc.compile(input)) as CompilerOutput;

const complaints = (output.errors ?? []).filter(
  // Warnings about the unpatched public sources are ignored; ours compile without any.
  ({ severity, sourceLocation }) => severity === "error" || sourceLocation?.file.startsWith("src/"),
);
if (complaints.length > 0)
  throw new Error(complaints.map((complaint) => complaint.formattedMessage).join("\n"));

const artifacts = Object.entries(contracts).map(([name, path]) => {
  const contract = output.contracts?.[path]?.[name];
  if (contract === undefined) throw new Error(`${compiler} gave no output for ${name} in ${path}`);
  return [name, { abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` }];
});
// A thread's port has no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(JSON.stringify(Object.fromEntries(artifacts)));
