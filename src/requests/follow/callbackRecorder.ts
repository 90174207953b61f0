import type { Hex } from "viem";
import { explainFailedCallbacks } from "../../chainlink/failedCallbacks.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";
import { saveCallbackFailures } from "../../store/failedCallbacks.ts";
import type { StoredSubscription } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";

/** Blocks that may wait to be looked at: a contract that fails on purpose must not fill the memory. */
const MAX_WAITING = 256;

/** Records why callbacks of callers' own contracts failed. */
export interface CallbackRecorder {
  /** Takes a block's logs. What they say is recorded later; nothing waits for it. */
  onBlock(logs: readonly RawLog[]): void;
}

/**
 * Creates the recorder of one network. The reason is looked for when the callback fails, because nodes soon forget the state that it can be
 * found from. Blocks are taken one at a time; a block that the process doesn't get to is left to whoever asks later.
 */
export function createCallbackRecorder(options: {
  readonly network: string;
  readonly store: Store;
  readonly client: ChainClient;
  readonly contracts: StackAddresses;
  /** The subscriptions whose contracts count: a coordinator may serve others, too. */
  readonly listSubscriptions: () => readonly StoredSubscription[];
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}): CallbackRecorder {
  const { network, store, client, contracts, signal, onError } = options;
  const trusted = new Set(
    [contracts.vrfCoordinator, contracts.functionsRouter].map((one) => one.toLowerCase()),
  );
  let waiting = 0;
  let tail: Promise<void> = Promise.resolve();

  const record = async (logs: readonly RawLog[]): Promise<void> => {
    if (signal.aborted) return;
    const ids = new Set(
      options
        .listSubscriptions()
        .flatMap(({ vrfSubscriptionId, functionsSubscriptionId }) => [
          vrfSubscriptionId,
          functionsSubscriptionId,
        ]),
    );
    const found = await explainFailedCallbacks(logs, {
      client,
      findInput: (hash) => findInput(client, hash),
      isWanted: (subscriptionId) => ids.has(subscriptionId),
    });
    if (found.size === 0 || signal.aborted) return;
    const failures = [...found].map(([requestId, { transactionHash, reason }]) => ({
      network,
      requestId,
      transactionHash,
      reason,
      createdAt: Date.now(),
    }));
    await store.writeSoon((db) => saveCallbackFailures(db, failures));
  };

  return {
    onBlock(logs) {
      const ours = logs.filter(({ address }) => trusted.has(address));
      if (ours.length === 0 || waiting >= MAX_WAITING) return;
      waiting += 1;
      tail = tail
        .then(() => record(ours))
        .catch(onError)
        .finally(() => (waiting -= 1));
    },
  };
}

async function findInput(client: ChainClient, hash: Hex): Promise<Hex | undefined> {
  const answer = (await client.request("eth_getTransactionByHash", [hash])) as {
    readonly input?: Hex;
  } | null;
  return typeof answer?.input === "string" ? answer.input : undefined;
}
