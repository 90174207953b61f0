import type { Logger } from "pino";
import type { SandboxPool } from "../../sandbox/index.ts";
import type { NetworkProfile } from "../networks/profiles.ts";
import type { RequestBook } from "../requests/requestBook.ts";
import type { MinedTransaction } from "../requests/transactionMetrics.ts";
import type { DataDirectory } from "../store/dataDirectory.ts";
import type { Store } from "../store/store.ts";

/** Options of `createEmbeddedNetwork`. */
export interface EmbeddedNetworkOptions {
  readonly profile: NetworkProfile;
  /** Place among the networks, for the RPC port. */
  readonly index: number;
  readonly directory: DataDirectory;
  readonly store: Store;
  readonly book: RequestBook;
  readonly pool: SandboxPool;
  readonly log: Logger;
  /** Told of every transaction of service and oracle that is mined. */
  readonly onTransaction: (transaction: MinedTransaction) => void;
  readonly host: string;
  /** Origins of pages that may use the RPC port besides those of this machine. */
  readonly rpcOrigins: readonly string[];
  /** Whether the chain may be newer than the journal; see `assertJournalKnows`. */
  readonly acceptsChain: boolean;
  /** The service's own base URL, known once it listens. */
  readonly baseUrl: () => string;
}
