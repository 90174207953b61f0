import { createMutex } from "../../lib/mutex.ts";
import { MAX_TIMESTAMP, quantityOf } from "./rpc/rpcLimits.ts";
import { RpcLimitError, type RpcRequest } from "./rpcErrors.ts";

/** How far a call advances the chain's clock, in seconds. */
interface Advance {
  readonly seconds: bigint;
  /** The unit that the refusal names. */
  readonly what: "seconds" | "blocks";
  /** Seconds per unit. */
  readonly each: bigint;
}

/** Interval between checks of the clock while every block advances it. */
const LOOK_MS = 1_000;
/** Blocks that the chain may mine between two checks, with room to spare: each takes Anvil at least a millisecond. */
const BLOCKS_BETWEEN_LOOKS = 2_000n;

export interface ClockLimitOptions {
  /** Stops the checks of the clock. Default: they never stop. */
  readonly signal?: AbortSignal;
  /** Default 1,000. */
  readonly lookMs?: number;
}

/**
 * Wraps chain requests to keep the chain's clock from running past {@link MAX_TIMESTAMP}, however many calls contribute: each call that
 * advances the clock is checked against the clock's current time, one call at a time. Blocks that no call asks for (interval mining,
 * the service's own transactions) can't be checked beforehand: while an interval between blocks is set, the clock is polled, and the
 * interval is removed in time.
 */
export function limitClock(
  request: RpcRequest,
  { signal, lookMs = LOOK_MS }: ClockLimitOptions = {},
): RpcRequest {
  /** Interval between blocks, as last set with `anvil_setBlockTimestampInterval`; Anvil has no method to read it. */
  let blockInterval = 0n;
  /** How far Anvil's clock is ahead of real time, by its last answer: while an interval is set, its pending block does not show it. */
  let offset = 0n;
  const inTurn = createMutex();

  const readClock = async (): Promise<bigint> => {
    const pending = (await request("eth_getBlockByNumber", ["pending", false])) as {
      timestamp?: string;
    } | null;
    const ofBlock = BigInt(pending?.timestamp ?? 0);
    const ofClock = BigInt(Math.floor(Date.now() / 1_000)) + offset;
    return ofBlock > ofClock ? ofBlock : ofClock;
  };

  const assertRoom = async (method: string, { seconds, what, each }: Advance): Promise<void> => {
    const room = BigInt(MAX_TIMESTAMP) - (await readClock());
    if (seconds <= room) return;
    const left = room > 0n ? room / each : 0n;
    throw new RpcLimitError(
      `${method} takes at most ${left} ${what} now: the contracts hold times in 32 bits, and the chain's clock may not run past the year 2105`,
    );
  };

  let looking: NodeJS.Timeout | undefined;
  signal?.addEventListener("abort", () => clearTimeout(looking));
  const look = async (): Promise<void> => {
    if (blockInterval === 0n) return;
    const room = BigInt(MAX_TIMESTAMP) - (await readClock());
    if (room >= blockInterval * BLOCKS_BETWEEN_LOOKS) return;
    await request("anvil_removeBlockTimestampInterval", []);
    blockInterval = 0n;
  };
  const lookAgain = (): void => {
    clearTimeout(looking);
    if (blockInterval === 0n || signal?.aborted === true) return;
    // A chain that is restarting is checked once it answers.
    looking = setTimeout(() => void inTurn(look).then(lookAgain, lookAgain), lookMs).unref();
  };

  return async (method, parameters) => {
    if (method.endsWith("_removeBlockTimestampInterval")) blockInterval = 0n;
    if (method.endsWith("_setBlockTimestampInterval")) {
      const answer = await request(method, parameters);
      blockInterval = quantityOf(parameters[0]) ?? 0n;
      lookAgain();
      return answer;
    }
    const advance = advanceOf(method, parameters, blockInterval);
    const setsClock = SETTING_CLOCK.test(method);
    if (advance.seconds === 0n && !setsClock) return request(method, parameters);
    // A transaction may wait for another call to mine it.
    if (method.startsWith("eth_send"))
      return inTurn(() => assertRoom(method, advance)).then(() => request(method, parameters));
    return inTurn(async () => {
      if (advance.seconds > 0n) await assertRoom(method, advance);
      const answer = await request(method, parameters);
      if (setsClock && typeof answer === "number") offset = BigInt(answer);
      return answer;
    });
  };
}

/** These methods return how far Anvil's clock is then ahead of real time. */
const SETTING_CLOCK = /^(?:anvil|evm)_(?:increaseTime|setTime)$/;

function advanceOf(method: string, [first, second]: readonly unknown[], blockInterval: bigint): Advance {
  const blocks = (count: unknown, each: bigint): Advance => ({
    seconds: (quantityOf(count) ?? 1n) * each,
    what: "blocks",
    each,
  });
  if (method.endsWith("_increaseTime"))
    return { seconds: quantityOf(first) ?? 0n, what: "seconds", each: 1n };
  if (/^(?:anvil|hardhat)_mine$/.test(method)) return blocks(first, quantityOf(second) ?? blockInterval);
  if (/^(?:anvil_mine_detailed|evm_mine(?:_detailed)?)$/.test(method))
    return blocks((first as { blocks?: unknown } | null | undefined)?.blocks, blockInterval);
  return method.startsWith("eth_send") ? blocks(1, blockInterval) : blocks(0, 0n);
}
