import { type Hex, getAddress, isAddressEqual, numberToHex } from "viem";
import { askContract } from "../../chainlink/contractRead.ts";
import { encodeTimeouts, timeoutGas, timeoutOf } from "../../chainlink/functionsTimeout.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import { parseLog, RpcError, toQuantity, type RawLog } from "../../lib/nodeAnswers.ts";
import type { Sender } from "../../evm/sender.ts";
import type { Call } from "../../evm/signedTransaction.ts";
import { chainSeconds, type ChainWatcher } from "../../evm/watcher.ts";
import { TycheError } from "../../lib/errors.ts";
import type { StoredSubscription } from "../../store/chainRecords.ts";
import type { Payload } from "../../store/transactionContents.ts";
import { EVENT_TOPICS, WORDS_TOPICS, findEvent, type ChainEventOf } from "../../chainlink/events.ts";
import { createPendingReasons } from "../../chainlink/pendingReason.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";

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

/** Newest blocks searched for requests: as many as most nodes accept in one query. */
const SEARCHED_BLOCKS = 5_000n;

/** A request on chain that keeps a contract linked. */
interface UnlinkObstacle {
  /** Who waits for what, since which transaction, and what ends it: a clause without a full stop. */
  readonly text: string;
  /**
   * For a function request: the commitment that FunctionsRouter.timeoutRequests takes (352 bytes), and the Unix time in
   * seconds from which it may be timed out.
   */
  readonly timeout?: { readonly commitment: Hex; readonly at: number };
}

type Words = ChainEventOf<"RandomWordsRequested">;
type Logged<Event> = { readonly event: Event; readonly log: RawLog };

/**
 * Finds the requests that make the oracle contracts keep a consumer, among the last 5,000 blocks.
 *
 * The coordinators' `removeConsumer` refuses while any contract of the subscription waits for words: VRFCoordinatorV2 looks
 * only at the latest request of each contract, v2.5 counts all of them. FunctionsRouter's refuses only because of the
 * consumer's own requests.
 *
 * @throws {RpcError} when the node doesn't answer, or not for that many blocks.
 */
async function findUnlinkObstacles(
  { subscription, consumer }: { readonly subscription: StoredSubscription; readonly consumer: Hex },
  chain: { readonly client: Pick<ChainClient, "request" | "call">; readonly contracts: StackAddresses },
): Promise<readonly UnlinkObstacle[]> {
  const { client, contracts } = chain;
  const head = BigInt((await client.request("eth_blockNumber")) as Hex);
  const fromBlock = toQuantity(head > SEARCHED_BLOCKS ? head - SEARCHED_BLOCKS : 0n);
  const find = async (address: Hex, topics: readonly (Hex | readonly Hex[] | null)[]): Promise<RawLog[]> => {
    const filter = { address, topics, fromBlock, toBlock: toQuantity(head) };
    const answer = await client.request("eth_getLogs", [filter]);
    if (!Array.isArray(answer)) throw new RpcError("eth_getLogs", "the answer is not a list of logs");
    return answer.map(parseLog);
  };
  const word = (id: bigint): Hex => numberToHex(id, { size: 32 });
  const [asked, started] = await Promise.all([
    find(contracts.vrfCoordinator, [WORDS_TOPICS.requested, null, word(subscription.vrfSubscriptionId)]),
    find(contracts.functionsRouter, [
      EVENT_TOPICS.RequestStart,
      null,
      null,
      word(subscription.functionsSubscriptionId),
    ]),
  ]);
  const reasons = createPendingReasons(client);

  const describeWords = async ({ event, log }: Logged<Words>): Promise<UnlinkObstacle> => {
    const isOwn = isAddressEqual(event.sender, contracts.presetConsumer);
    const who = isOwn ? "the service's own contract" : `contract ${getAddress(event.sender)}`;
    const place = { coordinator: contracts.vrfCoordinator, blockNumber: log.blockNumber };
    const reason = await reasons.ofWords(event, place);
    const end = isLatestOnly(contracts)
      ? "; the coordinator forgets it once a later request of the same contract is answered"
      : "";
    return {
      text: `${who} waits for the random words that transaction ${log.transactionHash} asked for (${reason}${end})`,
    };
  };

  const words = isLatestOnly(contracts)
    ? await findUnansweredLatest(wordsRequests(asked), chain)
    : await findUnanswered(wordsRequests(asked), subscription, (topics) =>
        find(contracts.vrfCoordinator, topics),
      );
  const own = idsOf(
    started,
    (event) => event.name === "RequestStart" && isAddressEqual(event.requestingContract, consumer),
  );
  const ends = [EVENT_TOPICS.RequestProcessed, EVENT_TOPICS.RequestTimedOut];
  const ended = own.length === 0 ? [] : idsOf(await find(contracts.functionsRouter, [ends, own]), () => true);
  const open = own.filter((id) => !ended.includes(id));
  const cues =
    open.length === 0 ? [] : await find(contracts.functionsCoordinator, [EVENT_TOPICS.OracleRequest, open]);
  return await Promise.all([
    ...words.map(describeWords),
    ...cues.flatMap((log) => {
      const event = findEvent(log);
      if (event?.name !== "OracleRequest") return [];
      const { requestId, commitment } = event;
      const describe = async (): Promise<UnlinkObstacle> => ({
        text: `its function request ${requestId} is open (${await reasons.ofFunction(event)})`,
        timeout: { commitment, at: timeoutOf(commitment) },
      });
      return [describe()];
    }),
  ]);
}

/** Whether the coordinator considers only the latest request of a contract: V2 doesn't keep earlier nonces. */
function isLatestOnly({ vrfVersion = "v2" }: StackAddresses): boolean {
  return vrfVersion === "v2";
}

function wordsRequests(logs: readonly RawLog[]): readonly Logged<Words>[] {
  return logs.flatMap((log): Logged<Words>[] => {
    const event = findEvent(log);
    return event?.name === "RandomWordsRequested" ? [{ event, log }] : [];
  });
}

/** Returns each contract's latest request for words, if it has no answer: those that V2 counts. At most as many as there are consumers. */
async function findUnansweredLatest(
  requests: readonly Logged<Words>[],
  { client, contracts }: Parameters<typeof findUnlinkObstacles>[1],
): Promise<readonly Logged<Words>[]> {
  const latest = [...new Map(requests.map((one) => [one.event.sender.toLowerCase(), one])).values()];
  const isOpen = await Promise.all(
    latest.map(async ({ event }) => {
      const commitment = COORDINATOR_READS.v2.commitment(event.requestId);
      return (await askContract(client, contracts.vrfCoordinator, commitment)) !== 0n;
    }),
  );
  return latest.filter((_, index) => isOpen[index]);
}

/** Returns all requests for words without an answer, oldest first: those that v2.5 counts. */
async function findUnanswered(
  requests: readonly Logged<Words>[],
  { vrfSubscriptionId }: StoredSubscription,
  find: (topics: readonly (Hex | readonly Hex[] | null)[]) => Promise<RawLog[]>,
): Promise<readonly Logged<Words>[]> {
  if (requests.length === 0) return [];
  const subscription = numberToHex(vrfSubscriptionId, { size: 32 });
  const answered = new Set(idsOf(await find([WORDS_TOPICS.fulfilled, null, subscription]), () => true));
  return requests.filter(({ event }) => !answered.has(event.requestId));
}

function idsOf(
  logs: readonly RawLog[],
  isMeant: (event: NonNullable<ReturnType<typeof findEvent>>) => boolean,
): readonly Hex[] {
  return logs.flatMap((log) => {
    const event = findEvent(log);
    return event !== undefined && "requestId" in event && isMeant(event) ? [event.requestId] : [];
  });
}
