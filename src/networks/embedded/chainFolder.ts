import { linkSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findDamage } from "../../lib/databaseCheck.ts";
import { messageOf } from "../../lib/errors.ts";
import { setAside } from "../../lib/setAside.ts";
import { EmbeddedChainError } from "./anvil.ts";
import { chainFilesIn } from "./chainFiles.ts";
import { findStateDamage, previousOf } from "./stateFile.ts";

/** What is looked through at a start without a thought: at about 1 GB/s. */
const MAX_CHECKED_HISTORY_BYTES = 500 * 2 ** 20;

/** What a start has found in a chain's folder. */
export interface ChainFolder {
  /** Whether there is a state to go on from; otherwise the folder is empty. */
  readonly hasState: boolean;
  /** What was damaged and what has become of it, a sentence each, for whoever runs the service. */
  readonly findings: readonly string[];
}

/**
 * Makes a chain's folder ready for a start. Nothing is deleted: what is damaged, or of a chain that the database does not know, is set
 * aside under a name beside it. A damaged state is replaced by the one before, which the block log leads on from.
 *
 * @param isKnown whether the database knows a chain here.
 * @throws {EmbeddedChainError} when something can't be read or moved; the sentence names it.
 */
export function prepareChainFolder(folder: string, isKnown: boolean): ChainFolder {
  const findings: string[] = [];
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats?.isDirectory() === false)
      findings.push(`${folder} was no folder and is now ${setAside(folder)}`);
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
      `${folder} can't be used (${messageOf(error)}); mend that, and start the service again`,
      error,
    );
  }
}

/** Sets the whole folder aside and makes an empty one; gives back the new path of what it held. */
export function renew(folder: string): string {
  const aside = setAside(folder);
  mkdirSync(folder, { mode: 0o700 });
  return aside;
}

/** Whether there is a whole state, the one before included. */
function hasState(folder: string, findings: string[]): boolean {
  const { stateFile } = chainFilesIn(folder);
  const damage = findStateDamage(stateFile);
  if (damage === undefined) return true;
  const previous = previousOf(stateFile);
  if (findStateDamage(previous) !== undefined) {
    const aside = readdirSync(folder).length === 0 ? "nothing" : renew(folder);
    findings.push(
      `${stateFile} can't be used (${damage}), and there is none before it: the chain is lost, a new one has begun, and what is left of it is ${aside}; ` +
        "to have it back, stop the service, and put chain and database of one moment back from a backup",
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
    "transactions and logs of older blocks can't be looked up any more, nor results in them verified";
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

/** Moves a folder away where a file belongs. */
function setFolderAside(path: string, findings: string[]): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    findings.push(`${path} was a folder and is now ${setAside(path)}`);
}
