import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import type { Account } from "../chain/account.ts";
import type { ChainClient, Receipt } from "../chain/client.ts";
import { findRevertReason } from "../chain/findRevertReason.ts";
import type { Fees } from "../chain/fees.ts";
import { observeSender } from "../chain/observedSender.ts";
import { createSender } from "../chain/sender.ts";
import type { Call } from "../chain/signedTransaction.ts";
import type { StackAddresses } from "../chain/stackPlan.ts";
import type { ChainWatcher } from "../chain/watcher.ts";
import { LIVELY_MS } from "../lib/linger.ts";
import { repeat } from "../lib/repeat.ts";
import { listSourceIds, listSubscriptions } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";
import { adoptRequests } from "./adoption.ts";
import { createCaretaker } from "./caretaker.ts";
import { createDispatcher } from "./dispatcher.ts";
import type { Cargo } from "./dispatcher.ts";
import { createExplainer } from "./explainer.ts";
import { createLinker } from "./linker.ts";
import { createPreparer } from "./preparer.ts";
import { createRecovery } from "./recovery.ts";
import type { OpenRequest, RequestBook } from "./requestBook.ts";
import { createSenderJournal } from "./senderJournal.ts";
import { createSourceShelf } from "./sources.ts";
import type { SourcePrefix } from "./sources.ts";
import { createSubscriptions } from "./subscriptions.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { createTimeouts } from "./timeouts.ts";
import { createTracker } from "./tracker.ts";

/** Between looks at the balances of subscriptions in use. */
const TOP_UP_INTERVAL_MS = 1_000;
/** Between looks at why old requests wait, and of how many of them. */
const EXPLAIN_INTERVAL_MS = 15_000;
const EXPLAINED_AT_ONCE = 50;
/** How long closing waits for the transaction under way; the next process goes on with it. */
const CLOSE_WAIT_MS = 5_000;

/** What the desk needs of the network it serves, embedded or not. */
export interface ServedChain {
  /** Name of the network. */
  readonly network: string;
  readonly chainId: number;
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly contracts: StackAddresses;
  /** Sends every transaction of the service on this network. */
  readonly operator: Account;
  readonly fees: Fees;
  /** What each of a dapp's two subscriptions is given, in juels. */
  readonly allowanceJuels: bigint;
  /** The proving key asked for words of presets. */
  readonly keyHash: Hex;
  /** Highest gas price at which the VRF node fulfils; absent where it has no limit. */
  readonly gasLaneWei?: bigint;
  /** Confirmations that presets' requests ask for. */
  readonly presetConfirmations: number;
  /** Blocks after which nothing is taken back: until then a request that has ended is followed. */
  readonly finalityDepth: number;
}

/** Everything the service does on one network: takes requests there and follows them to their end. */
export interface NetworkDesk {
  readonly subscriptions: Subscriptions;
  /** Starts on a stored request. */
  take(request: OpenRequest): void;
  /** Stores a preset's source on the chain ahead of its first use. */
  shelve(prefix: SourcePrefix): Promise<void>;
  /** Says in one sentence why a request is not further; `null` when it has ended. Asks the chain, and never rejects. */
  explain(request: OpenRequest): Promise<string | null>;
  /** What {@link explain} said of an old request lately, `undefined` when nobody asked yet. */
  explained(id: string): string | undefined;
  /** Requests that no transaction carries yet. */
  queued(): number;
  close(): Promise<void>;
}

/** Options of {@link openNetworkDesk}. */
export interface NetworkDeskOptions {
  readonly chain: ServedChain;
  readonly store: Store;
  readonly book: RequestBook;
  readonly onError: (error: unknown) => void;
  /** Told of every transaction of the service that is mined. */
  readonly onReceipt?: (receipt: Receipt, cargo: Cargo) => void;
}

/** Opens the desk of a network and goes on with what an earlier process left there. */
export async function openNetworkDesk(options: NetworkDeskOptions): Promise<NetworkDesk> {
  const { chain, store, book } = options;
  const { network, client, watcher, contracts, operator } = chain;
  const stopping = new AbortController();
  const { signal } = stopping;
  const onError = (error: unknown): void => {
    if (!signal.aborted) options.onError(error);
  };
  const tracker = createTracker(book, network);
  const startHead = watcher.head() ?? (await client.getHead("latest"));
  const headNumber = (): bigint => watcher.head()?.number ?? startHead?.number ?? 0n;

  const own = createSender<Cargo>({
    client,
    account: operator,
    chainId: chain.chainId,
    fees: chain.fees,
    signal,
    onError,
    journal: createSenderJournal({ network, account: operator.address, store, book, tracker, headNumber }),
  });
  const sender = observeSender(own, (receipt, cargo) => {
    watcher.expect(receipt);
    options.onReceipt?.(receipt, cargo);
  });
  const subscriptions = createSubscriptions({
    network,
    store,
    client,
    sender,
    contracts,
    allowanceJuels: chain.allowanceJuels,
    known: (await listSubscriptions(store.db)).filter((one) => one.network === network),
  });
  const shelf = createSourceShelf({
    network,
    store,
    client,
    sender,
    presetConsumer: contracts.presetConsumer,
    known: await listSourceIds(store.db, network),
  });

  const prepare = createPreparer({ chain, subscriptions, shelf });
  const explainRevert = (call: Call, receipt: Receipt): Promise<string> =>
    findRevertReason(client, { ...call, from: operator.address }, receipt);

  const linker = createLinker({
    network,
    store,
    book,
    sender,
    subscriptionOwner: contracts.subscriptionOwner,
    findSubscription: (dappId) => subscriptions.ensure(dappId),
    findCarrier: (request) => recovery.findCarrier(request),
    explainRevert,
    onError,
    signal,
  });
  const dispatcher = createDispatcher({
    book,
    sender,
    lively: () => book.livelyCount(network, Date.now() - LIVELY_MS),
    presetConsumer: contracts.presetConsumer,
    prepare,
    isCarried: (request) => recovery.isCarried(request),
    explainRevert,
    onError,
    signal,
  });
  const take = (request: OpenRequest): void => {
    if (request.kind === "consumer") linker.take(request);
    else dispatcher.enqueue(request);
  };
  const recovery = createRecovery({
    network,
    client,
    store,
    book,
    sender,
    tracker,
    take,
    finishLinking: (request, receipt) => linker.finish(request, receipt),
    onError,
  });

  /** The chain may lack what it had: transactions are sent again, and what they had made is looked up again. */
  const reconcile = async (): Promise<void> => {
    if (!(await sender.reconcile())) return;
    subscriptions.doubt();
    shelf.doubt();
  };
  const requests = (): OpenRequest[] =>
    book.open(network).filter(({ id }) => !dispatcher.holds(id) && !linker.holds(id));
  const caretaker = createCaretaker({
    requests,
    check: (request) => recovery.check(request),
    reconcile,
    timeOut: createTimeouts({
      client,
      watcher,
      sender,
      functionsRouter: contracts.functionsRouter,
      requests,
    }),
    onError,
  });

  const { open, fromBlock, known } = await adoptRequests({
    network,
    client,
    store,
    book,
    tracker,
    head: startHead?.number ?? 0n,
    finalityDepth: chain.finalityDepth,
  });
  await reconcile();
  const stopFollowing = watcher.follow({
    addresses: () => [contracts.presetConsumer, contracts.vrfCoordinator, contracts.functionsRouter],
    fromBlock,
    known,
    async onBlock(block) {
      sender.poke();
      await tracker.onBlock(block);
      book.settle(network, Number(block.number) - chain.finalityDepth);
    },
    async onReorg(firstReplaced) {
      await tracker.onReorg(firstReplaced);
      reconcile()
        .then(() => caretaker.checkLinkings())
        .catch(onError);
    },
  });
  const resumed = recovery.resumeAll(open);

  const explain = createExplainer({
    client,
    watcher,
    contracts,
    fees: chain.fees,
    gasLaneWei: chain.gasLaneWei,
    subscriptions,
    tracker,
    queued: () => dispatcher.queued(),
  });
  /** What old requests wait for, for lists; nothing of it is stored. */
  const explained = new Map<string, string>();
  const explainOld = async (): Promise<void> => {
    const since = Date.now() - EXPLAIN_INTERVAL_MS;
    const old = book.open(network).filter(({ updatedAt }) => updatedAt < since);
    explained.clear();
    for (const request of old.slice(0, EXPLAINED_AT_ONCE)) {
      const why = await explain(request);
      if (why !== null) explained.set(request.id, why);
    }
  };
  const stops: (() => void)[] = [];
  // A top-up or a linking of an earlier process that is still under way is not made a second time.
  void resumed.then(() => {
    if (signal.aborted) return;
    stops.push(
      repeat(() => subscriptions.topUp(), TOP_UP_INTERVAL_MS, onError),
      caretaker.start(),
      repeat(explainOld, EXPLAIN_INTERVAL_MS, onError),
    );
  });

  return {
    subscriptions,
    take,
    async shelve(prefix) {
      await shelf.ensure(prefix);
    },
    explain,
    explained: (id) => explained.get(id),
    queued: () => dispatcher.queued(),
    async close() {
      for (const stop of stops) stop();
      await Promise.race([dispatcher.close(), sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
      stopFollowing();
      stopping.abort();
      await resumed;
    },
  };
}
