import { setTimeout as sleep } from "node:timers/promises";
import { encodeFunctionData, getAddress, isAddressEqual, type Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import type { Sender } from "../../evm/sender.ts";
import type { Call } from "../../evm/signedTransaction.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import { SUBSCRIPTION_OWNER_ABIS } from "../../chainlink/vrfVersion.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainConsumer } from "../../dapps/chainConsumers.ts";
import { isShortage } from "../../dapps/shortage.ts";
import type { Subscriptions } from "../../dapps/subscriptions.ts";
import { messageOf } from "../../lib/errors.ts";
import { retry } from "../../lib/retry.ts";
import {
  deleteConsumer,
  findConsumer,
  saveConsumer,
  type StoredSubscription,
} from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import type { Payload } from "../../store/transactionContents.ts";
import type { RequestTransactions } from "./requestTransactions.ts";
import { changeOpen, type RequestBook } from "../requestBook.ts";
import type { LinkRequest, OpenRequest } from "../openRequest.ts";
import { isTransient, sendingError } from "./sendingErrors.ts";
import {
  createUnlinkCheck,
  SubscriptionBusyError,
  UnlinkRefusedError,
  type Unlinking,
} from "./unlinkCheck.ts";

const LINK_GAS = 600_000n;
/** Both contracts read the whole list of consumers, and the VRF coordinator each one's latest request, too: 780,000 gas with 100. */
const UNLINK_GAS = 2_000_000n;
/** Pause before a request that could not be sent is retried, and the maximum number of attempts. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_ATTEMPTS = 30;
/**
 * A function request's gas limit follows the number of consumers at the time it is sent. A linking therefore waits for the dapp's
 * earlier requests, whose gas doesn't cover another consumer, but not forever.
 */
const OLDER_WAIT_MS = 10_000;
const OLDER_POLL_MS = 50;

/**
 * Links callers' contracts to their subscriptions, and unlinks them. Requests of one dapp are carried out in sequence, so
 * that a contract requested twice is linked once. Dapps don't wait for each other.
 */
export interface Linker {
  take(request: LinkRequest): void;
  /** Ends a request according to its transaction's receipt. */
  finish(request: LinkRequest, receipt: Receipt): Promise<void>;
  holds(id: string): boolean;
  /** Number of a dapp's contracts that are being linked. */
  linkings(dappId: string): number;
  /** Describes the requests that keep a contract linked; `undefined` if there are none. Rejects when the chain can't be queried. */
  findUnlinkObstacle(dappId: string, consumer: Hex): Promise<string | undefined>;
}

export interface LinkerOptions {
  readonly network: string;
  readonly client: Pick<ChainClient, "call" | "request">;
  readonly watcher: Pick<ChainWatcher, "head">;
  readonly store: Store;
  readonly book: RequestBook;
  readonly sender: Sender<Payload>;
  readonly contracts: StackAddresses;
  readonly subscriptions: Pick<Subscriptions, "ensure" | "readConsumers" | "consumersChanged">;
  readonly requestTransactions: Pick<RequestTransactions, "find">;
  readonly explainRevert: (call: Call, receipt: Receipt) => Promise<string>;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
  /** Pause before a linking that could not be sent is retried, in milliseconds; there are at most thirty attempts. Default 1,000. */
  readonly retryMs?: number;
}

/** Creates the linker of one network. */
export function createLinker(options: LinkerOptions): Linker {
  const { network, client, contracts, store, book, sender, subscriptions, signal, onError } = options;
  const { retryMs = DEFAULT_RETRY_MS } = options;
  const held = new Map<string, LinkRequest>();
  const tails = new Map<string, Promise<void>>();

  const check = createUnlinkCheck({ client, contracts, sender, watcher: options.watcher });

  const abi = SUBSCRIPTION_OWNER_ABIS[contracts.vrfVersion ?? "v2"];
  const to = contracts.subscriptionOwner;

  const encodeLinking = async (request: Linking): Promise<Call> => {
    const { vrfSubscriptionId, functionsSubscriptionId } = await subscriptions.ensure(request.dappId);
    const args = [vrfSubscriptionId, functionsSubscriptionId, consumerOf(request)] as const;
    return { to, data: encodeFunctionData({ abi, functionName: "addConsumer", args }), gas: LINK_GAS };
  };

  const encodeUnlinking = async (request: Linking): Promise<Unlinking> => {
    const subscription = await subscriptions.ensure(request.dappId);
    const consumer = consumerOf(request);
    const { isOnVrf, isOnFunctions } = await readLinks(subscription, consumer);
    // One that is on neither is asked of both, which say so.
    const vrf = isOnVrf || !isOnFunctions ? subscription.vrfSubscriptionId : 0n;
    const functions = isOnFunctions || !isOnVrf ? subscription.functionsSubscriptionId : 0n;
    const remove = (vrfId: bigint, functionsId: bigint): Call => {
      const args = [vrfId, functionsId, consumer] as const;
      return { to, data: encodeFunctionData({ abi, functionName: "removeConsumer", args }), gas: UNLINK_GAS };
    };
    const parts = isOnVrf && isOnFunctions ? [remove(vrf, 0n), remove(0n, functions)] : [];
    return { call: remove(vrf, functions), parts, subscription, consumer };
  };

  const encodeCall = async (request: Linking): Promise<Call> =>
    request.kind === "consumer" ? await encodeLinking(request) : (await encodeUnlinking(request)).call;

  const readLinks = async (subscription: StoredSubscription, consumer: Hex): Promise<ChainConsumer> => {
    const { vrf, functions } = await subscriptions.readConsumers(subscription);
    const isOn = (list: readonly Hex[]): boolean => list.some((one) => isAddressEqual(one, consumer));
    return { isOnVrf: isOn(vrf), isOnFunctions: isOn(functions) };
  };

  const carryOut = async (request: LinkRequest): Promise<void> => {
    const isSigned = request.progress.transactionHashes !== undefined;
    const carried = isSigned ? await options.requestTransactions.find(request) : undefined;
    if (carried !== undefined) return await finish(request, carried);
    if (request.kind === "consumer") {
      const known = await findLinking(request);
      if (known !== undefined) return await changeOpen(book, { request, ...fulfilledBy(known) });
    }
    const call = request.kind === "consumer" ? await encodeLinking(request) : await prepareUnlinking(request);
    await finish(request, await sender.send(call, { kind: "consumer", entries: [[request.id]] }));
  };

  /** Returns the transaction that linked the contract before, if it still is linked. */
  const findLinking = async (request: LinkRequest): Promise<Hex | undefined> => {
    const { dappId } = request;
    const address = consumerOf(request);
    const { isOnVrf, isOnFunctions } = await readLinks(await subscriptions.ensure(dappId), address);
    if (!isOnVrf || !isOnFunctions) return undefined;
    const known = await findConsumer(store.db, { dappId, network, address });
    return known?.transactionHash as Hex | undefined;
  };

  const prepareUnlinking = async (request: LinkRequest): Promise<Call> => {
    const unlinking = await encodeUnlinking(request);
    await check(unlinking);
    return unlinking.call;
  };

  const finish = async (request: LinkRequest, receipt: Receipt): Promise<void> => {
    const { transactionHash } = receipt;
    const endedIn = { number: Number(receipt.blockNumber), hash: receipt.blockHash };
    if (!receipt.succeeded) {
      const reason = await options.explainRevert(await encodeCall(request), receipt);
      const what = request.kind === "consumer" ? "linking" : "unlinking";
      const error = { code: "request_failed", message: `the ${what} transaction reverted: ${reason}` };
      return await changeOpen(book, { request, state: "failed", transactionHash, error, endedIn });
    }
    const place = { dappId: request.dappId, network, address: consumerOf(request) };
    await changeOpen(book, { request, ...fulfilledBy(transactionHash), endedIn }, (db) =>
      request.kind === "consumer"
        ? saveConsumer(db, { ...place, transactionHash, createdAt: Date.now() })
        : deleteConsumer(db, place),
    );
    subscriptions.consumersChanged(request.dappId);
  };

  const carryOutAtLast = async (request: LinkRequest): Promise<void> => {
    if (request.kind === "consumer") await olderRequests(request);
    if (signal.aborted) return;
    const report = (error: unknown): void => {
      if (!signal.aborted && !(error instanceof SubscriptionBusyError)) onError(error);
    };
    try {
      await retry(() => carryOut(request).catch(rethrow), {
        attempts: MAX_ATTEMPTS,
        pauseMs: () => retryMs,
        isFinal: (error) => error instanceof UnlinkRefusedError || !isTransient(error),
        isWait: isShortage,
        async onRetry(error) {
          report(error);
          await changeOpen(book, { request, why: `not sent yet: ${messageOf(error)}` }).catch(onError);
        },
        signal,
      });
    } catch (error) {
      if (signal.aborted) return;
      report(error);
      await changeOpen(book, { request, state: "failed", error: endOf(request, error) });
    }
  };

  /** Resolves when the dapp's function requests from before a linking have loaded the list of consumers, or after {@link OLDER_WAIT_MS}. */
  const olderRequests = async ({ dappId, createdAt }: LinkRequest): Promise<void> => {
    const isInTheWay = (one: OpenRequest): boolean =>
      one.dappId === dappId &&
      one.createdAt < createdAt &&
      one.kind === "function" &&
      one.state === "received";
    const deadline = performance.now() + OLDER_WAIT_MS;
    while (!signal.aborted && performance.now() < deadline && book.open(network).some(isInTheWay))
      await sleep(OLDER_POLL_MS, undefined, { signal }).catch(() => {});
  };

  return {
    take(request) {
      const { id, dappId } = request;
      if (held.has(id)) return;
      held.set(id, request);
      const tail = (tails.get(dappId) ?? Promise.resolve())
        .then(() => carryOutAtLast(request))
        .catch(onError)
        .finally(() => {
          held.delete(id);
          if (tails.get(dappId) === tail) tails.delete(dappId);
        });
      tails.set(dappId, tail);
    },
    finish,
    holds: (id) => held.has(id),
    linkings: (dappId) =>
      [...held.values()].filter((one) => one.dappId === dappId && one.kind === "consumer").length,
    async findUnlinkObstacle(dappId, consumer) {
      const unlinking = await encodeUnlinking({ kind: "unlink", dappId, params: { consumer } });
      try {
        await check(unlinking);
        return undefined;
      } catch (error) {
        if (error instanceof SubscriptionBusyError) return error.waitsFor;
        if (error instanceof UnlinkRefusedError) return undefined;
        throw error;
      }
    },
  };
}

type Linking = Pick<LinkRequest, "kind" | "dappId" | "params">;

function consumerOf({ params }: Pick<LinkRequest, "params">): Hex {
  return getAddress(params.consumer);
}

/** Returns the end of a request by the transaction that linked or unlinked its contract. */
function fulfilledBy(transactionHash: Hex) {
  return { state: "fulfilled", transactionHash, outcome: { transactionHash } } as const;
}

/** @throws {TycheError} the error that the request may report, or the original one if it ends the request. */
function rethrow(error: unknown): never {
  throw isTransient(error) ? sendingError(error) : error;
}

/** Returns the error that a request ends with after its last attempt. */
function endOf({ kind }: LinkRequest, error: unknown): { readonly code: string; readonly message: string } {
  const what = kind === "consumer" ? "linking" : "unlinking";
  if (error instanceof UnlinkRefusedError || error instanceof SubscriptionBusyError)
    return { code: "request_failed", message: error.message };
  if (!isTransient(error))
    return { code: "request_failed", message: `the ${what} can't be encoded for the chain` };
  return { code: "chain_unavailable", message: `the ${what} could not be sent: ${error.message}` };
}
