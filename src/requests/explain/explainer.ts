import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { decodeLog } from "../../chainlink/events.ts";
import type { Fees } from "../../evm/fees.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { chainSeconds, type ChainWatcher } from "../../evm/watcher.ts";
import { isPaidNatively } from "../../chainlink/vrfVersion.ts";
import { type ContractRead, askContract } from "../../chainlink/contractRead.ts";
import { COORDINATOR_READS, LINK_PRICE } from "../../chainlink/vrfCoordinator.ts";
import { estimateWordsCost } from "../../chainlink/wordsCost.ts";
import { timeoutOf } from "../../chainlink/functionsTimeout.ts";
import {
  describeGasLane,
  describeShortage,
  describeTimeout,
  describeUnconfirmed,
} from "../../chainlink/waitingText.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { messageOf } from "../../lib/errors.ts";
import { remember } from "../../lib/memo.ts";
import { describeMissing, missingParts } from "../follow/joinedParts.ts";
import type { PipelineNetwork } from "../pipelineNetwork.ts";
import type { OpenRequest } from "../openRequest.ts";
import type { Explanation } from "../serviceNetwork.ts";
import type { StoredSubscription } from "../../store/chainRecords.ts";
import type { SubscriptionBalances } from "../../dapps/subscriptionReads.ts";
import type { Subscriptions } from "../../dapps/subscriptions.ts";
import type { BeaconDelay, BeaconWait } from "../follow/beaconWait.ts";
import type { Tracker } from "../follow/tracker.ts";
import { repeat } from "../../lib/repeat.ts";
import { isEnded } from "../../domain/vocabulary.ts";

/** A head older than this is mentioned. */
const OLD_HEAD_MS = 60_000;
/** Callers get an answer within two seconds, whatever hangs. */
const DEADLINE_MS = 1_500;
/** How long the first reading of the oracle's nodes may take. */
const NODES_MS = 400;
/** What requests wait for whose chain can't be read; the readiness has the technical reason for the operator. */
const NODE_SILENT = "the chain can't be read now; the request is kept, and goes on once it can";
/** How long chain reads are cached: many callers give up waiting at the same moment. */
const MEMORY_MS = 2_000;

export interface ExplainerOptions extends Pick<PipelineNetwork, "oracleWait" | "oracleNodes"> {
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly contracts: StackAddresses;
  readonly fees: Fees;
  /** Symbol of the network's coin. */
  readonly coin: string;
  /** Whether Chainlink's own oracle delivers random words. */
  readonly isChainlinks: boolean;
  readonly subscriptions: Subscriptions;
  readonly tracker: Pick<Tracker, "oracleSeenAt">;
  /** Says in words why nothing more is sent to the chain; returns `undefined` while everything is. */
  readonly pause?: (() => string | undefined) | undefined;
  /** Returns the address of the operator that delivers the words of a key. */
  readonly vrfOperatorOf?: ((keyHash: Hex) => Hex | undefined) | undefined;
  /** Says that a preset waits for its round of drand. */
  readonly beaconWait: BeaconWait;
  /** Whether the contracts were seen to have the answer that a request waits for, though no node has shown its event. */
  readonly isAnswered: (request: OpenRequest) => boolean;
  /** Returns why the sender is stalled, in words; `undefined` while it sends. */
  readonly senderWait: () => string | undefined;
  /** Number of requests that no transaction carries yet. */
  readonly queued: () => number;
  /** Returns for how long a request has been in its state, in milliseconds. */
  readonly ageMs: (request: OpenRequest) => number;
}

/**
 * Creates the function that explains why a request isn't making progress. It reads the chain, and only when called. Returns
 * `null` for a request that has ended. Never rejects: a node that doesn't answer in time is the explanation.
 */
export function createExplainer(
  options: ExplainerOptions,
): (request: OpenRequest) => Promise<Explanation | null> {
  const scope: ExplanationScope = { ...options, ...createReads(options) };
  return async (request) => {
    if (isEnded(request.state)) return null;
    const pause = options.pause?.();
    if (pause !== undefined) return plainly(`the chain is paused: ${pause}`);
    let isReached = false;
    const read = async (): Promise<Explanation> => {
      await scope.reachChain();
      isReached = true;
      return await explain(scope, request);
    };
    try {
      return await withDeadline(read(), DEADLINE_MS);
    } catch (error) {
      if (!isReached) return plainly(NODE_SILENT);
      return plainly(request.why ?? `the reason can't be read from the network: ${messageOf(error)}`);
    }
  };
}

/** What all explanations share. */
type ExplanationScope = ExplainerOptions & ReturnType<typeof createReads>;

/** Creates the reads of a chain that explanations share: many callers give up waiting at the same moment. */
function createReads({ client, contracts, fees: gas, subscriptions }: ExplainerOptions) {
  const reads = COORDINATOR_READS[contracts.vrfVersion ?? "v2"];
  const readCoordinator = <Value>(read: ContractRead<Value>): Promise<Value> =>
    askContract(client, contracts.vrfCoordinator, read);

  const askGasPrice = remember(MEMORY_MS, () => gas.gasPriceWei(client));
  const askPrices = remember(MEMORY_MS, async () => {
    const [weiPerLink, fees] = await Promise.all([
      askContract(client, contracts.nativePriceFeed, LINK_PRICE),
      readCoordinator(reads.fees()),
    ]);
    return { weiPerLink, fees };
  });
  const askLane = remember(MEMORY_MS, (keyHash: Hex) => readCoordinator(reads.lane(keyHash)));

  /** Many requests wait for what one transaction has asked. */
  const askMined = remember(MEMORY_MS, async (hash: Hex) => {
    const receipt = await client.getReceipt(hash);
    if (receipt === undefined) return undefined;
    const events = receipt.logs.map(decodeLog).filter((event) => event !== undefined);
    return {
      blockNumber: receipt.blockNumber,
      words: events.filter((event) => event.name === "RandomWordsRequested"),
      functions: events.filter((event) => event.name === "OracleRequest"),
    };
  });

  const askOf = new Map<string, () => Promise<SubscriptionBalances>>();
  const askBalances = (subscription: StoredSubscription): Promise<SubscriptionBalances> => {
    let ask = askOf.get(subscription.dappId);
    if (ask === undefined) {
      ask = remember(MEMORY_MS, () => subscriptions.readBalances(subscription));
      askOf.set(subscription.dappId, ask);
    }
    return ask();
  };

  const reachChain = remember(MEMORY_MS, () => client.getHead("latest"));
  return { askGasPrice, askPrices, askLane, askMined, askBalances, reachChain };
}

async function explain(scope: ExplanationScope, request: OpenRequest): Promise<Explanation> {
  const missing = describeMissing(request, scope.vrfOperatorOf);
  const step = await explainStep(scope, request);
  const { why, isBeaconLate } =
    typeof step === "string" ? plainly(step) : { why: step.why, isBeaconLate: step.kind === "late" };
  return { why: missing === undefined ? why : `${missing}: ${why}`, isBeaconLate };
}

/** Returns an explanation by anything but a late round of drand. */
function plainly(why: string): Explanation {
  return { why, isBeaconLate: false };
}

async function explainStep(scope: ExplanationScope, request: OpenRequest): Promise<string | BeaconDelay> {
  const { ageMs } = scope;
  const { progress, state } = request;
  const hash = progress.transactionHashes?.at(-1);
  if (hash === undefined) {
    const waiting = scope.queued();
    const wait = scope.senderWait();
    if (wait !== undefined) return `not sent yet: ${wait}`;
    return (
      request.why ?? `not sent yet: ${waiting || 1} waiting for the transaction under way${headAge(scope)}`
    );
  }
  if (progress.acceptedBlock === undefined) return await explainUnmined(scope, request, hash);
  if (request.why !== null) return request.why;
  if (scope.isAnswered(request))
    return "its answer is on chain, but the network's node doesn't show the event; the service looks for the receipt";
  if (state === "submitted" && progress.vrfRequestId !== undefined) {
    const reason = await explainWord(
      scope,
      request,
      hash,
      missingParts(request)[0]?.id ?? progress.vrfRequestId,
    );
    if (reason !== undefined) return `${reason}${keptBy(scope)}`;
    if (scope.isChainlinks)
      return `Chainlink's oracle has brought no random words for ${seconds(ageMs(request))}${keptBy(scope)}${headAge(scope)}`;
  }
  const round = scope.beaconWait(request);
  if (round !== undefined) return round;
  const timeout = await explainTimeout(scope, request, hash);
  if (timeout !== undefined) return timeout;
  const requestId = progress.functionsRequestId ?? missingParts(request)[0]?.id ?? progress.vrfRequestId;
  const wait = requestId === undefined ? undefined : scope.oracleWait?.(requestId);
  if (wait !== undefined) return `with the oracle for ${seconds(ageMs(request))}: ${wait}${headAge(scope)}`;
  const silent = isResultAwaited(request) ? await describeSilentNodes(scope) : undefined;
  return silent === undefined ? oracleUnseen(scope, request) : `${silent}; ${oracleUnseen(scope, request)}`;
}

/** Names the nodes of several operators that don't answer; `undefined` if all do, or nobody knows. */
async function describeSilentNodes({ oracleNodes }: ExplanationScope): Promise<string | undefined> {
  if (oracleNodes === undefined) return undefined;
  const nodes = await withDeadline(oracleNodes(), NODES_MS).catch(() => undefined);
  const silent = nodes?.filter(({ answers }) => !answers) ?? [];
  if (silent.length === 0) return undefined;
  return `${silent.length} of ${nodes!.length} oracle nodes do not answer: ${silent.map(({ url }) => url).join(", ")}`;
}

/** Says that a function request may be timed out, by the chain's clock. */
async function explainTimeout(
  scope: ExplanationScope,
  { progress }: OpenRequest,
  hash: Hex,
): Promise<string | undefined> {
  const { watcher, askMined } = scope;
  const head = watcher.head();
  if (progress.functionsRequestId === undefined || head === undefined) return undefined;
  const mined = await askMined(hash);
  const asked = mined?.functions.find(({ requestId }) => requestId === progress.functionsRequestId);
  if (asked === undefined) return undefined;
  const timeoutAt = timeoutOf(asked.commitment);
  if (chainSeconds(head) < timeoutAt) return undefined;
  return `${describeTimeout(timeoutAt)}; it is being timed out on chain`;
}

async function explainUnmined(scope: ExplanationScope, request: OpenRequest, hash: Hex): Promise<string> {
  const { ageMs, askMined } = scope;
  for (const one of request.progress.transactionHashes ?? []) {
    if ((await askMined(one)) !== undefined)
      return `its transaction ${one} is mined, and its result is being read`;
  }
  const versions = request.progress.transactionHashes?.length ?? 1;
  const price = versions > 1 ? `, its price raised ${versions - 1} times` : "";
  return `its transaction ${hash} is not mined yet, ${seconds(ageMs(request))} after it was sent${price}${headAge(scope)}`;
}

/** Explains what delays a random word, as far as the chain tells. */
async function explainWord(
  scope: ExplanationScope,
  request: OpenRequest,
  hash: Hex,
  requestId: Hex,
): Promise<string | undefined> {
  const { watcher, contracts, subscriptions, askGasPrice, askPrices, askLane, askMined, askBalances } = scope;
  const mined = await askMined(hash);
  const asked = mined?.words.find((event) => event.requestId === requestId);
  const head = watcher.head();
  if (asked === undefined || mined === undefined || head === undefined) return undefined;
  const { blockNumber } = mined;
  const unconfirmed = describeUnconfirmed(
    { blockNumber, confirmations: asked.minimumRequestConfirmations },
    head.number,
  );
  if (unconfirmed !== undefined) return `${unconfirmed}${headAge(scope)}`;
  const [gasPriceWei, prices, lane] = await Promise.all([
    askGasPrice(),
    askPrices(),
    // V2 has no limit to query, and its key hashes are checked before a request is accepted.
    contracts.vrfVersion === "v2.5" ? askLane(asked.keyHash) : undefined,
  ]);
  const subscription = subscriptions.find(request.dappId);
  if (lane?.isRegistered === false)
    return `the coordinator has no proving key with the key hash ${asked.keyHash}`;
  const maxGasWei = lane?.maxGasWei;
  if (maxGasWei !== undefined && gasPriceWei > maxGasWei) return describeGasLane({ gasPriceWei, maxGasWei });
  if (subscription === undefined) return undefined;
  const nativePayment = isPaidNatively(asked);
  const { callbackGasLimit } = asked;
  const needed = estimateWordsCost({ callbackGasLimit, nativePayment }, { gasPriceWei, ...prices });
  const { vrfJuels, vrfWei } = await askBalances(subscription);
  const held = nativePayment ? vrfWei : vrfJuels;
  if (held >= needed) return undefined;
  const currency = nativePayment ? scope.coin : "LINK";
  return describeShortage({ subscriptionId: subscription.vrfSubscriptionId, currency, held, needed });
}

function oracleUnseen(scope: ExplanationScope, request: OpenRequest): string {
  const { tracker, ageMs } = scope;
  const seen = tracker.oracleSeenAt(isResultAwaited(request) ? "result" : "words");
  const age = ageMs(request);
  const seenAgoMs = seen === undefined ? Infinity : performance.now() - seen;
  if (seenAgoMs > age)
    return `oracle not seen for ${seconds(seen === undefined ? age : seenAgoMs)}${headAge(scope)}`;
  return `the oracle has answered others, last ${seconds(seenAgoMs)} ago; this one has been waiting for ${seconds(age)}`;
}

/** Says that the node has stopped answering, or that the chain has stopped producing blocks. */
function headAge({ watcher }: ExplanationScope): string {
  const head = watcher.head();
  if (head === undefined) return "";
  const answeredMs = performance.now() - head.seenAtMs;
  if (answeredMs >= OLD_HEAD_MS) return `; the node last answered ${seconds(answeredMs)} ago`;
  const blockMs = performance.now() - head.firstSeenAtMs;
  return blockMs < OLD_HEAD_MS ? "" : `; the chain has had no new block for ${seconds(blockMs)}`;
}

function keptBy({ isChainlinks }: ExplanationScope): string {
  return isChainlinks ? "; Chainlink's oracle drops a request after 24 hours" : "";
}

/** Whether a request waits for a result of a function node: of its function, or of its preset that has its word. */
function isResultAwaited({ progress }: OpenRequest): boolean {
  return progress.functionsRequestId !== undefined || progress.wordBlock !== undefined;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} seconds`;
}

/** Interval between explanations of old requests, and how many are explained each time. */
const INTERVAL_MS = 15_000;
const AT_ONCE = 50;

/** Creates the explanations of one network's open requests, for lists; they are not persisted. */
export function createOldExplanations(options: {
  /** Returns the open requests that have stayed in their state for longer than `ageMs`, oldest first. */
  readonly old: (ageMs: number) => readonly OpenRequest[];
  readonly explain: (request: OpenRequest) => Promise<Explanation | null>;
}) {
  let explained = new Map<string, Explanation>();
  const explainOld = async (): Promise<void> => {
    const old = options.old(INTERVAL_MS);
    const fresh = new Map<string, Explanation>();
    for (const request of old.slice(0, AT_ONCE)) {
      const explanation = await options.explain(request);
      if (explanation !== null) fresh.set(request.id, explanation);
    }
    explained = fresh;
  };
  return {
    find: (id: string): Explanation | undefined => explained.get(id),
    /** Starts explaining periodically; returns a function that stops it. */
    start: (onError: (error: unknown) => void): (() => void) => repeat(explainOld, INTERVAL_MS, onError),
  };
}
