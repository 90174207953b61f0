import type {
  AddressView,
  BlockListView,
  BlockView,
  ChainOverview,
  ContractView,
} from "../explorer/listViews.ts";
import type { SearchHit, TransactionView } from "../explorer/views.ts";
import { createTransport, fillOptions, type ConnectionOptions } from "./transport.ts";
import type { FunctionResult, PresetResult, RandomResult, ShownResult } from "./types.ts";

/** A network that has an explorer. */
export interface ExplorerNetwork {
  readonly name: string;
  readonly title: string;
  readonly chainId: number;
  readonly embedded: boolean;
  readonly status: "starting" | "serving" | "unavailable";
  readonly statusDetail?: string;
  readonly rpcUrl?: string;
}

/** What was found for a text. */
export interface SearchResult {
  readonly query: string;
  /** What the text was taken for, in words; empty where it can be nothing. */
  readonly takenFor: readonly string[];
  readonly hits: readonly SearchHit[];
  /** Pages of the application, in the order of the hits; a shared result is one without a hit. */
  readonly paths: readonly string[];
  /** Titles of networks that could not be asked. */
  readonly silent: readonly string[];
  /** Why nothing was found, as a sentence; absent where something was. */
  readonly reason?: string;
}

/** A result as everybody may see it who knows its id. */
export interface SharedResult {
  readonly id: string;
  readonly network: string;
  /** ISO 8601. */
  readonly updatedAt: string;
  readonly preset?: string;
  readonly outcome: PresetResult | FunctionResult | RandomResult;
  readonly shown?: ShownResult;
}

/** What is on the chains, for everybody: no key is needed. What there is not is a `NotFoundError`. */
export interface TycheExplorer {
  networks(): Promise<readonly ExplorerNetwork[]>;
  overview(network: string): Promise<ChainOverview>;
  transaction(network: string, hash: string): Promise<TransactionView>;
  block(network: string, number: string): Promise<BlockView>;
  blocks(network: string, before?: string): Promise<BlockListView>;
  address(network: string, address: string, before?: string): Promise<AddressView>;
  contract(network: string, address: string): Promise<ContractView>;
  search(query: string, network?: string): Promise<SearchResult>;
  shared(id: string): Promise<SharedResult>;
}

/** Creates a client of the explorer. */
export function createExplorer(options: ConnectionOptions): TycheExplorer {
  const transport = createTransport({ ...fillOptions(options), apiKey: "" });
  const get = async <Data>(path: string, query: Record<string, string | undefined> = {}): Promise<Data> =>
    (await transport.send({ method: "GET", path: `/api/explorer${path}`, query })).data as Data;
  const on = (network: string, ...parts: readonly string[]): string =>
    ["/networks", network, ...parts].map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join("/");

  return {
    networks: async () => (await get<{ readonly items: readonly ExplorerNetwork[] }>("/networks")).items,
    overview: (network) => get(on(network)),
    transaction: (network, hash) => get(on(network, "transactions", hash)),
    block: (network, number) => get(on(network, "blocks", number)),
    blocks: (network, before) => get(on(network, "blocks"), { before }),
    address: (network, address, before) => get(on(network, "addresses", address), { before }),
    contract: (network, address) => get(on(network, "addresses", address, "contract")),
    search: (query, network) => get("/search", { q: query, network }),
    shared: (id) => get(`/results/${encodeURIComponent(id)}`),
  };
}
