import type { Hex } from "viem";
import type { Connection } from "../../evm/connection.ts";
import { repeat } from "../../lib/repeat.ts";
import { EmbeddedChainError } from "./process/anvil.ts";
import type { Gate } from "./gate.ts";
import { readBlock } from "./recorder.ts";

/** Interval between checks that the chain is still ours. */
const LOOK_INTERVAL_MS = 500;

/** Distinguishes an embedded chain from any other that a user puts in its place, by one block that it must have. */
export interface Identity {
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
export function createIdentity(options: {
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
