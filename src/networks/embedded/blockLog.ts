import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Hex } from "viem";
import { flushFile } from "../../lib/flushFile.ts";
import { shareFlush } from "../../lib/sharedFlush.ts";

/** All that it takes to mine a block again: the same transactions at the same time give the same hash. */
export interface LoggedBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Signed transactions in their order. */
  readonly transactions: readonly Hex[];
}

/** The blocks since the stored state of a chain, and since the one before it, on disk before anybody is told of them. */
export interface BlockLog {
  /** Writes a block down: it outlives this process. */
  append(block: LoggedBlock): void;
  /** Resolves when what was appended before the call is on the disk itself: it outlives a power cut. Calls that come together share a flush. */
  flush(): Promise<void>;
  /** The blocks after this one have been taken back. */
  cutAfter(block: number): void;
  /**
   * Begins a new file: all blocks up to now are in a state that has been stored. Files from before the state that was stored before it
   * are removed.
   */
  startAfter(block: number): void;
  close(): void;
}

const FILE = /^blocks-(\d+)\.log$/;

/**
 * Opens a chain's log to write; each block is one line: JSON, a tab and the CRC-32 of the JSON, 8 hex digits.
 *
 * @param after the chain's newest block.
 * @param stored block of the stored state; default: the same.
 */
export function openBlockLog(folder: string, after: number, stored = after): BlockLog {
  const open = (first: number, flags: "a" | "w"): number => {
    const file = openSync(join(folder, `blocks-${first}.log`), flags, 0o600);
    // An earlier process may have left half a line.
    if (fstatSync(file).size > 0) writeSync(file, "\n");
    return file;
  };
  const write = (entry: object): void => {
    const json = JSON.stringify(entry);
    writeSync(file, `${json}\t${checksumOf(json)}\n`);
    isFlushed = false;
  };
  let file = open(after + 1, "a");
  let firstKept = stored + 1;
  let isFlushed = true;
  const flushes = shareFlush(() => {
    isFlushed = true;
    return flushFile(file).catch((error: unknown) => {
      isFlushed = false;
      throw error;
    });
  });
  const closeFile = (): void => {
    const closed = file;
    void Promise.allSettled([flushes.underWay()]).then(() => closeSync(closed));
  };
  return {
    append: write,
    flush: () => (isFlushed ? (flushes.underWay() ?? Promise.resolve()) : flushes.run()),
    cutAfter: (block) => write({ cutAfter: block }),
    startAfter(block) {
      closeFile();
      // What is in there, or in files of later blocks, somebody took back.
      file = open(block + 1, "w");
      for (const { name, first } of listFiles(folder)) {
        const isKept = first === block + 1 || (first >= firstKept && first <= block);
        if (!isKept) rmSync(join(folder, name));
      }
      firstKept = block + 1;
    },
    close: closeFile,
  };
}

/** The blocks that a log holds after some block. */
export interface BlockLogContent {
  /** Without a gap. */
  readonly blocks: readonly LoggedBlock[];
  /** Where the log does not go on although it should: blocks that were logged are not among these. Half a last line is no damage. */
  readonly damage?: BlockLogDamage;
}

/** A place where a log is damaged. */
export interface BlockLogDamage {
  /** Path of the file. */
  readonly file: string;
  /** What is wrong, in a few words. */
  readonly problem: string;
}

/** Reads the logged blocks that follow a block, up to the first gap; half a line is none. */
export function readBlockLog(folder: string, after: number): BlockLogContent {
  const blocks: LoggedBlock[] = [];
  let damage: BlockLogDamage | undefined;
  const files = listFiles(folder);
  // Files before the last that begins by the block after it are of an earlier state.
  const start = files.findLastIndex(({ first }) => first <= after + 1);
  for (const { name, first } of files.slice(Math.max(0, start))) {
    const file = join(folder, name);
    // Whoever began this file had no block from its first on.
    blocks.splice(Math.max(0, first - after - 1));
    // It was begun where the damage had left the chain: that has been dealt with.
    if (first === after + blocks.length + 1) damage = undefined;
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    let damagedLine: number | undefined;
    let hasEntries = false;
    for (const [i, line] of lines.entries()) {
      if (line === "") continue;
      const entry = parseLine(line);
      if (entry === undefined) {
        damagedLine = i + 1;
        // Half a line of a process that died, which the next one ended, stands in a file without a whole one.
        if (i === lines.length - 1 && hasEntries) damage ??= { file, problem: `line ${i + 1} is damaged` };
        continue;
      }
      hasEntries = true;
      if ("cutAfter" in entry) {
        // The stored state itself was taken back: what follows was mined on another one.
        if (entry.cutAfter < after) return { blocks: [] };
        blocks.splice(entry.cutAfter - after);
        continue;
      }
      if (entry.number <= after) continue;
      const next = after + blocks.length + 1;
      if (entry.number !== next) {
        const problem =
          damagedLine === undefined ? `block ${next} is missing` : `line ${damagedLine} is damaged`;
        damage ??= { file, problem };
        break;
      }
      blocks.push(entry);
    }
  }
  return { blocks, ...(damage === undefined ? {} : { damage }) };
}

function parseLine(line: string): LoggedBlock | { readonly cutAfter: number } | undefined {
  const [json = "", checksum] = line.split("\t");
  try {
    // Lines from before there were checksums have none.
    if (checksum === undefined || checksum === checksumOf(json))
      return JSON.parse(json) as ReturnType<typeof parseLine>;
  } catch {
    // Damaged.
  }
  return undefined;
}

function checksumOf(json: string): string {
  return crc32(json).toString(16).padStart(8, "0");
}

function listFiles(folder: string): { readonly name: string; readonly first: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const first = FILE.exec(name)?.[1];
      const isFile = first !== undefined && statSync(join(folder, name)).isFile();
      return isFile ? [{ name, first: Number(first) }] : [];
    })
    .toSorted((a, b) => a.first - b.first);
}
