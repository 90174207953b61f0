import type { RawLog } from "../lib/nodeAnswers.ts";
import type { LogRange } from "../evm/logReader.ts";
import { QUERIED_BLOCKS } from "./chainArchive.ts";
import type { ExploredChain } from "./exploredChain.ts";
import { isBelow, PAGE_ENTRIES, topOf, type ListCursor } from "./lists.ts";

/** Blocks searched for one page; more on an embedded chain, whose node is the service's own. */
const SEARCHED_BLOCKS = { embedded: 200_000n, external: 20_000n };
/** Blocks of the first query where logs may be many; each further one has twice as many. */
const FIRST_BLOCKS = 100n;
/** Logs read for one page, shown or not, after which it ends; decoding them takes about 0.1 s. */
const MAX_READ = 10_000;

/** A page of logs, newest first. */
export interface LogPage {
  readonly head: bigint;
  readonly logs: readonly RawLog[];
  readonly searched: { readonly from: string; readonly to: string };
  /** Where the next page begins, as `ListCursor` is written; `null` on the last. */
  readonly older: string | null;
}

/**
 * Reads a page of the logs that a query finds, newest first from a cursor on, whose `index` is a log's. Searches a bounded number of blocks,
 * and ends early where it has read many logs.
 *
 * @param find returns the logs in a range, in any order.
 * @param isWanted tells which of them to show. Default: all.
 * @param isDense whether there may be many: it begins with few blocks. Default: no.
 */
export async function readLogPage(
  { archive, isEmbedded }: Pick<ExploredChain, "archive" | "isEmbedded">,
  before: ListCursor | undefined,
  {
    find,
    isWanted = () => true,
    isDense = false,
  }: {
    readonly find: (range: LogRange) => Promise<readonly RawLog[]>;
    readonly isWanted?: (log: RawLog) => boolean;
    readonly isDense?: boolean;
  },
): Promise<LogPage> {
  const head = await archive.getHeadNumber();
  const top = topOf(before, head);
  const last = top - SEARCHED_BLOCKS[isEmbedded ? "embedded" : "external"];
  const found: RawLog[] = [];
  const lowest = last < 0n ? 0n : last + 1n;
  let bottom = top + 1n;
  let read = 0;
  for (
    let blocks = isDense ? FIRST_BLOCKS : QUERIED_BLOCKS;
    bottom > lowest && found.length <= PAGE_ENTRIES && read < MAX_READ;
    blocks = blocks * 2n < QUERIED_BLOCKS ? blocks * 2n : QUERIED_BLOCKS
  ) {
    const toBlock = bottom - 1n;
    bottom = bottom - lowest > blocks ? bottom - blocks : lowest;
    const logs = await find({ fromBlock: bottom, toBlock });
    read += logs.length;
    found.push(
      ...logs
        .filter((log) => isBelow(before, log.blockNumber, log.logIndex) && isWanted(log))
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
