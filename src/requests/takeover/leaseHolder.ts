import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";
import { findChain, listSubscriptions, type StoredSubscription } from "../../store/chainRecords.ts";
import { createLeaseKeeper } from "../../store/leaseKeeper.ts";
import { findLease, isLeaseAbandoned, type Fence } from "../../store/leases.ts";
import type { RequestIntake } from "../serviceNetwork.ts";
import {
  openRequestPipeline,
  type RequestPipeline,
  type RequestPipelineOptions,
} from "../requestPipeline.ts";
import { adoptChain } from "./adoptChain.ts";
import { fenceBook, fenceStore } from "./fenced.ts";
import type { Replica } from "../replica.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { createSubscriptionReads } from "../../dapps/subscriptionReads.ts";
import type { ChainClient } from "../../evm/client.ts";
import { repeat } from "../../lib/repeat.ts";
import type { Store } from "../../store/store.ts";
import { findSourceId } from "../dispatch/sources.ts";
import { isEnded } from "../../domain/vocabulary.ts";

/** A live follower takes a free lease well within this time, so a lease that stays free longer has no live replica. */
const ABANDONED_AFTER_MS = 5_000;
const ABANDONED_LOOK_MS = 250;

/** Who dispatches on a network: this process, or the replica that holds the network's lease, and so takes over a dead one's work. */
export interface LeaseHolder {
  /** Where requests currently go: to the pipeline here, or to the dispatching replica. */
  intake(): RequestIntake;
  /** The pipeline, while this process dispatches. */
  pipeline(): RequestPipeline | undefined;
  /** Id of the dispatching replica, if known, and whether it is this one; `undefined` where there are no replicas. */
  dispatcher(): { readonly replica?: string; readonly isHere: boolean } | undefined;
  /** Ends what is in flight here; with replicas, another one takes over at once. Idempotent. */
  close(): Promise<void>;
}

export interface LeaseHolderOptions extends Omit<RequestPipelineOptions, "fence"> {
  /** Present where several processes may serve from one database. */
  readonly replica?: Replica | undefined;
  /** Whether the chain may be newer than the journal; see `assertJournalKnows`. */
  readonly acceptsChain: boolean;
  readonly log: Logger;
}

/**
 * Dispatches on a network; with replicas, while this one holds the network's lease, and otherwise follows the one that does. Resolves when
 * either has begun.
 *
 * @throws {ChainUnavailableError} when the other replicas serve other contracts under the network's name.
 */
export async function openLeaseHolder(options: LeaseHolderOptions): Promise<LeaseHolder> {
  if (options.replica !== undefined) return await openSharedHolder(options, options.replica);
  const pipeline = await openRequestPipeline(options);
  return {
    intake: () => pipeline,
    pipeline: () => pipeline,
    dispatcher: () => undefined,
    close: () => pipeline.close(),
  };
}

async function openSharedHolder(options: LeaseHolderOptions, replica: Replica): Promise<LeaseHolder> {
  const { store, book, log } = options;
  const { source, chain, onError } = options.network;
  const { name: network } = source.profile;
  const { client, identity } = chain;
  const { contracts } = chain.deployment;
  let pipeline: RequestPipeline | undefined;
  /** Only a start may replace the contracts that the journal describes. */
  let isStarting = true;

  const contractsCheck = createContractsCheck(store, network, identity);
  const dispatch = async (fence: Fence): Promise<void> => {
    if (!isStarting) await contractsCheck.assertSame();
    replica.hold(network);
    const known = await findChain(store.db, network);
    await adoptChain({
      network,
      chain,
      acceptsChain: options.acceptsChain,
      isNew: known?.identity !== identity,
      store: fenceStore(store, fence),
      book: fenceBook(book, fence),
    });
    pipeline = await openRequestPipeline({ ...options, fence });
    replica.dispatch(network, pipeline);
    log.info({ replica: replica.id }, "this replica is now the dispatcher");
  };
  const standDown = async (end: { readonly atOnce: boolean }): Promise<void> => {
    const last = pipeline;
    pipeline = undefined;
    if (end.atOnce) replica.release(network);
    await last?.close(end);
    replica.release(network);
  };
  const keeper = createLeaseKeeper({
    db: store.db,
    network,
    replica,
    onTaken: dispatch,
    async onLost() {
      log.warn(
        { replica: replica.id },
        "this replica's lease has expired: another one is now the dispatcher",
      );
      await standDown({ atOnce: true });
    },
    onLeave: () => standDown({ atOnce: false }),
    onError,
  });
  const follower = await openFollowerIntake({ network, client, contracts, store, replica, onError });
  const close = async (): Promise<void> => {
    follower.close();
    await keeper.close();
  };
  try {
    await contractsCheck.untilMayTake();
    await keeper.look();
    if (!keeper.state().isHere) await contractsCheck.assertSame();
    isStarting = false;
  } catch (error) {
    await close();
    throw error;
  }

  let closing: Promise<void> | undefined;
  return {
    intake: () => pipeline ?? follower,
    pipeline: () => pipeline,
    dispatcher() {
      const { holder, isHere } = keeper.state();
      return { isHere, ...(holder === undefined ? {} : { replica: holder }) };
    },
    close: () => (closing ??= close()),
  };
}

/** Creates what compares the contracts of the chain with this identity with those that the journal of its network describes. */
function createContractsCheck({ db }: Store, network: string, identity: string) {
  const hasOthers = async (): Promise<boolean> => {
    const known = await findChain(db, network);
    return known !== undefined && known.identity !== identity;
  };
  const assertSame = async (): Promise<void> => {
    if (await hasOthers())
      throw new ChainUnavailableError(
        network,
        "the dispatching replica uses different contracts; give all replicas the same contracts file",
      );
  };
  return {
    assertSame,
    /** Leaves the lease to replicas that serve the journal's contracts, as long as one may exist. */
    async untilMayTake(): Promise<void> {
      if (!(await hasOthers())) return;
      while (!(await isLeaseAbandoned(db, network, ABANDONED_AFTER_MS))) {
        if ((await findLease(db, network))?.isLive === true) return await assertSame();
        await sleep(ABANDONED_LOOK_MS);
      }
    },
  };
}

/** Interval between reads of newly created subscriptions. */
const LOOK_INTERVAL_MS = 1_000;
/** How long a call waits for the dispatching replica to store its preset's source, and the interval between checks for it. */
const SOURCE_WAIT_MS = 10_000;
const SOURCE_LOOK_MS = 500;

interface FollowerIntakeOptions {
  readonly network: string;
  readonly client: Pick<ChainClient, "call">;
  readonly contracts: StackAddresses;
  readonly store: Store;
  readonly replica: Pick<Replica, "askWhy">;
  readonly onError: (error: unknown) => void;
}

/** Opens the intake of a network on which another replica dispatches: it sends nothing, and finds what that replica has stored. */
async function openFollowerIntake(
  options: FollowerIntakeOptions,
): Promise<RequestIntake & { readonly close: () => void }> {
  const { network, client, contracts, store, replica } = options;
  let subscriptions = new Map<string, StoredSubscription>();
  const readSubscriptions = async (): Promise<void> => {
    const all = await listSubscriptions(store.db);
    subscriptions = new Map(all.flatMap((one) => (one.network === network ? [[one.dappId, one]] : [])));
  };
  await readSubscriptions();
  const stored = new Set<Hex>();

  return {
    subscriptions: {
      ...createSubscriptionReads({ client, contracts }),
      find: (dappId) => subscriptions.get(dappId),
      list: () => [...subscriptions.values()],
    },
    async setSecretsSigner() {
      throw new ChainUnavailableError(network, "another replica sends its transactions; try again");
    },
    // The dispatching replica was notified when the request was stored.
    take() {},
    async storeSource({ sourceHash: hash }) {
      const deadline = performance.now() + SOURCE_WAIT_MS;
      while (!stored.has(hash)) {
        const id = await findSourceId(client, contracts.presetConsumer, { hash });
        if (id !== 0) stored.add(hash);
        else if (performance.now() < deadline) await sleep(SOURCE_LOOK_MS);
        else
          throw new ChainUnavailableError(
            network,
            "the replica that dispatches has not stored the preset's source on the chain yet",
          );
      }
    },
    async explain(request) {
      if (isEnded(request.state)) return null;
      const why = await replica.askWhy(network, request.id);
      return why ?? request.why ?? "the replica that dispatches on its network does not say; ask again";
    },
    explained: () => undefined,
    queued: () => 0,
    close: repeat(readSubscriptions, LOOK_INTERVAL_MS, options.onError),
  };
}
