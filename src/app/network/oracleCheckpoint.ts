import type { NetworkChain } from "../../networks/network.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { repeat } from "../../lib/repeat.ts";
import { findOracleCheckpoint, saveOracleCheckpoint } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";

/** Interval between saved checkpoints; a start rereads everything after the last one. */
const INTERVAL_MS = 5_000;
/** How long saving the last one may take: without it the next start reads a few more blocks. */
const LAST_MS = 2_000;

/** Returns the first block that may hold a request that the oracle in this process has not answered. */
export async function findFirstUnanswered(
  { client, deployment, isNew }: Pick<NetworkChain, "client" | "deployment" | "isNew">,
  { store, network }: { readonly store: Store; readonly network: string },
): Promise<bigint> {
  const noted = isNew ? undefined : await findOracleCheckpoint(store.db, network);
  // A power cut may have lost blocks with answers; the requests they answered are then pending again.
  const isKept = noted !== undefined && (await client.getHead(noted.head.number))?.hash === noted.head.hash;
  return isKept ? noted.blockNumber : BigInt(deployment.blockNumber);
}

/**
 * Records up to which block the oracle in this process has answered everything, so that the next start need not read the whole chain.
 *
 * @returns a function that records it once more and ends.
 */
export function keepOracleCheckpoint(options: {
  readonly network: string;
  readonly client: NetworkChain["client"];
  readonly store: Store;
  readonly status: () => OracleNetworkStatus;
  readonly onError: (error: unknown) => void;
}): () => Promise<void> {
  const { network, client, store, onError } = options;
  const keep = async (): Promise<void> => {
    const { caughtUp, checkpoint } = options.status();
    // Read after the status: every answer that it counts is in this block or an earlier one.
    const head = caughtUp ? await client.getHead("latest") : undefined;
    if (head !== undefined) await saveOracleCheckpoint(store.db, network, { blockNumber: checkpoint, head });
  };
  const stop = repeat(keep, INTERVAL_MS, onError);
  return async () => {
    stop();
    await withDeadline(keep(), LAST_MS).catch(onError);
  };
}
