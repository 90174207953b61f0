import { openUnixSocket } from "../../../evm/connection.ts";
import { repeat } from "../../../lib/repeat.ts";
import { EmbeddedChainError } from "./anvil.ts";

const PROBE_INTERVAL_MS = 1_000;
/** A block of 120 million gas takes Anvil a second or two. */
const PROBE_TIMEOUT_MS = 2_500;
/**
 * Consecutive probes without an answer. More than one, so that a pause of the service itself, which the probes can't detect,
 * doesn't count.
 */
const MAX_MISSED = 4;

/**
 * Polls Anvil for its newest block, on a connection of its own.
 *
 * @param options.isWatching whether Anvil should answer at all.
 * @param options.onHung called when Anvil has not answered for about 10 seconds: it is stopped, swapping, or deadlocked.
 * @returns a function that stops it.
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
      // A refused connection doesn't count: the process has died, and the supervisor knows.
      missed = performance.now() - beganMs < PROBE_TIMEOUT_MS ? 0 : missed + 1;
    }
    if (missed < MAX_MISSED || !isWatching()) return;
    missed = 0;
    onHung(
      new EmbeddedChainError(
        `Anvil has not answered for ${(MAX_MISSED * PROBE_TIMEOUT_MS) / 1000} seconds; restarting it`,
      ),
    );
  };
  const stop = repeat(probe, PROBE_INTERVAL_MS, () => {});
  return () => {
    stop();
    connection.close();
  };
}
