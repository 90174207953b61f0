import type { Hex } from "viem";
import { repeat } from "../../lib/repeat.ts";
import type { Connection } from "../../evm/connection.ts";
import { EmbeddedChainError } from "./anvil.ts";
import type { Gate } from "./gate.ts";
import { readBlock } from "./recorder.ts";

/** Between looks whether the chain is still ours. */
const LOOK_INTERVAL_MS = 500;

/** Tells a chain of ours from any other that somebody puts in its place: by one block that it must have. */
export interface Identity {
  /** From now on the chain is the one that has this block. */
  claim(block: number): Promise<void>;
  /** Whether the chain is ours and may be set back to this block: not to before the one that tells it. */
  allows(block: number): Promise<boolean>;
  /** @throws {EmbeddedChainError} when the chain is another one. */
  assertKept(this: void): Promise<void>;
  close(): void;
}

/**
 * Makes the identity of one node's chain, and looks now and then whether it still has it.
 *
 * @param onLost told each time that it has not.
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
    throw new EmbeddedChainError("somebody has put another chain in place of the embedded one");
  };
  const look = async (): Promise<void> => {
    // While the state is exchanged or the process is started again, there is nothing to see.
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
