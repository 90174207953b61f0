import { setTimeout as sleep } from "node:timers/promises";
import { countEnds } from "../support/countEnds.ts";
import type { Answer, TycheProcess } from "../support/tyche.ts";
import { checkChain, type CheckedRequest } from "./chainChecker.ts";
import { BYSTANDER, STRUCK, holdsWithin, type Fault } from "./fault.ts";
import { startLoad, type Load } from "./load.ts";
import { watchReadiness, type SeenReadiness } from "./readinessWatch.ts";
import type { World } from "./world.ts";

/** The outcome of one fault. */
export interface FaultReport {
  readonly fault: string;
  readonly accepted: number;
  readonly fulfilled: number;
  /** Requests that ended with a reason instead of a result. */
  readonly failed: number;
  /** Time from the end of the fault to the second request accepted on the struck network after it, in ms. */
  readonly recoveredMs: number;
  /** The slowest answer of `/readyz` during the fault, in ms. */
  readonly slowestReadyzMs: number;
  /** Violated invariants, a sentence each; empty if all held. */
  readonly breaches: readonly string[];
}

/** Requests on each network before a fault strikes. */
const WARM_UP_REQUESTS = 4;
const RECOVERY_TIMEOUT_MS = 90_000;
const END_TIMEOUT_MS = 120_000;
/** Readiness is reported within 2 s whatever hangs; a busy machine gets twice that. */
const DEFAULT_READYZ_DEADLINE_MS = 4_000;
/** A reorg that the service hasn't seen yet may have removed results that it announced. */
const SETTLE_TIMEOUT_MS = 10_000;
/** How long to wait for a fault's required effects, beyond the time that the fault should last. */
const LASTING_TIMEOUT_MS = 60_000;

/**
 * Injects a fault into a service under load, waits for its recovery, and checks what it said against the invariants: every accepted request
 * ends once, its result is on chain, a key replays, the other network's callers are served, readiness tells the truth.
 */
export async function inject(
  world: World,
  fault: Fault,
  {
    lastsMs,
    number,
    known,
    readyzDeadlineMs = DEFAULT_READYZ_DEADLINE_MS,
    pauseMs,
  }: {
    /** Minimum duration: the fault lasts until its required effects have been seen. */
    readonly lastsMs: number;
    /** Distinguishes the keys of this fault's calls from those of others. */
    readonly number: number;
    /** Breaches that earlier faults left on the chains. */
    readonly known: Set<string>;
    /** Default 4,000. */
    readonly readyzDeadlineMs?: number;
    /** Pause between each caller's calls. Default as in {@link startLoad}. */
    readonly pauseMs?: number;
  },
): Promise<FaultReport> {
  const breaches: string[] = [];
  const load = startLoad(() => world.service(), `fault-${number}`, pauseMs);
  await grow(load, STRUCK, WARM_UP_REQUESTS, RECOVERY_TIMEOUT_MS);
  await grow(load, BYSTANDER, WARM_UP_REQUESTS, RECOVERY_TIMEOUT_MS);

  const watch = watchReadiness(world);
  await fault.strike(world);
  const others = load.count(BYSTANDER);
  await sleep(lastsMs);
  const isLasting = fault.sparesOthers && lastsMs > 1_000;
  const hasServed = async (): Promise<boolean> => load.count(BYSTANDER) > others;
  if (isLasting && !(await holdsWithin(LASTING_TIMEOUT_MS, hasServed)))
    breaches.push(`nobody was served on ${BYSTANDER} meanwhile`);
  const { told } = fault;
  if (told !== undefined) await holdsWithin(LASTING_TIMEOUT_MS, async () => isTold(told, watch.seen()));
  const seen = await watch.stop();
  await fault.mend?.(world);
  const mendedAt = performance.now();
  await fault.check?.(world).catch((error: unknown) => breaches.push(String(error)));
  if (!(await grow(load, STRUCK, 2, RECOVERY_TIMEOUT_MS)))
    breaches.push(`no request was accepted on ${STRUCK} within ${RECOVERY_TIMEOUT_MS / 1000} s of its end`);
  const recoveredMs = performance.now() - mendedAt;
  await load.stop();

  if (told !== undefined && !isTold(told, seen))
    breaches.push(`/readyz told nothing of it: ${seen.said.slice(0, 300) || "ready all the time"}`);
  if (!(await isReadyWithin(world, RECOVERY_TIMEOUT_MS)))
    breaches.push(`/readyz called ${STRUCK} not ready ${RECOVERY_TIMEOUT_MS / 1000} s after its end`);
  if (fault.sparesOthers && seen.slowestMs > readyzDeadlineMs)
    breaches.push(`/readyz took ${Math.round(seen.slowestMs)} ms`);
  const requests = await awaitEnds(world, load, breaches);
  for (const network of await world.networks()) {
    if (network.name !== STRUCK && network.name !== BYSTANDER) continue;
    let found: readonly string[] = [];
    await holdsWithin(SETTLE_TIMEOUT_MS, async () => {
      found = await checkChain(network, await allRequests(world, network.name));
      return found.every((breach) => known.has(breach));
    });
    for (const breach of found) {
      // What an earlier fault broke stays broken.
      if (!known.has(breach)) breaches.push(breach);
      known.add(breach);
    }
  }
  await checkReplays(world, load, breaches);
  return {
    fault: fault.name,
    accepted: load.accepted.size,
    fulfilled: requests.filter(({ state }) => state === "fulfilled").length,
    failed: requests.filter(({ state }) => state === "failed").length,
    recoveredMs: Math.round(recoveredMs),
    slowestReadyzMs: Math.round(seen.slowestMs),
    breaches: [...load.breaches, ...breaches],
  };
}

function isTold(told: NonNullable<Fault["told"]>, { wasUnready, said }: SeenReadiness): boolean {
  return told === "not ready" ? wasUnready : told.test(said);
}

/** Waits until `by` more requests are accepted; returns whether they were. */
async function grow(load: Load, network: string, by: number, timeoutMs: number): Promise<boolean> {
  const wanted = load.count(network) + by;
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(50))
    if (load.count(network) >= wanted) return true;
  return false;
}

/** Waits until `/readyz` reports the struck network as ready again. */
async function isReadyWithin(world: World, timeoutMs: number): Promise<boolean> {
  return await holdsWithin(timeoutMs, async () => {
    const response = await fetch(`${world.service().url}/readyz`).catch(() => undefined);
    const { networks } = ((await response?.json()) ?? {}) as {
      networks?: Record<string, { ready: boolean }>;
    };
    return networks?.[STRUCK]?.ready === true;
  });
}

/** Waits until every accepted request has ended, and checks that it ended once. */
async function awaitEnds(world: World, load: Load, breaches: string[]): Promise<CheckedRequest[]> {
  const deadline = Date.now() + END_TIMEOUT_MS;
  const requests: CheckedRequest[] = [];
  for (const [key, id] of load.accepted) {
    const read = async () => {
      const { status, data } = await call(world, "GET", `/api/requests/${id}`);
      return status === 200
        ? data
        : { state: `unknown: it was answered ${status} ${data.err}`, timeline: [] };
    };
    let record = await read();
    while (!["fulfilled", "failed"].includes(record.state) && Date.now() < deadline) {
      await sleep(100);
      record = await read();
    }
    const ends = countEnds(record);
    if (ends !== 1) breaches.push(`${key} (${id}) ended ${ends} times; it is ${record.state}: ${record.why}`);
    if (record.state === "failed" && !record.error?.message)
      breaches.push(`${key} (${id}) failed without a reason`);
    requests.push(record);
  }
  return requests;
}

/** Returns all requests ever accepted on a network: the chain must hold all of them. */
async function allRequests(world: World, network: string): Promise<CheckedRequest[]> {
  const found: CheckedRequest[] = [];
  for (let cursor = ""; ;) {
    const target = `/api/requests?limit=100&network=${network}${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const { data } = await call(world, "GET", target);
    found.push(...data.items);
    if (data.nextCursor === null) return found;
    cursor = data.nextCursor;
  }
}

/** Calls the service, and tries again later if it is rate limited. */
async function call(
  world: World,
  ...[method, target, options]: Parameters<TycheProcess["call"]>
): Promise<Answer> {
  for (const deadline = Date.now() + RECOVERY_TIMEOUT_MS; ; await sleep(250)) {
    const answer = await world.service().call(method, target, options);
    if (answer.status !== 429 || Date.now() > deadline) return answer;
  }
}

const REPLAYS = 6;

/** Checks that the same call with the same key is the same request, whatever happened. */
async function checkReplays(world: World, load: Load, breaches: string[]): Promise<void> {
  for (const [key, id] of [...load.accepted].slice(0, REPLAYS)) {
    const { data } = await call(world, "GET", `/api/requests/${id}`);
    const { kind, network, params } = data;
    const [target, body] =
      kind === "preset"
        ? [`/api/vrfv2/presets?network=${network}`, params]
        : kind === "random"
          ? [`/api/vrfv2/requestRandomNumber?network=${network}&numWords=${params.numWords}`, undefined]
          : ["/api/oracleFunctions/runFunction", { network, source: params.source, args: params.args }];
    const again = await call(world, "POST", target, {
      headers: { "idempotency-key": key, prefer: "respond-async, wait=0" },
      ...(body === undefined ? {} : { body }),
    });
    const found = again.headers.get("tyche-request-id");
    if (again.status >= 400)
      breaches.push(`${key} called again was answered ${again.status}: ${again.data.err}`);
    else if (found !== id) breaches.push(`${key} is ${id}, and was ${found} when called again`);
  }
}
