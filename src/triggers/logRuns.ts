import { createId } from "../domain/id.ts";
import type { RawLog } from "../lib/nodeAnswers.ts";
import { countWaitingRuns, holdActive, insertLogRuns, type StoredLogTrigger } from "../store/logTriggers.ts";
import type { Queryable } from "../store/queryable.ts";
import { listRuns } from "../store/triggerRuns.ts";
import { addSkipEvent } from "./actOnRun.ts";
import { isSelected, readValues, type LogSelection } from "./logSelection.ts";
import type { WatchedBlock } from "../evm/blockReader.ts";

/** Most runs of a dapp that wait, those of eight minutes at its rate: a block has room for tens of thousands of logs, of each of its triggers. */
const MAX_WAITING = 10_000;
/**
 * Most characters of data, or of values if they have more, that are read of the logs of a dapp's triggers in one block: a hundred triggers
 * may decode the same megabytes.
 */
const MAX_BLOCK_CHARACTERS = 16 * 1024 * 1024;

const FULL = `from this log on, the trigger's logs make no requests until fewer than ${MAX_WAITING} of the dapp's runs wait, and for at most 16 MB of data in a block`;

/** A log's run as it is stored. */
type LogRun = Parameters<typeof insertLogRuns>[1][number];

/** A run that is found; for one that is skipped, the trigger, and how many of its logs in the block have no run of their own. */
export type FoundRun = LogRun & {
  readonly omitted: { readonly trigger: StoredLogTrigger; readonly count: number } | undefined;
};

/** Where logs are found, and whose runs are counted. */
interface FindingOptions {
  readonly network: string;
  readonly chainId: number;
  readonly isEmbedded: boolean;
  readonly db: Queryable;
}

function makeRun(
  { network, chainId, isEmbedded }: FindingOptions,
  trigger: StoredLogTrigger,
  { log, args }: { readonly log: RawLog; readonly args: string },
): LogRun {
  return {
    run: {
      id: createId("run"),
      trigger_id: trigger.id,
      key: [chainId, log.transactionHash, log.logIndex]
        .concat(trigger.confidence === "latest" ? log.blockHash : [])
        .join(" "),
      at: Date.now(),
      state: trigger.confidence === "latest" || isEmbedded ? "due" : "seen",
      reason: null,
      detail: null,
      request_id: null,
    },
    log: {
      network,
      block_number: Number(log.blockNumber),
      block_hash: log.blockHash,
      transaction_hash: log.transactionHash,
      log_index: log.logIndex,
      args,
      reverted_at: null,
    },
  };
}

/** Makes the runs of a block's logs. A trigger's logs beyond what may wait have one run, which is skipped, until there is room again. */
export async function findRuns(
  finding: FindingOptions,
  block: WatchedBlock,
  wanting: readonly StoredLogTrigger[],
): Promise<readonly FoundRun[]> {
  const { db } = finding;
  const runs: FoundRun[] = [];
  const rooms = new Map<string, { runs: number; characters: number }>();
  for (const trigger of wanting) {
    if (BigInt(trigger.fromBlock) > block.number) continue;
    const selection = trigger.selection as LogSelection;
    const logs = block.logs.filter((log) => isSelected(selection, log));
    if (logs.length === 0) continue;
    const { dappId } = trigger;
    const room = rooms.get(dappId) ?? {
      runs: MAX_WAITING - (await countWaitingRuns(db, dappId)),
      characters: MAX_BLOCK_CHARACTERS,
    };
    rooms.set(dappId, room);
    let isFull = (await listRuns(db, { triggerId: trigger.id, limit: 1 }))[0]?.reason === "limit";
    for (const [i, log] of logs.entries()) {
      if (room.runs > 0) {
        const args = room.characters < log.data.length ? "" : JSON.stringify(readValues(selection, log));
        room.characters -= Math.max(args.length, log.data.length);
        if (room.characters >= 0) {
          room.runs -= 1;
          isFull = false;
          runs.push({ ...makeRun(finding, trigger, { log, args }), omitted: undefined });
          continue;
        }
        room.runs = 0;
      }
      if (isFull) break;
      const { run, log: omittedLog } = makeRun(finding, trigger, { log, args: "{}" });
      const skipped = { ...run, state: "skipped", reason: "limit", detail: FULL } as const;
      runs.push({ run: skipped, log: omittedLog, omitted: { trigger, count: logs.length - i } });
      break;
    }
  }
  return runs;
}

/**
 * Stores runs that {@link findRuns} made, with the events of those that are skipped; none of a trigger that was paused, resumed after the
 * block, or deleted meanwhile. @returns whether there is something to deliver.
 */
export async function addRuns(db: Queryable, found: readonly FoundRun[]): Promise<boolean> {
  if (found.length === 0) return false;
  const active = await holdActive(db, [...new Set(found.map(({ run }) => run.trigger_id))]);
  const runs = found.filter(({ run, log }) => log.block_number >= (active.get(run.trigger_id) ?? Infinity));
  const inserted = await insertLogRuns(db, runs);
  let isTold = false;
  for (const { run, log, omitted } of runs) {
    if (omitted === undefined || !inserted.has(run.id)) continue;
    const { trigger, count } = omitted;
    const ticks = Array.from({ length: count }, () => run.at);
    const skipped = { reason: "limit", detail: FULL, ticks, at: run.at } as const;
    const told = { ...trigger, log: { run_id: run.id, ...log } };
    if (await addSkipEvent(db, told, skipped)) isTold = true;
  }
  return isTold;
}
