import type { Receipt } from "../../lib/nodeAnswers.ts";
import { EVENT_TOPICS, WORDS_TOPICS } from "../../chainlink/events.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import type { OracleHealth } from "../../requests/explain/networkHealth.ts";

/**
 * Translates an oracle's status into what the service reports about it; the two modules don't know each
 * other.
 */
export function describeOracleHealth({
  pending,
  lastBlock,
  caughtUp,
  accounts,
}: OracleNetworkStatus): OracleHealth {
  const oldest = pending
    .filter(({ unanswerable }) => !unanswerable)
    .toSorted((a, b) => a.seenAt - b.seenAt)[0];
  const awaitingWords = new Set(
    pending.flatMap(({ kind, requestId }) => (kind === "vrf" ? [requestId] : [])),
  );
  const lowestAccounts: Record<string, OracleHealth["lowestAccounts"][string]> = {};
  for (const { role, address, balanceWei } of accounts) {
    if (balanceWei === undefined) continue;
    const lowest = lowestAccounts[role]?.balanceWei;
    if (lowest === undefined || balanceWei < lowest) lowestAccounts[role] = { address, balanceWei };
  }
  return {
    lagMs: oldest === undefined ? 0 : Math.round(performance.now() - oldest.seenAt),
    ...(oldest === undefined ? {} : { waitsFor: oldest.why }),
    pendingWords: awaitingWords.size,
    // A batch of presets counts where it waits: for its word, or for its results.
    pendingFunctions: pending.filter(({ kind, requestId }) => kind !== "vrf" && !awaitingWords.has(requestId))
      .length,
    blockNumber: lastBlock === undefined ? undefined : Number(lastBlock.number),
    caughtUp,
    lowestAccounts,
  };
}

const ANSWERS: ReadonlySet<string> = new Set([
  ...WORDS_TOPICS.fulfilled,
  EVENT_TOPICS.ErrorReturned,
  EVENT_TOPICS.RawErrorReturned,
  EVENT_TOPICS.RequestProcessed,
  EVENT_TOPICS.RequestNotProcessed,
  EVENT_TOPICS.BatchReported,
]);

/** Counts the requests that a transaction of the oracle answered, or tried to answer; a batch's word and its results are of one request. */
export function countAnswers({ logs }: Pick<Receipt, "logs">): number {
  const answers = logs.filter(({ topics }) => ANSWERS.has(topics[0] ?? ""));
  return new Set(answers.map(({ topics }) => topics[1])).size;
}
