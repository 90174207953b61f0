import type { NetworkView, RequestView, StateChange } from "../api/types.ts";
import type { RequestRecord, TimelineEntry } from "../requests/service.ts";

/** Returns a stored request as the API shows it. */
export function viewRequest(
  record: RequestRecord,
  options: {
    readonly network: NetworkView | undefined;
    readonly statusUrl: string;
  },
): RequestView {
  return {
    id: record.id,
    kind: record.kind,
    network: record.network,
    params: record.params as Record<string, unknown>,
    state: record.state,
    why: record.why,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    ...(record.payloadDeletedAt === undefined
      ? {}
      : { payloadDeletedAt: new Date(record.payloadDeletedAt).toISOString() }),
    timeline: record.timeline.map((entry) => viewEntry(entry, options.network)),
    outcome: record.outcome,
    ...(record.shown === undefined ? {} : { shown: record.shown }),
    error: record.error,
    statusUrl: options.statusUrl,
    ...(record.shareUrl === undefined ? {} : { shareUrl: record.shareUrl }),
  };
}

/** Returns a change of state as the API shows it. */
export function viewEntry(entry: TimelineEntry, network: NetworkView | undefined): StateChange {
  return {
    seq: entry.seq,
    state: entry.state,
    at: new Date(entry.at).toISOString(),
    ...(entry.transactionHash === undefined ? {} : { transactionHash: entry.transactionHash }),
    ...(entry.transactionHash === undefined || network === undefined
      ? {}
      : { url: `${network.explorerUrl}/tx/${entry.transactionHash}` }),
    ...(entry.detail === undefined ? {} : { detail: entry.detail }),
  };
}

/**
 * Whether a request has ended: nothing about it changes from then on, unless a reorg removes the block that ended
 * it.
 */
export function hasEnded(record: RequestRecord): boolean {
  return record.state === "fulfilled" || record.state === "failed";
}
