import type { Hex } from "viem";
import { BrokenConnectionError } from "../../evm/connection.ts";
import type { Connection } from "../../evm/connection.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import type { BlockLog } from "./blockLog.ts";

/** Own transactions remembered by hash until their block is written: far more than are ever under way. */
const REMEMBERED_TRANSACTIONS = 1_000;
/** Blocks whose hashes are remembered: more than the word of a head is ever late. */
const REMEMBERED_BLOCKS = 64;

/** Of a run of blocks, so many share a flush to the disk; the last always has one. */
const BLOCKS_A_FLUSH = 64;

/** A block that has been written down. */
export interface RecordedBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly gasUsed: number;
  /** As the node has it. */
  readonly header: unknown;
}

/** Writes every block of a chain to its log, and then to the disk itself. */
export interface Recorder {
  /** The newest block written. */
  head(): RecordedBlock;
  /** Resolves when the block is in the log; rejects when the chain doesn't have it, or goes down before. */
  ensure(this: void, block: number): Promise<void>;
  /** Resolves when the block is in the log and on the disk itself, so that a power cut leaves it; rejects as {@link ensure}, and when the disk fails. */
  persist(this: void, block: number): Promise<void>;
  /** Takes word of a head: one that isn't the block written under its number shows that somebody took blocks back. */
  onHead(number: number, hash: Hex): Promise<void>;
  /** Which of the chain's processes it is that is listened to: what one of them answered is worth nothing once another follows. */
  life(): number;
  /** Remembers a signed transaction that is about to be sent, so that it needn't be asked for. */
  remember(raw: Hex): void;
  /** Goes on after this block: what came after it was taken back, and the log has been begun anew. */
  goBackTo(block: RecordedBlock): void;
  /** The process has ended: nothing more is written until {@link restart}. */
  stop(): void;
  /** Goes on with another process, whose newest block this is. */
  restart(head: RecordedBlock): void;
}

/** Options of {@link createRecorder}. */
export interface RecorderOptions {
  readonly connection: Connection;
  readonly log: BlockLog;
  readonly head: RecordedBlock;
  /** Told of each block after it was written; the next waits for the promise. */
  readonly onBlock: (block: RecordedBlock) => void | Promise<void>;
  /** Whether the chain, as it is now, may have been set back to this block; otherwise it isn't ours any more, and nothing of it is written. */
  readonly mayGoBackTo: (block: number) => Promise<boolean>;
  /** Somebody took blocks back (`evm_revert`, `anvil_reorg`): it goes on after this one. */
  readonly onBroken: (head: RecordedBlock) => void;
}

/** Makes the recorder of one chain. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { connection, log, onBlock, onBroken, mayGoBackTo } = options;
  let { head } = options;
  let target = head.number;
  let isDoubted = false;
  let running: Promise<void> | undefined;
  let life = 1;
  let isDown = false;
  const sent = new Map<Hex, Hex>();
  const recent = new Map<number, Hex>();
  /** Blocks up to this one are on the disk itself. */
  let persisted = head.number;
  /** How often blocks were taken back: what a flush under way holds may be none of the present ones. */
  let setBacks = 0;

  const rawOf = async (hash: Hex): Promise<Hex> => {
    const raw = sent.get(hash);
    sent.delete(hash);
    return raw ?? ((await connection.request("eth_getRawTransactionByHash", [hash])) as Hex);
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
      // Asked last: a chain that took the place of ours since is none that ours was set back to.
      const isOurs = latest === undefined || (await mayGoBackTo((common ?? latest).number));
      // The next process may have answered some of this, without having got as far yet.
      if (isDown || life !== own) throw new ChainDownError();
      if (isNext) {
        log.append({ number: block.number, hash: block.hash, timestamp: block.timestamp, transactions });
        take(block);
        // Begun at once, for whoever is going to wait for it. Of many blocks mined at once, each would have one of its own.
        if (head.number >= target || head.number % BLOCKS_A_FLUSH === 0) log.flush().catch(() => {});
        await onBlock(block);
        if (life !== own) throw new ChainDownError();
      } else if (latest !== undefined) {
        target = head.number;
        if (!isOurs) throw new ChainDownError();
        target = latest.number;
        // Without one the log ends here, until the state is stored again.
        log.cutAfter(common?.number ?? -1);
        take(common ?? latest);
        onBroken(head);
      } else if (head.number < target) {
        target = head.number;
        throw new Error(`the chain has no block ${number + 1}`);
      }
    }
  };

  /** The newest block written that the chain still has, so far as they are remembered. */
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

  return {
    head: () => head,
    life: () => life,
    ensure,
    async persist(block) {
      await ensure(block);
      // Blocks that were taken back meanwhile are for nobody to wait for.
      while (persisted < Math.min(block, head.number)) {
        const [written, before] = [head.number, setBacks];
        await log.flush();
        if (setBacks === before) persisted = Math.max(persisted, written);
      }
    },
    async onHead(number, hash) {
      if (recent.get(number) === hash || isDown) return;
      if (number > target) target = number;
      if (number <= head.number) isDoubted = true;
      await catchUp();
    },
    remember(raw) {
      sent.set(toHexText(keccak256(fromHexText(raw))), raw);
      if (sent.size > REMEMBERED_TRANSACTIONS) sent.delete(sent.keys().next().value!);
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
      life += 1;
      running = undefined;
      isDoubted = false;
      recent.clear();
      target = next.number;
      take(next);
    },
  };
}

/** The chain's process has ended, and what it said last may be forgotten: to be asked again. */
export class ChainDownError extends BrokenConnectionError {
  constructor() {
    super("the chain's process has ended and is started again; ask again");
  }
}

/** A block as the recorder needs it. */
export interface ReadBlock extends RecordedBlock {
  readonly parentHash: Hex;
  readonly timestamp: number;
  readonly transactions: readonly Hex[];
}

/** Asks a node of ours for a block's header and the hashes of its transactions. */
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
