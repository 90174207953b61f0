import { getAddress, isAddressEqual, numberToHex, type Hex } from "viem";
import { EVENT_TOPICS, WORDS_TOPICS, findEvent, type ChainEventOf } from "../../chainlink/events.ts";
import { timeoutOf } from "../../chainlink/functionsTimeout.ts";
import { createPendingReasons } from "../../chainlink/pendingReason.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { parseLog, RpcError, toQuantity } from "../../evm/client.ts";
import type { ChainClient, RawLog } from "../../evm/client.ts";
import type { StoredSubscription } from "../../store/chainRecords.ts";

/** Newest blocks searched for requests: as many as most nodes accept in one query. */
const SEARCHED_BLOCKS = 5_000n;

/** A request on chain that keeps a contract linked. */
export interface UnlinkObstacle {
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
export async function findUnlinkObstacles(
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
      const { data, decode } = COORDINATOR_READS.v2.commitment(event.requestId);
      return decode(await client.call({ to: contracts.vrfCoordinator, data })) !== 0n;
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
