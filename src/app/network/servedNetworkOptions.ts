import type { Logger } from "pino";
import type { Faucet } from "../../dapps/faucet.ts";
import type { NetworkChain, NetworkSource } from "../../networks/network.ts";
import type { GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import type { OracleNetworkStatus } from "../../oracle/status.ts";
import type { SecretsHolder } from "../../secrets/holder.ts";
import type { Replica } from "../../requests/takeover/replicaSync.ts";
import type { RequestBook } from "../../requests/requestBook.ts";
import type { Keep } from "../../requests/keep/retention.ts";
import type { MinedTransaction } from "../../requests/observe/transactionMetrics.ts";
import type { Store } from "../../store/store.ts";
import type { NodeWatch, WatchNodesOptions } from "./nodeWatch.ts";

/** What runs beside the service in this process for one network. */
export interface Companion {
  /** The oracle's state, if it runs here. */
  readonly oracleStatus?: () => OracleNetworkStatus;
  /** What requests should wait for before the network serves. */
  readonly prepared: Promise<unknown>;
  /** Present where coin and LINK cost nothing. */
  readonly faucet?: Faucet;
  /** Holds the secrets of functions, if the oracle runs here. */
  readonly secrets?: OracleSecrets;
  /** Accepts no further work; idempotent. */
  close(): void;
}

/** Where a network's oracle holds secrets, in this process or in its own. */
export interface OracleSecrets {
  readonly holder: SecretsHolder;
  /** Answers `SecretsManager`. */
  readonly gateway: GatewayNetwork;
}

/** What a companion is started with. */
export interface CompanionOptions {
  readonly chain: NetworkChain;
  /** First block that may hold an unanswered request. */
  readonly fromBlock: bigint;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Options of `createServedNetwork`. */
export interface ServedNetworkOptions {
  readonly source: NetworkSource;
  /** Starts what runs beside the service on this network; absent if nothing does. */
  readonly accompany?: (options: CompanionOptions) => Companion;
  /** Connects to an oracle in another process for its secrets; gives the reason if it can hold none. Absent: the companion has them. */
  readonly connectSecrets?: (chain: NetworkChain) => OracleSecrets | string;
  /** Watches the state of the oracle's nodes; absent where one operator holds all keys. */
  readonly watchNodes?: (options: WatchNodesOptions) => NodeWatch;
  readonly store: Store;
  /** How long ended requests and other old records are kept. */
  readonly keep: Keep;
  readonly book: RequestBook;
  /** Present where several processes may serve from one database. */
  readonly replica?: Replica | undefined;
  readonly log: Logger;
  /** Called for every transaction of the service that is mined. */
  readonly onTransaction: (transaction: MinedTransaction) => void;
  /** Whether the chain may be newer than the journal; see `assertJournalKnows`. */
  readonly acceptsChain: boolean;
  /** The service's own base URL; known once it listens. */
  readonly baseUrl: () => string;
}
