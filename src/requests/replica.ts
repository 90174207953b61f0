import type { Bus } from "../store/bus.ts";
import type { RequestBook, Sharing } from "./requestBook.ts";
import type { RequestIntake } from "./serviceNetwork.ts";

/** One of several processes that serve from one database. Each handles any call; on each network, one of them dispatches. */
export interface Replica {
  readonly id: string;
  /** For this replica's book. */
  readonly sharing: Sharing;
  readonly bus: Bus;
  /** Whether the database is reachable, as far as known. */
  hasDatabase(): boolean;
  /** Starts following what other replicas store. */
  start(book: RequestBook): void;
  /** Keeps the network's requests in memory here, until `release`. */
  hold(network: string): void;
  /** Passes requests that others accept on a held network to `pipeline`, until `release`. */
  dispatch(network: string, pipeline: Pick<RequestIntake, "take" | "explain">): void;
  /** Hands the network over to another replica that dispatches there. */
  release(network: string): void;
  /** Asks the dispatching replica why a request isn't making progress; `undefined` if it doesn't answer within two seconds. */
  askWhy(network: string, id: string): Promise<string | undefined>;
  close(): Promise<void>;
}
