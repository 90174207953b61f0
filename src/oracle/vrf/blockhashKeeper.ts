import { encodeFunctionData, type Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import { RpcError } from "../../lib/nodeAnswers.ts";
import type { Sender } from "../../evm/sender.ts";
import { blockhashStoreAbi } from "../../chainlink/contracts/abi.ts";
import { REACHABLE_BLOCKS } from "../../chainlink/waitingWords.ts";
import type { OracleLog } from "../log.ts";

/** Blocks left for a transaction to be mined while the EVM knows the hash that it needs. */
const MINING_MARGIN_BLOCKS = 10n;
/** Age in blocks below which the EVM's own block hash is used. */
export const EVM_HASH_BLOCKS = REACHABLE_BLOCKS - MINING_MARGIN_BLOCKS;
/** Age in blocks at which a waiting request's block hash is stored, which leaves 128 blocks to get the transaction mined. */
const STORE_AT_AGE_BLOCKS = 128n;
const GAS = 100_000n;

/** Keeps the block hashes of waiting requests beyond the 256 blocks for which the EVM knows them. */
export interface BlockhashKeeper {
  /** Stores the hashes that are due among the blocks of waiting requests. */
  onHead(head: bigint, blocks: ReadonlySet<bigint>): void;
  /** Whether the block's hash is known to be in the BlockhashStore. */
  has(block: bigint): boolean;
  /** Starts to look up the block's hash in the store, once; `onKnown` is called when the answer is known. */
  ask(block: bigint): "asking" | "lost";
}

/** Creates the keeper of one VRF node. */
export function createBlockhashKeeper(options: {
  readonly client: Pick<ChainClient, "call">;
  readonly blockhashStore: Hex;
  readonly sender: Sender;
  /** Called when a lookup was answered or a hash was stored. */
  readonly onKnown: () => void;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}): BlockhashKeeper {
  const { client, blockhashStore, sender, log, signal } = options;
  const states = new Map<bigint, "storing" | "tried" | "asking" | "stored" | "lost">();

  async function store(block: bigint): Promise<void> {
    try {
      const data = encodeFunctionData({ abi: blockhashStoreAbi, functionName: "store", args: [block] });
      const receipt = await sender.send({ to: blockhashStore, data, gas: GAS }, undefined);
      if (!receipt.succeeded) {
        // The block was out of the EVM's reach by the time this was mined, so a retry would fail too.
        states.set(block, "tried");
        throw new Error(`store(${block}) reverted in ${receipt.transactionHash}`);
      }
      states.set(block, "stored");
      log.info(
        { block: Number(block), transactionHash: receipt.transactionHash },
        "vrf: block hash stored for a waiting request",
      );
      options.onKnown();
    } catch (error) {
      if (states.get(block) === "storing") states.delete(block);
      if (!signal.aborted) log.error({ err: error, block: Number(block) }, "vrf: block hash was not stored");
    }
  }

  async function look(block: bigint): Promise<void> {
    try {
      const data = encodeFunctionData({
        abi: blockhashStoreAbi,
        functionName: "getBlockhash",
        args: [block],
      });
      await client.call({ to: blockhashStore, data });
      states.set(block, "stored");
      options.onKnown();
    } catch (error) {
      // The store answers no by reverting with a reason; any other failure says nothing about the hash.
      if (error instanceof RpcError && error.data !== undefined) {
        states.set(block, "lost");
        options.onKnown();
      } else {
        states.delete(block);
      }
    }
  }

  return {
    onHead(head, blocks) {
      for (const block of states.keys())
        if (states.get(block) !== "storing" && !blocks.has(block)) states.delete(block);
      for (const block of blocks) {
        const age = head - block;
        if (age < STORE_AT_AGE_BLOCKS || age >= EVM_HASH_BLOCKS || states.has(block)) continue;
        states.set(block, "storing");
        void store(block);
      }
    },
    has: (block) => states.get(block) === "stored",
    ask(block) {
      const state = states.get(block);
      if (state === "lost") return "lost";
      if (state === undefined || state === "tried") {
        states.set(block, "asking");
        void look(block);
      }
      return "asking";
    },
  };
}
