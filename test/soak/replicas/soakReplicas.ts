import { setTimeout as sleep } from "node:timers/promises";
import { NETWORK } from "../../external/support/world.ts";
import { checkChain, type CheckedNetwork, type CheckedRequest } from "../../faults/chainChecker.ts";
import { createRandom } from "../../oracle/protocol/random.ts";
import { countEnds } from "../../support/countEnds.ts";
import { withClient } from "../../support/postgres.ts";
import { startReplicas } from "./startReplicas.ts";
import type { SupervisedReplica } from "./supervised.ts";
import { createTroubles, shuffleAgainAndAgain } from "./troubles.ts";

export interface ReplicaSoakOptions {
  readonly replicas: number;
  /** Minimum duration of calls and troubles: every trouble strikes at least once. Open requests then get {@link END_TIMEOUT_MS} to end. */
  readonly seconds: number;
  /** The same seed makes the same choices in the same order. */
  readonly seed: number;
  readonly callers: number;
  readonly say: (line: string) => void;
}

/** The results of a soak. */
export interface ReplicaSoakReport {
  readonly accepted: number;
  readonly fulfilled: number;
  /** How often each trouble struck. */
  readonly troubles: Readonly<Record<string, number>>;
  /** Violated invariants, a sentence each; empty if all held. */
  readonly violations: readonly string[];
}

const END_TIMEOUT_MS = 180_000;
/** Statuses that a call may get while things go wrong; it is repeated. */
const MAY_FAIL_WITH = [429, 502, 503, 504];
/** Maximum pause between two troubles. */
const MAX_CALM_MS = 2_000;

/**
 * Runs callers with idempotency keys that move from replica to replica while replicas, the database and its connections fail, and then
 * compares what the service says with the chain, using a checker that shares no code with it.
 */
export async function soakReplicas(options: ReplicaSoakOptions): Promise<ReplicaSoakReport> {
  const { seconds, seed, callers, say } = options;
  // Callers draw as often as they get answers, and the choice of troubles must not depend on that.
  const [random, callersRandom] = [createRandom(seed), createRandom(seed + 1)];
  const violations: string[] = [];
  const troubles: Record<string, number> = {};
  const accepted = new Map<string, string>();
  const world = await startReplicas({
    count: options.replicas,
    say,
    onEnd: (line) => violations.push(line),
  });
  const { replicas, chain, server, url } = world;
  try {
    let isOver = false;
    const call = async (key: string, target: string, body?: object): Promise<void> => {
      // Repeat until it is accepted, each time at a random replica; at the end, too: a call whose answer got lost may have been accepted.
      while (!isOver || !accepted.has(key)) {
        const tyche = callersRandom.pick(replicas).present();
        const headers = { "idempotency-key": key, prefer: "respond-async, wait=0" };
        const answer = await tyche
          ?.call("POST", target, { headers, ...(body && { body }), signal: AbortSignal.timeout(20_000) })
          .catch(() => undefined);
        const id: unknown = answer?.headers.get("tyche-request-id");
        if (answer !== undefined && answer.status < 300 && typeof id === "string") {
          const earlier = accepted.get(key);
          if (earlier !== undefined && earlier !== id) violations.push(`${key} is both ${earlier} and ${id}`);
          accepted.set(key, id);
          // Some repeat an accepted call elsewhere.
          if (earlier !== undefined || callersRandom.chance(0.8)) return;
        } else if (answer !== undefined && !MAY_FAIL_WITH.includes(answer.status)) {
          violations.push(`${key} got ${answer.status}: ${answer.data.err}`);
          return;
        }
        await sleep(50);
      }
    };
    const end = Date.now() + seconds * 1_000;
    const caller = async (name: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        const key = `soak-${name}-${n}`;
        if (callersRandom.chance(0.6)) await call(key, `/api/vrfv2/presets?network=${NETWORK}`, {});
        else
          await call(key, "/api/oracleFunctions/runFunction", {
            network: NETWORK,
            source: "return Functions.encodeString(args[0])",
            args: [key],
          });
        await sleep(callersRandom.below(300));
      }
    };
    const finished = Promise.all(Array.from({ length: callers }, (_, name) => caller(name)));
    const kinds = createTroubles({ url, server, replicas, random });
    const schedule = shuffleAgainAndAgain(Object.keys(kinds), random);
    while (Date.now() < end || Object.keys(troubles).length < Object.keys(kinds).length) {
      await sleep(random.below(MAX_CALM_MS));
      const name = schedule.next().value!;
      say(name);
      await kinds[name]!();
      troubles[name] = (troubles[name] ?? 0) + 1;
    }
    isOver = true;
    await finished;
    await Promise.all(replicas.map((one) => one.restarted()));
    const fulfilled = await judge({ accepted, replicas, rpcUrl: chain.httpUrl, violations, say });
    const doubled = await withClient(url, (client) =>
      client.query(
        "SELECT sender, nonce FROM transactions WHERE state = 'mined' GROUP BY sender, nonce HAVING count(*) > 1",
      ),
    );
    for (const { nonce } of doubled.rows as { nonce: string }[])
      violations.push(`two transactions with nonce ${nonce} count as mined`);
    return { accepted: accepted.size, fulfilled, troubles, violations };
  } finally {
    await world.close();
  }
}

/** Waits until everything accepted has ended, and compares it with the chain; returns how many requests were fulfilled. */
async function judge(options: {
  readonly accepted: ReadonlyMap<string, string>;
  readonly replicas: readonly SupervisedReplica[];
  readonly rpcUrl: string;
  readonly violations: string[];
  readonly say: (line: string) => void;
}): Promise<number> {
  const { accepted, replicas, rpcUrl, violations, say } = options;
  say(`${accepted.size} accepted; waiting for those that are open`);
  const deadline = Date.now() + END_TIMEOUT_MS;
  const ended: CheckedRequest[] = [];
  let turn = 0;
  const read = async (id: string) => {
    const tyche = replicas[(turn += 1) % replicas.length]!.present();
    return (await tyche?.call("GET", `/api/requests/${id}`).catch(() => undefined))?.data;
  };
  for (const [key, id] of accepted) {
    let record = await read(id);
    while (!["fulfilled", "failed"].includes(record?.state) && Date.now() < deadline) {
      await sleep(100);
      record = await read(id);
    }
    const ends = record === undefined ? 0 : countEnds(record);
    if (ends !== 1) violations.push(`${key} (${id}) ended ${ends} times; ${record?.state}: ${record?.why}`);
    else if (record.state === "failed")
      violations.push(`${key} (${id}) failed: ${record.error?.message ?? record.outcome?.err}`);
    if (record !== undefined) ended.push(record);
  }
  const { data } = await replicas[0]!.present()!.call("GET", "/api/networks");
  const network = data.items.find(({ name }: { name: string }) => name === NETWORK) as CheckedNetwork;
  violations.push(...(await checkChain({ ...network, rpcUrl }, ended)));
  return ended.filter(({ state }) => state === "fulfilled").length;
}
