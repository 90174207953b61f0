import { rmSync } from "node:fs";
import { join } from "node:path";
import { removeBlockLog } from "./blockLog.ts";

/** Returns where in its folder a chain's state and its history lie; the log of the blocks since is beside them. */
export function chainFilesIn(folder: string): { readonly stateFile: string; readonly historyFile: string } {
  return { stateFile: join(folder, "state.json"), historyFile: join(folder, "history.sqlite") };
}

/** Removes all that a folder holds of a chain. */
export function removeChainFiles(folder: string): void {
  const { stateFile, historyFile } = chainFilesIn(folder);
  for (const file of [stateFile, historyFile, `${historyFile}-wal`, `${historyFile}-shm`])
    rmSync(file, { force: true });
  removeBlockLog(folder);
}
