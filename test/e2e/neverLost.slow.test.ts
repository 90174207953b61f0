import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChainClient } from "../../src/evm/client.ts";
import type { RawLog } from "../../src/lib/nodeAnswers.ts";
import { decodeLog } from "../../src/chainlink/events.ts";
import type { ChainEvent } from "../../src/chainlink/events.ts";
import { presetIdsOf } from "../support/presetEvents.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;

beforeEach(async () => {
  dataDir = makeDataDir();
  tyche = await startTycheProcess({ dataDir, networks: ["fuji"] });
});
afterEach(async () => {
  await tyche.stop("SIGKILL");
  await waitForChains();
  removeDataDir(dataDir);
});

const RANDOM = "/api/vrfv2/requestRandomNumber?network=fuji";
const key = (name: string) => ({ "idempotency-key": name });
const get = async (id: string) => (await tyche.call("GET", `/api/requests/${id}`)).data;
const ended = async (id: string) =>
  await vi.waitFor(
    async () => {
      const record = await get(id);
      if (!["fulfilled", "failed"].includes(record.state)) throw new Error(`${record.state}: ${record.why}`);
      return record;
    },
    { interval: 50 },
  );
const restart = async () => {
  await tyche.stop("SIGKILL");
  tyche = await startTycheProcess({ dataDir });
};

/** Returns the processes of the chains, from the pid files that exist while they run. */
const chainPids = (): number[] =>
  readdirSync(path.join(dataDir, "chains"))
    .map((network) => path.join(dataDir, "chains", network, "anvil.pid"))
    .filter((file) => existsSync(file))
    .map((file) => Number.parseInt(readFileSync(file, "utf8"), 10));
const waitForChains = async () =>
  await vi.waitFor(() => {
    const isLeft = (pid: number): boolean => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(dataDir);
      } catch {
        return false;
      }
    };
    expect(chainPids().filter(isLeft)).toEqual([]);
  });

test("a caller who leaves loses nothing", async () => {
  const requests = async (): Promise<readonly object[]> =>
    (await tyche.call("GET", "/api/requests")).data.items;
  // On a busy machine, the result may come before the caller has left.
  for (let asked = 1; ; asked += 1) {
    const ask = { headers: key(`left-${asked}`) };
    const leaving = new AbortController();
    const hasLeft = tyche
      .call("POST", `${RANDOM}&confirmations=200`, { ...ask, signal: leaving.signal })
      .then(
        () => false,
        (error: Error) => {
          expect(error.name).toBe("AbortError");
          return true;
        },
      );
    await vi.waitFor(async () => expect(await requests()).toHaveLength(asked));
    leaving.abort();
    const wasInTime = await hasLeft;
    const { data } = await tyche.call("POST", `${RANDOM}&confirmations=200`, ask);
    expect(data.success).toBe(true);
    expect(await requests()).toHaveLength(asked);
    if (wasInTime) return;
  }
});

test("the same key gives the same answer, after a crash too; another body is a conflict", async () => {
  const requests = [
    ["/api/vrfv2/presets?network=fuji", { preset: "range", min: "1", max: "1000000" }],
    [RANDOM, undefined],
    [
      "/api/oracleFunctions/runFunction",
      { network: "fuji", source: "return Functions.encodeString('hi')", args: [] },
    ],
  ] as const;
  const send = (i: number) =>
    tyche.call("POST", requests[i]![0], {
      headers: key(`key ${i}`.replace(" ", "-")),
      ...(requests[i]![1] === undefined ? {} : { body: requests[i]![1] }),
    });
  const first = await Promise.all(requests.map((_, i) => send(i)));
  await restart();
  const second = await Promise.all(requests.map((_, i) => send(i)));
  const unlinked = (data: Record<string, string>) => ({
    ...data,
    url: "",
    vrfv2EventHash: "",
    shareUrl: "",
  });
  for (const [i, { status, data }] of second.entries()) {
    expect(status).toBe(200);
    expect(unlinked(data)).toEqual(unlinked(first[i]!.data));
  }
  const other = await tyche.call("POST", `${RANDOM}&numWords=2`, { headers: key("key-1") });
  expect(other).toMatchObject({ status: 409, data: { code: "idempotency_conflict" } });
});

test("what was accepted before a crash ends after it, and only once", async () => {
  const headers = { prefer: "respond-async" };
  const accepted = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const target = i % 2 === 0 ? "/api/vrfv2/presets?network=fuji" : RANDOM;
      const { status, data } = await tyche.call("POST", target, {
        headers: { ...headers, ...key(`many-${i}`) },
        ...(i % 2 === 0 ? { body: {} } : {}),
      });
      expect(status).toBe(202);
      return data.id as string;
    }),
  );
  await restart();
  for (const id of accepted) {
    const { state, timeline, outcome } = await ended(id);
    expect(state).toBe("fulfilled");
    expect(outcome.success).toBe(true);
    expect(timeline.filter((entry: { state: string }) => entry.state === "fulfilled")).toHaveLength(1);
  }
  const database = new DatabaseSync(path.join(dataDir, "tyche.sqlite"), { readOnly: true });
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  database.close();
});

test("a stream of states goes on after Last-Event-ID, in another process too", async () => {
  const { data } = await tyche.call("POST", `${RANDOM}&confirmations=40`, {
    headers: { prefer: "respond-async" },
  });
  const stream = async (lastEventId?: string) => {
    const response = await fetch(`${tyche.url}/api/requests/${data.id}`, {
      headers: {
        authorization: tyche.apiKey,
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
    });
    return await response.text();
  };
  const whole = await stream();
  const ids = [...whole.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  expect(ids).toEqual(["1", "2", "3", "end"]);
  await restart();
  const rest = await stream("2");
  expect([...rest.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(["3", "end"]);
  expect(rest).toContain('"success":true');
});

test("another chain under the data directory is noticed, and what was in flight ends with a reason", async () => {
  const { data } = await tyche.call("POST", `${RANDOM}&confirmations=200`, {
    headers: { prefer: "respond-async" },
  });
  await tyche.stop("SIGKILL");
  await waitForChains();
  const database = new DatabaseSync(path.join(dataDir, "tyche.sqlite"));
  // Makes it a request in progress, whatever state it had reached.
  database
    .prepare("UPDATE requests SET state = 'submitted', outcome = NULL, checksum = NULL WHERE id = ?")
    .run(data.id);
  database.close();
  rmSync(path.join(dataDir, "chains", "fuji"), { recursive: true });
  tyche = await startTycheProcess({ dataDir });
  const record = await get(data.id);
  expect(record).toMatchObject({
    state: "failed",
    error: { code: "request_failed", message: expect.stringContaining("replaced by a new one") },
  });
  expect((await tyche.call("POST", RANDOM)).data.success).toBe(true);
});

test("a chain whose process is killed comes back by itself, and nothing is lost or doubled", async () => {
  const source = "return Functions.encodeString(args[0])";
  const kinds = [
    ["/api/vrfv2/presets?network=fuji", { preset: "range", min: "1", max: "1000000" }],
    [RANDOM, {}],
    ["/api/oracleFunctions/runFunction", { network: "fuji", source, args: ["hi"] }],
  ] as const;
  const accepted: string[][] = kinds.map(() => []);
  let sent = 0;
  let isOver = false;
  const callers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const kind = sent++ % kinds.length;
      const [target, body] = kinds[kind]!;
      const headers = { prefer: "respond-async, wait=0", ...key(`killed-${sent}`) };
      const { status, data } = await tyche.call("POST", target, { headers, body });
      expect({ status, err: data.err }).toEqual({ status: 202, err: undefined });
      accepted[kind]!.push(data.id);
    }
  });
  const pidFile = path.join(dataDir, "chains", "fuji", "anvil.pid");
  let killed = 0;
  /** Kills the chain's process, a different one each time. */
  const kill = async () =>
    await vi.waitFor(
      () => {
        const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
        expect(pid).not.toBe(killed);
        process.kill(pid, "SIGKILL");
        killed = pid;
      },
      { interval: 5 },
    );
  const lostBlocks = () => [...tyche.output().matchAll(/"lostBlocks":(\d+)/g)].map(([, blocks]) => blocks);
  for (const killsAtOnce of [1, 1, 3]) {
    const before = lostBlocks().length;
    const acceptedBefore = accepted.flat().length;
    await vi.waitFor(() => expect(accepted.flat().length).toBeGreaterThan(acceptedBefore + 20));
    // The second and third kill hit while the chain is recovering.
    for (let kills = 0; kills < killsAtOnce; kills += 1) await kill();
    await vi.waitFor(() => expect(lostBlocks().length).toBeGreaterThan(before));
  }
  isOver = true;
  await Promise.all(callers);

  for (const id of accepted.flat()) {
    const { state, timeline, outcome } = await ended(id);
    expect({ state, success: outcome?.success }).toEqual({ state: "fulfilled", success: true });
    expect(timeline.filter((entry: { state: string }) => entry.state === "fulfilled")).toHaveLength(1);
  }
  const [presets, randoms, functions] = accepted.map((ids) => ids.length) as [number, number, number];
  const { words, requested, answered } = await readEvents();
  expect({ words, runs: requested.length }).toEqual({ words: randoms, runs: presets + functions });
  expect(new Set(answered)).toEqual(new Set(requested));
  expect(answered).toHaveLength(requested.length);
  expect(new Set(lostBlocks())).toEqual(new Set(["0"]));
  expect((await tyche.call("POST", RANDOM)).data.success).toBe(true);
});

/** Reads all of fuji's events: how many random numbers were requested, and the ids of presets and function requests, and of their answers. */
async function readEvents() {
  const { data } = await tyche.call("GET", "/api/networks");
  const { rpcUrl } = data.items.find(({ name }: { name: string }) => name === "fuji");
  const client = createChainClient(rpcUrl);
  const { number: head } = (await client.getHead("latest"))!;
  const logs: RawLog[] = [];
  // A single answer with all logs may exceed what the client accepts.
  for (let fromBlock = 0n; fromBlock <= head; fromBlock += 100n)
    logs.push(...(await client.getLogs({ addresses: [], fromBlock, toBlock: fromBlock + 99n })));
  const events = logs.map(decodeLog).filter((event) => event !== undefined);
  const idsOf = (wanted: ChainEvent["name"]) =>
    events.flatMap((event) => (event.name === wanted && "requestId" in event ? [event.requestId] : []));
  const batches = new Set(events.map((event) => event.name === "BatchRequested" && event.vrfRequestId));
  const presets = presetIdsOf(logs);
  return {
    words: events.reduce(
      (sum, event) =>
        sum + (event.name === "RandomWordsRequested" && !batches.has(event.requestId) ? event.numWords : 0),
      0,
    ),
    requested: [...idsOf("OracleRequest"), ...presets.requested],
    answered: [...idsOf("RequestProcessed"), ...presets.answered],
  };
}
