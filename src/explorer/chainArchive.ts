import { getContractAddress, type Hex } from "viem";
import {
  parseLog,
  parseObject,
  parseReceipt,
  toQuantity,
  RpcError,
  type RawLog,
  type Receipt,
  parseHex,
  parseQuantity,
} from "../lib/nodeAnswers.ts";
import { createLogReader, type LogRange } from "../evm/logReader.ts";
import type { NetworkChain } from "../networks/network.ts";
import type { ExploredNode } from "./sparedNode.ts";

/** Initial block range for log queries to an external node: many refuse more. */
export const QUERIED_BLOCKS = 10_000n;
/** Maximum number of calls for one query to an external node. */
const MAX_PIECES = 100;

/** A transaction as its sender signed it, and its place on the chain. Hashes and addresses are lower case. */
export interface ArchivedTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  /** `null` for a contract creation. */
  readonly to: Hex | null;
  /** Address of the contract that it creates. */
  readonly created: Hex | null;
  readonly nonce: number;
  readonly valueWei: bigint;
  readonly gasLimit: bigint;
  readonly gasPriceWei: bigint;
  readonly input: Hex;
  /** `null` until it is mined. */
  readonly blockNumber: bigint | null;
  /** Position in the block. */
  readonly index: number | null;
}

/** A block with its transactions. */
export interface ArchivedBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Seconds since the epoch. */
  readonly timestamp: bigint;
  readonly gasUsed: bigint;
  readonly gasLimit: bigint;
  /** Who receives its fees; `null` where the chain names nobody, which is the zero address. */
  readonly miner: Hex | null;
  /** Burnt price of a unit of gas (EIP-1559); `null` where the chain has none. */
  readonly baseFeeWei: bigint | null;
  readonly transactions: readonly ArchivedTransaction[];
}

/** The current state of an account. */
export interface ArchivedAccount {
  readonly balanceWei: bigint;
  /** Number of transactions sent; for a contract, of contracts created; for an account that delegates, of authorizations too. */
  readonly nonce: number;
  readonly code: Hex;
  readonly codeBytes: number;
  /** Contract whose code an account runs as its own (EIP-7702); absent for contracts and for all other accounts. */
  readonly delegate?: Hex;
}

/**
 * Selects logs: of one contract, with these topics (`null` matches any, a list matches any of its entries), in a range that includes both
 * ends.
 */
export interface LogQuery {
  readonly address: Hex;
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/**
 * Read access to one chain's history. A node is an archive; where nodes forget (a compacted embedded chain), a store that kept their data
 * is another. Returns `undefined` for anything that is no longer known or never existed.
 */
export interface ChainArchive {
  getHeadNumber(): Promise<bigint>;
  findBlock(number: bigint): Promise<ArchivedBlock | undefined>;
  findBlockByHash(hash: Hex): Promise<ArchivedBlock | undefined>;
  findTransaction(hash: Hex): Promise<ArchivedTransaction | undefined>;
  findReceipt(hash: Hex): Promise<Receipt | undefined>;
  findLogs(query: LogQuery): Promise<readonly RawLog[]>;
  getAccount(address: Hex): Promise<ArchivedAccount>;
  /** Absent without an index by address. */
  readonly findAppearances?: NetworkChain["findAppearances"];
}

/**
 * Creates the archive of a node, with the chain's index by address, if any. Every method throws `RpcError` when the node can't be
 * reached. Log queries are split into ranges that the node accepts; one of the service's own accepts any range.
 */
export function createNodeArchive(
  client: ExploredNode,
  {
    isEmbedded,
    findAppearances,
  }: { readonly isEmbedded: boolean; readonly findAppearances?: NetworkChain["findAppearances"] },
): ChainArchive {
  const logReader = createLogReader(undefined, { firstBlocks: QUERIED_BLOCKS });
  return {
    ...(findAppearances && { findAppearances }),
    async getHeadNumber() {
      return quantity(await client.request("eth_blockNumber"));
    },
    async findBlock(number) {
      const answer = await client.request("eth_getBlockByNumber", [toQuantity(number), true]);
      return answer === null ? undefined : parseBlock(answer);
    },
    async findBlockByHash(hash) {
      const answer = await client.request("eth_getBlockByHash", [hash, true]);
      return answer === null ? undefined : parseBlock(answer);
    },
    async findTransaction(hash) {
      const answer = await client.request("eth_getTransactionByHash", [hash]);
      if (answer === null) return undefined;
      const transaction = parseTransaction(answer);
      if (transaction.blockNumber !== null) return transaction;
      // Right after its block, Anvil has it among those that wait still: its receipt says where it is.
      const receipt = await client.request("eth_getTransactionReceipt", [hash]);
      if (receipt === null) return transaction;
      const { blockNumber, transactionIndex } = parseObject(receipt, "receipt");
      return parseTransaction({ ...parseObject(answer, "transaction"), blockNumber, transactionIndex });
    },
    async findReceipt(hash) {
      const answer = await client.request("eth_getTransactionReceipt", [hash]);
      return answer === null ? undefined : parseReceipt(answer);
    },
    async findLogs({ address, topics, fromBlock, toBlock }) {
      const ask = async (range: LogRange): Promise<RawLog[]> => {
        const quantities = { fromBlock: toQuantity(range.fromBlock), toBlock: toQuantity(range.toBlock) };
        const answer = await client.request("eth_getLogs", [{ address, topics, ...quantities }]);
        if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list of logs");
        return answer.map(parseLog);
      };
      if (isEmbedded) return await ask({ fromBlock, toBlock });
      const logs: RawLog[] = [];
      let from = fromBlock;
      for (let pieces = 1; from <= toBlock; pieces += 1) {
        if (pieces > MAX_PIECES) {
          const reason = `the node gives the logs of so few blocks at once that ${toBlock - fromBlock + 1n} take more than ${MAX_PIECES} calls`;
          throw new RpcError("eth_getLogs", reason);
        }
        const piece = await logReader.read({ fromBlock: from, toBlock }, ask);
        logs.push(...piece.logs);
        from = piece.toBlock + 1n;
      }
      return logs;
    },
    async getAccount(address) {
      const [balanceWei, nonce, code] = await Promise.all([
        client.getBalanceWei(address),
        client.getNonce(address, "latest"),
        client.getCode(address),
      ]);
      const delegate = findDelegate(code);
      return {
        balanceWei,
        nonce,
        code,
        codeBytes: (code.length - 2) / 2,
        ...(delegate === undefined ? {} : { delegate }),
      };
    },
  };
}

/** Returns the address in a delegation designator: 0xef0100 and 20 bytes, in place of an account's code (EIP-7702). */
export function findDelegate(code: Hex): Hex | undefined {
  const address = /^0xef0100([0-9a-f]{40})$/i.exec(code)?.[1];
  return address === undefined ? undefined : `0x${address.toLowerCase()}`;
}

function parseBlock(answer: unknown): ArchivedBlock {
  const block = parseObject(answer, "block");
  if (!Array.isArray(block["transactions"])) throw new RpcError("block", "transactions is not a list");
  const { miner, baseFeePerGas: baseFee } = block;
  return {
    number: quantity(block["number"]),
    hash: hex(block["hash"]),
    parentHash: hex(block["parentHash"]),
    timestamp: quantity(block["timestamp"]),
    gasUsed: quantity(block["gasUsed"]),
    gasLimit: quantity(block["gasLimit"]),
    miner: typeof miner !== "string" || /^0x0*$/.test(miner) ? null : hex(miner),
    baseFeeWei: baseFee === undefined || baseFee === null ? null : quantity(baseFee),
    transactions: block["transactions"].map(parseTransaction),
  };
}

function parseTransaction(answer: unknown): ArchivedTransaction {
  const transaction = parseObject(answer, "transaction");
  const from = hex(transaction["from"]);
  const nonce = Number(quantity(transaction["nonce"]));
  const to = transaction["to"] === null || transaction["to"] === undefined ? null : hex(transaction["to"]);
  const { blockNumber, transactionIndex } = transaction;
  return {
    hash: hex(transaction["hash"]),
    from,
    to,
    created: to === null ? (getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Hex) : null,
    nonce,
    valueWei: quantity(transaction["value"]),
    gasLimit: quantity(transaction["gas"]),
    gasPriceWei: quantity(transaction["gasPrice"] ?? transaction["maxFeePerGas"] ?? "0x0"),
    input: hex(transaction["input"]),
    blockNumber: blockNumber === null || blockNumber === undefined ? null : quantity(blockNumber),
    index:
      transactionIndex === null || transactionIndex === undefined ? null : Number(quantity(transactionIndex)),
  };
}

const hex = (value: unknown): Hex => parseHex(value, "block or transaction").toLowerCase() as Hex;
const quantity = (value: unknown): bigint => parseQuantity(value, "block or transaction");
