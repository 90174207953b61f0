import type { Hex } from "viem";
import { encodeTimeouts, timeoutGas } from "../chainlink/functionsTimeout.ts";
import { decodeRevertReason } from "../chainlink/revertReason.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { ChainClient } from "../evm/client.ts";
import type { Sender } from "../evm/sender.ts";
import type { Call } from "../evm/signedTransaction.ts";
import { TycheError } from "../lib/errors.ts";
import type { StoredSubscription } from "../store/chainRecords.ts";
import type { Payload } from "../store/payload.ts";
import { findUnlinkObstacles, type UnlinkObstacle } from "./unlinkObstacles.ts";

/** How long a look at the chain's requests is good for, while an unlinking is tried once a second. */
const LOOK_KEPT_MS = 10_000;
/** A block's time may lag behind ours: an attempt too early would revert. */
const CLOCK_LEEWAY_SECONDS = 15;
/** Requests named in one message. */
const MAX_NAMED = 3;

/** One contract that is to be unlinked. */
export interface Unlinking {
  /** SubscriptionOwner.removeConsumer. */
  readonly call: Call;
  readonly subscription: StoredSubscription;
  readonly consumer: Hex;
}

/** What keeps a consumer, as found at one time. */
interface Look {
  readonly until: number;
  readonly found: readonly UnlinkObstacle[];
  isTakenOff: boolean;
}

/**
 * Creates the check that asks a chain whether a consumer can be unlinked now. Where only function requests that nobody has answered in time
 * keep it, they are taken off the chain, as the router lets anybody do.
 *
 * @returns the check, which throws {@link SubscriptionBusyError} while requests keep the consumer, and {@link UnlinkRefusedError} where the
 * contracts refuse for another reason.
 */
export function createUnlinkCheck(options: {
  readonly client: Pick<ChainClient, "call" | "request" | "getHead">;
  readonly contracts: StackAddresses;
  readonly sender: Pick<Sender<Payload>, "address" | "send">;
  /** Time in milliseconds since 1970. Default: the process's clock. */
  readonly now?: () => number;
}): (unlinking: Unlinking) => Promise<void> {
  const { client, contracts, sender, now = Date.now } = options;
  const looks = new Map<Hex, Look>();

  const look = async ({ call, subscription, consumer }: Unlinking): Promise<Look> => {
    for (const [key, { until }] of looks) if (until <= now()) looks.delete(key);
    const kept = looks.get(call.data);
    if (kept !== undefined) return kept;
    // The node may refuse so many blocks: then nothing more is known.
    const found = await findUnlinkObstacles({ subscription, consumer }, options).catch(() => []);
    const fresh = { until: now() + LOOK_KEPT_MS, found, isTakenOff: false };
    looks.set(call.data, fresh);
    return fresh;
  };

  /** Takes function requests off the chain whose time is over: at most once for each look, as what reverts costs gas, too. */
  const takeOff = async (look: Look): Promise<void> => {
    const timeouts = look.found.flatMap(({ timeout }) => timeout ?? []);
    if (timeouts.length === 0 || look.isTakenOff) return;
    const head = Number((await client.getHead("latest"))?.timestamp ?? 0n);
    const seconds = Math.max(head, now() / 1000 - CLOCK_LEEWAY_SECONDS);
    for (const { commitment } of timeouts.filter(({ at }) => at <= seconds)) {
      look.isTakenOff = true;
      const data = encodeTimeouts([commitment]);
      const call = { to: contracts.functionsRouter, data, gas: timeoutGas(1) };
      await sender.send(call, { kind: "upkeep", entries: [] });
    }
  };

  return async (unlinking) => {
    const { to, data } = unlinking.call;
    try {
      await client.call({ to, data, from: sender.address });
    } catch (error) {
      const reason = decodeRevertReason((error as { data?: Hex }).data ?? "0x");
      const isBusy =
        reason.name === "PendingRequestExists" || reason.name === "CannotRemoveWithPendingRequests";
      if (!isBusy) throw reason.name === undefined ? error : new UnlinkRefusedError(reason.text);
      const known = await look(unlinking);
      await takeOff(known);
      throw new SubscriptionBusyError(known.found.map(({ text }) => text));
    }
  };
}

/** Requests on a dapp's subscriptions are under way, and so long the consumer can't be taken off. */
export class SubscriptionBusyError extends TycheError {
  /** What keeps the consumer: a clause without an end. */
  readonly waitsFor: string;

  /** @param obstacles the requests; none where the chain was not asked, or they are older than what was looked through. */
  constructor(obstacles: readonly string[] = []) {
    const more = obstacles.length > MAX_NAMED ? [`and ${obstacles.length - MAX_NAMED} more`] : [];
    const named = [...obstacles.slice(0, MAX_NAMED), ...more].join("; ");
    const waitsFor = `requests on the dapp's subscriptions are under way, and the oracle contracts let a consumer go only while there is none${named === "" ? "" : `: ${named}`}`;
    super(`${waitsFor}; unlink it when they have ended`, {
      code: "request_failed",
      blame: "caller",
      retryable: true,
    });
    this.waitsFor = waitsFor;
  }
}

export class UnlinkRefusedError extends TycheError {
  constructor(reason: string) {
    super(`the oracle contracts refuse to unlink the consumer: ${reason}`, {
      code: "request_failed",
      blame: "caller",
    });
  }
}
