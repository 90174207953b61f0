import type { Checked } from "../api/parameters/requestSchemas.ts";
import type { LogRun, LogRunPage, LogTriggerView } from "../api/types.ts";
import type { Dapp } from "../dapps/dapp.ts";
import { NotFoundError } from "../lib/errors.ts";
import { createId } from "../domain/id.ts";
import { InvalidParameterError, parseAll } from "../lib/invalidParameter.ts";
import { readPage } from "../domain/readPage.ts";
import { formatTime } from "../lib/time.ts";
import { RpcError } from "../lib/nodeAnswers.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import { lockDapp } from "../store/dapps.ts";
import {
  changeLogTrigger,
  countDueBefore,
  deleteLogTrigger,
  findLogCursor,
  findLogTrigger,
  insertLogTrigger,
  listLogTriggers,
  listRunLogs,
  type StoredLogTrigger,
  type StoredRunLog,
} from "../store/logTriggers.ts";
import type { Store } from "../store/store.ts";
import { listDueRuns, listRuns, type StoredRun } from "../store/triggerRuns.ts";
import { describeQueue } from "./actOnRun.ts";
import { checkAction, type CheckCommand, type ParseAction } from "./eventReferences.ts";
import { RATE_PER_SECOND } from "./logActor.ts";
import { namesOf, parseSelection, type LogSelection } from "./logSelection.ts";
import type { ObservedChain } from "./observedChain.ts";
import { readRunRequests, type RequestOfRun } from "./runRequests.ts";
import { keyOf } from "./schedules.ts";

/** Most log triggers of a dapp. */
const MAX_TRIGGERS = 100;

/** The log triggers of dapps. Every method throws `not_found` for an unknown trigger and for another dapp's alike, and `invalid_parameter`. */
export interface LogTriggers {
  /** Throws {@link ChainUnavailableError} while the network's newest block can't be read. */
  create(dapp: Dapp, settings: Checked<"createTrigger">): Promise<LogTriggerView>;
  /** Lists a dapp's triggers, oldest first. */
  list(dappId: string): Promise<readonly LogTriggerView[]>;
  get(dappId: string, id: string): Promise<LogTriggerView>;
  /** Changes what is given. From then on the trigger acts with the key of this call; one that is resumed acts on the blocks from now on. */
  change(dapp: Dapp, id: string, changes: Checked<"changeTrigger">): Promise<LogTriggerView>;
  /** Deletes a trigger with its runs. */
  delete(dappId: string, id: string): Promise<LogTriggerView>;
  /** Lists runs, newest first. */
  runs(dappId: string, id: string, page: Checked<"runs">): Promise<LogRunPage>;
}

/** Creates the use cases of log triggers. */
export function createLogTriggers(options: {
  readonly store: Store;
  readonly parseAction: ParseAction;
  readonly checkCommand: CheckCommand;
  /** Returns a network's chain while it serves. */
  readonly findChain: (network: string) => ObservedChain | undefined;
  /** Called when triggers change. */
  readonly wake: () => void;
}): LogTriggers {
  const { store, parseAction, checkCommand, findChain, wake } = options;

  const get = async (dappId: string, id: string): Promise<StoredLogTrigger> => {
    const trigger = await findLogTrigger(store.db, id, dappId);
    if (trigger === undefined) throw new NotFoundError(`trigger ${id}`);
    return trigger;
  };
  const getClient = (network: string): ObservedChain["client"] => {
    const chain = findChain(network);
    if (chain === undefined) throw new ChainUnavailableError(network, "it is not being served");
    return chain.client;
  };
  const readNextBlock = async (network: string): Promise<number> => {
    const head = await getClient(network).getHead("latest");
    return head === undefined ? 0 : Number(head.number) + 1;
  };
  /** Refuses a first block whose logs the node can't return, such as one that is deleted. */
  const assertReadable = async (network: string, addresses: LogSelection["addresses"], first: number) => {
    if (first >= (await readNextBlock(network))) return;
    const block = BigInt(first);
    try {
      await getClient(network).getLogs({ addresses, fromBlock: block, toBlock: block });
    } catch (error) {
      if (!(error instanceof RpcError) || !error.answered) throw error;
      const message = `the node of ${network} returns no logs of block ${first}; give a later one`;
      throw new InvalidParameterError([{ path: "/fromBlock", message }], { cause: error });
    }
  };
  const view = async (trigger: StoredLogTrigger): Promise<LogTriggerView> => {
    const { selection, network, replayFrom } = trigger;
    const { addresses, event, filters, topics } = selection as LogSelection;
    const cursor = await findLogCursor(store.db, network);
    const readTo = replayFrom === null ? (cursor?.block ?? null) : replayFrom - 1;
    return {
      id: trigger.id,
      name: trigger.name,
      network,
      addresses,
      event,
      filters,
      topics: topics.map((one) => (one === null ? null : [...one])),
      confidence: trigger.confidence,
      action: trigger.action,
      actionNetwork: trigger.actionNetwork,
      fromBlock: trigger.fromBlock,
      readTo: readTo === null || readTo < trigger.fromBlock ? null : readTo,
      pausedAt: trigger.pausedAt === null ? null : formatTime(trigger.pausedAt),
      createdAt: formatTime(trigger.createdAt),
      keyId: trigger.keyId,
    };
  };
  const check = (
    { action, actionNetwork: network }: Pick<StoredLogTrigger, "action" | "actionNetwork">,
    selection: object | undefined,
  ): ReturnType<typeof checkAction> => {
    const names = selection && namesOf(selection as LogSelection);
    return checkAction(parseAction, { action, network, names });
  };

  return {
    async create(dapp, settings) {
      const { network, action, actionNetwork = network, paused } = settings;
      let found: LogSelection | undefined;
      const { selection, checkFor } = parseAll({
        selection: () => (found = parseSelection(settings)),
        checkFor: () => check({ action, actionNetwork }, found),
      });
      await checkFor(checkCommand, dapp);
      if (settings.fromBlock !== undefined)
        await assertReadable(network, selection.addresses, settings.fromBlock);
      const fromBlock = settings.fromBlock ?? (await readNextBlock(network));
      const createdAt = Date.now();
      const trigger: StoredLogTrigger = {
        id: createId("trg", createdAt),
        dappId: dapp.id,
        keyId: keyOf(dapp),
        name: settings.name,
        network,
        selection,
        confidence: settings.confidence,
        action,
        actionNetwork,
        fromBlock,
        replayFrom: fromBlock,
        pausedAt: paused ? createdAt : null,
        createdAt,
      };
      await store.write(async (db) => {
        await lockDapp(db, dapp.id);
        if ((await listLogTriggers(db, dapp.id)).length >= MAX_TRIGGERS)
          throw new InvalidParameterError([
            { path: "", message: `a dapp has at most ${MAX_TRIGGERS} log triggers: delete one first` },
          ]);
        await insertLogTrigger(db, trigger);
      });
      wake();
      return await view(trigger);
    },
    list: async (dappId) => await Promise.all((await listLogTriggers(store.db, dappId)).map(view)),
    get: async (dappId, id) => await view(await get(dappId, id)),
    async change(dapp, id, changes) {
      const present = await get(dapp.id, id);
      const { network, pausedAt } = present;
      const isRedirected = changes.action !== undefined || changes.actionNetwork !== undefined;
      if (isRedirected) await check({ ...present, ...changes }, present.selection)(checkCommand, dapp);
      const isResumed = pausedAt !== null && changes.paused === false;
      const nextBlock = isResumed ? await readNextBlock(network) : 0;
      const changed = await store.write(async (db) => {
        await lockDapp(db, dapp.id);
        const before = await findLogTrigger(db, id, dapp.id);
        if (before === undefined) throw new NotFoundError(`trigger ${id}`);
        const { name = before.name, action = before.action, actionNetwork = before.actionNetwork } = changes;
        const paused = changes.paused ?? before.pausedAt !== null;
        const after: StoredLogTrigger = {
          ...before,
          keyId: keyOf(dapp),
          name,
          action,
          actionNetwork,
          pausedAt: paused ? (before.pausedAt ?? Date.now()) : null,
          ...(isResumed && before.pausedAt !== null ? { fromBlock: nextBlock, replayFrom: nextBlock } : {}),
        };
        if (isRedirected) check(after, after.selection);
        await changeLogTrigger(db, before, after);
        return after;
      });
      wake();
      return await view(changed);
    },
    async delete(dappId, id) {
      const last = await view(await get(dappId, id));
      await store.write((db) => deleteLogTrigger(db, id));
      wake();
      return last;
    },
    async runs(dappId, id, { limit, cursor }) {
      const trigger = await get(dappId, id);
      const { rows, nextCursor } = await readPage(limit, (most) =>
        listRuns(store.db, { triggerId: id, limit: most, before: cursor }),
      );
      const logs = new Map(
        (
          await listRunLogs(
            store.db,
            rows.map((run) => run.id),
          )
        ).map((log) => [log.run_id, log]),
      );
      const explorerUrl = findChain(trigger.network)?.explorerUrl;
      const explain = await createExplanation(trigger, rows);
      const requestOf = await readRunRequests(store.db, rows);
      const items = rows.flatMap((run) => {
        const log = logs.get(run.id);
        if (log === undefined) return [];
        return [viewRun(run, log, { explorerUrl, detail: explain(run, log), request: requestOf(run) })];
      });
      return { items, nextCursor };
    },
  };

  /** Returns a function that says what each of a trigger's runs, newest first, waits for. */
  async function createExplanation(
    trigger: StoredLogTrigger,
    runs: readonly StoredRun[],
  ): Promise<(run: StoredRun, log: StoredRunLog) => string | null> {
    const { confidence, pausedAt, actionNetwork } = trigger;
    const waiting = runs.filter(({ state, detail }) => state === "due" && detail === null);
    const [newest] = waiting;
    const isQueued = pausedAt === null && newest !== undefined;
    const first = isQueued ? (await listDueRuns(store.db, trigger.id, 1))[0] : undefined;
    const counts = isQueued
      ? await countDueBefore(store.db, trigger, { from: waiting.at(-1)!.id, through: newest.id })
      : new Map<string, number>();
    return (run, log) => {
      if (run.detail !== null || run.state === "requested") return run.detail;
      if (run.state === "seen") return `block ${log.block_number} is not ${confidence} yet`;
      if (pausedAt !== null) return "the trigger is paused";
      const ahead = counts.get(run.id) ?? 0;
      return describeQueue(ahead, {
        what: `dapp's runs on ${actionNetwork}`,
        first,
        rest: `: about ${Math.ceil(ahead / RATE_PER_SECOND)} s at ${RATE_PER_SECOND} a second`,
      });
    };
  }
}

function viewRun(
  run: StoredRun,
  log: StoredRunLog,
  {
    explorerUrl,
    detail,
    request,
  }: {
    readonly explorerUrl: string | undefined;
    readonly detail: string | null;
    readonly request: RequestOfRun;
  },
): LogRun {
  return {
    id: run.id,
    at: formatTime(run.at),
    state: run.state,
    reason: run.reason,
    detail,
    ...request,
    log: {
      blockNumber: log.block_number,
      blockHash: log.block_hash,
      transactionHash: log.transaction_hash,
      logIndex: log.log_index,
      values: JSON.parse(log.args) as Record<string, string>,
      url: explorerUrl === undefined ? null : `${explorerUrl}/tx/${log.transaction_hash}`,
    },
    revertedAt: log.reverted_at === null ? null : formatTime(log.reverted_at),
  };
}
