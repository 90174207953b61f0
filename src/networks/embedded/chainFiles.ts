import { join } from "node:path";

/** Returns where in its folder a chain's state and its history lie; the log of the blocks since is beside them. */
export function chainFilesIn(folder: string): { readonly stateFile: string; readonly historyFile: string } {
  return { stateFile: join(folder, "state.json"), historyFile: join(folder, "history.sqlite") };
}
