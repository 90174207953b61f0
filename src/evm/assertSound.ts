import {
  parseHex,
  parseLog,
  parseQuantity,
  parseReceipt,
  RpcError,
  type RawLog,
} from "../lib/nodeAnswers.ts";

/**
 * Asserts that a node's answer has the shape its method returns and matches the request, so that another node can be asked
 * otherwise. Refuses a receipt of another transaction, a log of another contract or block, and a repeated log.
 *
 * @throws {RpcError} that says what is wrong.
 */
export function assertSound(method: string, parameters: readonly unknown[], answer: unknown): void {
  if (QUANTITIES.has(method)) parseQuantity(answer, method);
  else if (method === "eth_call" || method === "eth_getCode") parseHex(answer, method);
  else if (method === "eth_getTransactionReceipt" && answer !== null) {
    const { transactionHash } = parseReceipt(answer);
    if (transactionHash.toLowerCase() !== String(parameters[0]).toLowerCase())
      throw new RpcError(method, "the receipt is another transaction's");
  } else if (method === "eth_getLogs") assertLogs(parameters[0] as Filter, answer);
}

const QUANTITIES: ReadonlySet<string> = new Set([
  "eth_chainId",
  "eth_blockNumber",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_getTransactionCount",
]);

/** A filter in JSON-RPC form: one contract, several, or any. */
interface Filter {
  readonly address?: string | readonly string[];
  readonly blockHash?: string;
  readonly fromBlock?: string;
  readonly toBlock?: string;
}

function assertLogs(filter: Filter, answer: unknown): void {
  if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list of logs");
  const addresses = new Set([filter.address ?? []].flat().map((address) => address.toLowerCase()));
  const seen = new Set<string>();
  for (const log of answer.map(parseLog)) {
    const id = `${log.blockHash} ${log.logIndex}`;
    if (seen.has(id))
      throw new RpcError("eth_getLogs", `log ${log.logIndex} of block ${log.blockNumber} comes twice`);
    seen.add(id);
    if (!isWanted(log, filter) || (addresses.size > 0 && !addresses.has(log.address)))
      throw new RpcError(
        "eth_getLogs",
        `a log of ${log.address} in block ${log.blockNumber} was not asked for`,
      );
  }
}

function isWanted(log: RawLog, { blockHash, fromBlock, toBlock }: Filter): boolean {
  if (blockHash !== undefined) return log.blockHash.toLowerCase() === blockHash.toLowerCase();
  if (!fromBlock?.startsWith("0x") || !toBlock?.startsWith("0x")) return true;
  return log.blockNumber >= BigInt(fromBlock) && log.blockNumber <= BigInt(toBlock);
}
