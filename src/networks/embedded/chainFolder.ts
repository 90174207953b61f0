import { linkSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findDamage } from "../../lib/databaseCheck.ts";
import { messageOf } from "../../lib/errors.ts";
import { setAside } from "../../lib/setAside.ts";
import { EmbeddedChainError } from "./anvil.ts";
import { chainFilesIn } from "./chainFiles.ts";
import { findStateDamage, previousOf } from "./stateFile.ts";

/** Largest history that is checked at every start: the check runs at about 1 GB/s. */
const MAX_CHECKED_HISTORY_BYTES = 500 * 2 ** 20;

/** What a start found in a chain's folder. */
export interface ChainFolder {
  /** Whether there is a state to continue from; otherwise the folder is empty. */
  readonly hasState: boolean;
  /** What was damaged and what became of it, one sentence each, for the operator. */
  readonly findings: readonly string[];
}

/**
 * Prepares a chain's folder for a start. Nothing is deleted: files that are damaged, or that belong to a chain the database does not
 * know, are set aside under another name next to it. A damaged state is replaced by the previous one, from which the block log leads
 * on.
 *
 * @param isKnown whether the database knows a chain here.
 * @throws {EmbeddedChainError} when something can't be read or moved; the message names it.
 */
export function prepareChainFolder(folder: string, isKnown: boolean): ChainFolder {
  const findings: string[] = [];
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory() === false)
      findings.push(`${folder} was not a folder and is now ${setAside(folder)}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const names = readdirSync(folder);
    for (const name of names)
      if (/^anvil\.pid$|^blocks-\d+\.log$/.test(name)) setFolderAside(join(folder, name), findings);
    const hasFiles = names.some((name) => name !== "anvil.pid");
    if (!isKnown) {
      if (hasFiles)
        findings.push(
          `${folder} held a chain that the database does not know; it is now ${renew(folder)}, and a new chain has begun`,
        );
      return { hasState: false, findings };
    }
    if (!hasState(folder, findings)) return { hasState: false, findings };
    checkHistory(folder, findings);
    return { hasState: true, findings };
  } catch (error) {
    throw new EmbeddedChainError(
      `${folder} can't be used (${messageOf(error)}); fix that, and start the service again`,
      error,
    );
  }
}

/** Sets the whole folder aside and creates an empty one; returns the new path of the old contents. */
export function renew(folder: string): string {
  const aside = setAside(folder);
  mkdirSync(folder, { mode: 0o700 });
  return aside;
}

/** Whether there is an intact state, counting the previous one. */
function hasState(folder: string, findings: string[]): boolean {
  const { stateFile } = chainFilesIn(folder);
  const damage = findStateDamage(stateFile);
  if (damage === undefined) return true;
  const previous = previousOf(stateFile);
  if (findStateDamage(previous) !== undefined) {
    const aside = readdirSync(folder).length === 0 ? "nothing" : renew(folder);
    findings.push(
      `${stateFile} can't be used (${damage}), and there is no earlier one: the chain is lost, a new one has begun, and its remains are ${aside}; ` +
        "to recover it, stop the service, and restore the chain and the database from the same backup",
    );
    return false;
  }
  const aside = damage === "it is missing" ? "" : `; the damaged one is now ${setAside(stateFile)}`;
  linkSync(previous, stateFile);
  findings.push(
    `${stateFile} could not be used (${damage}): the chain was rebuilt from the state before it and the block log${aside}`,
  );
  return true;
}

function checkHistory(folder: string, findings: string[]): void {
  const { historyFile } = chainFilesIn(folder);
  const files = [historyFile, `${historyFile}-wal`, `${historyFile}-shm`];
  const stats = statSync(historyFile, { throwIfNoEntry: false });
  const isFolder = files.some((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() === true);
  const lost =
    "transactions and logs of older blocks can no longer be looked up, and results in them can no longer be verified";
  if (stats === undefined) {
    findings.push(`${historyFile} is missing: ${lost}`);
    return;
  }
  const damage = isFolder
    ? "a folder is in its place"
    : stats.size === 0
      ? "it is empty"
      : stats.size > MAX_CHECKED_HISTORY_BYTES
        ? undefined
        : findDamage(historyFile);
  if (damage === undefined) return;
  const [aside] = files.flatMap((file) =>
    statSync(file, { throwIfNoEntry: false }) === undefined ? [] : [setAside(file)],
  );
  findings.push(`${historyFile} was damaged (${damage}) and is now ${aside}: ${lost}`);
}

/** Sets a folder aside that is in the place of a file. */
function setFolderAside(path: string, findings: string[]): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    findings.push(`${path} was a folder and is now ${setAside(path)}`);
}
