import type { ChainClient } from "../../evm/client.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { repeat } from "../../lib/repeat.ts";
import {
  findOracleCheckpoint,
  saveOracleCheckpoint,
  type OracleCheckpoint,
} from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";

/** Interval between saved checkpoints; a start rereads everything after the last one. */
const INTERVAL_MS = 5_000;
/** How long saving the last one may take: without it the next start reads a few more blocks. */
const LAST_MS = 2_000;

interface CheckpointedNetwork {
  readonly name: string;
  readonly client: Pick<ChainClient, "getHead">;
  readonly store: Store;
}

/** Returns up to which block the oracle has answered everything; `undefined` if that isn't known, or the chain has lost the block by which it is. */
export async function findAnsweredBlock(network: CheckpointedNetwork): Promise<bigint | undefined> {
  const noted = await findOracleCheckpoint(network.store.db, network.name);
  if (noted === undefined) return undefined;
  // A power cut may have lost blocks with answers; the requests they answered are then pending again.
  const isKept = (await network.client.getHead(noted.head.number))?.hash === noted.head.hash;
  return isKept ? noted.blockNumber : undefined;
}

/**
 * Records up to which block the oracle in this process has answered everything, so that the next start need not read the whole chain.
 *
 * @param read returns what to record; `undefined` while the oracle hasn't caught up.
 * @returns a function that records it once more and ends.
 */
export function keepOracleCheckpoint(
  { name, store }: CheckpointedNetwork,
  read: () => Promise<OracleCheckpoint | undefined>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const keep = async (): Promise<void> => {
    const checkpoint = await read();
    if (checkpoint !== undefined) await saveOracleCheckpoint(store.db, name, checkpoint);
  };
  const stop = repeat(keep, INTERVAL_MS, onError);
  return async () => {
    stop();
    await withDeadline(keep(), LAST_MS).catch(onError);
  };
}
