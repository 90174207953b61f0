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
import { flushFile, shareFlush } from "../../../lib/flushFile.ts";

/** Everything needed to mine a block again: the same transactions at the same time give the same hash. */
export interface LoggedBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Signed transactions in block order. */
  readonly transactions: readonly Hex[];
}

/** The blocks since a chain's stored state and since the state before it, persisted before they are announced. */
export interface BlockLog {
  /** Writes a block to the log: it survives a crash of this process. */
  append(block: LoggedBlock): void;
  /** Resolves when everything appended before the call is flushed to disk and survives a power cut. Concurrent calls share a flush. */
  flush(): Promise<void>;
  /** Records that the blocks after this one have been removed by a reorg. */
  cutAfter(block: number): void;
  /** Starts a new file: the stored state includes all blocks so far. Removes files older than the previously stored state. */
  startAfter(block: number): void;
  close(): void;
}

const FILE = /^blocks-(\d+)\.log$/;

/**
 * Opens a chain's log for writing. Each block is one line: JSON, a tab and the CRC-32 of the JSON as 8 hex digits.
 *
 * @param after the chain's newest block.
 * @param stored block of the stored state; defaults to `after`.
 */
export function openBlockLog(folder: string, after: number, stored = after): BlockLog {
  const open = (first: number, flags: "a" | "w"): number => {
    const file = openSync(join(folder, `blocks-${first}.log`), flags, 0o600);
    // An earlier process may have left a partial line.
    if (fstatSync(file).size > 0) writeSync(file, "\n");
    return file;
  };
  const write = (entry: object): void => {
    const json = JSON.stringify(entry);
    const line = Buffer.from(`${isTorn ? "\n" : ""}${json}\t${checksumOf(json)}\n`);
    // A full disk may take a part of the line: the next one must not continue it.
    isTorn = true;
    const written = writeSync(file, line);
    if (written < line.length)
      throw new Error(`only ${written} of ${line.length} bytes of the block log could be written`);
    isTorn = false;
    isFlushed = false;
  };
  let file = open(after + 1, "a");
  let firstKept = stored + 1;
  let isFlushed = true;
  let isTorn = false;
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
      // Blocks in this file, or in files of later blocks, have been removed from the chain.
      file = open(block + 1, "w");
      isTorn = false;
      for (const { name, first } of listFiles(folder)) {
        const isKept = first === block + 1 || (first >= firstKept && first <= block);
        if (!isKept) rmSync(join(folder, name));
      }
      firstKept = block + 1;
    },
    close: closeFile,
  };
}

/** The blocks that a log holds after a given block. */
export interface BlockLogContent {
  /** Contiguous. */
  readonly blocks: readonly LoggedBlock[];
  /**
   * Where the log breaks off although it should continue: blocks that were logged are missing from `blocks`. A partial last line is not damage.
   */
  readonly damage?: BlockLogDamage;
}

/** A place where a log is damaged. */
export interface BlockLogDamage {
  /** Path of the file. */
  readonly file: string;
  /** What is wrong, in a few words. */
  readonly problem: string;
}

/** Reads the logged blocks that follow a block, up to the first gap; a partial last line is not a gap. */
export function readBlockLog(folder: string, after: number): BlockLogContent {
  const blocks: LoggedBlock[] = [];
  let damage: BlockLogDamage | undefined;
  const files = listFiles(folder);
  // Files before the last one with `first` up to `after + 1` belong to an earlier state.
  const start = files.findLastIndex(({ first }) => first <= after + 1);
  for (const { name, first } of files.slice(Math.max(0, start))) {
    const file = join(folder, name);
    // The process that started this file had no block numbered `first` or higher.
    blocks.splice(Math.max(0, first - after - 1));
    // The file starts where the damage left the chain: the damage has been dealt with.
    if (first === after + blocks.length + 1) damage = undefined;
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    let damagedLine: number | undefined;
    let hasEntries = false;
    for (const [i, line] of lines.entries()) {
      if (line === "") continue;
      const entry = parseLine(line);
      if (entry === undefined) {
        damagedLine = i + 1;
        // A partial line that a dead process left and the next one ended is in a file that has no whole line.
        if (i === lines.length - 1 && hasEntries) damage ??= { file, problem: `line ${i + 1} is damaged` };
        continue;
      }
      hasEntries = true;
      if ("cutAfter" in entry) {
        // The stored state itself was removed by a reorg: what follows was mined on top of another one.
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
    // Lines written before checksums were introduced have none.
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
