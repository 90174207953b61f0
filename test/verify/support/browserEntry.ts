import type { Hex } from "viem";
import { RpcError } from "../../../src/lib/nodeAnswers.ts";
import type { ChainReader } from "../../../src/verify/chainFacts.ts";
import type { OracleContracts } from "../../../src/chainlink/contractBook.ts";
import type { RunSource } from "../../../src/verify/runSource.ts";
import { verifyTransaction } from "../../../src/verify/verifyTransaction.ts";

/** What a page gives the bundle. */
export interface BrowserVerification {
  readonly hash: Hex;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly contracts: OracleContracts;
  readonly run: RunSource;
}

/** Verifies a transaction as a page does, which has nothing but `fetch` to ask a node. Returns the verification as JSON. */
export async function verifyInBrowser(options: BrowserVerification): Promise<string> {
  const { hash, rpcUrl, chainId, contracts, run } = options;
  const verification = await verifyTransaction(hash, {
    client: createFetchReader(rpcUrl),
    network: "test",
    chainId,
    contracts,
    isEmbedded: true,
    run,
    maxResponseBytes: 256,
    caller: "page",
  });
  return JSON.stringify(verification);
}

function createFetchReader(rpcUrl: string): ChainReader {
  return {
    async request(method, params = []) {
      const response = await fetch(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      const { result, error } = (await response.json()) as {
        readonly result?: unknown;
        readonly error?: { readonly message: string; readonly data?: Hex };
      };
      if (error !== undefined)
        throw new RpcError(method, error.message, { data: error.data, answered: true });
      return result;
    },
  };
}
