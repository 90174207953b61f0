import {
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  parseAbiParameters,
  type Hex,
} from "viem";
import { functionsCoordinatorAbi } from "../../chainlink/contracts/abi.ts";
import { parseNodeUrls } from "../../chainlink/offchainConfig.ts";
import type { ChainClient } from "../../evm/client.ts";
import { TycheError } from "../../lib/errors.ts";
import { ORACLE_TOPICS } from "../topics.ts";

/** OCR2Abstract `ConfigSet`: previous block, digest, count, signers, transmitters, f, on-chain configuration, version, off-chain configuration. */
const CONFIG_SET = parseAbiParameters(
  "uint32, bytes32, uint64, address[], address[], uint8, bytes, uint64, bytes",
);

/** The nodes of a coordinator's configuration, in its order. */
export interface NodeSet {
  readonly configDigest: Hex;
  readonly faulty: number;
  /** Checksummed. */
  readonly signers: readonly Hex[];
  readonly transmitters: readonly Hex[];
  /** Where each node takes messages. */
  readonly urls: readonly string[];
}

/**
 * Reads from the chain who the nodes are and where they are.
 *
 * @throws {NodeSetError} when the configuration is one of a single operator, or its log can't be had.
 */
export async function readNodeSet(
  client: Pick<ChainClient, "call" | "getLogs">,
  coordinator: Hex,
): Promise<NodeSet> {
  const call = { abi: functionsCoordinatorAbi, functionName: "latestConfigDetails" } as const;
  const data = await client.call({ to: coordinator, data: encodeFunctionData(call) });
  const [, block, configDigest] = decodeFunctionResult({ ...call, data });
  const logs = await client.getLogs({
    addresses: [coordinator],
    fromBlock: BigInt(block),
    toBlock: BigInt(block),
  });
  for (const { topics, data: logData } of logs.toReversed()) {
    if (topics[0] !== ORACLE_TOPICS.ConfigSet) continue;
    const [, digest, , signers, transmitters, faulty, , , offchainConfig] = decodeAbiParameters(
      CONFIG_SET,
      logData,
    );
    if (digest !== configDigest) continue;
    const urls = parseNodeUrls(offchainConfig, signers.length);
    if (urls === undefined)
      throw new NodeSetError(
        "its configuration names no nodes; deploy for the cards of `tyche oracle keys --role node`",
      );
    return { configDigest, faulty, signers, transmitters, urls };
  }
  throw new NodeSetError(`no RPC node has the log of its configuration, of block ${block}`);
}

/** It can't be told who the nodes of a coordinator are. */
export class NodeSetError extends TycheError {
  constructor(why: string) {
    super(`the nodes of the FunctionsCoordinator can't be read: ${why}`, {
      code: "chain_unavailable",
      blame: "upstream",
    });
  }
}
