import type { Hex } from "viem";
import type { OracleContracts } from "../../../src/chainlink/contractBook.ts";
import {
  createFetchReader,
  createRecordedReader,
  createRecorder,
} from "../../../src/verify/recordedReader.ts";
import type { RunSource } from "../../../src/verify/runSource.ts";
import { verifyTransaction } from "../../../src/verify/verifyTransaction.ts";

/** What a page gives the bundle. */
export interface BrowserVerification {
  readonly hash: Hex;
  readonly rpcUrl: string;
  /** Chain data in place of the node. */
  readonly data?: string;
  readonly chainId: number;
  readonly contracts: OracleContracts;
  readonly run: RunSource;
}

/** Verifies a transaction as the page does, by a node or by chain data. Returns the verification and the data that was read, as JSON. */
export async function verifyInBrowser(options: BrowserVerification): Promise<string> {
  const { hash, rpcUrl, data, chainId, contracts, run } = options;
  const client = createRecorder(data === undefined ? createFetchReader(rpcUrl) : createRecordedReader(data));
  const verification = await verifyTransaction(hash, {
    client,
    network: "test",
    chainId,
    contracts,
    isEmbedded: true,
    run,
    maxResponseBytes: 256,
    caller: "page",
  });
  return JSON.stringify({ verification, data: client.save() });
}
