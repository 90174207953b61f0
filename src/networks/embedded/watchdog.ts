import { openUnixSocket } from "../../evm/connection.ts";
import { repeat } from "../../lib/repeat.ts";
import { EmbeddedChainError } from "./anvil.ts";

const PROBE_INTERVAL_MS = 1_000;
/** A block of 120 million gas takes Anvil a second or two. */
const PROBE_TIMEOUT_MS = 2_500;
/** Probes without an answer in a row. Several, so that a stop of the service itself, which they can't see, doesn't count. */
const MAX_MISSED = 4;

/**
 * Asks Anvil again and again for its newest block, on a connection of its own.
 *
 * @param options.isWatching whether it should answer at all.
 * @param options.onHung told when it has not answered for about 10 seconds: it is stopped, swaps, or waits for itself.
 * @returns a stop.
 */
export function startWatchdog(options: {
  readonly ipcPath: string;
  readonly isWatching: () => boolean;
  readonly onHung: (error: EmbeddedChainError) => void;
}): () => void {
  const { ipcPath, isWatching, onHung } = options;
  const connection = openUnixSocket(ipcPath, PROBE_TIMEOUT_MS);
  let missed = 0;
  const probe = async (): Promise<void> => {
    if (!isWatching()) {
      missed = 0;
      return;
    }
    const beganMs = performance.now();
    try {
      await connection.request("eth_blockNumber", []);
      missed = 0;
    } catch {
      // A refused connection is no silence: the process has ended, and whoever waits for it knows.
      missed = performance.now() - beganMs < PROBE_TIMEOUT_MS ? 0 : missed + 1;
    }
    if (missed < MAX_MISSED || !isWatching()) return;
    missed = 0;
    onHung(
      new EmbeddedChainError(
        `Anvil has not answered for ${(MAX_MISSED * PROBE_TIMEOUT_MS) / 1000} seconds; it is started again`,
      ),
    );
  };
  const stop = repeat(probe, PROBE_INTERVAL_MS, () => {});
  return () => {
    stop();
    connection.close();
  };
}
