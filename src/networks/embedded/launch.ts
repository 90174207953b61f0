import { existsSync } from "node:fs";
import { BrokenConnectionError, type Connection } from "../../evm/connection.ts";
import { type AnvilOptions, type AnvilProcess, startAnvil } from "./process/anvil.ts";
import { readBlock } from "./recorder.ts";
import { restoreChain, storeLogged, type RestoredChain, type RestoreOptions } from "./replay.ts";

/** An Anvil process that has the chain. */
export interface LaunchedAnvil extends AnvilProcess {
  /** What it was restored from, and its head. */
  readonly restored: RestoredChain;
  /** Returns the memory that it has taken since it loaded the stored state, in KiB. */
  growthKilobytes(): number;
}

/**
 * Creates what starts an Anvil process with the state and the log in a chain's folder, or with a new chain.
 *
 * @param options.connection to the process; reopened when that is replaced.
 * @param options.maxGrowthKilobytes by which a process may grow: one whose blocks take more than half of that is replaced on the way.
 */
export function createAnvilLauncher(options: {
  readonly anvil: Omit<AnvilOptions, "onExit" | "keptTransactionBlocks"> & {
    readonly onOutOfMemory: () => void;
  };
  readonly connection: Connection;
  readonly stored: Omit<RestoreOptions, "isFull" | "keptBlocks">;
  readonly maxGrowthKilobytes: number;
  readonly onError: (error: unknown) => void;
}): (onExit: () => void) => Promise<LaunchedAnvil> {
  const { connection, stored, maxGrowthKilobytes, onError } = options;
  const { onOutOfMemory, ...settings } = options.anvil;

  const start = (onExit: () => void, keptTransactionBlocks?: number): Promise<AnvilProcess> =>
    startAnvil({
      ...settings,
      ...(keptTransactionBlocks === undefined ? {} : { keptTransactionBlocks }),
      onExit(isOutOfMemory) {
        if (isOutOfMemory) onOutOfMemory();
        onExit();
      },
    });
  /** It would print a line for each request and six for each transaction, which nobody reads. */
  const silence = (): Promise<unknown> => connection.request("anvil_setLoggingEnabled", [false]);

  /** @param mayStore whether a process that is full after some blocks may be replaced; otherwise it has to take all of them. */
  const launch = async (onExit: () => void, mayStore: boolean): Promise<LaunchedAnvil> => {
    const anvil = await start(onExit);
    try {
      // A line that was opened just before the process listened breaks once.
      await silence().catch(async (error: unknown) => {
        if (!(error instanceof BrokenConnectionError)) throw error;
        await silence();
      });
      const before = anvil.residentKilobytes();
      const growthKilobytes = (): number => anvil.residentKilobytes() - before;
      // Half of it, so that the blocks that filled one process leave room in the next.
      const isFull = (): boolean => mayStore && growthKilobytes() > maxGrowthKilobytes / 2;
      const restored = existsSync(stored.stateFile)
        ? await restoreChain(connection, { ...stored, isFull })
        : { stored: -1, head: (await readBlock(connection, "latest"))!, isFull: false };
      if (!restored.isFull) return { ...anvil, restored, growthKilobytes };
    } catch (error) {
      await anvil.close();
      throw error;
    }
    await anvil.close();
    const restart = (keptBlocks: number) => start(() => {}, keptBlocks);
    const isStored = await storeLogged(connection, { ...stored, start: restart }).then(
      () => true,
      (error: unknown) => {
        onError(error);
        return false;
      },
    );
    return launch(onExit, isStored);
  };
  return (onExit) => launch(onExit, true);
}
