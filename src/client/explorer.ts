import type {
  AddressView,
  BlockListView,
  BlockView,
  ChainOverview,
  ContractView,
} from "../explorer/listViews.ts";
import type { SearchHit, TransactionView } from "../explorer/views.ts";
import { within } from "./limits.ts";
import type { CallOptions } from "./requests.ts";
import { createTransport, fillOptions, type ConnectionOptions } from "./transport.ts";
import type { FunctionResult, Hex, PresetResult, RandomResult, ShownResult } from "./types.ts";

/** A network that has an explorer. */
export interface ExplorerNetwork {
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  /** Symbol of the coin that pays for gas, such as `ETH`; `coin` if unknown. */
  readonly coin: string;
  /** Whether the service pays for random words in that coin instead of LINK. */
  readonly nativePayment: boolean;
  readonly embedded: boolean;
  /** Whether a block's hash is that of an Ethereum header, so that a verification can recompute it. */
  readonly hasEthereumBlocks: boolean;
  readonly status: "starting" | "serving" | "unavailable";
  readonly statusDetail?: string;
  readonly rpcUrl?: string;
  /** The addresses to verify results with; absent until the chain is known. */
  readonly contracts?: Readonly<
    Record<"vrfCoordinator" | "functionsRouter" | "functionsCoordinator" | "presetConsumer", Hex>
  >;
}

/** The result of a search. */
export interface SearchResult {
  readonly query: string;
  /** What the query could be, in words; empty if it matches no known form. */
  readonly takenFor: readonly string[];
  readonly hits: readonly SearchHit[];
  /**
   * Application pages, in the order of the hits; a shared result, or a network found by name, has a page but
   * no hit.
   */
  readonly paths: readonly string[];
  /** Titles of the networks that could not be queried. */
  readonly silent: readonly string[];
  /** Why nothing was found, as a sentence; absent if something was. */
  readonly reason?: string;
}

/** A result as anyone who knows its id may see it. */
export interface SharedResult {
  readonly id: string;
  readonly network: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  readonly preset?: string;
  readonly outcome: PresetResult | FunctionResult | RandomResult;
  readonly shown?: ShownResult;
}

/**
 * Public chain data, open to everyone: needs no API key. Throws a `NotFoundError` for anything that doesn't
 * exist.
 */
export interface TycheExplorer {
  networks(options?: CallOptions): Promise<readonly ExplorerNetwork[]>;
  overview(network: string, options?: CallOptions): Promise<ChainOverview>;
  transaction(network: string, hash: string, options?: CallOptions): Promise<TransactionView>;
  block(network: string, number: string, options?: CallOptions): Promise<BlockView>;
  blocks(network: string, before?: string, options?: CallOptions): Promise<BlockListView>;
  address(network: string, address: string, before?: string, options?: CallOptions): Promise<AddressView>;
  contract(network: string, address: string, options?: CallOptions): Promise<ContractView>;
  search(query: string, network?: string, options?: CallOptions): Promise<SearchResult>;
  shared(id: string, options?: CallOptions): Promise<SharedResult>;
}

/** Creates a client for the explorer. */
export function createExplorer(options: ConnectionOptions): TycheExplorer {
  const transport = createTransport({ ...fillOptions(options), apiKey: "" });
  const get = <Data>(
    path: string,
    options: CallOptions = {},
    query: Record<string, string | undefined> = {},
  ): Promise<Data> =>
    within(
      options,
      async (signal) =>
        (await transport.send({ method: "GET", path: `/api/explorer${path}`, query, signal })).data as Data,
    );
  const on = (network: string, ...parts: readonly string[]): string =>
    ["/networks", network, ...parts].map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join("/");

  return {
    networks: async (options) =>
      (await get<{ readonly items: readonly ExplorerNetwork[] }>("/networks", options)).items,
    overview: (network, options) => get(on(network), options),
    transaction: (network, hash, options) => get(on(network, "transactions", hash), options),
    block: (network, number, options) => get(on(network, "blocks", number), options),
    blocks: (network, before, options) => get(on(network, "blocks"), options, { before }),
    address: (network, address, before, options) =>
      get(on(network, "addresses", address), options, { before }),
    contract: (network, address, options) => get(on(network, "addresses", address, "contract"), options),
    search: (query, network, options) => get("/search", options, { q: query, network }),
    shared: (id, options) => get(`/results/${encodeURIComponent(id)}`, options),
  };
}
