import type { Hex } from "viem";
import type { Connection } from "../../evm/connection.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import { shareByKey } from "../../lib/memo.ts";

/** Blocks whose logs are cached for the second follower, which asks a few milliseconds later. */
const KEPT_BLOCKS = 8;

type Logs = readonly { readonly address: Hex }[];

/** Parameters of `eth_getLogs` for the logs of several contracts in one block. */
interface BlockFilter {
  readonly blockHash: Hex;
  readonly address: readonly Hex[];
}

/**
 * Wraps a connection for those who follow one chain side by side, such as the service and its oracle: a block's logs are read once, of
 * all contracts that anyone has asked for so far.
 */
export function shareBlockLogs(connection: Connection): Connection {
  const followed = new Set<string>();
  let kept = createBoundedMap<Hex, Promise<Logs>>(KEPT_BLOCKS);
  const read = ({ blockHash, address }: BlockFilter): Promise<Logs> => {
    const before = followed.size;
    for (const one of address) followed.add(one.toLowerCase());
    if (followed.size > before) kept = createBoundedMap(KEPT_BLOCKS);
    const here = kept;
    return shareByKey(here, blockHash, async () => {
      const filter = { blockHash, address: [...followed] };
      const logs = (await connection.request("eth_getLogs", [filter])) as Logs;
      // Anvil says of a block that it doesn't have, for the moment, that it has no logs.
      if (logs.length === 0) here.delete(blockHash);
      return logs;
    });
  };
  return {
    ...connection,
    async request(method, parameters) {
      const filter = parameters[0];
      if (method !== "eth_getLogs" || !isBlockFilter(filter)) return connection.request(method, parameters);
      const wanted = new Set(filter.address.map((one) => one.toLowerCase()));
      return (await read(filter)).filter(({ address }) => wanted.has(address.toLowerCase()));
    },
  };
}

function isBlockFilter(filter: unknown): filter is BlockFilter {
  const { blockHash, address, ...others } = filter as Record<string, unknown>;
  return blockHash !== undefined && Array.isArray(address) && Object.keys(others).length === 0;
}
