import type { OracleNodeView } from "../../api/types.ts";
import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { shareRunning } from "../../lib/memo.ts";
import { readNodeStates, type NodeState } from "../../networks/external/nodeStates.ts";
import { readNodeSet } from "../../oracle/node/nodeSet.ts";

/** Anyone may ask, so the nodes are queried at most this often. */
const FRESH_MS = 10_000;

/** Callers get an answer within two seconds, even if a node hangs. */
const WAIT_MS = 1_500;

export interface WatchNodesOptions {
  readonly client: Pick<ChainClient, "call" | "getLogs" | "request">;
  /** The FunctionsCoordinator contract. */
  readonly coordinator: Hex;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** How long to wait for the first reading. Default 1,500 ms. */
  readonly waitMs?: number;
}

/** Returns the nodes' recent state; empty for an oracle that holds all keys, `undefined` while it is not known. */
export type NodeWatch = () => Promise<readonly OracleNodeView[] | undefined>;

/**
 * Creates a watch on the state of several operators' nodes, from the coordinator's current configuration. Callers wait only for the
 * first reading; later ones get the last reading while the next is in flight.
 */
export function watchNodes(options: WatchNodesOptions): NodeWatch {
  const { client, coordinator, signal, onError, waitMs = WAIT_MS } = options;
  let latest: readonly OracleNodeView[] | undefined;
  let readAt = -Infinity;
  const refresh = shareRunning(async () => {
    try {
      const { urls, signers, transmitters } = await readNodeSet(client, coordinator);
      const nodes = urls.map((url, index) => ({
        url,
        signer: signers[index]!,
        transmitter: transmitters[index]!,
      }));
      latest = (await readNodeStates(nodes, signal)).map(toView);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    readAt = performance.now();
  });
  return async () => {
    if (performance.now() - readAt <= FRESH_MS || signal.aborted) return latest;
    const refreshing = refresh();
    if (latest === undefined) await withDeadline(refreshing, waitMs).catch(() => {});
    return latest;
  };
}

function toView({ url, signer, transmitter, isMember, ...state }: NodeState): OracleNodeView {
  const { lastSeen, agreementRate, lastTransmission, accusers } = state;
  return {
    url,
    signer,
    transmitter,
    answers: isMember,
    ...(lastSeen === undefined ? {} : { lastSeen }),
    ...(agreementRate === undefined ? {} : { agreementRate }),
    ...(lastTransmission === undefined ? {} : { lastTransmission }),
    accusers,
  };
}
