import { RpcError, type RawLog } from "../lib/nodeAnswers.ts";
import { AnswerError } from "./connection.ts";

/** Blocks per request at first, and the maximum. */
const FIRST_BLOCKS = 1_000n;
const MOST_BLOCKS = 10_000n;
/** Consecutive answers after which more blocks are requested: a quarter more, unless the provider named its limit. */
const ANSWERS_BEFORE_GROWTH = 8;
/** How long a limit is respected, whether named by a provider or found by halving, before more is tried. */
const LIMIT_KEPT_MS = 600_000;

/** Reads the logs of ranges in pieces that the nodes accept. */
export interface LogReader {
  /**
   * Reads the logs of the first blocks of a range, both ends included: as many as nodes are known to answer at once.
   *
   * @param ask reads the logs of exactly one range.
   * @returns the logs, in order, and the last block they cover.
   * @throws RpcError when a single block is refused, or the refusal has another reason than the size of the range.
   */
  read(
    range: LogRange,
    ask: (range: LogRange) => Promise<readonly RawLog[]>,
  ): Promise<{ readonly logs: readonly RawLog[]; readonly toBlock: bigint }>;
}

/** A range of blocks, both ends included. */
export interface LogRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/**
 * Creates a reader that learns the nodes' limit from their refusals: it adopts a limit that a refusal names, halves the range when a
 * refusal only says that it is too much, and slowly increases the range again.
 *
 * @param firstBlocks blocks per request at first, at most 10,000. Default 1,000.
 */
export function createLogReader(
  now: () => number = () => performance.now(),
  { firstBlocks = FIRST_BLOCKS }: { readonly firstBlocks?: bigint } = {},
): LogReader {
  /** Blocks per request. */
  let blocks = firstBlocks;
  /** Current maximum, because more was refused at `refusedAt`. */
  let ceiling = MOST_BLOCKS;
  let refusedAt = 0;
  let answers = 0;

  const grow = (): void => {
    if (now() - refusedAt > LIMIT_KEPT_MS) ceiling = MOST_BLOCKS;
    answers += 1;
    if (answers < ANSWERS_BEFORE_GROWTH || blocks >= ceiling) return;
    answers = 0;
    const more = blocks + blocks / 4n + 1n;
    blocks = more < ceiling ? more : ceiling;
  };

  return {
    async read({ fromBlock, toBlock }, ask) {
      let most = toBlock - fromBlock + 1n;
      for (;;) {
        const count = most < blocks ? most : blocks;
        const last = fromBlock + count - 1n;
        try {
          const logs = await ask({ fromBlock, toBlock: last });
          if (count === blocks) grow();
          return { logs: inOrder(logs), toBlock: last };
        } catch (error) {
          const smaller = findSmaller(error, { fromBlock, count });
          if (smaller === undefined) throw error;
          // A dense stretch of logs says nothing about a limit in blocks, so the range may grow again after it; a named limit applies
          // everywhere.
          most = smaller.blocks;
          answers = 0;
          blocks = smaller.blocks;
          ceiling = smaller.isNamed ? smaller.blocks : count - 1n;
          refusedAt = now();
        }
      }
    },
  };
}

/** Returns the range to request after a refusal; `undefined` when the range is not to blame, or can't be made smaller. */
function findSmaller(
  error: unknown,
  { fromBlock, count }: { readonly fromBlock: bigint; readonly count: bigint },
): { readonly blocks: bigint; readonly isNamed: boolean } | undefined {
  if (!isTooMuch(error) || count <= 1n) return undefined;
  const named = findNamedBlocks((error as RpcError).message, fromBlock);
  if (named !== undefined && named >= 1n && named < count) return { blocks: named, isNamed: true };
  return { blocks: count / 2n, isNamed: false };
}

/** Codes with which providers refuse ranges, some without any explanation. */
const INVALID_PARAMS = -32_602;
const LIMIT_EXCEEDED = -32_005;
const TOO_MUCH =
  /range|too (?:many|large|wide|big|long|much)|more than|exceed|results|response size|limit|query timeout|timed? ?out/i;

/** The range ends beyond the node's newest block (Anvil's wording), which no smaller range changes. */
const BEYOND_HEAD = /OutOfRangeError/;

/** Whether a refusal of `eth_getLogs` may be due to the size of the request. */
function isTooMuch(error: unknown): boolean {
  if (!(error instanceof RpcError) || !error.answered || BEYOND_HEAD.test(error.message)) return false;
  const { code } = error.cause instanceof AnswerError ? error.cause : { code: 0 };
  return code === INVALID_PARAMS || code === LIMIT_EXCEEDED || TOO_MUCH.test(error.message);
}

/**
 * Returns the number of blocks that a refusal says would be accepted: "this block range should work: [0x1, 0x1f4]", "up to a 500 block
 * range", "limited to a 5 range", "exceed maximum block range: 5000".
 */
function findNamedBlocks(message: string, fromBlock: bigint): bigint | undefined {
  const range = /\[\s*(0x[0-9a-f]{1,16}|\d{1,18})\s*,\s*(0x[0-9a-f]{1,16}|\d{1,18})\s*\]/i.exec(message);
  if (range !== null) {
    const [first, last] = [BigInt(range[1]!), BigInt(range[2]!)];
    return first === fromBlock && last >= first ? last - first + 1n : undefined;
  }
  const count =
    /(?:up to|limited to|maximum(?: is| of)?|max(?: is)?|at most|exceeds? (?:the )?(?:max(?:imum)? )?(?:block )?range(?: limit)?(?: of)?|range (?:limit|is)(?: of)?|range:?|within|limit(?: is| of)?)[^\d\n]{0,24}([\d,]{1,9})(k)?\b(?![^.]*\b(?:results|logs|ms|seconds|mb|bytes)\b)/i.exec(
      message,
    );
  if (count === null) return undefined;
  const digits = BigInt(count[1]!.replaceAll(",", "") || "0");
  return count[2] === undefined ? digits : digits * 1_000n;
}

/** Sorts by block and log index: nodes promise this order, and followers of the chain rely on it. */
function inOrder(logs: readonly RawLog[]): readonly RawLog[] {
  return logs.toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
}
