import type { Hex } from "viem";
import { askContract } from "../../chainlink/contractRead.ts";
import {
  CONFIG_SET_TOPIC,
  decodeConfigSet,
  type NodeConfig,
  LATEST_CONFIG,
} from "../../chainlink/nodeConfig.ts";
import { parseFormerKey, parseNodeUrls, type FormerKey } from "../../chainlink/offchainConfig.ts";
import type { ChainClient } from "../../evm/client.ts";
import { findBlocksOfParent } from "../../evm/parentBlocks.ts";
import { TycheError } from "../../lib/errors.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";

/** The nodes of a coordinator's configuration, in its order. */
export interface NodeSet {
  readonly configDigest: Hex;
  /** Ordinal number among the coordinator's configurations. */
  readonly count: bigint;
  /** First block in which it holds. */
  readonly blockNumber: bigint;
  readonly faulty: number;
  /** Checksummed. */
  readonly signers: readonly Hex[];
  readonly transmitters: readonly Hex[];
  /** Where each node accepts messages; empty for the configuration of a single operator, who needs none. */
  readonly urls: readonly string[];
  /** The key for secrets that the nodes take over; absent: they generate one. */
  readonly formerKey?: FormerKey | undefined;
  /** What the digest is a hash of, besides chain, coordinator and number. */
  readonly config: NodeConfig;
}

/** Decodes the nodes from a `ConfigSet` log. */
export function decodeNodeSet({ data, blockNumber }: Pick<RawLog, "data" | "blockNumber">): NodeSet {
  const config = decodeConfigSet(data);
  const { configDigest, count, faulty, signers, transmitters, offchainConfig } = config;
  const urls = parseNodeUrls(offchainConfig, signers.length) ?? [];
  const formerKey = parseFormerKey(offchainConfig, signers.length);
  return { configDigest, count, blockNumber, faulty, signers, transmitters, urls, formerKey, config };
}

/**
 * Reads from the chain who the nodes are and where to reach them.
 *
 * @throws {TycheError} `chain_unavailable` when the configuration's log is unavailable.
 */
export async function readNodeSet(
  client: Pick<ChainClient, "call" | "getLogs" | "request">,
  coordinator: Hex,
): Promise<NodeSet> {
  const { blockNumber, configDigest } = await askContract(client, coordinator, LATEST_CONFIG);
  const block = BigInt(blockNumber);
  // On Arbitrum, the contract knows only Ethereum's block numbers.
  const { first, last } = (await findBlocksOfParent(client, block)) ?? { first: block, last: block };
  return await findNodeSet(client, { coordinator, configDigest, first, last });
}

/**
 * Reads from the chain who holds a key that is to be handed on.
 *
 * @throws {TycheError} `chain_unavailable` when the configuration's log is unavailable.
 */
export async function readFormerSet(
  client: Pick<ChainClient, "getLogs">,
  coordinator: Hex,
  { configDigest, blockNumber }: FormerKey,
): Promise<NodeSet> {
  const block = BigInt(blockNumber);
  return await findNodeSet(client, { coordinator, configDigest, first: block, last: block });
}

async function findNodeSet(
  client: Pick<ChainClient, "getLogs">,
  {
    coordinator,
    configDigest,
    first,
    last,
  }: { readonly coordinator: Hex; readonly configDigest: Hex; readonly first: bigint; readonly last: bigint },
): Promise<NodeSet> {
  const logs = await client.getLogs({ addresses: [coordinator], fromBlock: first, toBlock: last });
  const found = logs
    .filter(({ topics }) => topics[0] === CONFIG_SET_TOPIC)
    .map((one) => decodeNodeSet(one))
    .find((set) => set.configDigest === configDigest);
  if (found !== undefined) return found;
  throw new TycheError(
    `the nodes of the FunctionsCoordinator can't be read: no RPC node has the log of configuration ${configDigest}, of block ${first}`,
    { code: "chain_unavailable", blame: "upstream" },
  );
}
