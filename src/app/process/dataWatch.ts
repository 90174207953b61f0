import { stat } from "node:fs/promises";
import { join } from "node:path";
import { TycheError } from "../../lib/errors.ts";
import { repeat } from "../../lib/repeat.ts";

/** Anything written within this time may go to files that are already lost. */
const LOOK_INTERVAL_MS = 500;

/** Names of the files that hold the database: what SQLite keeps beside it belongs to it. */
export const DATABASE_FILES: readonly string[] = ["tyche.sqlite", "tyche.sqlite-wal", "tyche.sqlite-shm"];

/** A chain's folder, and what to do when it is gone. */
export interface WatchedChain {
  readonly folder: string;
  readonly onGone: (error: TycheError) => void;
}

/**
 * Checks periodically that the files the service writes to are still the ones in the data directory: a folder that was removed or
 * replaced accepts writes without an error, and all of them are lost with the process.
 *
 * @param options.files names of files in the directory that must remain.
 * @param options.onFatal called once, with one sentence, when the directory or one of the files is gone.
 * @returns a function that stops the checks.
 */
export async function watchData(options: {
  readonly directory: string;
  readonly files: readonly string[];
  readonly chains: readonly WatchedChain[];
  readonly onFatal: (message: string) => void;
}): Promise<() => void> {
  const { directory, chains, onFatal } = options;
  const paths = [directory, ...options.files.map((name) => join(directory, name))];
  const before = new Map<string, string | undefined>();
  for (const path of [...paths, ...chains.map(({ folder }) => folder)])
    before.set(path, await identify(path));
  const isGone = async (path: string): Promise<boolean> => (await identify(path)) !== before.get(path);
  const goneChains = new Set<string>();

  const stop = repeat(
    async () => {
      for (const path of paths) {
        if (!(await isGone(path))) continue;
        stop();
        onFatal(`${path} was removed or replaced while the service was running`);
        return;
      }
      for (const { folder, onGone } of chains) {
        if (goneChains.has(folder) || !(await isGone(folder))) continue;
        goneChains.add(folder);
        onGone(
          new TycheError(
            `${folder} was removed or replaced while the service was running, so this chain can no longer be stored; stop the service, put the folder back from a backup, and start again`,
            { code: "chain_unavailable", blame: "us" },
          ),
        );
      }
    },
    LOOK_INTERVAL_MS,
    () => {},
  );
  return stop;
}

/** Returns what distinguishes a file from another one of the same name; `undefined` if there is none. */
async function identify(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path);
    return `${dev} ${ino}`;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
