import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import type { Receipt } from "../evm/client.ts";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import { observeSender } from "../evm/observedSender.ts";
import { createSender, type Sender } from "../evm/sender.ts";
import type { Call } from "../evm/signedTransaction.ts";
import { ACTIVE_MS } from "../lib/batchDelay.ts";
import { repeat } from "../lib/repeat.ts";
import { listSourceIds, listSubscriptions } from "../store/chainRecords.ts";
import type { Fence } from "../store/leases.ts";
import { listUnsettledRequests } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import { restoreRequests } from "./takeover/restoredRequests.ts";
import { createMaintenance } from "./follow/maintenance.ts";
import { createDispatcher } from "./dispatch/dispatcher.ts";
import { createOldExplanations } from "./explain/oldExplanations.ts";
import type { Payload } from "../store/transactionContents.ts";
import { createCallbackRecorder } from "./follow/callbackRecorder.ts";
import { createCarriers } from "./dispatch/carriers.ts";
import { createExplainer } from "./explain/explainer.ts";
import { fenceBook, fenceClient, fenceStore } from "./takeover/fenced.ts";
import { createLinker } from "./dispatch/linker.ts";
import { createPreparer } from "./dispatch/preparer.ts";
import type { RequestIntake } from "./requestIntake.ts";
import { createRecovery } from "./takeover/recovery.ts";
import type { RequestBook } from "./requestBook.ts";
import { isLinking } from "./openRequest.ts";
import type { OpenRequest } from "./openRequest.ts";
import { createSenderJournal } from "./dispatch/senderJournal.ts";
import type { ServedChain } from "./servedChain.ts";
import { createSourceStore } from "./accept/sources.ts";
import { createSubscriptions } from "../dapps/subscriptions.ts";
import type { Subscriptions } from "../dapps/subscriptions.ts";
import { createFunctionTimeouts } from "./follow/functionTimeouts.ts";
import { createTracker } from "./follow/tracker.ts";
import type { TwinWatch } from "./takeover/twinWatch.ts";
import { createWordTimeouts } from "./follow/wordTimeouts.ts";

/** Interval between checks of the balances of subscriptions in use. */
const TOP_UP_INTERVAL_MS = 1_000;
/** Newest blocks whose ended requests are held in memory; a deeper reorg reads the others from the journal. */
const HELD_BLOCKS = 64;
/** Newest blocks whose ended requests are compared with the chain at a start: no external network replaces more (500 on Polygon). */
const ADOPTED_BLOCKS = 500;
/** How long closing waits for the transaction in flight; the next process resumes it. */
const CLOSE_WAIT_MS = 5_000;

/** Sends requests to one network's chain, and follows them to their end. */
export interface RequestPipeline extends RequestIntake {
  readonly subscriptions: Subscriptions;
  /**
   * Describes the requests that keep a dapp's contract linked on chain; `undefined` if there are none. Rejects when the chain
   * can't be queried.
   */
  findUnlinkObstacle(dappId: string, consumer: Hex): Promise<string | undefined>;
  /** Closes after the transactions in flight have ended, or `atOnce`: another process resumes them. */
  close(options?: { readonly atOnce?: boolean }): Promise<void>;
}

export interface RequestPipelineOptions {
  readonly chain: ServedChain;
  readonly store: Store;
  readonly book: RequestBook;
  /** Prevents writing and sending once another replica dispatches. Default: none. */
  readonly fence?: Fence | undefined;
  /** Prevents sending once another process sends with the operator's account. Default: none can. */
  readonly twin?: TwinWatch | undefined;
  readonly onError: (error: unknown) => void;
  /** Called for every mined transaction of the service. */
  readonly onReceipt?: (receipt: Receipt, payload: Payload) => void;
}

/** Opens the pipeline of a network and resumes what an earlier process left there. */
export async function openRequestPipeline(options: RequestPipelineOptions): Promise<RequestPipeline> {
  const { chain, fence, twin } = options;
  const store = fenceStore(options.store, fence);
  const book = fenceBook(options.book, fence);
  const { network, client, watcher, contracts, operator, finality } = chain;
  const stopping = new AbortController();
  const { signal } = stopping;
  const onError = (error: unknown): void => {
    if (!signal.aborted) options.onError(error);
  };
  const startHead = watcher.head() ?? (await client.getHead("latest"));
  const headNumber = (): bigint => watcher.head()?.number ?? startHead?.number ?? 0n;
  const tracker = createTracker(book, network, async (firstReplaced) => {
    const page = { head: Number(await finality.finalNumber()), depth: 0 };
    const unsettled = await book.damaged.read((note) => listUnsettledRequests(store.db, network, page, note));
    return unsettled.filter(({ endedIn }) => endedIn!.number >= firstReplaced);
  });

  const own = createSender<Payload>({
    client: fenceClient(client, fence),
    account: operator,
    chainId: chain.chainId,
    fees: chain.fees,
    maxInFlight: chain.pipelining?.maxInFlight ?? 1,
    signal,
    onError,
    journal: createSenderJournal({
      network,
      account: operator.address,
      store,
      book,
      tracker,
      headNumber,
      twin,
    }),
  });
  const observed = observeSender(own, (receipt, payload) => {
    watcher.expect(receipt);
    options.onReceipt?.(receipt, payload);
  });
  const sender: Sender<Payload> = {
    ...observed,
    async send(call, payload) {
      const signing = { head: watcher.head(), atMs: Date.now() };
      const receipt = await observed.send(call, payload);
      await twin?.assertNewer(receipt, signing);
      return receipt;
    },
  };
  const subscriptions = createSubscriptions({
    network,
    store,
    client,
    sender,
    contracts,
    allowanceJuels: chain.allowanceJuels,
    coin: chain.coin,
    coinAllowanceWei: chain.coinAllowanceWei,
    budget: chain.budget,
    known: (await listSubscriptions(store.db)).filter((one) => one.network === network),
  });
  const sourceStore = createSourceStore({
    network,
    store,
    client,
    sender,
    presetConsumer: contracts.presetConsumer,
    known: await listSourceIds(store.db, network),
  });

  const explainRevert = async (call: Call, receipt: Receipt): Promise<string> =>
    (await findRevertReason(client, { ...call, from: operator.address }, receipt)).text;

  const carriers = createCarriers({ network, client, store, book, sender, tracker, watcher });
  const versionOf = contracts.vrfVersion === undefined ? {} : { vrfVersion: contracts.vrfVersion };
  const linker = createLinker({
    network,
    client,
    watcher,
    store,
    book,
    sender,
    contracts,
    subscriptions,
    carriers,
    explainRevert,
    onError,
    signal,
  });
  const dispatcher = createDispatcher({
    book,
    sender,
    active: () => book.activeCount(network, ACTIVE_MS),
    presetConsumer: contracts.presetConsumer,
    ...versionOf,
    pipelining: chain.pipelining,
    prepare: createPreparer({
      chain,
      subscriptions,
      sourceStore,
      linkings: (dappId) => linker.linkings(dappId),
    }),
    carriers,
    explainRevert,
    onError,
    signal,
  });
  const take = (request: OpenRequest): void => {
    // It is taken once its dry run is over.
    if (request.state === "checking") return;
    if (isLinking(request)) linker.take(request);
    else dispatcher.enqueue(request);
  };
  const recovery = createRecovery({
    network,
    client,
    store,
    book,
    sender,
    carriers,
    take,
    finishLinking: (request, receipt) => linker.finish(request, receipt),
    onError,
  });

  /** Resends transactions that the chain has lost; what they had created is then looked up again. */
  const reconcile = async (): Promise<void> => {
    if (!(await sender.reconcile())) return;
    subscriptions.doubt();
    sourceStore.doubt();
  };
  const requests = (): OpenRequest[] =>
    book.open(network).filter(({ id }) => !dispatcher.holds(id) && !linker.holds(id));
  const maintenance = createMaintenance({
    requests,
    ageMs: (request) => book.ageMs(request),
    check: (request) => recovery.check(request),
    reconcile,
    timeOuts: [
      createFunctionTimeouts({
        client,
        watcher,
        sender,
        functionsRouter: contracts.functionsRouter,
        requests,
      }),
      createWordTimeouts({
        client,
        watcher,
        contracts,
        presetConfirmations: chain.presetConfirmations,
        isChainlinks: chain.isChainlinks,
        vrfOperatorOf: chain.vrfOperatorOf,
        book,
        tracker,
        requests,
        take,
        explain: (request) => explain(request),
      }),
    ],
    onError,
  });

  const { open, fromBlock, known } = await restoreRequests({
    network,
    client,
    store,
    book,
    tracker,
    head: startHead?.number ?? 0n,
    finalityDepth: Math.min(
      Number((startHead?.number ?? 0n) - (await finality.finalNumber())),
      ADOPTED_BLOCKS,
    ),
  });
  await reconcile();
  const callbacks = createCallbackRecorder({
    network,
    store,
    client,
    contracts,
    listSubscriptions: () => subscriptions.list(),
    signal,
    onError,
  });
  const stopFollowing = watcher.follow({
    addresses: () => [contracts.presetConsumer, contracts.vrfCoordinator, contracts.functionsRouter],
    fromBlock,
    known,
    async onBlock(block) {
      sender.poke();
      await tracker.onBlock(block);
      callbacks.onBlock(block.logs);
      // Nothing waits for the node to say what is final.
      finality
        .finalNumber()
        .then((final) => book.settle(network, Math.max(Number(final), Number(block.number) - HELD_BLOCKS)))
        .catch(onError);
    },
    async onReorg(firstReplaced) {
      await tracker.onReorg(firstReplaced);
      reconcile()
        .then(() => maintenance.checkLinkings())
        .catch(onError);
    },
  });
  const resumed = recovery.resumeAll(open);

  const explain = createExplainer({
    client,
    watcher,
    contracts,
    fees: chain.fees,
    isChainlinks: chain.isChainlinks ?? false,
    gasLaneWei: chain.gasLaneWei,
    coin: chain.coin,
    subscriptions,
    tracker,
    pause: chain.pause,
    oracleWait: chain.oracleWait,
    oracleNodes: chain.oracleNodes ?? (async () => []),
    vrfOperatorOf: chain.vrfOperatorOf,
    senderWait: () => own.waitsFor()?.message,
    queued: () => dispatcher.queued(),
    ageMs: (request) => book.ageMs(request),
  });
  const old = createOldExplanations({
    old: (ageMs) => book.open(network).filter((request) => book.ageMs(request) > ageMs),
    explain,
  });
  const stops: (() => void)[] = [];
  // After recovery only: a top-up or linking that an earlier process left in flight must not be sent a second time.
  void resumed.then(() => {
    if (signal.aborted) return;
    stops.push(
      repeat(() => subscriptions.topUp(), TOP_UP_INTERVAL_MS, onError),
      maintenance.start(),
      old.start(onError),
    );
  });

  return {
    subscriptions,
    findUnlinkObstacle: (dappId, consumer) => linker.findUnlinkObstacle(dappId, consumer),
    take,
    async storeSource(prefix) {
      await sourceStore.ensure(prefix);
    },
    explain,
    explained: (id) => old.find(id),
    queued: () => dispatcher.queued(),
    async close({ atOnce = false } = {}) {
      for (const stop of stops) stop();
      if (atOnce) stopping.abort();
      await Promise.race([dispatcher.close(), sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
      stopFollowing();
      stopping.abort();
      await resumed;
    },
  };
}
