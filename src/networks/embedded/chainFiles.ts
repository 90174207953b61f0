import { join } from "node:path";

/** Returns the paths of a chain's state and history in its folder; the log of the blocks since is next to them. */
export function chainFilesIn(folder: string): { readonly stateFile: string; readonly historyFile: string } {
  return { stateFile: join(folder, "state.json"), historyFile: join(folder, "history.sqlite") };
}
