import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { createPoolClient, type PoolClient } from "../../evm/nodePool.ts";
import { parseQuantity } from "../../lib/nodeAnswers.ts";
import { TycheError } from "../../lib/errors.ts";

/** Interval at which the newest blocks' logs are read again: a node that others run may omit some. */
export const REREAD_INTERVAL_MS = 15_000;

/** The name and chain id of a chain, as configured by the operator. */
export interface ExternalChainId {
  readonly network: string;
  readonly chainId: number;
}

/** Connects to the nodes of a network; requests are answered as long as one node works. Errors never contain a URL. */
export function connectExternal(rpcUrls: readonly string[], chainId: number): PoolClient {
  return createPoolClient({ rpcUrls, chainId });
}

/** @throws {WrongChainError} when the node is on another chain; RpcError when it can't be asked. */
export async function assertChainId(
  client: Pick<ChainClient, "request">,
  { network, chainId }: ExternalChainId,
): Promise<void> {
  const found = Number(parseQuantity(await client.request("eth_chainId"), "eth_chainId"));
  if (found !== chainId)
    throw new WrongChainError(
      `the node of ${network} is on chain ${found}, and ${network} is chain ${chainId}; correct its rpcUrls or chainId`,
    );
}

/** Returns the hash of block 0. */
export async function readGenesis(client: Pick<ChainClient, "getHead">): Promise<Hex> {
  const genesis = await client.getHead(0n);
  if (genesis !== undefined) return genesis.hash;
  throw new WrongChainError("the node has no block 0; name a node that has all block headers");
}

/** A node is not on the chain that it is configured for. */
export class WrongChainError extends TycheError {
  constructor(message: string) {
    super(message, { code: "chain_unavailable", blame: "caller" });
  }
}
