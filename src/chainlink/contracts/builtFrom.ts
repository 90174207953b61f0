import { posix } from "node:path";
import type { Abi, Hex } from "viem";
import { once } from "../../lib/memo.ts";
import { loadArtifacts } from "./artifacts.ts";
import { readCompilationUnits, type ContractName } from "./compilerInput.ts";

/** A contract's sources and compiler settings. */
export interface ContractBuild {
  readonly abi: Abi;
  /** Version of solc. */
  readonly compiler: string;
  readonly optimizerRuns: number;
  readonly evmVersion: string;
  /** The contract's own source first, then its imports. */
  readonly sources: readonly { readonly path: string; readonly content: string }[];
}

const readUnits = once(readCompilationUnits);

/** Returns what a contract is built from. */
export function getContractBuild(name: ContractName): ContractBuild {
  const unit = readUnits().find((one) => Object.hasOwn(one.contracts, name))!;
  const { sources, settings } = JSON.parse(unit.input) as {
    readonly sources: Readonly<Record<string, { readonly content: string }>>;
    readonly settings: { readonly optimizer: { readonly runs: number }; readonly evmVersion: string };
  };
  const paths = new Set([unit.contracts[name]!]);
  // Iterating over a set includes entries that are added on the way.
  for (const path of paths)
    for (const [, target] of sources[path]!.content.matchAll(
      /^import\s+(?:[^"';]*?from\s+)?["']([^"']+)["']/gm,
    ))
      paths.add(target!.startsWith(".") ? posix.join(posix.dirname(path), target!) : target!);
  return {
    abi: loadArtifacts()[name].abi,
    compiler: unit.compiler.replace("solc-", ""),
    optimizerRuns: settings.optimizer.runs,
    evmVersion: settings.evmVersion,
    sources: [...paths].map((path) => ({ path, content: sources[path]!.content })),
  };
}

/** Whether runtime code on a chain, `0x` hex, is the compiled code of a contract, apart from the values of immutable variables. */
export function isBuiltFrom(name: ContractName, code: Hex): boolean {
  return isCodeOf(loadArtifacts()[name].bytecode, code);
}

/**
 * Whether runtime code belongs to a creation code, both `0x` hex. The creation code contains it, with 32 zero bytes after a
 * PUSH32 wherever the constructor inserts the value of an immutable variable: only those bytes may differ.
 */
export function isCodeOf(creationCode: Hex, code: Hex): boolean {
  const [creation, actual] = [Buffer.from(creationCode.slice(2), "hex"), Buffer.from(code.slice(2), "hex")];
  const start = actual.subarray(0, START_BYTES);
  if (start.length < START_BYTES) return false;
  for (let at = creation.indexOf(start); at !== -1; at = creation.indexOf(start, at + 1))
    if (isFilledIn(creation.subarray(at, at + actual.length), actual)) return true;
  return false;
}

/** Leading bytes that locate the runtime code: they set up memory, before anything that could be immutable. */
const START_BYTES = 4;
const PUSH32 = 0x7f;

function isFilledIn(template: Buffer, actual: Buffer): boolean {
  if (template.length !== actual.length) return false;
  for (let i = 0; i < actual.length; i += 1) {
    if (actual[i] !== template[i]) return false;
    const value = template.subarray(i + 1, i + 33);
    if (template[i] === PUSH32 && value.length === 32 && value.every((byte) => byte === 0)) i += 32;
  }
  return true;
}
