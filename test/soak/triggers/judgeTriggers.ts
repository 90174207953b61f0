import { setTimeout as sleep } from "node:timers/promises";
import { numberToHex, type Hex } from "viem";
import { checkChain, type CheckedNetwork, type CheckedRequest } from "../../faults/chainChecker.ts";
import type { StrangersChain } from "../../external/support/chain.ts";
import { NETWORK } from "../../external/support/world.ts";
import { countEnds } from "../../support/countEnds.ts";
import { TAKING, type Receivers } from "./receivers.ts";

/** Calls the API at any replica that serves, until it answers with success. */
export type CallApi = (
  method: string,
  target: string,
  body?: object,
  // Untyped: the API's own schemas describe it.
) => Promise<any>; // eslint-disable-line typescript/no-explicit-any

/** What a soak set up. */
export interface SetUp {
  readonly emitter: Hex;
  /** Ids by distance between ticks, in ms. */
  readonly schedules: ReadonlyMap<string, number>;
  /** Ids by the round whose events they want. */
  readonly triggers: ReadonlyMap<string, number>;
  /** Ids of the webhooks, by receiver. */
  readonly webhooks: ReadonlyMap<string, string>;
}

/** What a soak counted. */
export interface Judged {
  readonly ticks: number;
  readonly skippedTicks: number;
  readonly logs: number;
  readonly revertedRuns: number;
  readonly requests: number;
  readonly failedRequests: number;
  /** Messages that came to the receivers that take them, and the events among them. */
  readonly messages: number;
  readonly events: number;
}

/** For everything that is open to end. */
const END_TIMEOUT_MS = 900_000;

interface Run {
  readonly id: string;
  readonly at: string;
  readonly state: string;
  readonly reason: string | null;
  readonly requestId: string | null;
  readonly revertedAt?: string | null;
  readonly log?: { readonly transactionHash: Hex; readonly logIndex: number; readonly blockHash: Hex };
}

type EndedRequest = CheckedRequest & Parameters<typeof countEnds>[0];

/** Waits until nothing is due, and compares runs, requests and events with the chain and with each other. */
export async function judgeTriggers(
  options: SetUp & {
    readonly callApi: CallApi;
    readonly chain: StrangersChain;
    readonly receivers: Receivers;
    readonly violate: (line: string) => void;
    readonly say: (line: string) => void;
  },
): Promise<Judged> {
  const { schedules, triggers, webhooks, callApi, chain, receivers, violate, say } = options;
  const deadline = Date.now() + END_TIMEOUT_MS;
  for (const id of schedules.keys()) await callApi("PATCH", `/api/schedules/${id}`, { paused: true });
  const readAll = async <Item>(target: string): Promise<readonly Item[]> => {
    const items: Item[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: { readonly items: readonly Item[]; readonly nextCursor: string | null } = await callApi(
        "GET",
        `${target}?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`,
      );
      items.push(...page.items);
      cursor = page.nextCursor;
    }
    return items;
  };
  /** Reads runs once none of them waits. */
  const settle = async (target: string): Promise<readonly Run[]> => {
    for (;;) {
      const runs = await readAll<Run>(target);
      const waiting = runs.filter(({ state }) => state === "due" || state === "seen");
      if (waiting.length === 0) return runs;
      if (Date.now() > deadline) {
        violate(`${target}: ${waiting.length} runs wait, such as ${JSON.stringify(waiting[0])}`);
        return runs;
      }
      await sleep(1_000);
    }
  };

  const ticks: Run[] = [];
  const skipped = new Map<string, number>();
  const noteSkipped = (id: string, runs: readonly Run[]): void =>
    void skipped.set(id, runs.filter(({ state }) => state === "skipped").length);
  for (const [id, distanceMs] of schedules) {
    const runs = await settle(`/api/schedules/${id}/runs`);
    ticks.push(...runs);
    noteSkipped(id, runs);
    const times = runs.map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b);
    for (const [i, at] of times.entries())
      if (i > 0 && at - times[i - 1]! !== distanceMs)
        violate(`${id}: ${new Date(at).toISOString()} follows ${new Date(times[i - 1]!).toISOString()}`);
    if (times.length === 0) violate(`${id} has no ticks`);
  }
  say(`${ticks.length} ticks`);

  const head = Number(await chain.call("eth_blockNumber", []));
  const isRead = async (id: string): Promise<boolean> =>
    (await callApi("GET", `/api/triggers/${id}`)).readTo >= head;
  while (!(await isRead([...triggers.keys()][0]!)) && Date.now() < deadline) await sleep(500);
  const logs = (await chain.call("eth_getLogs", [
    { address: options.emitter, fromBlock: "0x0", toBlock: numberToHex(head) },
  ])) as readonly { topics: readonly Hex[]; transactionHash: Hex; logIndex: Hex; blockHash: Hex }[];
  const logRuns: Run[] = [];
  for (const [id, round] of triggers) {
    const runs = await settle(`/api/triggers/${id}/runs`);
    logRuns.push(...runs);
    noteSkipped(id, runs);
    for (const run of runs)
      if (run.requestId === null && run.reason !== "reverted")
        violate(`${id}: ${JSON.stringify(run)} has no request`);
    const kept = runs.filter(({ revertedAt }) => revertedAt === null);
    const found = kept.map(({ log }) => `${log!.blockHash} ${log!.transactionHash} ${log!.logIndex}`);
    const wanted = logs
      .filter(({ topics }) => BigInt(topics[1]!) === BigInt(round))
      .map((log) => `${log.blockHash} ${log.transactionHash} ${Number(log.logIndex)}`);
    if (JSON.stringify(found.toSorted()) !== JSON.stringify(wanted.toSorted()))
      violate(`${id}: of ${wanted.length} logs of round ${round}, ${found.length} have runs, or others`);
  }
  say(`${logs.length} logs, ${logRuns.length} runs of logs`);

  const requests = await endAll(options, { readAll, deadline });
  const wanted = [...ticks, ...logRuns].flatMap(({ requestId }) => requestId ?? []);
  if (JSON.stringify(wanted.toSorted()) !== JSON.stringify(requests.map(({ id }) => id).toSorted()))
    violate(
      `${wanted.length} runs have requests, of which ${new Set(wanted).size} differ; there are ${requests.length}`,
    );
  const network = (await callApi("GET", "/api/networks")).items.find(
    ({ name }: { readonly name: string }) => name === NETWORK,
  ) as CheckedNetwork;
  for (const line of await checkChain({ ...network, rpcUrl: chain.httpUrl }, requests)) violate(line);

  let messages = 0;
  let events = 0;
  for (const name of TAKING) {
    const target = `/api/webhooks/${webhooks.get(name)}`;
    for (;;) {
      const { pending, failed } = await callApi("GET", target);
      if (pending + failed === 0) break;
      if (Date.now() > deadline) {
        violate(`${name}: ${pending} events are pending, ${failed} failed`);
        break;
      }
      await callApi("POST", `${target}/replay`, { since: new Date(0).toISOString() });
      await sleep(3_000);
    }
    messages += receivers.count(name);
    events += receivers.taken(name).size;
    judgeEvents(name, { taken: receivers.taken(name), requests, skipped, logRuns, violate });
  }
  const gone = await callApi("GET", `/api/webhooks/${webhooks.get("gone")}`);
  if (gone.pausedWhy !== "gone") violate(`the webhook that answers 410 is not paused`);
  return {
    ticks: ticks.length,
    skippedTicks: ticks.filter(({ state }) => state === "skipped").length,
    logs: logs.length,
    revertedRuns: logRuns.filter(({ revertedAt }) => revertedAt !== null).length,
    requests: requests.length,
    failedRequests: requests.filter(({ state }) => state === "failed").length,
    messages,
    events,
  };
}

/** Waits until every request has ended, once. */
async function endAll(
  { callApi, violate, say }: Pick<Parameters<typeof judgeTriggers>[0], "callApi" | "violate" | "say">,
  {
    readAll,
    deadline,
  }: {
    readonly readAll: (target: string) => Promise<readonly { readonly id: string }[]>;
    readonly deadline: number;
  },
): Promise<readonly EndedRequest[]> {
  const listed = await readAll("/api/requests");
  say(`${listed.length} requests`);
  const requests: EndedRequest[] = [];
  for (const { id } of listed) {
    let record: EndedRequest = await callApi("GET", `/api/requests/${id}`);
    while (!["fulfilled", "failed"].includes(record.state) && Date.now() < deadline) {
      await sleep(200);
      record = await callApi("GET", `/api/requests/${id}`);
    }
    const ends = countEnds(record);
    if (ends !== 1) violate(`${id} ended ${ends} times: ${JSON.stringify(record).slice(0, 500)}`);
    requests.push(record);
  }
  return requests;
}

/** Compares the events that a receiver took with what happened. */
function judgeEvents(
  name: string,
  {
    taken,
    requests,
    skipped,
    logRuns,
    violate,
  }: {
    readonly taken: ReturnType<Receivers["taken"]>;
    readonly requests: readonly EndedRequest[];
    readonly skipped: ReadonlyMap<string, number>;
    readonly logRuns: readonly Run[];
    readonly violate: (line: string) => void;
  },
): void {
  const all = [...taken.values()];
  const ends = Map.groupBy(
    all.filter(({ type }) => type.startsWith("request.")),
    ({ data }) => data.id,
  );
  for (const { id, state } of requests) {
    const types = (ends.get(id) ?? [])
      .toSorted(({ data: a }, { data: b }) => Number(a["sequence"]) - Number(b["sequence"]))
      .map(({ type }) => type.slice("request.".length));
    const isRight =
      types.length % 2 === 1 && types.every((type, i) => (type === "reopened") === (i % 2 === 1));
    if (!isRight || types.at(-1) !== state)
      violate(`${name}: ${id}, which is ${state}, was told as ${types.join(", ") || "nothing"}`);
    ends.delete(id);
  }
  for (const id of ends.keys()) violate(`${name} was told of ${id}, which is no request`);
  const told = Map.groupBy(
    all.filter(({ type }) => type === "trigger.skipped"),
    ({ data }) => data["triggerId"],
  );
  for (const [id, count] of skipped) {
    const sum = (told.get(id) ?? []).reduce((so, { data }) => so + Number(data["count"]), 0);
    if (sum !== count) violate(`${name}: ${count} runs of ${id} are skipped, ${sum} were told`);
  }
  const reverted = all.filter(({ type }) => type === "trigger.reverted").map(({ data }) => data["runId"]);
  const wanted = logRuns.filter(({ revertedAt, requestId }) => revertedAt !== null && requestId !== null);
  for (const { id } of wanted)
    if (reverted.filter((one) => one === id).length !== 1)
      violate(`${name}: run ${id} was not told as reverted once`);
}
