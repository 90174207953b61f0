import { AnswerError, type Connection } from "../../../evm/connection.ts";
import { RPC_CODES } from "../rpcErrors.ts";
import type { Subscribe } from "./rpcSockets.ts";

/** Announced blocks whose logs may still be removed: more than `anvil_reorg` can roll back on an embedded chain. */
const REMEMBERED_BLOCKS = 64;
/** Members of a block that are not part of its header. */
const BODY_MEMBERS: ReadonlySet<string> = new Set([
  "transactions",
  "uncles",
  "withdrawals",
  "size",
  "totalDifficulty",
]);

interface Header {
  readonly number: string;
  readonly hash: string;
  readonly logsBloom?: string;
}

/**
 * Creates the subscriptions that users' tools get on an embedded chain. Heads and logs come only from blocks that are in the
 * chain's log on disk: no block is announced that a crash could still lose.
 *
 * @param guarded the chain as clients see it.
 * @param direct Anvil itself, for subscriptions that don't concern blocks.
 */
export function createFeed(guarded: Connection, direct: Connection): Subscribe {
  return async ([kind, parameters], onData) => {
    if (kind === "newHeads") {
      let last: string | undefined;
      return guarded.subscribe(["newHeads"], (block) => {
        const { hash } = block as Header;
        // After a restart of the node the same head arrives again.
        if (hash !== last) onData(headerOf(block as Header));
        last = hash;
      });
    }
    if (kind === "logs") return followLogs(guarded, parameters ?? {}, onData);
    if (kind === "newPendingTransactions")
      return direct.subscribe(["newPendingTransactions", ...(parameters === true ? [true] : [])], onData);
    throw new AnswerError(
      `eth_subscribe takes "newHeads", "logs" or "newPendingTransactions", not ${JSON.stringify(kind)}`,
      RPC_CODES.invalidParams,
      undefined,
    );
  };
}

/** Reports the logs of each new block, and repeats those of blocks removed by a reorg with `removed`. */
async function followLogs(
  guarded: Connection,
  filter: object,
  onData: (log: unknown) => void,
): Promise<() => void> {
  const { address, topics } = filter as { readonly address?: unknown; readonly topics?: unknown };
  const wanted = {
    ...(address === undefined ? {} : { address }),
    ...(topics === undefined ? {} : { topics }),
  };
  // Refuses at once what the node would refuse at each block.
  const { hash } = (await guarded.request("eth_getBlockByNumber", ["latest", false])) as Header;
  await guarded.request("eth_getLogs", [{ ...wanted, blockHash: hash }]);
  let told: { readonly number: number; readonly hash: string; readonly logs: readonly object[] }[] = [];
  let tail: Promise<void> = Promise.resolve();
  let isOver = false;

  const take = async (header: Header): Promise<void> => {
    const number = Number(header.number);
    while (told.length > 0 && told.at(-1)!.number >= number && told.at(-1)!.hash !== header.hash)
      for (const log of told.pop()!.logs.toReversed()) onData({ ...log, removed: true });
    if (told.at(-1)?.hash === header.hash || isOver) return;
    const isEmpty = /^0x0*$/.test(header.logsBloom ?? "");
    const logs = isEmpty ? [] : await guarded.request("eth_getLogs", [{ ...wanted, blockHash: header.hash }]);
    if (isOver) return;
    told = [...told, { number, hash: header.hash, logs: logs as object[] }].slice(-REMEMBERED_BLOCKS);
    for (const log of logs as object[]) onData(log);
  };
  const stop = await guarded.subscribe(["newHeads"], (block) => {
    // A block that is gone before its logs are queried has no logs to report.
    tail = tail.then(() => take(block as Header)).catch(() => {});
  });
  return () => {
    isOver = true;
    stop();
  };
}

function headerOf(block: Header): object {
  return Object.fromEntries(Object.entries(block).filter(([member]) => !BODY_MEMBERS.has(member)));
}
