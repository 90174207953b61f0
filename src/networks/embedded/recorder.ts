import type { Hex } from "viem";
import { BrokenConnectionError, type Connection } from "../../evm/connection.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { messageOf } from "../../lib/errors.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { EmbeddedChainError } from "./process/anvil.ts";
import type { BlockLog } from "./storage/blockLog.ts";
import type { Gate } from "./gate.ts";

/** Own transactions remembered by hash until their block is logged: far more than are ever in flight. */
const REMEMBERED_TRANSACTIONS = 1_000;
/** Blocks whose hashes are remembered: more than a head notification ever lags behind. */
const REMEMBERED_BLOCKS = 64;

/** In a run of blocks, this many share a flush to disk; the last block always gets one. */
const BLOCKS_A_FLUSH = 64;
/** Delay after which a block that couldn't be written is written again. */
const RETRY_MS = 500;

/** A block that is in the log. */
export interface RecordedBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly gasUsed: number;
  /** The header as the node returns it. */
  readonly header: unknown;
}

/**
 * Writes every block of a chain to its log, and then flushes it to disk. While that fails, nothing more is sent to the chain: Anvil soon
 * forgets the signed transactions of its blocks.
 */
export interface Recorder {
  /** Returns the newest block in the log. */
  head(): RecordedBlock;
  /** Resolves when the block is in the log; rejects when the chain doesn't have it or goes down first, and with {@link UnloggedError}. */
  ensure(this: void, block: number): Promise<void>;
  /**
   * Resolves when the block is in the log and flushed to disk, so that it survives a power cut; rejects like {@link ensure}.
   */
  persist(this: void, block: number): Promise<void>;
  /** Takes note of a head: if it differs from the block logged under its number, blocks have been removed by a reorg. */
  onHead(number: number, hash: Hex): Promise<void>;
  /** Returns which of the chain's successive processes is in use: answers of one are worthless once another has followed. */
  life(): number;
  /** Remembers a signed transaction that is about to be sent, so that the node needn't be asked for it. */
  remember(raw: Hex): void;
  /** Says in words why blocks can't be logged, and the chain is paused; `undefined` while it isn't. */
  pause(this: void): string | undefined;
  /** Continues after this block: the blocks after it were removed, and the log has been restarted. */
  goBackTo(block: RecordedBlock): void;
  /** The process has died: nothing more is logged until {@link restart}. */
  stop(): void;
  /** Continues with another process, whose newest block this is. */
  restart(head: RecordedBlock): void;
}

/** Blocks can't be logged at the moment, for a reason that has been reported. They are announced once they are in the log. */
export class UnloggedError extends EmbeddedChainError {
  constructor(cause: unknown) {
    super(`the chain's block log can't be written (${messageOf(cause)}): check its disk`, cause);
  }
}

export interface RecorderOptions {
  readonly connection: Connection;
  readonly gate: Gate;
  readonly log: BlockLog;
  readonly head: RecordedBlock;
  /** Called for each block after it is logged; the next block waits for the promise. */
  readonly onBlock: (block: RecordedBlock) => void | Promise<void>;
  /**
   * Whether the chain, in its current form, may have been rolled back to this block; otherwise it isn't ours any more, and nothing of it
   * is logged.
   */
  readonly mayGoBackTo: (block: number) => Promise<boolean>;
  /** Called when blocks were removed (`evm_revert`, `anvil_reorg`): the chain continues after this one. */
  readonly onBroken: (head: RecordedBlock) => void;
  /** Called when the node has forgotten a transaction of a block that isn't logged: only a start from the log makes the chain whole. */
  readonly onForgotten: (error: EmbeddedChainError) => void;
  /** Called once when blocks can't be logged, until they can be logged again. */
  readonly onError: (error: UnloggedError) => void;
}

/** Creates the recorder of one chain. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { connection, gate, log, onBlock, onBroken, mayGoBackTo } = options;
  let { head } = options;
  let target = head.number;
  let isDoubted = false;
  let running: Promise<void> | undefined;
  let life = 1;
  let isDown = false;
  const sent = createBoundedMap<Hex, Hex>(REMEMBERED_TRANSACTIONS);
  const recent = new Map<number, Hex>();
  /** Blocks up to this one are flushed to disk. */
  let persisted = head.number;
  /** How often blocks were removed: a flush in flight may hold none of the current ones. */
  let setBacks = 0;
  /** Present while blocks can't be logged. */
  let pause: { why: UnloggedError; readonly release: () => void; retry?: NodeJS.Timeout } | undefined;

  const fail = (cause: unknown): UnloggedError => {
    const why = new UnloggedError(cause);
    const isNew = pause === undefined;
    pause ??= { why, release: gate.hold(["send", "mine"]) };
    pause.why = why;
    retrySoon(pause);
    if (isNew) options.onError(why);
    return why;
  };
  const retrySoon = (of: NonNullable<typeof pause>): void => {
    clearTimeout(of.retry);
    of.retry = setTimeout(() => {
      persist(Math.max(target, head.number)).then(goOn, () => {
        if (pause !== undefined && !isDown) retrySoon(pause);
      });
    }, RETRY_MS).unref();
  };
  const goOn = (): void => {
    const last = pause;
    pause = undefined;
    clearTimeout(last?.retry);
    last?.release();
  };
  const write = (entry: () => void): void => {
    try {
      entry();
    } catch (error) {
      throw fail(error);
    }
  };

  const rawOf = async (hash: Hex): Promise<Hex> => {
    const raw = sent.get(hash) ?? (await connection.request("eth_getRawTransactionByHash", [hash]));
    if (raw !== null) return raw as Hex;
    const error = new EmbeddedChainError(`the node has forgotten transaction ${hash} before it was logged`);
    options.onForgotten(error);
    throw error;
  };

  const run = async (): Promise<void> => {
    const own = life;
    while (isDoubted || head.number < target) {
      isDoubted = false;
      const { number, hash } = head;
      const block = await readBlock(connection, number + 1);
      const isNext = block?.parentHash === hash;
      const transactions = isNext ? await Promise.all(block.transactions.map(rawOf)) : [];
      const isThere = isNext || (await readBlock(connection, number))?.hash === hash;
      const latest = isThere ? undefined : (await readBlock(connection, "latest"))!;
      const common = latest && (await findCommon());
      // Asked last: a different chain that has since replaced ours is not one that ours was rolled back to.
      const isOurs = latest === undefined || (await mayGoBackTo((common ?? latest).number));
      // Some of these answers may come from the next process, which hasn't caught up yet.
      if (isDown || life !== own) throw new ChainDownError();
      if (isNext) {
        const { timestamp } = block;
        write(() => log.append({ number: block.number, hash: block.hash, timestamp, transactions }));
        for (const sentHash of block.transactions) sent.delete(sentHash);
        take(block);
        // Started at once, on behalf of whoever is going to wait for it; not for each of many blocks mined together.
        if (head.number >= target || head.number % BLOCKS_A_FLUSH === 0) log.flush().catch(() => {});
        await onBlock(block);
        if (life !== own) throw new ChainDownError();
      } else if (latest !== undefined) {
        target = head.number;
        if (!isOurs) throw new ChainDownError();
        target = latest.number;
        // Without a common block the log ends here, until the state is stored again.
        write(() => log.cutAfter(common?.number ?? -1));
        take(common ?? latest);
        onBroken(head);
      } else if (head.number < target) {
        target = head.number;
        throw new Error(`the chain has no block ${number + 1}`);
      }
    }
  };

  /** Returns the newest logged block that the chain still has, among the remembered ones. */
  const findCommon = async (): Promise<RecordedBlock | undefined> => {
    for (let number = head.number - 1; recent.has(number); number -= 1) {
      const block = await readBlock(connection, number);
      if (block?.hash === recent.get(number)) return block;
    }
    return undefined;
  };

  const take = (block: RecordedBlock): void => {
    if (block.number <= head.number) setBacks += 1;
    persisted = Math.min(persisted, block.number);
    head = block;
    recent.set(block.number, block.hash);
    recent.delete(block.number - REMEMBERED_BLOCKS);
  };

  const catchUp = (): Promise<void> => {
    if (isDown) return Promise.reject(new ChainDownError());
    if (running === undefined) {
      const begun = run().finally(() => {
        if (running === begun) running = undefined;
      });
      running = begun;
    }
    return running;
  };

  const ensure = async (block: number): Promise<void> => {
    while (head.number < block) {
      if (block > target) target = block;
      await catchUp();
    }
  };

  const persist = async (block: number): Promise<void> => {
    await ensure(block);
    // Nobody needs to wait for blocks that have been removed meanwhile.
    while (persisted < Math.min(block, head.number)) {
      const [written, before] = [head.number, setBacks];
      await log.flush().catch((error: unknown) => {
        throw fail(error);
      });
      if (setBacks === before) persisted = Math.max(persisted, written);
    }
  };

  return {
    head: () => head,
    life: () => life,
    ensure,
    persist,
    pause: () => pause?.why.message,
    async onHead(number, hash) {
      if (recent.get(number) === hash || isDown) return;
      if (number > target) target = number;
      if (number <= head.number) isDoubted = true;
      await catchUp();
    },
    remember(raw) {
      sent.set(toHexText(keccak256(fromHexText(raw))), raw);
    },
    goBackTo(block) {
      isDoubted = false;
      recent.clear();
      target = block.number;
      take(block);
    },
    stop() {
      isDown = true;
    },
    restart(next) {
      isDown = false;
      goOn();
      life += 1;
      running = undefined;
      isDoubted = false;
      recent.clear();
      target = next.number;
      take(next);
    },
  };
}

/** The chain's process has died, and its last answers may be lost: ask again. */
export class ChainDownError extends BrokenConnectionError {
  constructor() {
    super("the chain's process exited and is being restarted; try again");
  }
}

/** A block as the recorder needs it. */
export interface ReadBlock extends RecordedBlock {
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly transactions: readonly Hex[];
}

/** Asks an embedded node for a block's header and the hashes of its transactions. */
export async function readBlock(
  connection: Connection,
  which: number | "latest",
): Promise<ReadBlock | undefined> {
  const block = (await connection.request("eth_getBlockByNumber", [
    which === "latest" ? which : `0x${which.toString(16)}`,
    false,
  ])) as Record<"number" | "hash" | "parentHash" | "timestamp" | "gasUsed", Hex> & {
    readonly transactions: readonly Hex[];
  };
  if (block === null) return undefined;
  return {
    number: Number(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: Number(block.timestamp),
    gasUsed: Number(block.gasUsed),
    transactions: block.transactions,
    header: block,
  };
}
