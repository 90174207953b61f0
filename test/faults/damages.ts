import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/** Ways to damage a file while the service is stopped. */
export const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  missing: (file) => rmSync(file),
  empty: (file) => truncateSync(file, 0),
  truncated: (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  flipped: (file) => {
    const bytes = readFileSync(file);
    // A whole stretch in the middle: a single byte may hit something unused.
    const middle = Math.floor(bytes.length / 2);
    for (let i = middle; i < Math.min(bytes.length, middle + 64); i += 1) bytes[i]! ^= 0xff;
    writeFileSync(file, bytes);
  },
  unreadable: (file) => chmodSync(file, 0o000),
  folder: (file) => {
    rmSync(file);
    mkdirSync(file);
    writeFileSync(path.join(file, "own"), "own");
  },
};

/** Files that each data directory contains, as relative paths; `*` stands for the one file that matches. */
export const FILES = [
  "tyche.sqlite",
  "tyche-data",
  "master-key",
  "api-key",
  "operator-token",
  "chains/fuji/state.json",
  "chains/fuji/state.previous.json",
  "chains/fuji/history.sqlite",
  "chains/fuji/blocks-*.log",
] as const;

/** Additional files that a killed service leaves, with data that isn't in the others yet. */
export const FILES_OF_KILLED = ["tyche.sqlite-wal"] as const;

/** Returns the file that a name of {@link FILES} refers to; `undefined` if there is none. */
export function findFile(dataDir: string, name: string): string | undefined {
  const [before, after] = name.split("*");
  if (after === undefined) return existsSync(path.join(dataDir, name)) ? path.join(dataDir, name) : undefined;
  const folder = path.join(dataDir, path.dirname(name));
  const found = readdirSync(folder)
    .toSorted()
    .findLast((entry) => entry.startsWith(path.basename(before!)) && entry.endsWith(after));
  return found && path.join(folder, found);
}

/** Returns every file below a folder, with its contents in hexadecimal. */
export function readAll(folder: string): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => path.join(folder, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => [path.relative(folder, file), readFileSync(file, "hex")]),
  );
}
