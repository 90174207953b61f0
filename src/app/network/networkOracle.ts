import type { SandboxPool } from "../../../sandbox/index.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Fees } from "../../evm/fees.ts";
import { createSender, observeSender, type Sender } from "../../evm/sender.ts";
import type { Account } from "../../evm/account.ts";
import { MAX_RESPONSE_BYTES } from "../../domain/sourceLimit.ts";
import type { OpenSecrets } from "../../oracle/functions/execute.ts";
import { createOracle, type Oracle, type OracleOptions } from "../../oracle/oracle.ts";
import type { MinedTransaction } from "../../requests/observe/transactionMetrics.ts";
import type { OracleKeys } from "./networkKeys.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import { EVENT_TOPICS, WORDS_TOPICS } from "../../chainlink/events.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import type { OracleHealth } from "../../requests/explain/networkHealth.ts";

/** What a network's oracle needs, whichever part of it runs in this process. */
export interface NetworkOracleOptions extends Omit<OracleOptions, "name" | "runner" | keyof OracleParts> {
  readonly network: string;
  readonly client: ChainClient;
  readonly contracts: StackAddresses;
  readonly fees: Fees;
  readonly openSecrets?: OpenSecrets | undefined;
  readonly pool: SandboxPool;
  readonly onTransaction: (transaction: MinedTransaction) => void;
  readonly onError: (error: unknown) => void;
}

/** The parts of an oracle that run in this process. */
export type OracleParts = Pick<OracleOptions, "vrf" | "functions" | "node" | "proofsFor">;

/** Creates the sender for one of the oracle's accounts. */
export type SenderOf = (account: Account, purpose: "words" | "report") => Sender;

/** Creates one network's oracle with all of its nodes in this process; it shares nothing with the service but the chain. */
export function createNetworkOracle({
  keys,
  ...options
}: NetworkOracleOptions & { readonly keys: OracleKeys }): Oracle {
  return createPartialOracle(options, (senderOf) => ({
    vrf: keys.vrf.map(({ provingKey, vrfAccount }) => ({
      key: provingKey,
      sender: senderOf(vrfAccount, "words"),
    })),
    functions: {
      nodes: keys.signers.map((signer, i) => ({
        signer,
        transmitter: senderOf(keys.transmitters[i]!, "report"),
      })),
      maxResponseBytes: MAX_RESPONSE_BYTES,
      openSecrets: options.openSecrets,
    },
  }));
}

/** Creates the part of one network's oracle that runs in this process. */
export function createPartialOracle(
  options: NetworkOracleOptions,
  partsOf: (senderOf: SenderOf) => OracleParts,
): Oracle {
  const { network, chainId, client, fees, pipelining, signal, onError } = options;
  const maxInFlight = pipelining?.maxInFlight ?? 1;
  const senderOf: SenderOf = (account, purpose) =>
    observeSender(createSender({ client, account, chainId, fees, signal, onError, maxInFlight }), (receipt) =>
      options.onTransaction({ network, purpose, requests: countAnswers(receipt), receipt }),
    );
  return createOracle({ ...options, name: network, runner: options.pool, ...partsOf(senderOf) });
}

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
function countAnswers({ logs }: Pick<Receipt, "logs">): number {
  const answers = logs.filter(({ topics }) => ANSWERS.has(topics[0] ?? ""));
  return new Set(answers.map(({ topics }) => topics[1])).size;
}
