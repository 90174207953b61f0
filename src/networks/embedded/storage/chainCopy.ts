import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, backup } from "node:sqlite";

/** Copies all pages in one step, which reads a single snapshot. */
const ALL_PAGES = 2 ** 31 - 1;
const STATE = "state.json";
const HISTORY = "history.sqlite";
const STATES = [STATE, "state.previous.json"];
const LOG = /^blocks-\d+\.log$/;
/** A busy chain stores its state every few seconds, and a copy of it takes less. */
const MAX_ATTEMPTS = 20;

/** Whether a chain's folder keeps a file of this name for good. */
export function isChainFile(name: string): boolean {
  return name === HISTORY || STATES.includes(name) || LOG.test(name);
}

/**
 * Copies what embedded chains keep on disk while they run: each copy is the chain as of one of its blocks.
 *
 * The block log is copied last, since it is written first: a block is in the log before the history has it, and before a stored state
 * includes it. A state that is stored meanwhile removes logs, so the copy of that chain starts over.
 *
 * @param chains folders of chains, and new folders for their copies.
 */
export async function copyChains(
  chains: readonly { readonly from: string; readonly to: string }[],
): Promise<void> {
  const copied = new Map<string, string>();
  for (let attempt = 1; ; attempt += 1) {
    for (const { from, to } of chains) {
      const identity = identify(from);
      if (copied.get(from) === identity) continue;
      await copyStored(from, to);
      copied.set(from, identity);
    }
    // All logs within milliseconds of each other, so that they fit the same database.
    for (const { from, to } of chains) copyLogs(from, to);
    if (chains.every(({ from }) => copied.get(from) === identify(from))) return;
    if (attempt === MAX_ATTEMPTS)
      throw new Error("the chains store their states faster than they can be copied");
  }
}

async function copyStored(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of STATES) copyIfThere(join(from, name), join(to, name));
  if (!existsSync(join(from, HISTORY))) return;
  const history = new DatabaseSync(join(from, HISTORY), { readOnly: true, timeout: 5_000 });
  try {
    await backup(history, join(to, HISTORY), { rate: ALL_PAGES });
  } finally {
    history.close();
  }
}

function copyLogs(from: string, to: string): void {
  for (const name of readdirSync(from)) if (LOG.test(name)) copyIfThere(join(from, name), join(to, name));
}

/** A file may be removed, or replaced, between any two calls. */
function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Returns a text that changes when a state is stored. */
function identify(folder: string): string {
  const stats = statSync(join(folder, STATE), { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "none" : `${stats.ino} ${stats.mtimeNs}`;
}
