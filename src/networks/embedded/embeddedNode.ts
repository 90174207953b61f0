import { join } from "node:path";
import type { Hex } from "viem";
import { createChainClient, type ChainClient } from "../../evm/client.ts";
import { BrokenConnectionError, openUnixSocket, type Connection } from "../../evm/connection.ts";
import { EmbeddedChainError, MAX_DATA_KILOBYTES } from "./process/anvil.ts";
import { openBlockLog } from "./storage/blockLog.ts";
import type { CompactionReport } from "./storage/compactor.ts";
import { createIdentity } from "./chainIdentity.ts";
import { openDeadlyCalls } from "./process/deadlyCalls.ts";
import { createFeed } from "./rpc/feed.ts";
import { createGate, changesState } from "./gate.ts";
import { guardConnection } from "./guardedConnection.ts";
import { createKeeper } from "./storage/keeper.ts";
import { createPast, KEPT_TOPICS, tellRemoved } from "./rpc/past.ts";
import { createRecorder, readBlock, UnloggedError, type RecordedBlock, type Recorder } from "./recorder.ts";
import { createAnvilLauncher, type LaunchedAnvil } from "./launch.ts";
import { MAX_ANSWER_CHARS } from "./rpc/rpcCalls.ts";
import { startRpcServer } from "./rpc/rpcServer.ts";
import { shareBlockLogs } from "./sharedBlockLogs.ts";
import { openSocketFolder } from "./process/socketFolder.ts";
import { createChainStorage, type ChainStorage } from "./storage/chainStorage.ts";
import { startSupervisor, startWatchdog } from "./process/supervisor.ts";
import { withDeadline } from "../../lib/deadline.ts";

const HOST = "127.0.0.1";
const OWN_TIMEOUT_MS = 10_000;
/** Users' requests may take long: mining thousands of blocks, long traces. */
const LONG_TIMEOUT_MS = 120_000;
/**
 * Share of its memory limit by which a process may grow until it is replaced: 256 MiB of 4 GiB, where 300 presets in flight take 40 MB. The traces
 * of its transactions are most of it, and a dump of the state takes up to eight times their memory.
 */
const GROWTH_SHARE = 1 / 16;
/** How long that replacement waits for transactions under way. */
const LAST_ANSWERS_MS = 2_000;
const OPEN_PORT_WARNING =
  "this machine allows no network namespaces: Anvil also listens on a TCP port of a random loopback address, which other users of this machine can find";
const NO_MINING_WARNING =
  "automine is off: nothing is mined, and requests wait, until somebody calls evm_mine or evm_setAutomine(true)";

/** An embedded node: Anvil with a history, on a stable port. */
export interface EmbeddedNode {
  readonly rpcUrl: string;
  readonly port: number;
  readonly client: ChainClient;
  /**
   * Like {@link client}, but announces a block as soon as it is in the log: the block survives a crash of this process, but perhaps
   * not a power cut.
   */
  readonly earlyClient: ChainClient;
  /** Stores the state of a new chain for the first time; nothing survives a restart before that. */
  begin(keptHeader: number): Promise<void>;
  /** Continues from a stored state. */
  resume(keptHeader: number): void;
  /** Removes some old blocks, except those in which the chain was set up; returns whether more can be removed. */
  readonly removeBlocks: ChainStorage["removeSome"];
  /** Finds the transactions of an address. */
  readonly findAppearances: ChainStorage["findAppearances"];
  /** Says in words why nothing more is sent to the chain at the moment; `undefined` while everything is. */
  readonly pause: ChainStorage["pause"];
  /** What an operator should attend to although the chain is up. */
  warnings(): Promise<readonly string[]>;
  /** Stores what isn't stored yet and stops, within seconds whatever Anvil does; idempotent. */
  close(): Promise<void>;
}

export interface EmbeddedNodeOptions {
  readonly chainId: number;
  /** Folder for state, log and history; must exist. */
  readonly folder: string;
  /** RPC port to use if it is free. */
  readonly preferredPort: number;
  /** Limit on Anvil's memory; see `AnvilOptions`. */
  readonly maxDataKilobytes?: number;
  /** Origins of pages that may use the RPC port, besides those of this machine; see `parseRpcOrigins`. */
  readonly rpcOrigins: readonly string[];
  /** Called when the process died and the chain is up again, or when it is down for good (`isUp` false). */
  readonly onRestart: (restart: {
    readonly isUp: boolean;
    readonly lostBlocks: number;
    readonly ms: number;
  }) => void;
  readonly onCompacted: (report: CompactionReport) => void;
  readonly onError: (error: unknown) => void;
  /** Called with one sentence about stored data that can't be recovered. */
  readonly onDamage?: (sentence: string) => void;
}

/**
 * Starts an embedded node from the state in the folder and the blocks logged since, or from scratch.
 *
 * State, log and history divide the past: `state.json` is the state as of some block; the log has the blocks after it as signed
 * transactions and times, from which Anvil mines the same blocks again; `history.sqlite` has all receipts.
 */
export async function startEmbeddedNode(options: EmbeddedNodeOptions): Promise<EmbeddedNode> {
  const { chainId, folder, onRestart, onError } = options;
  const { stateFile, historyFile } = chainFilesIn(folder);
  const socketFolder = openSocketFolder(folder);
  const ipcPath = socketFolder.socketPath;
  const connection = openUnixSocket(ipcPath, OWN_TIMEOUT_MS);
  const publicConnection = openUnixSocket(ipcPath, LONG_TIMEOUT_MS, MAX_ANSWER_CHARS);
  const keeper = createKeeper({ ipcPath, historyFile, timeoutMs: LONG_TIMEOUT_MS, keptTopics: KEPT_TOPICS });
  const gate = createGate();
  const deadlyCalls = openDeadlyCalls({
    file: join(folder, "deadly-calls.txt"),
    isMining: () =>
      connection.request("txpool_status", []).then(
        (status) => Number((status as { readonly pending: Hex }).pending) > 0,
        (error: unknown) => !(error instanceof BrokenConnectionError),
      ),
    onError,
  });
  const disconnect = (): void => {
    void keeper.close();
    publicConnection.close();
    connection.close();
    socketFolder.remove();
  };
  const { maxDataKilobytes = MAX_DATA_KILOBYTES, onDamage = () => {} } = options;
  const maxGrowthKilobytes = maxDataKilobytes * GROWTH_SHARE;
  const launch = createAnvilLauncher({
    anvil: {
      chainId,
      ipcPath,
      pidFile: join(folder, "anvil.pid"),
      stateFile,
      maxDataKilobytes,
      onOutOfMemory: () => deadlyCalls.onOutOfMemory(),
    },
    connection,
    stored: { folder, stateFile, keeper, onDamage },
    maxGrowthKilobytes,
    onError,
  });
  const heads = createHeads({ recorder: () => recorder, onError: (error) => tellUnlessDown(error) });
  /** The newest process. */
  let anvil: LaunchedAnvil;
  let began = 0;
  const supervisor = await startSupervisor({
    launch: async (onExit) => (anvil = await launch(onExit)),
    async onDown() {
      began = performance.now();
      const release = gate.hold(["read", "send", "mine"]);
      recorder.stop();
      // A compaction in flight fails by itself at this point; it must not continue with the next process.
      await storage.settled();
      return release;
    },
    async check() {
      await identity.assertKept();
      await connection.request("evm_setAutomine", [true]);
    },
    onUp() {
      const { hash, number } = recorder.head();
      const { head, stored } = anvil.restored;
      recorder.restart(head);
      storage.onRestored(stored, head);
      heads.tell(head);
      const lostBlocks = head.hash === hash ? 0 : Math.max(1, number - head.number);
      onRestart({ isUp: true, lostBlocks, ms: performance.now() - began });
    },
    onFailed: () => onRestart({ isUp: false, lostBlocks: 0, ms: performance.now() - began }),
    onError,
  }).catch((error: unknown) => {
    disconnect();
    throw error;
  });
  /**
   * Reports an error unless the recorder has, or it is a connection that broke because the process is down: whoever ended the process
   * reports why, and the interrupted work is done again.
   */
  const tellUnlessDown = (error: unknown): void => {
    if (error instanceof UnloggedError) return;
    if (!(supervisor.isDown() && error instanceof BrokenConnectionError)) onError(error);
  };
  /**
   * Restarts the process from the data on disk, which is intact. An error found during a restart adds nothing new and is not reported.
   */
  const startAgain = (error: unknown): void => {
    if (!supervisor.isDown()) onError(error);
    void supervisor.restart();
  };
  /** Replaces a process that has grown too much, once the transactions under way are logged. */
  const replaceWhenGrown = (): void => {
    const grown = anvil.growthKilobytes();
    if (grown < maxGrowthKilobytes || replacing !== undefined || supervisor.phase() !== "running") return;
    const release = gate.hold(["send", "mine"]);
    const finish = async (): Promise<void> => {
      await gate.drained(["send", "mine"]);
      await recorder.ensure((await readBlock(connection, "latest"))!.number);
    };
    const replace = async (): Promise<void> => {
      await withDeadline(finish(), LAST_ANSWERS_MS).catch(() => {});
      onError(
        new EmbeddedChainError(
          `Anvil's memory has grown by ${Math.round(grown / 1024)} MiB, which its traces of the last transactions take; restarting it`,
        ),
      );
      await supervisor.restart({ isPlanned: true });
      release();
      replacing = undefined;
    };
    replacing = replace();
  };
  let replacing: Promise<void> | undefined;
  const log = openBlockLog(folder, anvil!.restored.head.number, anvil!.restored.stored);
  const recorder: Recorder = createRecorder({
    connection,
    gate,
    onError,
    onForgotten: startAgain,
    head: anvil!.restored.head,
    log,
    async onBlock(block) {
      heads.tell(block);
      replaceWhenGrown();
      await storage.onBlock(block);
    },
    mayGoBackTo: (block) => identity.allows(block),
    onBroken(head) {
      storage.cutAfter(head);
      heads.tell(head);
    },
  });
  const identity = createIdentity({ connection, gate, onLost: startAgain });
  const storage = createChainStorage({
    stateFile,
    keeper,
    connection,
    gate,
    recorder,
    log,
    stored: anvil!.restored.stored,
    isDown: supervisor.isDown,
    assertOurs: identity.assertKept,
    onCompacted: options.onCompacted,
    onError: tellUnlessDown,
    onSetBack: heads.tell,
    onForgotten: () => void supervisor.restart(),
    onBroken: startAgain,
  });
  await connection.subscribe(["newHeads"], (head) => {
    const { number, hash } = head as { readonly number: Hex; readonly hash: Hex };
    recorder.onHead(Number(number), hash).catch(() => {});
  });
  await supervisor.begin();
  const stopWatchdog = startWatchdog({
    ipcPath,
    isWatching: () => supervisor.phase() === "running",
    onHung: startAgain,
  });
  const { recall, keepUp, setBack, oldestWhole, oldestHeld } = storage;
  const guard = (over: Connection, isEarly = false): Connection =>
    guardConnection({
      connection: over,
      gate,
      deadlyCalls,
      recorder,
      settle: isEarly ? recorder.ensure : recorder.persist,
      recall,
      keepUp,
      setBack,
      headListeners: isEarly ? heads.earlyListeners : heads.listeners,
      oldestWhole,
      oldestHeld,
    });
  const followers = shareBlockLogs(connection);
  const publicGuard = guard(publicConnection);
  const askPast = createPast({
    request: tellRemoved({ request: publicGuard.request, removed: storage.removed, oldestWhole }),
    direct: publicConnection,
    oldestWhole,
  });
  const server = await startRpcServer({
    host: HOST,
    preferredPort: options.preferredPort,
    origins: options.rpcOrigins,
    subscribe: createFeed(publicGuard, publicConnection),
    async request(method, parameters) {
      const answer = await askPast(method, parameters);
      if (changesState(method)) storage.storeSoon();
      return answer;
    },
  });
  let closing: Promise<void> | undefined;

  return {
    rpcUrl: `http://${HOST}:${server.port}`,
    port: server.port,
    client: createChainClient(ipcPath, { connection: guard(followers) }),
    earlyClient: createChainClient(ipcPath, { connection: guard(followers, true) }),
    async begin(keptHeader) {
      await storage.begin(keptHeader);
      await identity.claim(keptHeader);
    },
    resume(keptHeader) {
      void identity.claim(keptHeader).catch(onError);
      storage.resume(keptHeader);
    },
    removeBlocks: storage.removeSome,
    findAppearances: storage.findAppearances,
    pause: () => recorder.pause() ?? storage.pause(),
    async warnings() {
      const warnings = anvil.isIsolated ? [] : [OPEN_PORT_WARNING];
      // A compaction holds mining back for a few milliseconds, and a new process mines nothing until it has all blocks.
      const isResting = (): boolean => storage.isCompacting() || supervisor.isDown();
      if (isResting() || (await connection.request("anvil_getAutomine", [])) === true || isResting())
        return warnings;
      const interval = await connection.request("anvil_getIntervalMining", []);
      return isResting() || Number(interval ?? 0) > 0 ? warnings : [...warnings, NO_MINING_WARNING];
    },
    close() {
      closing ??= (async () => {
        stopWatchdog();
        identity.close();
        storage.stop();
        await server.close();
        await replacing;
        if (supervisor.phase() === "running") await storage.close();
        await supervisor.close();
        disconnect();
        log.close();
      })();
      return closing;
    },
  };
}

/** Creates what tells heads: to early listeners at once, to the others once they are on disk. */
function createHeads({
  recorder,
  onError,
}: {
  readonly recorder: () => Pick<Recorder, "persist" | "head">;
  readonly onError: (error: unknown) => void;
}) {
  const earlyListeners = new Set<(header: unknown) => void>();
  const listeners = new Set<(header: unknown) => void>();
  let told: Promise<void> = Promise.resolve();
  /** Heads that are told once they are on disk. */
  const untold = new Set<RecordedBlock>();
  const tell = (block: RecordedBlock): void => {
    const { number, header } = block;
    for (const listener of earlyListeners) listener(header);
    // A chain that has gone back has lost those above.
    for (const lost of untold) if (lost.number >= number) untold.delete(lost);
    untold.add(block);
    told = told
      .then(() => recorder().persist(Math.min(number, recorder().head().number)))
      .then(() => {
        if (untold.has(block)) for (const listener of listeners) listener(header);
      })
      .catch(onError)
      .finally(() => untold.delete(block));
  };
  return { earlyListeners, listeners, tell };
}

/** Returns the paths of a chain's state and history in its folder; the log of the blocks since is next to them. */
export function chainFilesIn(folder: string): { readonly stateFile: string; readonly historyFile: string } {
  return { stateFile: join(folder, "state.json"), historyFile: join(folder, "history.sqlite") };
}
