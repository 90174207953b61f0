import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { createChainClient } from "../client.ts";
import type { ChainClient } from "../client.ts";
import { openUnixSocket } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { KEPT_TRANSACTION_BLOCKS, startAnvil } from "./anvil.ts";
import type { AnvilProcess } from "./anvil.ts";
import { dumpCompactState, swapState } from "./anvilState.ts";
import { openBlockLog } from "./blockLog.ts";
import { chainFilesIn, removeChainFiles } from "./chainFiles.ts";
import { createCompactor } from "./compactor.ts";
import type { CompactionReport, Compactor } from "./compactor.ts";
import { createGate } from "./gate.ts";
import { guardConnection } from "./guardedConnection.ts";
import { createIdentity } from "./identity.ts";
import { createKeeper } from "./keeper.ts";
import type { Keeper } from "./keeper.ts";
import { createKeeping } from "./keeping.ts";
import type { Keeping } from "./keeping.ts";
import { changesState } from "./methods.ts";
import { createRecorder, readBlock } from "./recorder.ts";
import type { ReadBlock, RecordedBlock, Recorder } from "./recorder.ts";
import { restoreChain } from "./replay.ts";
import { startRpcServer } from "./rpcServer.ts";
import { createStartLimit } from "./startLimit.ts";

const HOST = "127.0.0.1";
const OWN_TIMEOUT_MS = 10_000;
/** Users may ask for more at once: thousands of blocks mined, long traces. */
const LONG_TIMEOUT_MS = 120_000;
/** Blocks that Anvil may forget while it is asked for them. */
const FORGETTING_MARGIN_BLOCKS = 16;
/** After a change of the state without a block, which the log can't tell. */
const STORE_AFTER_CHANGE_MS = 200;

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
  const mayStart = createStartLimit();
  const closers: (() => unknown)[] = [
    () => rmSync(socketFolder, { recursive: true, force: true }),
    () => connection.close(),
    () => publicConnection.close(),
  ];
  const headListeners = new Set<(header: unknown) => void>();
  let anvil: AnvilProcess | undefined;
  /** Whether the newest process has ended by itself. */
  let hasEnded = false;
  let isBegun = false;
  let restarting: Promise<void> | undefined;
  let keeper: Keeper | undefined;
  let keeping: Keeping | undefined;
  let compactor: Compactor | undefined;
  let storeTimer: NodeJS.Timeout | undefined;
  let wholeFrom = 0;
  let stored = -1;
  let closing: Promise<void> | undefined;

  const launch = async (): Promise<ReadBlock> => {
    hasEnded = false;
    anvil = await startAnvil({
      chainId,
      host: HOST,
      ipcPath,
      pidFile: join(folder, "anvil.pid"),
      stateFile,
      onExit() {
        hasEnded = true;
        if (isBegun) void restart();
      },
    });
    if (!existsSync(stateFile)) return (await readBlock(connection, "latest"))!;
    const restored = await restoreChain(connection, { folder, stateFile });
    stored = restored.stored;
    wholeFrom = stored + 1;
    return restored.head;
  };

  /** One at a time: a process that ends while it is being started is started again by the same loop. */
  const restart = (): Promise<void> =>
    (restarting ??= relaunch().finally(() => {
      restarting = undefined;
    }));
  const isDown = (): boolean => restarting !== undefined;
  const isClosing = (): boolean => closing !== undefined;
  const relaunch = async (): Promise<void> => {
    if (isClosing()) return;
    const began = Date.now();
    const release = gate.hold(["read", "send", "mine"]);
    recorder.stop();
    const { hash, number } = recorder.head();
    try {
      // A compaction under way fails by itself now; it must not go on with the next process.
      await compactor?.settled();
      while (!isClosing() && mayStart()) {
        try {
          const head = await launch();
          await identity.assertKept();
          await connection.request("evm_setAutomine", [true]);
          if (hasEnded) continue;
          recorder.restart(head);
          compactor?.reset();
          void keeping?.onBlock(head);
          tellHead(head);
          const lostBlocks = head.hash === hash ? 0 : Math.max(1, number - head.number);
          onRestart({ isUp: true, lostBlocks, ms: Date.now() - began });
          return;
        } catch (error) {
          onError(error);
          await anvil?.close();
        }
      }
      if (!isClosing()) onRestart({ isUp: false, lostBlocks: 0, ms: Date.now() - began });
    } finally {
      release();
    }
  };

  const tellHead = ({ header }: RecordedBlock): void => {
    for (const listener of headListeners) listener(header);
  };

  const onBlock = async (block: RecordedBlock): Promise<void> => {
    tellHead(block);
    compactor?.onBlock(block);
    await keeping?.onBlock(block);
  };

  const storeSoon = (): void => {
    clearTimeout(storeTimer);
    storeTimer = setTimeout(() => void compactor?.compact(), STORE_AFTER_CHANGE_MS).unref();
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
    mayGoBackTo: (block) => identity.allows(block),
    onBroken(head) {
      keeping?.cutAfter(head.number);
      tellHead(head);
      storeSoon();
    },
  });
  const guard = (over: Connection): Connection =>
    guardConnection({
      connection: over,
      gate,
      recorder,
      recall: async (method, parameters) => keeper?.run("recall", method, parameters),
      keepUp: async () => keeping?.keep(),
      headListeners,
      oldestWhole: () =>
        Math.max(wholeFrom, recorder.head().number - KEPT_TRANSACTION_BLOCKS + FORGETTING_MARGIN_BLOCKS),
    });
  await connection.subscribe(["newHeads"], (head) => {
    const { number, hash } = head as { readonly number: Hex; readonly hash: Hex };
    recorder.onHead(Number(number), hash).catch(() => {});
  });
  /** What is on disk is ours: the process is started again on that. */
  const startAgain = (error: unknown): void => {
    onError(error);
    void anvil?.close().then(restart);
  };
  const identity = createIdentity({ connection, gate, onLost: startAgain });
  isBegun = true;
  if (hasEnded) await restart();
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

  const keepFrom = (keptHeader: number, kept: number): Keeping => {
    keeper = createKeeper({ ipcPath, historyFile, timeoutMs: LONG_TIMEOUT_MS, keptHeaders: [keptHeader] });
    const made = createKeeping({ keeper, connection, recorder, isDown, kept, onError });
    keeping = made;
    compactor = createCompactor({
      connection,
      gate,
      keeper,
      keep: () => identity.assertKept().then(made.keep),
      recorder,
      isDown,
      stateFile,
      onCompacted: options.onCompacted,
      onSaved(block, isBare) {
        stored = block;
        if (isBare) wholeFrom = block + 1;
        log.startAfter(block);
      },
      onError(error, isBroken) {
        if (isClosing()) return;
        // Its state is half exchanged.
        if (isBroken) startAgain(error);
        else onError(error);
      },
    });
    return made;
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
      keepFrom(keptHeader, -1);
      await identity.claim(keptHeader);
    },
    resume(keptHeader) {
      void identity.claim(keptHeader).catch(onError);
      // A state is stored only after its blocks have been kept.
      void keepFrom(keptHeader, stored).goOn().catch(onError);
    },
    close() {
      closing ??= (async () => {
        identity.close();
        keeping?.close();
        clearTimeout(storeTimer);
        await server.close();
        await restarting;
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
