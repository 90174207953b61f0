import { EVENT_TOPICS } from "../../src/chainlink/events.ts";

/** Contracts that identify a transaction's purpose. */
export interface GasContracts {
  readonly presetConsumer: string;
  readonly functionsCoordinator: string;
  readonly subscriptionOwner: string;
}

/** Gas that the transactions of some blocks used, by purpose. */
export interface GasUse {
  readonly blocks: number;
  readonly request: Transactions;
  /** All other transactions: the VRF node's. */
  readonly words: Transactions;
  /** Of functions, and of presets with their words. */
  readonly report: Transactions;
  /** Funding of subscriptions. */
  readonly upkeep: Transactions;
}

/** Totals of the transactions of one purpose. */
interface Transactions {
  count: number;
  gas: number;
}

/** A node reached by its JSON-RPC URL. */
export interface Rpc {
  call(method: string, ...params: unknown[]): Promise<unknown>;
  blockNumber(): Promise<number>;
}

/** Creates a JSON-RPC client for a node, over HTTP. */
export function openRpc(url: string): Rpc {
  const call = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return { call, blockNumber: async () => Number(await call("eth_blockNumber")) };
}

/** Creates an empty total for a number of blocks. */
export function noGasUse(blocks: number): GasUse {
  const none = (): Transactions => ({ count: 0, gas: 0 });
  return { blocks, request: none(), words: none(), report: none(), upkeep: none() };
}

/** Totals the receipts of blocks `first` to `last`. */
export async function readGasUse(
  rpc: Rpc,
  first: number,
  last: number,
  contracts: GasContracts,
): Promise<GasUse> {
  const use = noGasUse(last - first + 1);
  const purposes = new Map([
    [contracts.presetConsumer.toLowerCase(), use.request],
    [contracts.functionsCoordinator.toLowerCase(), use.report],
    [contracts.subscriptionOwner.toLowerCase(), use.upkeep],
  ]);
  for (let block = first; block <= last; block += 1) {
    const receipts = (await rpc.call("eth_getBlockReceipts", `0x${block.toString(16)}`)) as
      | readonly {
          readonly to: string | null;
          readonly gasUsed: string;
          readonly logs: readonly { readonly topics: readonly string[] }[];
        }[]
      | null;
    if (receipts === null || receipts.length === 0) {
      const known = await rpc.call("eth_getBlockByNumber", `0x${block.toString(16)}`, false);
      if (known === null) throw new Error(`the chain no longer has block ${block}`);
    }
    for (const { to, gasUsed, logs } of receipts ?? []) {
      const transactions = logs.some(({ topics }) => topics[0] === EVENT_TOPICS.BatchReported)
        ? use.report
        : (purposes.get(to?.toLowerCase() ?? "") ?? use.words);
      transactions.count += 1;
      transactions.gas += Number(gasUsed);
    }
  }
  return use;
}

/** Returns the gas of all transactions. */
export function totalGas({ request, words, report, upkeep }: GasUse): number {
  return request.gas + words.gas + report.gas + upkeep.gas;
}
