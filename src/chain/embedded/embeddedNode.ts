import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChainClient } from "../client.ts";
import type { ChainClient } from "../client.ts";
import { openUnixSocket } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { KEPT_TRANSACTION_BLOCKS, startAnvil } from "./anvil.ts";
import type { AnvilProcess } from "./anvil.ts";
import { dumpCompactState, swapState } from "./anvilState.ts";
import type { AnvilState } from "./anvilState.ts";
import { openBlockLog, readBlockLog } from "./blockLog.ts";
import { chainFilesIn, removeChainFiles } from "./chainFiles.ts";
import { createCompactor } from "./compactor.ts";
import type { CompactionReport, Compactor } from "./compactor.ts";
import { createGate } from "./gate.ts";
import { guardConnection } from "./guardedConnection.ts";
import { createIdentity } from "./identity.ts";
import { createKeeper } from "./keeper.ts";
import type { Keeper } from "./keeper.ts";
import { changesState } from "./methods.ts";
import { createRecorder, readBlock } from "./recorder.ts";
import type { ReadBlock, RecordedBlock, Recorder } from "./recorder.ts";
import { replayBlocks } from "./replay.ts";
import { startRpcServer } from "./rpcServer.ts";

const HOST = "127.0.0.1";
const OWN_TIMEOUT_MS = 10_000;
/** Users may ask for more at once: thousands of blocks mined, long traces. */
const LONG_TIMEOUT_MS = 120_000;
/** Blocks that may be recorded and not kept yet; Anvil forgets them after {@link KEPT_TRANSACTION_BLOCKS}. */
const MAX_UNKEPT_BLOCKS = 32;
const KEEP_EVERY_BLOCKS = 12;
/** An idle chain's last blocks are kept after this. */
const KEEP_IDLE_MS = 1_000;
/** Blocks that Anvil may forget while it is asked for them. */
const FORGETTING_MARGIN_BLOCKS = 16;
/** After a change of the state without a block, which the log can't tell. */
const STORE_AFTER_CHANGE_MS = 200;
/** A process that dies again and again has a reason that starting it again doesn't remove. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;

/** A node of ours: Anvil with a past, on a port that stays. */
export interface EmbeddedNode {
  readonly rpcUrl: string;
  readonly port: number;
  readonly client: ChainClient;
  /** Stores the present state for the first time, of a new chain; before that nothing survives. */
  begin(keptHeader: number): Promise<void>;
  /** Goes on after a stored state. */
  resume(keptHeader: number): void;
  /** Stores what isn't stored yet and ends; idempotent. */
  close(): Promise<void>;
}

/** Options of {@link startEmbeddedNode}. */
export interface EmbeddedNodeOptions {
  readonly chainId: number;
  /** Folder for state, log and history; must exist. */
  readonly folder: string;
  /** Whether what is in the folder is another chain's: it is removed. */
  readonly isNew: boolean;
  readonly preferredPort: number;
  /** Told when the process ended and the chain goes on, or doesn't (`isUp` false): then it is over. */
  readonly onRestart: (restart: {
    readonly isUp: boolean;
    readonly lostBlocks: number;
    readonly ms: number;
  }) => void;
  readonly onCompacted: (report: CompactionReport) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Starts a node of ours on the state in the folder and the blocks logged since, or on nothing.
 *
 * State, log and history divide the past: `state.json` is the state as of some block, the log has the blocks after it, signed
 * transactions and times, from which Anvil makes the same blocks again; `history.sqlite` has everybody's receipts.
 */
export async function startEmbeddedNode(options: EmbeddedNodeOptions): Promise<EmbeddedNode> {
  const { chainId, folder, onRestart, onError } = options;
  const { stateFile, historyFile } = chainFilesIn(folder);
  if (options.isNew) removeChainFiles(folder);
  // Not in the data directory: a socket's path may have 107 bytes only (sockaddr_un).
  const socketFolder = mkdtempSync(join(tmpdir(), "tyche-"));
  const ipcPath = join(socketFolder, "ipc");
  const connection = openUnixSocket(ipcPath, OWN_TIMEOUT_MS);
  const publicConnection = openUnixSocket(ipcPath, LONG_TIMEOUT_MS);
  const gate = createGate();
  const closers: (() => unknown)[] = [
    () => rmSync(socketFolder, { recursive: true, force: true }),
    () => connection.close(),
    () => publicConnection.close(),
  ];
  let anvil: AnvilProcess | undefined;
  let keeper: Keeper | undefined;
  let compactor: Compactor | undefined;
  let keepTimer: NodeJS.Timeout | undefined;
  let storeTimer: NodeJS.Timeout | undefined;
  let wholeFrom = 0;
  let kept = -1;
  let keeping: Promise<void> = Promise.resolve();
  let stored = -1;
  let restarts: number[] = [];
  let closing: Promise<void> | undefined;

  const launch = async (): Promise<ReadBlock> => {
    anvil = await startAnvil({
      chainId,
      host: HOST,
      ipcPath,
      pidFile: join(folder, "anvil.pid"),
      stateFile,
      onExit: () => void restart(),
    });
    if (!existsSync(stateFile)) return (await readBlock(connection, "latest"))!;
    const state = JSON.parse(readFileSync(stateFile, "utf8")) as AnvilState;
    const head = (await readBlock(connection, "latest"))!;
    const { hash: headHash, timestamp, number } = head;
    await swapState(connection, state, { headHash, timestamp, dropHeaders: false });
    stored = number;
    wholeFrom = number + 1;
    const last = await replayBlocks(connection, head, readBlockLog(folder, number));
    await connection.request("evm_setTime", [Math.max(Math.floor(Date.now() / 1000), last.timestamp)]);
    return last;
  };

  const restart = async (): Promise<void> => {
    if (closing !== undefined) return;
    const began = Date.now();
    const release = gate.hold(["read", "send", "mine"]);
    const { hash, number } = recorder.head();
    try {
      // A compaction under way fails by itself now; it must not go on with the next process.
      await compactor?.settled();
      for (;;) {
        restarts = [...restarts.filter((at) => at > began - RESTART_WINDOW_MS), Date.now()];
        if (restarts.length > MAX_RESTARTS) break;
        try {
          const head = await launch();
          await identity.assertKept();
          recorder.restart(head);
          compactor?.reset();
          await connection.request("evm_setAutomine", [true]);
          const lostBlocks = head.hash === hash ? 0 : Math.max(1, number - head.number);
          onRestart({ isUp: true, lostBlocks, ms: Date.now() - began });
          return;
        } catch (error) {
          onError(error);
          await anvil?.close();
        }
      }
      onRestart({ isUp: false, lostBlocks: 0, ms: Date.now() - began });
    } finally {
      release();
    }
  };

  /** Keeps all blocks up to now. One after the other: each goes on where the one before has ended. */
  const keep = (): Promise<void> => {
    const done = keeping.then(async () => {
      const { number } = recorder.head();
      if (keeper !== undefined && number > kept) kept = await keeper.run("keep", kept + 1, number);
    });
    keeping = done.catch(() => {});
    return done;
  };
  const keepSoon = (): void => {
    clearTimeout(keepTimer);
    keepTimer = setTimeout(() => void keep().catch(onError), KEEP_IDLE_MS);
    keepTimer.unref();
  };

  const onBlock = async (block: RecordedBlock): Promise<void> => {
    compactor?.onBlock(block);
    if (keeper === undefined) return;
    keepSoon();
    if (block.number - kept < KEEP_EVERY_BLOCKS) return;
    const done = keep().catch(onError);
    if (block.number - kept >= MAX_UNKEPT_BLOCKS) await done;
  };

  const storeSoon = (): void => {
    clearTimeout(storeTimer);
    storeTimer = setTimeout(() => void compactor?.compact(), STORE_AFTER_CHANGE_MS);
    storeTimer.unref();
  };

  const first = await launch().catch(async (error: unknown) => {
    await anvil?.close();
    for (const close of closers.toReversed()) close();
    throw error;
  });
  const log = openBlockLog(folder, first.number);
  const recorder: Recorder = createRecorder({
    connection,
    head: first,
    log,
    onBlock,
    onBroken(head) {
      if (!identity.allows(head.number)) return;
      if (kept > head.number) kept = head.number;
      storeSoon();
    },
  });
  const ensureLatest = async (): Promise<void> =>
    recorder.ensure((await readBlock(connection, "latest"))!.number);
  const guard = (over: Connection): Connection =>
    guardConnection({
      connection: over,
      gate,
      recorder,
      recall: async (method, parameters) => keeper?.run("recall", method, parameters),
      ensureLatest,
      async keepUp() {
        await ensureLatest();
        await keep();
      },
      oldestWhole: () =>
        Math.max(wholeFrom, recorder.head().number - KEPT_TRANSACTION_BLOCKS + FORGETTING_MARGIN_BLOCKS),
    });
  await connection.subscribe(["newHeads"], (head) => {
    recorder.ensure(Number((head as { readonly number: string }).number)).catch(() => {});
  });
  /** What is on disk is ours: the process is started again on that. */
  const startAgain = (error: unknown): void => {
    onError(error);
    void anvil?.close().then(restart);
  };
  const identity = createIdentity({ connection, gate, onLost: startAgain });
  const publicGuard = guard(publicConnection);
  const server = await startRpcServer({
    host: HOST,
    preferredPort: options.preferredPort,
    nodePort: () => anvil?.port,
    async request(method, parameters) {
      const answer = await publicGuard.request(method, parameters);
      if (changesState(method)) storeSoon();
      return answer;
    },
  });

  const keepFrom = (keptHeader: number): void => {
    keeper = createKeeper({ ipcPath, historyFile, timeoutMs: LONG_TIMEOUT_MS, keptHeaders: [keptHeader] });
    compactor = createCompactor({
      connection,
      gate,
      keeper,
      keep: () => identity.assertKept().then(keep),
      recorder,
      stateFile,
      onCompacted: options.onCompacted,
      onSaved(block) {
        stored = block;
        log.startAfter(block);
      },
      onError(error, isBroken) {
        if (closing !== undefined) return;
        // Its state is half exchanged.
        if (isBroken) startAgain(error);
        else onError(error);
      },
    });
    keepSoon();
  };

  return {
    rpcUrl: `http://${HOST}:${server.port}`,
    port: server.port,
    client: createChainClient(ipcPath, { connection: guard(connection) }),
    async begin(keptHeader) {
      const head = (await readBlock(connection, "latest"))!;
      await recorder.ensure(head.number);
      const { state } = await dumpCompactState(connection, [keptHeader]);
      const timestamp = Math.max(Math.floor(Date.now() / 1000), head.timestamp);
      await swapState(connection, state, { headHash: head.hash, timestamp, dropHeaders: false });
      writeFileSync(stateFile, JSON.stringify(state), { mode: 0o600 });
      stored = head.number;
      log.startAfter(head.number);
      keepFrom(keptHeader);
      await identity.claim(keptHeader);
    },
    resume(keptHeader) {
      void identity.claim(keptHeader).catch(onError);
      // A state is stored only after its blocks have been kept.
      kept = stored;
      keepFrom(keptHeader);
    },
    close() {
      closing ??= (async () => {
        identity.close();
        clearTimeout(keepTimer);
        clearTimeout(storeTimer);
        await server.close();
        if (recorder.head().number > stored) await compactor?.compact({ swap: false });
        await compactor?.close();
        await keeper?.close();
        await anvil?.close();
        for (const close of closers.toReversed()) close();
        log.close();
      })();
      return closing;
    },
  };
}
