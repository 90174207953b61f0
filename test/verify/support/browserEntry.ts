import type { Hex } from "viem";
import type { OracleContracts } from "../../../src/chainlink/contractBook.ts";
import {
  createFetchReader,
  createRecordedReader,
  createReadRecorder,
} from "../../../src/verify/recordedReader.ts";
import type { RunSource } from "../../../src/verify/runSource.ts";
import { verifyTransaction } from "../../../src/verify/verifyTransaction.ts";

/** The options that a page passes to the bundle. */
export interface BrowserVerification {
  readonly hash: Hex;
  readonly rpcUrl: string;
  /** Chain data instead of a node. */
  readonly data?: string;
  readonly chainId: number;
  readonly contracts: OracleContracts;
  readonly run: RunSource;
}

/** Verifies a transaction like the page does, with a node or chain data. Returns the verification and the data read, as JSON. */
export async function verifyInBrowser(options: BrowserVerification): Promise<string> {
  const { hash, rpcUrl, data, chainId, contracts, run } = options;
  const client = createReadRecorder(
    data === undefined ? createFetchReader(rpcUrl) : createRecordedReader(data),
  );
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
