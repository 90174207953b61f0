import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, basename, dirname } from "node:path";
import { tmpdir } from "node:os";
import type { Hex } from "viem";
import { createChainClient } from "../../evm/client.ts";
import type { ChainClient } from "../../evm/client.ts";
import { BrokenConnectionError, openUnixSocket, AnswerError } from "../../evm/connection.ts";
import type { Connection } from "../../evm/connection.ts";
import { startAnvil, EmbeddedChainError, MAX_DATA_KILOBYTES } from "./anvil.ts";
import type { AnvilProcess } from "./anvil.ts";
import { openBlockLog } from "./blockLog.ts";
import type { CompactionReport } from "./compactor.ts";
import { openDeadlyCalls } from "./deadlyCalls.ts";
import { createGate } from "./gate.ts";
import { guardConnection } from "./guardedConnection.ts";
import { createKeeper } from "./keeper.ts";
import { changesState } from "./methods.ts";
import { createPast, KEPT_TOPICS, tellRemoved } from "./past.ts";
import { createRecorder, readBlock, UnloggedError } from "./recorder.ts";
import type { RecordedBlock, Recorder } from "./recorder.ts";
import { restoreChain, storeLogged } from "./replay.ts";
import type { RestoredChain } from "./replay.ts";
import { MAX_ANSWER_CHARS } from "./rpcCalls.ts";
import { startRpcServer } from "./rpcServer.ts";
import { createChainStorage, type ChainStorage } from "./storage.ts";
import { startSupervisor } from "./supervisor.ts";
import type { Gate } from "./gate.ts";
import { RPC_CODES } from "./rpcErrors.ts";
import type { Subscribe } from "./rpcSockets.ts";
import { repeat } from "../../lib/repeat.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { messageOf } from "../../lib/errors.ts";

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
  const earlyListeners = new Set<(header: unknown) => void>();
  const headListeners = new Set<(header: unknown) => void>();
  const disconnect = (): void => {
    void keeper.close();
    publicConnection.close();
    connection.close();
    socketFolder.remove();
  };
  /** What the newest process was restored from, and its head. */
  let restored: RestoredChain;
  let isIsolated = true;
  const { maxDataKilobytes = MAX_DATA_KILOBYTES, onDamage = () => {} } = options;
  const maxGrowthKilobytes = maxDataKilobytes * GROWTH_SHARE;
  /** Returns the memory that the process has taken since it loaded the stored state, in KiB. */
  let growth = (): number => 0;

  const startProcess = async (onExit: () => void, keptTransactionBlocks?: number): Promise<AnvilProcess> => {
    const anvil = await startAnvil({
      chainId,
      ipcPath,
      pidFile: join(folder, "anvil.pid"),
      stateFile,
      maxDataKilobytes,
      ...(keptTransactionBlocks === undefined ? {} : { keptTransactionBlocks }),
      onExit(isOutOfMemory) {
        if (isOutOfMemory) deadlyCalls.onOutOfMemory();
        onExit();
      },
    });
    ({ isIsolated } = anvil);
    return anvil;
  };
  /** @param mayStore whether a process that is full after some blocks may be replaced; otherwise it has to take all of them. */
  const launch = async (onExit: () => void, mayStore = true): Promise<AnvilProcess> => {
    const anvil = await startProcess(onExit);
    try {
      // It would print a line for each request and six for each transaction, which nobody reads.
      await connection.request("anvil_setLoggingEnabled", [false]);
      const before = anvil.residentKilobytes();
      growth = () => anvil.residentKilobytes() - before;
      // Half of it, so that the blocks that filled one process leave room in the next.
      const isFull = (): boolean => mayStore && growth() > maxGrowthKilobytes / 2;
      restored = existsSync(stateFile)
        ? await restoreChain(connection, { folder, stateFile, keeper, isFull, onDamage })
        : { stored: -1, head: (await readBlock(connection, "latest"))!, isFull: false };
      if (!restored.isFull) return anvil;
    } catch (error) {
      await anvil.close();
      throw error;
    }
    await anvil.close();
    const start = (keptBlocks: number) => startProcess(() => {}, keptBlocks);
    const isStored = await storeLogged(connection, { folder, stateFile, keeper, onDamage, start }).then(
      () => true,
      (error: unknown) => {
        onError(error);
        return false;
      },
    );
    return launch(onExit, isStored);
  };
  let began = 0;
  const supervisor = await startSupervisor({
    launch,
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
      const { head, stored } = restored;
      recorder.restart(head);
      storage.onRestored(stored, head);
      tellHead(head);
      const lostBlocks = head.hash === hash ? 0 : Math.max(1, number - head.number);
      onRestart({ isUp: true, lostBlocks, ms: performance.now() - began });
    },
    onFailed: () => onRestart({ isUp: false, lostBlocks: 0, ms: performance.now() - began }),
    onError,
  }).catch((error: unknown) => {
    disconnect();
    throw error;
  });
  let told: Promise<void> = Promise.resolve();
  const tellHead = ({ number, header }: RecordedBlock): void => {
    for (const listener of earlyListeners) listener(header);
    told = told
      .then(() => recorder.persist(Math.min(number, recorder.head().number)))
      .then(() => {
        for (const listener of headListeners) listener(header);
      })
      .catch(tellUnlessDown);
  };
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
    const grown = growth();
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
  const log = openBlockLog(folder, restored!.head.number, restored!.stored);
  const recorder: Recorder = createRecorder({
    connection,
    gate,
    onError,
    onForgotten: startAgain,
    head: restored!.head,
    log,
    async onBlock(block) {
      tellHead(block);
      replaceWhenGrown();
      await storage.onBlock(block);
    },
    mayGoBackTo: (block) => identity.allows(block),
    onBroken(head) {
      storage.cutAfter(head);
      tellHead(head);
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
    stored: restored!.stored,
    isDown: supervisor.isDown,
    assertOurs: identity.assertKept,
    onCompacted: options.onCompacted,
    onError: tellUnlessDown,
    onSetBack: tellHead,
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
      headListeners: isEarly ? earlyListeners : headListeners,
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
      const warnings = isIsolated ? [] : [OPEN_PORT_WARNING];
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

const PROBE_INTERVAL_MS = 1_000;
/** A block of 120 million gas takes Anvil a second or two. */
const PROBE_TIMEOUT_MS = 2_500;
/**
 * Consecutive probes without an answer. More than one, so that a pause of the service itself, which the probes can't detect,
 * doesn't count.
 */
const MAX_MISSED = 4;

/**
 * Polls Anvil for its newest block, on a connection of its own.
 *
 * @param options.isWatching whether Anvil should answer at all.
 * @param options.onHung called when Anvil has not answered for about 10 seconds: it is stopped, swapping, or deadlocked.
 * @returns a function that stops it.
 */
function startWatchdog(options: {
  readonly ipcPath: string;
  readonly isWatching: () => boolean;
  readonly onHung: (error: EmbeddedChainError) => void;
}): () => void {
  const { ipcPath, isWatching, onHung } = options;
  const connection = openUnixSocket(ipcPath, PROBE_TIMEOUT_MS);
  let missed = 0;
  const probe = async (): Promise<void> => {
    if (!isWatching()) {
      missed = 0;
      return;
    }
    const beganMs = performance.now();
    try {
      await connection.request("eth_blockNumber", []);
      missed = 0;
    } catch {
      // A refused connection doesn't count: the process has died, and the supervisor knows.
      missed = performance.now() - beganMs < PROBE_TIMEOUT_MS ? 0 : missed + 1;
    }
    if (missed < MAX_MISSED || !isWatching()) return;
    missed = 0;
    onHung(
      new EmbeddedChainError(
        `Anvil has not answered for ${(MAX_MISSED * PROBE_TIMEOUT_MS) / 1000} seconds; restarting it`,
      ),
    );
  };
  const stop = repeat(probe, PROBE_INTERVAL_MS, () => {});
  return () => {
    stop();
    connection.close();
  };
}

/** Interval between checks that the chain is still ours. */
const LOOK_INTERVAL_MS = 500;

/** Distinguishes an embedded chain from any other that a user puts in its place, by one block that it must have. */
interface Identity {
  /** Claims the chain that has this block as ours. */
  claim(block: number): Promise<void>;
  /** Whether the chain is ours and may be rolled back to this block, which must not be before the claimed one. */
  allows(block: number): Promise<boolean>;
  /** @throws {EmbeddedChainError} when it is a different chain. */
  assertKept(this: void): Promise<void>;
  close(): void;
}

/**
 * Creates the identity of one node's chain, and checks regularly that the chain still has it.
 *
 * @param onLost called at each check that finds another chain.
 */
function createIdentity(options: {
  readonly connection: Connection;
  readonly gate: Gate;
  readonly onLost: (error: EmbeddedChainError) => void;
}): Identity {
  const { connection, gate, onLost } = options;
  let own: { readonly number: number; readonly hash: Hex } | undefined;

  const isKept = async (): Promise<boolean> =>
    own === undefined || (await readBlock(connection, own.number))?.hash === own.hash;
  const assertKept = async (): Promise<void> => {
    if (await isKept()) return;
    throw new EmbeddedChainError("another chain has replaced the embedded one");
  };
  const look = async (): Promise<void> => {
    // There is nothing to check while the state is swapped or the process restarts.
    const leave = await gate.enter("read");
    try {
      await assertKept();
    } catch (error) {
      if (error instanceof EmbeddedChainError) onLost(error);
    } finally {
      leave();
    }
  };
  const stop = repeat(look, LOOK_INTERVAL_MS, () => {});

  return {
    async claim(block) {
      own = (await readBlock(connection, block))!;
    },
    allows: async (block) => own === undefined || (block >= own.number && (await isKept())),
    assertKept,
    close: stop,
  };
}

/** Suffix of the file next to a chain's folder that holds the path of its socket's temporary folder. */
const NOTE = ".socket";
const PREFIX = "tyche-";
const SOCKET_NAME = "ipc";
/** Longest path of a Unix socket: 108 bytes of `sockaddr_un` including the terminating zero; 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

/**
 * Creates the temporary folder for a chain's socket, and removes the one that an earlier process could not clean up: its path is
 * noted next to the chain's folder, which only one process uses at a time. A note with any other kind of path is ignored. The
 * folder is not in the data directory, whose path may be too long for a socket's.
 *
 * @throws {EmbeddedChainError} `chain_unavailable` when the folder can't be created, or the socket's path would be too long.
 */
export function openSocketFolder(chainFolder: string): {
  readonly path: string;
  readonly socketPath: string;
  readonly remove: () => void;
} {
  const note = `${chainFolder}${NOTE}`;
  const left = readNote(note);
  if (left !== undefined) rmSync(left, { recursive: true, force: true });
  assertSocketFits();
  const path = makeTemporaryFolder();
  writeFileSync(note, `${path}\n`, { mode: 0o600 });
  return {
    path,
    socketPath: join(path, SOCKET_NAME),
    remove() {
      rmSync(path, { recursive: true, force: true });
      rmSync(note, { force: true });
    },
  };
}

function assertSocketFits(): void {
  const length = Buffer.byteLength(join(tmpdir(), `${PREFIX}XXXXXX`, SOCKET_NAME));
  if (length <= MAX_SOCKET_PATH_BYTES) return;
  throw new EmbeddedChainError(
    `the temporary folder ${tmpdir()} has too long a path for a chain's socket: the socket's path would have ${length} bytes, and the system allows ${MAX_SOCKET_PATH_BYTES}; name a shorter one in TMPDIR`,
  );
}

function makeTemporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), PREFIX));
  } catch (cause) {
    throw new EmbeddedChainError(
      `no folder can be created in the temporary folder ${tmpdir()} (${messageOf(cause)}); make room there, or name another one in TMPDIR`,
      cause,
    );
  }
}

function readNote(note: string): string | undefined {
  try {
    const path = readFileSync(note, "utf8").trim();
    return dirname(path) === tmpdir() && /^tyche-[\w-]{6}$/.test(basename(path)) ? path : undefined;
  } catch {
    return undefined;
  }
}

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
function createFeed(guarded: Connection, direct: Connection): Subscribe {
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
  const kept = new Map<Hex, Promise<Logs>>();
  const read = ({ blockHash, address }: BlockFilter): Promise<Logs> => {
    const before = followed.size;
    for (const one of address) followed.add(one.toLowerCase());
    if (followed.size > before) kept.clear();
    let logs = kept.get(blockHash);
    if (logs === undefined) {
      logs = connection.request("eth_getLogs", [{ blockHash, address: [...followed] }]) as Promise<Logs>;
      kept.set(blockHash, logs);
      if (kept.size > KEPT_BLOCKS) kept.delete(kept.keys().next().value!);
      // Anvil says of a block that it doesn't have, for the moment, that it has no logs.
      const forget = (): void => void kept.delete(blockHash);
      logs.then((all) => all.length === 0 && forget(), forget);
    }
    return logs;
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

/** Returns the paths of a chain's state and history in its folder; the log of the blocks since is next to them. */
export function chainFilesIn(folder: string): { readonly stateFile: string; readonly historyFile: string } {
  return { stateFile: join(folder, "state.json"), historyFile: join(folder, "history.sqlite") };
}
