import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { type RawLog, parseQuantity, RpcError } from "../../lib/nodeAnswers.ts";
import { fixedPriceFeedAbi } from "../../chainlink/contracts/abi.ts";
import { askContract, isRevert, readOf, type ContractRead } from "../../chainlink/contractRead.ts";
import { isPaidNatively, vrfVersionOf } from "../../chainlink/vrfVersion.ts";
import type { VrfVersion } from "../../domain/vocabulary.ts";
import { COORDINATOR_READS, type VrfSubscription } from "../../chainlink/vrfCoordinator.ts";
import { estimateWordsCost, reservedGasPrice, type WordsPrices } from "../../chainlink/wordsCost.ts";
import { describeCodeless, describeShortage } from "../../chainlink/waitingText.ts";
import { remember } from "../../lib/memo.ts";
import { LONGEST_COSTLY_PAUSE_MS, LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import type { VrfRequest } from "./fulfillment.ts";
import type { OracleLog } from "../log.ts";
import type { Entry, RequestSet } from "../requestSet.ts";
import { ORACLE_TOPICS } from "../topics.ts";

/** How long the coordinator's fees and the price of LINK are remembered. */
const PRICES_MEMORY_MS = 60_000;
const FUNDED_TOPICS: ReadonlySet<string | undefined> = new Set([
  ORACLE_TOPICS.SubscriptionFunded,
  ORACLE_TOPICS.SubscriptionFundedV2Plus,
  ORACLE_TOPICS.SubscriptionFundedWithNative,
]);
/** Why a request waits that nobody says the costs of. */
const COST_UNKNOWN = "the node does not say what its fulfilment would cost";
const WAITS_FOR_OTHERS = "its subscription holds too little for this request and those before it at once";

type VrfEntry = Entry<VrfRequest>;

/** Keeps the oracle from paying for the gas of others' contracts. */
export interface Solvency {
  /** Returns why a request waits until its subscription is funded; `undefined` if the subscription isn't known to be short. */
  findShortage(request: VrfRequest): string | undefined;
  /** Postpones the entries that would cost gas for nothing, and returns the others. What those may cost is reserved until `release`. */
  holdBack(entries: readonly VrfEntry[]): Promise<readonly VrfEntry[]>;
  /** Ends the reservations of entries, where they have one. */
  release(entries: readonly VrfEntry[]): void;
  /** Postpones an entry that the coordinator refused for want of funds, and with it all requests of its subscription until that is funded. */
  onRefused(entry: VrfEntry): void;
  /** Reads a log of the coordinator. */
  onLog(eventLog: RawLog): void;
}

export interface SolvencyOptions {
  readonly client: Pick<ChainClient, "call" | "getCode" | "request">;
  /** Lower case. */
  readonly coordinator: Hex;
  /** The operator's contract, whose requests the operator pays for anyway; absent if there is none. */
  readonly presetConsumer: Hex | undefined;
  readonly requestSet: RequestSet<VrfRequest>;
  /** Called when it is known how much a subscription holds. */
  readonly onKnown: () => void;
  readonly log: OracleLog;
}

/**
 * Creates what knows who can pay one VRF node. The coordinator asks for payment last: if a subscription turns out to be short, its owner
 * pays for neither the proof nor the callback.
 */
export function createSolvency(options: SolvencyOptions): Solvency {
  const { client, coordinator, presetConsumer, requestSet, log } = options;
  /** By purse: the sentence that says that it was short. */
  const short = new Map<string, string>();
  const reservations = createReservations((read, to = coordinator) => askContract(client, to, read));

  /** Postpones the entries of contracts without code, which the coordinator refuses to call, and returns the others. */
  async function holdBackCodeless(entries: readonly VrfEntry[]): Promise<readonly VrfEntry[]> {
    const senders = [...new Set(entries.map(({ request }) => request.sender))];
    const codes = await Promise.all(senders.map((one) => client.getCode(one).catch(unlessNodeFails)));
    return entries.filter((entry) => {
      const { sender } = entry.request;
      const code = codes[senders.indexOf(sender)];
      if (code === "unknown") requestSet.postpone(entry, COST_UNKNOWN, LONGEST_FREE_PAUSE_MS);
      else if (code === "0x") requestSet.postpone(entry, describeCodeless(sender));
      else return true;
      return false;
    });
  }

  /** Reserves what entries may cost, postpones those whose subscriptions hold too little, and returns the others. */
  async function reserve(entries: readonly VrfEntry[]): Promise<readonly VrfEntry[]> {
    const gasPriceWei = parseQuantity(await client.request("eth_gasPrice"), "gas price");
    const requests = entries.map(({ request }) => request);
    const shortages = await reservations.reserve(requests, gasPriceWei);
    return entries.filter((entry) => {
      const shortage = shortages.get(entry.request);
      if (shortage === undefined) return true;
      const { why, isShort } = shortage;
      entry.underfunded = isShort;
      requestSet.postpone(entry, why, isShort ? LONGEST_COSTLY_PAUSE_MS : LONGEST_FREE_PAUSE_MS);
      return false;
    });
  }

  return {
    findShortage: (request) => short.get(purseOf(request)),
    async holdBack(entries) {
      const others = entries.filter(({ request }) => request.sender !== presetConsumer);
      if (others.length === 0) return entries;
      let paid: readonly VrfEntry[] = others;
      try {
        paid = await holdBackCodeless(others);
        paid = await reserve(paid);
      } catch (error) {
        log.debug({ err: error }, "vrf: can't read what fulfilments would cost");
        // Whoever can keep the node from answering must not have their proofs paid for.
        if (error instanceof RpcError) {
          for (const entry of paid) requestSet.postpone(entry, COST_UNKNOWN, LONGEST_FREE_PAUSE_MS);
          paid = [];
        }
      }
      const wanted = new Set(paid);
      return entries.filter((entry) => entry.request.sender === presetConsumer || wanted.has(entry));
    },
    release: (entries) => reservations.release(entries.map(({ request }) => request)),
    onRefused(entry) {
      const { request } = entry;
      const purse = purseOf(request);
      short.set(purse, shortageOf(request));
      requestSet.postpone(entry, shortageOf(request));
      const { subscriptionId } = request;
      const read = COORDINATOR_READS[vrfVersionOf(request)].subscription(subscriptionId);
      askContract(client, coordinator, read)
        .then((holds) => {
          if (short.has(purse)) short.set(purse, shortageOf(request, heldFor(request, holds)));
          options.onKnown();
        })
        .catch((error: unknown) =>
          log.debug(
            { err: error, subscriptionId: String(subscriptionId) },
            "vrf: can't read a subscription's balance",
          ),
        );
    },
    onLog({ topics }) {
      if (!FUNDED_TOPICS.has(topics[0])) return;
      const subscriptionId = BigInt(topics[1]!);
      for (const isNative of [false, true]) short.delete(purseNamed(subscriptionId, isNative));
      requestSet.fund(subscriptionId);
    },
  };
}

/** Why a request waits. `isShort`: its subscription holds too little for it alone. */
interface Shortage {
  readonly why: string;
  readonly isShort: boolean;
}

/**
 * Creates the reservations of what requests in flight to one VRF node may cost their subscriptions. A callback may use less than its limit
 * when it is tried, so it counts with its limit.
 *
 * @param ask reads from the coordinator, or from its feed
 */
function createReservations(ask: <Value>(read: ContractRead<Value>, to?: Hex) => Promise<Value>) {
  /** What each request in flight may cost, and what those of a purse may cost together. */
  const reserved = new Map<VrfRequest, bigint>();
  const sums = new Map<string, bigint>();
  const pricesOf = {
    v2: remember(PRICES_MEMORY_MS, () => readPrices("v2")),
    "v2.5": remember(PRICES_MEMORY_MS, () => readPrices("v2.5")),
  };

  async function readPrices(version: VrfVersion): Promise<Omit<WordsPrices, "gasPriceWei">> {
    const reads = COORDINATOR_READS[version];
    const [feed, fees] = await Promise.all([ask(reads.linkFeed()), ask(reads.fees())]);
    const round = readOf(fixedPriceFeedAbi, "latestRoundData", [], ([, answer]) => answer);
    return { weiPerLink: await ask(round, feed), fees };
  }

  /** `undefined` if it is cancelled. */
  async function readSubscription(version: VrfVersion, id: bigint): Promise<VrfSubscription | undefined> {
    try {
      return await ask(COORDINATOR_READS[version].subscription(id));
    } catch (error) {
      if (isRevert(error)) return undefined;
      throw error;
    }
  }

  return {
    /**
     * Reserves what requests may cost at a gas price, in order, as far as their subscriptions hold it. Rejects with {@link RpcError} if
     * the node doesn't say what words cost.
     *
     * @returns why the others wait, by request.
     */
    async reserve(
      requests: readonly VrfRequest[],
      gasPriceWei: bigint,
    ): Promise<ReadonlyMap<VrfRequest, Shortage>> {
      const waiting = new Map<VrfRequest, Shortage>();
      if (requests.length === 0) return waiting;
      const version = vrfVersionOf(requests[0]!);
      const prices = {
        gasPriceWei: reservedGasPrice(gasPriceWei),
        ...(await pricesOf[version]()),
      };
      const ids = [...new Set(requests.map(({ subscriptionId }) => subscriptionId))];
      const found = await Promise.all(
        ids.map(async (id) => [id, await readSubscription(version, id).catch(unlessNodeFails)] as const),
      );
      const subscriptions = new Map(found);
      for (const request of requests) {
        const holds = subscriptions.get(request.subscriptionId);
        if (holds === "unknown") {
          waiting.set(request, { why: COST_UNKNOWN, isShort: false });
          continue;
        }
        const nativePayment = isPaidNatively(request);
        const cost = estimateWordsCost({ ...request, nativePayment }, prices);
        const held = heldFor(request, holds) ?? 0n;
        const sum = (sums.get(purseOf(request)) ?? 0n) + cost;
        if (cost > held) waiting.set(request, { why: shortageOf(request, held, cost), isShort: true });
        else if (sum > held) waiting.set(request, { why: WAITS_FOR_OTHERS, isShort: false });
        else {
          reserved.set(request, cost);
          sums.set(purseOf(request), sum);
        }
      }
      return waiting;
    },
    release(requests: readonly VrfRequest[]): void {
      for (const request of requests) {
        const sum = (sums.get(purseOf(request)) ?? 0n) - (reserved.get(request) ?? 0n);
        if (sum > 0n) sums.set(purseOf(request), sum);
        else sums.delete(purseOf(request));
        reserved.delete(request);
      }
    },
  };
}

/** Returns "unknown" for a node's error, so that one request doesn't hold up those with it. Throws any other error. */
function unlessNodeFails(error: unknown): "unknown" {
  if (error instanceof RpcError) return "unknown";
  throw error;
}

/** Returns what a request is paid from: a subscription's LINK and coin are separate. */
function purseOf(request: VrfRequest): string {
  return purseNamed(request.subscriptionId, isPaidNatively(request));
}

function purseNamed(subscriptionId: bigint, isNative: boolean): string {
  return `${subscriptionId} ${isNative ? "coin" : "LINK"}`;
}

/** Says that a request's subscription is short of what pays for it, and the amounts that are known. */
function shortageOf(request: VrfRequest, held?: bigint, needed?: bigint): string {
  const { subscriptionId } = request;
  const currency = isPaidNatively(request) ? "coin" : "LINK";
  return `${describeShortage({ subscriptionId, currency, held, needed })}; fund it`;
}

/** Returns what a subscription holds to pay for a request; `undefined` if it is cancelled. */
function heldFor(request: VrfRequest, holds: VrfSubscription | undefined): bigint | undefined {
  return isPaidNatively(request) ? holds?.balanceWei : holds?.balanceJuels;
}
