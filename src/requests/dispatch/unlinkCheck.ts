import type { Hex } from "viem";
import { encodeTimeouts, timeoutGas } from "../../chainlink/functionsTimeout.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import type { Call } from "../../evm/signedTransaction.ts";
import { chainSeconds, type ChainWatcher } from "../../evm/watcher.ts";
import { TycheError } from "../../lib/errors.ts";
import type { StoredSubscription } from "../../store/chainRecords.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { findUnlinkObstacles, type UnlinkObstacle } from "./unlinkObstacles.ts";

/** How long a look at the chain's requests stays valid, while an unlinking is retried once a second. */
const LOOK_KEPT_MS = 10_000;
/** Maximum number of requests named in one message. */
const MAX_NAMED = 3;

/** A contract to unlink. */
export interface Unlinking {
  /** Call of SubscriptionOwner.removeConsumer for all subscriptions that the consumer is on. */
  readonly call: Call;
  /** If these are two: the call for each alone. */
  readonly parts: readonly Call[];
  readonly subscription: StoredSubscription;
  readonly consumer: Hex;
}

/** What keeps a consumer linked, as found at one time. */
interface Look {
  /** By `performance.now()`. */
  readonly until: number;
  readonly found: readonly UnlinkObstacle[];
  isTakenOff: boolean;
}

/**
 * Creates the check that asks a chain whether a consumer can be unlinked now. It times out the function requests that keep
 * the consumer and that nobody has answered in time, as the router lets anyone do, and takes the consumer off one subscription
 * while requests keep it on the other: on v2.5 a request for an unknown key keeps it for good.
 *
 * @returns the check, which throws {@link SubscriptionBusyError} while requests keep the consumer, and
 * {@link UnlinkRefusedError} if the contracts refuse for another reason.
 */
export function createUnlinkCheck(options: {
  readonly client: Pick<ChainClient, "call" | "request">;
  readonly contracts: StackAddresses;
  readonly sender: Pick<Sender<Payload>, "address" | "send">;
  readonly watcher: Pick<ChainWatcher, "head">;
}): (unlinking: Unlinking) => Promise<void> {
  const { client, contracts, sender, watcher } = options;
  const looks = new Map<Hex, Look>();

  const look = async ({ call, subscription, consumer }: Unlinking): Promise<Look> => {
    for (const [key, { until }] of looks) if (until <= performance.now()) looks.delete(key);
    const kept = looks.get(call.data);
    if (kept !== undefined) return kept;
    // The node may refuse that many blocks; then nothing more is known.
    const found = await findUnlinkObstacles({ subscription, consumer }, options).catch(() => []);
    const fresh = { until: performance.now() + LOOK_KEPT_MS, found, isTakenOff: false };
    looks.set(call.data, fresh);
    return fresh;
  };

  const isPossible = async ({ to, data }: Call): Promise<boolean> =>
    await client.call({ to, data, from: sender.address }).then(
      () => true,
      () => false,
    );

  /** Removes what can be removed, at most once per look: a transaction that reverts costs gas, too. */
  const takeOff = async (look: Look, parts: readonly Call[]): Promise<void> => {
    if (look.isTakenOff) return;
    for (const part of parts) {
      if (!(await isPossible(part))) continue;
      look.isTakenOff = true;
      await sender.send(part, { kind: "upkeep", entries: [] });
    }
    const timeouts = look.found.flatMap(({ timeout }) => timeout ?? []);
    const head = watcher.head();
    if (timeouts.length === 0 || head === undefined) return;
    const seconds = chainSeconds(head);
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
      await takeOff(known, unlinking.parts);
      throw new SubscriptionBusyError(known.found.map(({ text }) => text));
    }
  };
}

/** Requests on a dapp's subscriptions are in flight, and until they end the consumer can't be removed. */
export class SubscriptionBusyError extends TycheError {
  /** What keeps the consumer linked: a clause without a full stop. */
  readonly waitsFor: string;

  /** @param obstacles the requests; none if the chain was not asked, or if they are older than the blocks searched. */
  constructor(obstacles: readonly string[] = []) {
    const more = obstacles.length > MAX_NAMED ? [`and ${obstacles.length - MAX_NAMED} more`] : [];
    const named = [...obstacles.slice(0, MAX_NAMED), ...more].join("; ");
    const waitsFor = `the dapp's subscriptions have open requests, and the oracle contracts remove a consumer only while there are none${named === "" ? "" : `: ${named}`}`;
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
