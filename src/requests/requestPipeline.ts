import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { findRevertReason } from "../chainlink/findRevertReason.ts";
import { createSender, type Sender, observeSender } from "../evm/sender.ts";
import type { Call } from "../evm/signedTransaction.ts";
import type { Follower } from "../evm/blockReader.ts";
import { ACTIVE_MS } from "../evm/gatherDelay.ts";
import { createBeaconRounds } from "../beacon/beaconRounds.ts";
import { repeat } from "../lib/repeat.ts";
import { listSourceIds, listSubscriptions } from "../store/chainRecords.ts";
import type { Fence } from "../store/leases.ts";
import { listNotFinalRequests } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import type { Payload } from "../store/transactionContents.ts";
import { createCharges } from "../dapps/charges.ts";
import { createSubscriptions, type Subscriptions } from "../dapps/subscriptions.ts";
import { createSourceStore } from "./dispatch/sources.ts";
import { createRequestTransactions } from "./dispatch/requestTransactions.ts";
import { createDispatcher } from "./dispatch/dispatcher.ts";
import { createLinker } from "./dispatch/linker.ts";
import { createPreparer } from "./dispatch/preparer.ts";
import { createSenderJournal } from "./dispatch/senderJournal.ts";
import { createCallbackRecorder } from "./follow/callbackRecorder.ts";
import { restoreRequests } from "./takeover/recovery.ts";
import { createBeaconWait } from "./follow/beaconWait.ts";
import { createTracker, type Tracker } from "./follow/tracker.ts";
import type { PipelineNetwork } from "./pipelineNetwork.ts";
import { createRetention } from "./keep/retention.ts";
import type { Keep } from "../store/retention.ts";
import type { MinedTransaction } from "./observe/transactionMetrics.ts";
import { isLinking, type OpenRequest } from "./openRequest.ts";
import type { RequestBook } from "./requestBook.ts";
import type { RequestIntake } from "./serviceNetwork.ts";
import { fenceBook, fenceClient, fenceStore } from "./takeover/fenced.ts";
import { createWatchkeeping } from "./watchkeeping.ts";
import type { Receipt } from "../lib/nodeAnswers.ts";

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
  readonly network: PipelineNetwork;
  readonly store: Store;
  readonly book: RequestBook;
  /** How long ended requests and other old records are kept. */
  readonly keep: Keep;
  /** Prevents writing and sending once another replica dispatches. Default: none. */
  readonly fence?: Fence | undefined;
  /** Called for every transaction of the service that is mined. */
  readonly onTransaction: (transaction: MinedTransaction) => void;
}

/** Opens the pipeline of a network, resumes what an earlier process left there, and deletes what is past its retention period. */
export async function openRequestPipeline(options: RequestPipelineOptions): Promise<RequestPipeline> {
  const stopping = new AbortController();
  try {
    return await openPipeline(options, stopping);
  } catch (error) {
    // It is opened again.
    stopping.abort();
    throw error;
  }
}

async function openPipeline(
  options: RequestPipelineOptions,
  stopping: AbortController,
): Promise<RequestPipeline> {
  const scope = await openScope(options, stopping.signal);
  const sending = await createSending(scope, options);
  const { network, client, store, book, tracker, finality, startNumber, signal, onError } = scope;
  const { subscriptions, dispatcher, linker, take, reconcile } = sending;
  const watchkeeping = createWatchkeeping({
    ...scope,
    ...sending,
    isChainlinks: scope.terms.chainlinkCoordinator !== undefined,
    presetConfirmations: scope.terms.minConfirmations,
  });
  const { open, fromBlock, known } = await restoreRequests({
    network,
    client,
    store,
    book,
    tracker,
    head: startNumber,
    finalityDepth: Math.min(Number(startNumber - (await finality.finalNumber())), ADOPTED_BLOCKS),
  });
  await reconcile();
  const stopFollowing = followRequests(scope, sending, {
    fromBlock,
    known,
    checkLinkings: () => watchkeeping.checkLinkings(),
  });
  const resumed = watchkeeping.resumeAll(open);
  const stops = [watchkeeping.startExplaining()];
  // After recovery only: a top-up or linking that an earlier process left in flight must not be sent a second time.
  void resumed.then(() => {
    if (signal.aborted) return;
    stops.push(
      repeat(() => subscriptions.topUp(), TOP_UP_INTERVAL_MS, onError),
      watchkeeping.startChecks(),
    );
  });
  const retention = createRetention({
    network,
    store,
    operator: scope.operator.address,
    keep: options.keep,
    finalNumber: finality.finalNumber,
    removeBlocks: scope.removeBlocks,
  });
  retention.start(onError);

  return {
    subscriptions,
    findUnlinkObstacle: (dappId, consumer) => linker.findUnlinkObstacle(dappId, consumer),
    take,
    async storeSource(source) {
      await sending.sourceStore.ensure(source);
    },
    explain: (request) => watchkeeping.explain(request),
    explained: (id) => watchkeeping.explained(id),
    setSecretsSigner: (...named) => subscriptions.setSecretsSigner(...named),
    queued: () => dispatcher.queued(),
    async close({ atOnce = false } = {}) {
      if (atOnce) stopping.abort();
      await retention.stop();
      for (const stop of stops) stop();
      await Promise.race([dispatcher.close(), sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
      stopFollowing();
      stopping.abort();
      await resumed;
    },
  };
}

/** Reads the chain's blocks into the requests, from a block on; returns a function that ends it. */
function followRequests(
  scope: PipelineScope,
  { sender, subscriptions, reconcile }: Sending,
  {
    checkLinkings,
    ...from
  }: Pick<Follower, "fromBlock" | "known"> & {
    readonly checkLinkings: () => Promise<void>;
  },
): () => void {
  const {
    network,
    client,
    contracts,
    store,
    book,
    tracker,
    accountWatch,
    finality,
    watcher,
    signal,
    onError,
  } = scope;
  const callbacks = createCallbackRecorder({
    network,
    store,
    client,
    contracts,
    listSubscriptions: () => subscriptions.list(),
    signal,
    onError,
  });
  const charges = createCharges(() => subscriptions.list());
  // What was charged while nobody read blocks.
  for (const { dappId } of subscriptions.list()) subscriptions.used(dappId);
  const { presetConsumer, vrfCoordinator, functionsRouter } = contracts;
  return watcher.follow({
    ...from,
    addresses: () => [presetConsumer, vrfCoordinator, functionsRouter],
    async onBlock(block) {
      sender.poke();
      await tracker.onBlock(block);
      callbacks.onBlock(block.logs);
      for (const dappId of charges.read(block.logs)) subscriptions.used(dappId);
      // Nothing waits for the node to say what is final.
      finality
        .finalNumber()
        .then((final) => book.settle(network, Math.max(Number(final), Number(block.number) - HELD_BLOCKS)))
        .catch(onError);
    },
    async onReorg(firstReplaced) {
      accountWatch?.doubt({ firstReplaced });
      await tracker.onReorg(firstReplaced);
      reconcile().then(checkLinkings).catch(onError);
    },
  });
}

/** What all parts of a pipeline share. Each part names what it takes from it: a member that is renamed is then missed by the compiler. */
type PipelineScope = Awaited<ReturnType<typeof openScope>>;

async function openScope(
  { network, store: unfencedStore, book: unfencedBook, fence }: RequestPipelineOptions,
  signal: AbortSignal,
) {
  const { source, chain, watcher, finality, budget, accountWatch, oracleWait, oracleNodes } = network;
  const { client, deployment, operator, fees, pipelining, pause, removeBlocks } = chain;
  const { terms, presetKeyHashes, vrfOperators } = source;
  const { name, chainId, coin } = source.profile;
  const store = fenceStore(unfencedStore, fence);
  const book = fenceBook(unfencedBook, fence);
  const startHead = watcher.head() ?? (await client.getHead("latest"));
  const startNumber = startHead?.number ?? 0n;
  const beaconRounds = createBeaconRounds({ terms: [terms.beacon, terms.localBeacon], signal });
  const beaconWait = createBeaconWait(beaconRounds);
  const tracker: Tracker = createTracker(book, name, {
    beaconWait,
    async listNotFinal(firstReplaced) {
      const page = { head: Number(await finality.finalNumber()), depth: 0 };
      const notFinal = await book.damaged.read((note) => listNotFinalRequests(store.db, name, page, note));
      return notFinal.filter(({ endedIn }) => endedIn!.number >= firstReplaced);
    },
  });
  return {
    network: name,
    chainId,
    coin,
    terms,
    contracts: deployment.contracts,
    keyHash: deployment.keyHash,
    presetKeyHashes,
    vrfOperatorOf: (key: Hex) => vrfOperators?.find((one) => one.keyHash === key)?.address,
    client,
    operator,
    fees,
    pipelining,
    pause,
    removeBlocks,
    watcher,
    finality,
    budget,
    accountWatch,
    oracleWait,
    oracleNodes,
    beaconWait,
    store,
    book,
    tracker,
    startNumber,
    signal,
    onError: (error: unknown): void => {
      if (!signal.aborted) network.onError(error);
    },
  };
}

type Sending = Awaited<ReturnType<typeof createSending>>;

/** Creates what puts requests on chain, and what each of them needs there first. */
async function createSending(scope: PipelineScope, options: RequestPipelineOptions) {
  const { network, client, contracts, watcher, store, book, tracker, signal, onError } = scope;
  const { sender, senderWait } = createOperatorSender(scope, options);
  const { subscriptions, sourceStore } = await createPrerequisites(scope, sender);
  const explainRevert = async (call: Call, receipt: Receipt): Promise<string> =>
    (await findRevertReason(client, { ...call, from: scope.operator.address }, receipt)).text;
  const requestTransactions = createRequestTransactions({
    network,
    client,
    store,
    book,
    sender,
    tracker,
    watcher,
  });
  const linker = createLinker({
    network,
    client,
    watcher,
    store,
    book,
    sender,
    contracts,
    subscriptions,
    requestTransactions,
    explainRevert,
    onError,
    signal,
  });
  const prepare = createPreparer({
    network,
    keyHash: scope.keyHash,
    presetKeyHashes: scope.presetKeyHashes,
    presetConfirmations: scope.terms.minConfirmations,
    subscriptions,
    sourceStore,
    linkings: (dappId) => linker.linkings(dappId),
  });
  const dispatcher = createDispatcher({
    book,
    sender,
    presetConsumer: contracts.presetConsumer,
    pipelining: scope.pipelining,
    active: () => book.activeCount(network, ACTIVE_MS),
    prepare,
    requestTransactions,
    explainRevert,
    onError,
    signal,
  });
  return {
    sender,
    senderWait,
    subscriptions,
    sourceStore,
    requestTransactions,
    linker,
    dispatcher,
    take: (request: OpenRequest): void => {
      // It is taken once its dry run is over.
      if (request.state === "checking") return;
      if (isLinking(request)) linker.take(request);
      else dispatcher.enqueue(request);
    },
    /** Resends transactions that the chain has lost; what they had created is then looked up again. */
    reconcile: async (): Promise<void> => {
      if (!(await sender.reconcile())) return;
      subscriptions.doubt();
      sourceStore.doubt();
    },
  };
}

/** Creates what requests may need on chain before they are sent: their dapps' subscriptions and their presets' sources. */
async function createPrerequisites(
  { network, chainId, coin, terms, contracts, client, budget, store }: PipelineScope,
  sender: Sender<Payload>,
) {
  const subscriptions = createSubscriptions({
    network,
    chainId,
    coin,
    allowanceJuels: terms.allowanceJuels,
    coinAllowanceWei: terms.coinAllowanceWei,
    contracts,
    client,
    budget,
    store,
    sender,
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
  return { subscriptions, sourceStore };
}

/** Creates the sender of the operator's account, which keeps to the journal, the fence and the watch for other senders. */
function createOperatorSender(
  scope: PipelineScope,
  { fence, onTransaction }: Pick<RequestPipelineOptions, "fence" | "onTransaction">,
) {
  const { network, watcher, operator, accountWatch, startNumber, store, book, tracker, signal, onError } =
    scope;
  const own = createSender<Payload>({
    client: fenceClient(scope.client, fence),
    account: operator,
    chainId: scope.chainId,
    fees: scope.fees,
    maxInFlight: scope.pipelining?.maxInFlight ?? 1,
    journal: createSenderJournal({
      network,
      account: operator.address,
      store,
      book,
      tracker,
      headNumber: () => watcher.head()?.number ?? startNumber,
      accountWatch,
    }),
    onError,
    signal,
  });
  const observed = observeSender(own, (receipt, payload) => {
    watcher.expect(receipt);
    const { kind, entries } = payload;
    onTransaction({ network, purpose: kind, requests: entries.flat().length, receipt });
  });
  const sender: Sender<Payload> = {
    ...observed,
    async send(call, payload) {
      const signing = { head: watcher.head(), atMs: Date.now() };
      const receipt = await observed.send(call, payload);
      await accountWatch?.assertNewer(receipt, signing);
      return receipt;
    },
  };
  return { sender, senderWait: () => own.waitsFor()?.message };
}
