import type { Hex } from "viem";
import { fixedPriceFeedAbi } from "../chainlink/contracts/abi.ts";
import { isRevert, readOf, type ContractRead } from "../chainlink/contractRead.ts";
import { isPaidNatively } from "../chainlink/extraArgs.ts";
import { COORDINATOR_READS, type VrfSubscription } from "../chainlink/vrfCoordinator.ts";
import { vrfVersionOf, type VrfVersion } from "../chainlink/vrfVersion.ts";
import { estimateWordsCost, reservedGasPrice, type WordsPrices } from "../chainlink/wordsCost.ts";
import { RpcError } from "../lib/nodeAnswers.ts";
import { remember } from "../lib/memo.ts";
import type { VrfRequest } from "./fulfillment.ts";
import { purseOf, shortageOf } from "./purse.ts";

/** How long the coordinator's fees and the price of LINK are remembered. */
const PRICES_MEMORY_MS = 60_000;

/** Keeps the oracle from paying for the gas of others' contracts. */
export interface Solvency {
  /**
   * Reserves what requests may cost at a gas price, in order, as far as their subscriptions hold it. Rejects with {@link RpcError} if the
   * node doesn't say what words cost.
   *
   * @returns why the others wait, by request.
   */
  reserve(requests: readonly VrfRequest[], gasPriceWei: bigint): Promise<ReadonlyMap<VrfRequest, Shortage>>;
  /** Ends the reservation of requests, if they have one. */
  release(requests: readonly VrfRequest[]): void;
}

/** Why a request waits. `isShort`: its subscription holds too little for it alone. */
export interface Shortage {
  readonly why: string;
  readonly isShort: boolean;
}

/**
 * Creates the reservations of one VRF node. The coordinator asks for payment last: if a subscription turns out to be short, its owner pays
 * for neither the proof nor the callback. A callback may use less than its limit when it is tried, so it counts with its limit.
 */
export function createSolvency(options: {
  /** Reads from the coordinator, or from its feed. */
  readonly ask: <Value>(read: ContractRead<Value>, to?: Hex) => Promise<Value>;
}): Solvency {
  const { ask } = options;
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

  return {
    async reserve(requests, gasPriceWei) {
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
        const held = (nativePayment ? holds?.balanceWei : holds?.balanceJuels) ?? 0n;
        const sum = (sums.get(purseOf(request)) ?? 0n) + cost;
        if (cost > held) waiting.set(request, { why: shortageOf(request, holds), isShort: true });
        else if (sum > held) waiting.set(request, { why: WAITS_FOR_OTHERS, isShort: false });
        else {
          reserved.set(request, cost);
          sums.set(purseOf(request), sum);
        }
      }
      return waiting;
    },
    release(requests) {
      for (const request of requests) {
        const sum = (sums.get(purseOf(request)) ?? 0n) - (reserved.get(request) ?? 0n);
        if (sum > 0n) sums.set(purseOf(request), sum);
        else sums.delete(purseOf(request));
        reserved.delete(request);
      }
    },
  };

  /** `undefined` if it is cancelled. */
  async function readSubscription(version: VrfVersion, id: bigint): Promise<VrfSubscription | undefined> {
    try {
      return await ask(COORDINATOR_READS[version].subscription(id));
    } catch (error) {
      if (isRevert(error)) return undefined;
      throw error;
    }
  }
}

/** Returns "unknown" for a node's error, so that one request doesn't hold up those with it. Throws any other error. */
export function unlessNodeFails(error: unknown): "unknown" {
  if (error instanceof RpcError) return "unknown";
  throw error;
}

/** Why a request waits that nobody says the costs of. */
export const COST_UNKNOWN = "the node does not say what its fulfilment would cost";
const WAITS_FOR_OTHERS = "its subscription holds too little for this request and those before it at once";
