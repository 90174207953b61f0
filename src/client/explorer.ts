import type {
  AddressView,
  BlockListView,
  BlockView,
  ChainData,
  ChainOverview,
  ContractRequestList,
  ContractView,
  ExplorerNetwork,
  OnChainParams,
  PresetView,
  RequestSummaryPage,
  SearchResult,
  Shared,
  TransactionList,
  TransactionView,
  TransferList,
} from "./types.ts";
import type { CallOptions } from "./limits.ts";
import { createCalls, createTransport, fillOptions, type ConnectionOptions } from "./transport.ts";

/**
 * Public chain data, open to everyone: needs no API key. Throws a `NotFoundError` for anything that doesn't
 * exist.
 */
export interface TycheExplorer {
  networks(options?: CallOptions): Promise<readonly ExplorerNetwork[]>;
  presets(options?: CallOptions): Promise<readonly PresetView[]>;
  overview(network: string, options?: CallOptions): Promise<ChainOverview>;
  transaction(network: string, hash: string, options?: CallOptions): Promise<TransactionView>;
  block(network: string, number: string, options?: CallOptions): Promise<BlockView>;
  blocks(network: string, before?: string, options?: CallOptions): Promise<BlockListView>;
  transactions(network: string, before?: string, options?: CallOptions): Promise<TransactionList>;
  address(network: string, address: string, before?: string, options?: CallOptions): Promise<AddressView>;
  /** Lists the LINK that an address sent and received. */
  transfers(network: string, address: string, before?: string, options?: CallOptions): Promise<TransferList>;
  /** Lists what a contract requested itself; of a coordinator or the router, what all contracts did. */
  contractRequests(
    network: string,
    address: string,
    before?: string,
    options?: CallOptions,
  ): Promise<ContractRequestList>;
  contract(network: string, address: string, options?: CallOptions): Promise<ContractView>;
  /** `before`: an entry of `older` of an earlier search for a label, with its network, goes on from there. */
  search(
    query: string,
    network?: string,
    options?: CallOptions & { readonly before?: string | undefined },
  ): Promise<SearchResult>;
  /** Lists the requests that are on chain, newest first; `cursor`: `nextCursor` of the page before. */
  requests(options?: CallOptions & OnChainParams): Promise<RequestSummaryPage>;
  /** Returns a result or, while there is none, what its request waits for. */
  shared(id: string, options?: CallOptions): Promise<Shared>;
  /**
   * Hands in the signature of a round of drand that requests wait for and no relay has. `round`: a request's `params.beacon`.
   *
   * @param signature 48 bytes of hex, as any relay or archive of drand has it.
   */
  handInRound(
    round: { readonly round: string; readonly chainHash: string },
    signature: string,
    options?: CallOptions,
  ): Promise<SettledRound>;
  /** Returns what a check of a shared result reads of the chain, as `/verifier.html` takes it. */
  chainData(id: string, options?: CallOptions): Promise<ChainData>;
}

/** A late round of drand that the service has. */
export interface SettledRound {
  readonly round: string;
  readonly chainHash: `0x${string}`;
  readonly signature: `0x${string}`;
}

/** Creates a client for the explorer. */
export function createExplorer(
  options: ConnectionOptions & {
    /** A dapp's API key, or the operator token: `handInRound` then has a limit of its own. Default: none. */
    readonly apiKey?: string;
  },
): TycheExplorer {
  const transport = createTransport({ ...fillOptions(options), apiKey: options.apiKey ?? "" });
  const { send, get, getItems } = createCalls(transport);
  const on = (network: string, ...parts: readonly string[]): string =>
    ["/api/explorer/networks", network, ...parts]
      .map((part, i) => (i === 0 ? part : encodeURIComponent(part)))
      .join("/");

  return {
    networks: (options) => getItems("/api/explorer/networks", options),
    presets: (options) => getItems("/api/explorer/presets", options),
    overview: (network, options) => get(on(network), options),
    transaction: (network, hash, options) => get(on(network, "transactions", hash), options),
    block: (network, number, options) => get(on(network, "blocks", number), options),
    blocks: (network, before, options) => get(on(network, "blocks"), options, { before }),
    transactions: (network, before, options) => get(on(network, "transactions"), options, { before }),
    address: (network, address, before, options) =>
      get(on(network, "addresses", address), options, { before }),
    transfers: (network, address, before, options) =>
      get(on(network, "addresses", address, "transfers"), options, { before }),
    contractRequests: (network, address, before, options) =>
      get(on(network, "addresses", address, "contractRequests"), options, { before }),
    contract: (network, address, options) => get(on(network, "addresses", address, "contract"), options),
    search: (query, network, options) =>
      get("/api/explorer/search", options, { q: query, network, before: options?.before }),
    requests: ({ signal, timeoutMs, ...query } = {}) =>
      get("/api/explorer/requests", { signal, timeoutMs }, query),
    shared: (id, options) => get(`/api/explorer/results/${encodeURIComponent(id)}`, options),
    chainData: (id, options) => get(`/api/explorer/results/${encodeURIComponent(id)}/chainData`, options),
    handInRound: ({ round, chainHash }, signature, options) => {
      const path = `/beacon/${encodeURIComponent(chainHash.replace(/^0x/i, ""))}/public/${encodeURIComponent(round)}`;
      return send({ method: "PUT", path, body: { signature } }, options);
    },
  };
}
