import { setTimeout as sleep } from "node:timers/promises";
import { encodeFunctionData, getAddress } from "viem";
import type { Hex } from "viem";
import type { Receipt } from "../chain/client.ts";
import type { Sender } from "../chain/sender.ts";
import type { Call } from "../chain/signedTransaction.ts";
import { subscriptionOwnerAbi } from "../contracts/abi.ts";
import { messageOf } from "../lib/errors.ts";
import { insertConsumer, listConsumers } from "../store/chainRecords.ts";
import type { StoredSubscription } from "../store/chainRecords.ts";
import type { BlockId } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import type { Cargo } from "./dispatcher.ts";
import type { OpenRequest, RequestBook } from "./requestBook.ts";

const CONSUMER_GAS = 600_000n;
/** Pause before a linking that could not be sent is tried again, and how often. */
const DEFAULT_RETRY_MS = 1_000;
const MAX_ATTEMPTS = 30;

/** Links callers' contracts to their subscriptions, one after the other: the same contract asked for twice is linked once. */
export interface Linker {
  take(request: OpenRequest): void;
  /** Ends a request by the receipt of its transaction. */
  finish(request: OpenRequest, receipt: Receipt): Promise<void>;
  holds(id: string): boolean;
}

/** Options of {@link createLinker}. */
export interface LinkerOptions {
  readonly network: string;
  readonly store: Store;
  readonly book: RequestBook;
  readonly sender: Sender<Cargo>;
  readonly subscriptionOwner: Hex;
  readonly findSubscription: (dappId: string) => Promise<StoredSubscription>;
  /** Receipt of a transaction that was signed for the request earlier, if one is on chain. */
  readonly findCarrier: (request: OpenRequest) => Promise<Receipt | undefined>;
  readonly explainRevert: (call: Call, receipt: Receipt) => Promise<string>;
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
  /** Pause before a linking that could not be sent is tried again; thirty times at most. Default 1,000. */
  readonly retryMs?: number;
}

/** Makes the linker of one network. */
export function createLinker(options: LinkerOptions): Linker {
  const { network, store, book, sender, signal, onError, retryMs = DEFAULT_RETRY_MS } = options;
  const held = new Set<string>();
  let tail: Promise<void> = Promise.resolve();

  const encodeCall = async ({ dappId, params }: OpenRequest): Promise<Call> => {
    const { vrfSubscriptionId, functionsSubscriptionId } = await options.findSubscription(dappId);
    const data = encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "addConsumer",
      args: [vrfSubscriptionId, functionsSubscriptionId, params["consumer"] as Hex],
    });
    return { to: options.subscriptionOwner, data, gas: CONSUMER_GAS };
  };

  const link = async (request: OpenRequest): Promise<void> => {
    const carried =
      request.progress.transactionHashes === undefined ? undefined : await options.findCarrier(request);
    if (carried !== undefined) return await finish(request, carried);
    const address = getAddress(request.params["consumer"] as Hex);
    const linked = (await listConsumers(store.db, request.dappId, network)).find(
      (one) => getAddress(one.address as Hex) === address,
    );
    if (linked !== undefined) return await fulfil(request, linked.transactionHash as Hex);
    const call = await encodeCall(request);
    await finish(request, await sender.send(call, { kind: "consumer", entries: [[request.id]] }));
  };

  const finish = async (request: OpenRequest, receipt: Receipt): Promise<void> => {
    const { transactionHash } = receipt;
    const endedIn = { number: Number(receipt.blockNumber), hash: receipt.blockHash };
    if (receipt.succeeded) return await fulfil(request, transactionHash, endedIn);
    const reason = await options.explainRevert(await encodeCall(request), receipt);
    const message = `the linking transaction reverted: ${reason}`;
    await book.change([
      { request, state: "failed", transactionHash, error: { code: "request_failed", message }, endedIn },
    ]);
  };

  /** @param endedIn block of the transaction, where it was the request's own. */
  const fulfil = async (request: OpenRequest, transactionHash: Hex, endedIn?: BlockId): Promise<void> => {
    const consumer = {
      dappId: request.dappId,
      network,
      address: request.params["consumer"] as string,
      transactionHash,
      createdAt: Date.now(),
    };
    await book.change(
      [
        {
          request,
          state: "fulfilled",
          transactionHash,
          outcome: { transactionHash },
          ...(endedIn === undefined ? {} : { endedIn }),
        },
      ],
      (db) => insertConsumer(db, consumer),
    );
  };

  const linkAtLast = async (request: OpenRequest): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await link(request);
      } catch (error) {
        if (signal.aborted) return;
        onError(error);
        const message = messageOf(error);
        if (attempt === MAX_ATTEMPTS) {
          const end = { code: "chain_unavailable", message: `the linking could not be sent: ${message}` };
          return await book.change([{ request, state: "failed", error: end }]);
        }
        await book.change([{ request, why: `not sent yet: ${message}` }]);
        await sleep(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  };

  return {
    take(request) {
      if (held.has(request.id)) return;
      held.add(request.id);
      tail = tail
        .then(() => linkAtLast(request))
        .catch(onError)
        .finally(() => held.delete(request.id));
    },
    finish,
    holds: (id) => held.has(id),
  };
}
