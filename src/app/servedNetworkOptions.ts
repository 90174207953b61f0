import type { Logger } from "pino";
import type { Faucet } from "../dapps/faucet.ts";
import type { NetworkChain, NetworkSource } from "../networks/network.ts";
import type { OracleNetworkStatus } from "../oracle/status.ts";
import type { Replica } from "../requests/replica.ts";
import type { RequestBook } from "../requests/requestBook.ts";
import type { Keep } from "../requests/retention.ts";
import type { MinedTransaction } from "../requests/transactionMetrics.ts";
import type { Store } from "../store/store.ts";
import type { NodeWatch, WatchNodesOptions } from "./nodeWatch.ts";

/** What runs in this process beside the service on one network. */
export interface Companion {
  /** State of the oracle, where it runs here. */
  readonly oracleStatus?: () => OracleNetworkStatus;
  /** What requests should wait for before the network serves. */
  readonly prepared: Promise<unknown>;
  /** Where coin and LINK cost nothing. */
  readonly faucet?: Faucet;
  /** Takes up nothing more; idempotent. */
  close(): void;
}

/** What a companion is started with. */
export interface CompanionOptions {
  readonly chain: NetworkChain;
  /** First block that may hold a request without an answer. */
  readonly fromBlock: bigint;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Options of `createServedNetwork`. */
export interface ServedNetworkOptions {
  readonly source: NetworkSource;
  /** Starts what runs beside the service on this network; absent where nothing does. */
  readonly accompany?: (options: CompanionOptions) => Companion;
  /** Tells how the oracle's nodes stand; absent where one operator holds all keys for sure. */
  readonly watchNodes?: (options: WatchNodesOptions) => NodeWatch;
  readonly store: Store;
  /** How long what has ended is kept. */
  readonly keep: Keep;
  readonly book: RequestBook;
  /** Where several processes may serve from one database; absent where this one is alone. */
  readonly replica?: Replica | undefined;
  readonly log: Logger;
  /** Told of every transaction of the service that is mined. */
  readonly onTransaction: (transaction: MinedTransaction) => void;
  /** Whether the chain may be newer than the journal; see `assertJournalKnows`. */
  readonly acceptsChain: boolean;
  /** The service's own base URL, known once it listens. */
  readonly baseUrl: () => string;
}
