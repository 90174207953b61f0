import type { RawLog } from "../lib/nodeAnswers.ts";
import type { LogRange } from "../evm/logReader.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { PAGE_ENTRIES, type ListCursor } from "./lists.ts";

/** Blocks searched for one page; more on an embedded chain, whose node is the service's own. */
const SEARCHED_BLOCKS = { embedded: 200_000n, external: 20_000n };
/** Blocks per query: providers refuse wider ranges. */
export const QUERIED_BLOCKS = 10_000n;

/** A page of logs, newest first. */
export interface LogPage {
  readonly head: bigint;
  readonly logs: readonly RawLog[];
  readonly searched: { readonly from: string; readonly to: string };
  /** Where the next page begins, as `ListCursor` is written; `null` on the last. */
  readonly older: string | null;
}

/**
 * Reads a page of the logs that a query finds, newest first from a cursor on, whose `index` is a log's. Searches a bounded number of blocks.
 *
 * @param find returns the logs in a range, in any order.
 */
export async function readLogPage(
  { archive, isEmbedded }: Pick<ExploredChain, "archive" | "isEmbedded">,
  before: ListCursor | undefined,
  find: (range: LogRange) => Promise<readonly RawLog[]>,
): Promise<LogPage> {
  const head = await archive.getHeadNumber();
  const isBelow = (log: RawLog): boolean =>
    before?.index === undefined || log.blockNumber !== before.block || log.logIndex < before.index;
  let top = head;
  if (before !== undefined && before.block <= head)
    top = before.index === undefined ? before.block - 1n : before.block;
  const last = top - SEARCHED_BLOCKS[isEmbedded ? "embedded" : "external"];
  const found: RawLog[] = [];
  let bottom = top + 1n;
  while (bottom > 0n && bottom - 1n > last && found.length <= PAGE_ENTRIES) {
    const toBlock = bottom - 1n;
    bottom = toBlock >= QUERIED_BLOCKS ? toBlock - QUERIED_BLOCKS + 1n : 0n;
    const logs = await find({ fromBlock: bottom, toBlock });
    found.push(
      ...logs
        .filter(isBelow)
        .toSorted((a, b) => Number(b.blockNumber - a.blockNumber) || b.logIndex - a.logIndex),
    );
  }
  const shown = found.slice(0, PAGE_ENTRIES);
  const oldest = found.length > shown.length ? shown.at(-1)! : undefined;
  return {
    head,
    logs: shown,
    searched: { from: String(oldest?.blockNumber ?? bottom), to: String(top < 0n ? 0n : top) },
    older: oldest ? `${oldest.blockNumber}.${oldest.logIndex}` : bottom > 0n ? `${bottom}` : null,
  };
}
