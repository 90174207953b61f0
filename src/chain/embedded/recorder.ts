import type { Hex } from "viem";
import type { Connection } from "../connection.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import type { BlockLog } from "./blockLog.ts";

/** Own transactions remembered by hash until their block is written: far more than are ever under way. */
const REMEMBERED_TRANSACTIONS = 1_000;

/** A block that has been written down. */
export interface RecordedBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly gasUsed: number;
}

/** Writes every block of a chain to its log before anybody in this process is told of it. */
export interface Recorder {
  /** The newest block written. */
  head(): RecordedBlock;
  /** Resolves when the block is in the log; rejects when the chain goes down before. */
  ensure(block: number): Promise<void>;
  /** Remembers a signed transaction that is about to be sent, so that it needn't be asked for. */
  remember(raw: Hex): void;
  /** Goes on from another newest block: of a chain started again, or one that somebody took back. */
  restart(head: RecordedBlock): void;
}

/** Options of {@link createRecorder}. */
export interface RecorderOptions {
  readonly connection: Connection;
  readonly log: BlockLog;
  readonly head: RecordedBlock;
  /** Told of each block after it was written; the next waits for the promise. */
  readonly onBlock: (block: RecordedBlock) => void | Promise<void>;
  /** Somebody took blocks back (`evm_revert`, `anvil_reorg`): the log has a past that is none. */
  readonly onBroken: (head: RecordedBlock) => void;
}

/** Makes the recorder of one chain. */
export function createRecorder({ connection, log, onBlock, onBroken, ...rest }: RecorderOptions): Recorder {
  let { head } = rest;
  let target = head.number;
  let running: Promise<void> | undefined;
  const sent = new Map<Hex, Hex>();

  const rawOf = async (hash: Hex): Promise<Hex> => {
    const raw = sent.get(hash);
    sent.delete(hash);
    return raw ?? ((await connection.request("eth_getRawTransactionByHash", [hash])) as Hex);
  };

  const run = async (): Promise<void> => {
    while (head.number < target) {
      const block = await readBlock(connection, head.number + 1);
      if (block === undefined || block.parentHash !== head.hash) {
        head = (await readBlock(connection, "latest"))!;
        target = head.number;
        onBroken(head);
        return;
      }
      const { number, hash, timestamp } = block;
      const transactions = await Promise.all(block.transactions.map(rawOf));
      log.append({ number, hash, timestamp, transactions });
      head = block;
      await onBlock(block);
    }
  };

  return {
    head: () => head,
    async ensure(block) {
      if (block > target) target = block;
      while (head.number < block && head.number < target) {
        running ??= run().finally(() => (running = undefined));
        await running;
      }
    },
    remember(raw) {
      sent.set(toHexText(keccak256(fromHexText(raw))), raw);
      if (sent.size > REMEMBERED_TRANSACTIONS) sent.delete(sent.keys().next().value!);
    },
    restart(next) {
      head = next;
      target = next.number;
    },
  };
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
  };
}
