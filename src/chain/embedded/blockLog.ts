import { closeSync, fstatSync, openSync, readFileSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";

/** All that it takes to mine a block again: the same transactions at the same time give the same hash. */
export interface LoggedBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Signed transactions in their order. */
  readonly transactions: readonly Hex[];
}

/** The blocks since the stored state of a chain, on disk before anybody is told of them. */
export interface BlockLog {
  append(block: LoggedBlock): void;
  /** The blocks after this one have been taken back. */
  cutAfter(block: number): void;
  /** Begins a new file: all blocks up to now are in a state that has been stored. */
  startAfter(block: number): void;
  close(): void;
}

const FILE = /^blocks-(\d+)\.log$/;

/**
 * Opens a chain's log to write; each block is one line of JSON. A line reaches the operating system before `append` returns,
 * so that it outlives this process; a power cut may take the last ones.
 */
export function openBlockLog(folder: string, after: number): BlockLog {
  const open = (first: number, flags: "a" | "w"): number => {
    const file = openSync(join(folder, `blocks-${first}.log`), flags, 0o600);
    // An earlier process may have left half a line.
    if (fstatSync(file).size > 0) writeSync(file, "\n");
    return file;
  };
  let file = open(after + 1, "a");
  return {
    append: (block) => void writeSync(file, `${JSON.stringify(block)}\n`),
    cutAfter: (block) => void writeSync(file, `${JSON.stringify({ cutAfter: block })}\n`),
    startAfter(block) {
      closeSync(file);
      // What is in there, or in files of later blocks, somebody took back.
      file = open(block + 1, "w");
      for (const { name, first } of listFiles(folder)) if (first !== block + 1) rmSync(join(folder, name));
    },
    close: () => closeSync(file),
  };
}

/** Returns the logged blocks that follow a block, up to the first gap; half a line is none. */
export function readBlockLog(folder: string, after: number): LoggedBlock[] {
  const blocks: LoggedBlock[] = [];
  for (const { name } of listFiles(folder)) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1)) {
      const block = parseLine(line);
      if (block !== undefined && "cutAfter" in block) {
        blocks.splice(Math.max(0, block.cutAfter - after));
        continue;
      }
      if (block === undefined || block.number <= after) continue;
      if (block.number !== after + blocks.length + 1) return blocks;
      blocks.push(block);
    }
  }
  return blocks;
}

/** Forgets all blocks: the chain begins anew. */
export function removeBlockLog(folder: string): void {
  for (const { name } of listFiles(folder)) rmSync(join(folder, name));
}

function parseLine(line: string): LoggedBlock | { readonly cutAfter: number } | undefined {
  try {
    return JSON.parse(line) as ReturnType<typeof parseLine>;
  } catch {
    return undefined;
  }
}

function listFiles(folder: string): { readonly name: string; readonly first: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const first = FILE.exec(name)?.[1];
      return first === undefined ? [] : [{ name, first: Number(first) }];
    })
    .toSorted((a, b) => a.first - b.first);
}
