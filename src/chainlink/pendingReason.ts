import { getAddress, type Hex } from "viem";
import { blockhashStoreAbi, vrfCoordinatorAbi } from "./contracts/abi.ts";
import { type ContractRead, readOf } from "./contractRead.ts";
import { COORDINATOR_READS, LINK_PRICE } from "./vrfCoordinator.ts";
import { isPaidNatively, vrfVersionOf } from "./vrfVersion.ts";
import { FULFILL_RESULTS, type ChainEventOf } from "./events.ts";
import { timeoutOf } from "./functionsTimeout.ts";
import { decodeRevertReason } from "./revertReason.ts";
import {
  describeCodeless,
  describeGasLane,
  describeLostHash,
  describeShortage,
  describeTimeout,
  describeUnconfirmed,
  REACHABLE_BLOCKS,
} from "./waitingText.ts";
import { estimateWordsCost, reservedGasPrice } from "./wordsCost.ts";

/** A node to query; a call that reverts rejects with the revert data as `data`. */
export interface PendingReader {
  request(method: string, parameters?: readonly unknown[]): Promise<unknown>;
}

/** Explains what unanswered requests wait for, from the chain alone, whether a service or somebody's own contract made them. */
export interface PendingReasons {
  /**
   * Explains a request for random words, in one sentence without a full stop.
   *
   * @param coordinator the coordinator that logged it
   * @param blockNumber block of the request
   */
  ofWords(
    request: ChainEventOf<"RandomWordsRequested">,
    place: { readonly coordinator: Hex; readonly blockNumber: bigint },
  ): Promise<string>;
  /** Explains a function request. @param refusal the last report for it that the router refused */
  ofFunction(
    request: ChainEventOf<"OracleRequest">,
    refusal?: ChainEventOf<"RequestNotProcessed">,
  ): Promise<string>;
}

/**
 * Creates the explanations of one look at a chain, which read each value once. They never reject: a failing node is the explanation.
 *
 * @param coin symbol of the chain's coin
 * @param findOracleReason what the oracle says it waits for, if it is known
 */
export function createPendingReasons(
  reader: PendingReader,
  coin = "coin",
  findOracleReason: (requestId: Hex) => string | undefined = () => undefined,
): PendingReasons {
  const known = new Map<string, Promise<unknown>>();
  const ask = (method: string, parameters: readonly unknown[]): Promise<unknown> => {
    const key = JSON.stringify([method, parameters]);
    const answer = known.get(key) ?? reader.request(method, parameters);
    known.set(key, answer);
    return answer;
  };
  const read = async <Value>(to: Hex, { data, decode }: ContractRead<Value>): Promise<Value> =>
    decode((await ask("eth_call", [{ to, data }, "latest"])) as Hex);
  const head = async (): Promise<{ readonly number: bigint; readonly timestamp: bigint }> => {
    const { number, timestamp } = (await ask("eth_getBlockByNumber", ["latest", false])) as Record<
      string,
      string
    >;
    return { number: BigInt(number!), timestamp: BigInt(timestamp!) };
  };

  const shortageOf = async (
    request: ChainEventOf<"RandomWordsRequested">,
    coordinator: Hex,
  ): Promise<string | undefined> => {
    const { subId, callbackGasLimit } = request;
    const reads = COORDINATOR_READS[vrfVersionOf(request)];
    let subscription;
    try {
      subscription = await read(coordinator, reads.subscription(subId));
    } catch (error) {
      if (decodeRevertReason((error as { data?: Hex }).data ?? "0x").name !== "InvalidSubscription")
        throw error;
      return `VRF subscription ${subId} is cancelled, so nobody can answer this`;
    }
    const feed = await read(coordinator, reads.linkFeed());
    const [weiPerLink, fees, gasPrice] = await Promise.all([
      read(feed, LINK_PRICE),
      read(coordinator, reads.fees()),
      ask("eth_gasPrice", []),
    ]);
    const nativePayment = isPaidNatively(request);
    const prices = { gasPriceWei: reservedGasPrice(BigInt(gasPrice as string)), weiPerLink, fees };
    const needed = estimateWordsCost({ callbackGasLimit, nativePayment }, prices);
    const balance = nativePayment ? subscription.balanceWei : subscription.balanceJuels;
    if (balance >= needed) return undefined;
    const currency = nativePayment ? coin : "LINK";
    const remedy = nativePayment
      ? `send it ${coin} with fundSubscriptionWithNative(${subId}) of the coordinator ${getAddress(coordinator)}`
      : "fund it";
    return `${describeShortage({ subscriptionId: subId, currency, held: balance, needed })}; ${remedy}`;
  };

  const isHashLost = async (coordinator: Hex, blockNumber: bigint): Promise<boolean> => {
    const store = await read(coordinator, readOf(vrfCoordinatorAbi, "BLOCKHASH_STORE", []));
    try {
      await read(store, readOf(blockhashStoreAbi, "getBlockhash", [blockNumber]));
      return false;
    } catch (error) {
      if ((error as { data?: Hex }).data === undefined) throw error;
      return true;
    }
  };

  const explainWords: PendingReasons["ofWords"] = async (request, { coordinator, blockNumber }) => {
    const { keyHash, requestId, minimumRequestConfirmations: confirmations } = request;
    const reads = COORDINATOR_READS[vrfVersionOf(request)];
    const { isRegistered, registered, maxGasWei } = await read(coordinator, reads.lane(keyHash));
    if (!isRegistered)
      return `this coordinator has no proving key with the key hash ${keyHash}, so nobody can answer${registered === undefined ? "" : `; registered: ${registered.join(", ") || "none"}`}`;
    if ((await read(coordinator, reads.commitment(requestId))) === 0n)
      return "the coordinator has no such request any more; it was answered or its subscription cancelled";
    if ((await ask("eth_getCode", [request.sender, "latest"])) === "0x")
      return describeCodeless(request.sender);
    const { number } = await head();
    if (number - blockNumber > REACHABLE_BLOCKS && (await isHashLost(coordinator, blockNumber)))
      return `${describeLostHash(blockNumber)}, so nobody can answer; send the request again`;
    const gasPriceWei = BigInt((await ask("eth_gasPrice", [])) as string);
    if (maxGasWei !== undefined && gasPriceWei > maxGasWei)
      return describeGasLane({ gasPriceWei, maxGasWei });
    const shortage = await shortageOf(request, coordinator);
    if (shortage !== undefined) return shortage;
    const unconfirmed = describeUnconfirmed({ blockNumber, confirmations }, number);
    if (unconfirmed !== undefined) return unconfirmed;
    const reason = findOracleReason(requestId);
    return reason === undefined
      ? "nothing on the chain keeps the oracle from answering; it has not done so yet"
      : `the oracle has not answered yet: ${reason}`;
  };

  const explainFunction: PendingReasons["ofFunction"] = async ({ commitment }, refusal) => {
    const timeoutAt = timeoutOf(commitment);
    const { timestamp } = await head();
    if (Number(timestamp) >= timeoutAt)
      return `${describeTimeout(timeoutAt)}, and now it can only be removed with timeoutRequests`;
    if (refusal !== undefined)
      return `the router did not take the oracle's report: ${FULFILL_RESULTS[refusal.resultCode] ?? `code ${refusal.resultCode}`}`;
    return `no report from the oracle yet; one may arrive until ${new Date(timeoutAt * 1000).toISOString()}`;
  };

  const always =
    <Arguments extends readonly unknown[]>(explain: (...values: Arguments) => Promise<string>) =>
    async (...values: Arguments): Promise<string> => {
      try {
        return await explain(...values);
      } catch {
        return "the node does not say why";
      }
    };
  return { ofWords: always(explainWords), ofFunction: always(explainFunction) };
}
