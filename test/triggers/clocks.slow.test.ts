import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ScheduleView, TriggerRun } from "../../src/api/types.ts";
import { clockModule } from "../support/clock.ts";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { startReceiver, type Receiver } from "../webhooks/receiver.ts";

const AHEAD_MS = 600_000;
const TICKS_AHEAD = 60;
const PATIENCE = { timeout: 120_000, interval: 100 };

vi.setConfig({ testTimeout: 600_000 });

let receiver: Receiver;
let tyche: TycheProcess;
/** Messages that were refused once. */
const refused = new Set<string>();

beforeAll(async () => {
  receiver = await startReceiver({
    "/flapping": (response, { id }) => {
      response.writeHead(refused.has(id) ? 204 : 500).end();
      refused.add(id);
    },
  });
  tyche = await startTycheProcess({
    networks: ["sepolia"],
    env: {
      TYCHE_ALLOW_HOSTS: receiver.host,
      NODE_OPTIONS: `--import=${clockModule(AHEAD_MS, "SIGUSR2")}`,
    },
  });
});
afterAll(async () => {
  await tyche?.stop();
  await receiver?.close();
});

const call = async (method: string, target: string, body?: object) => {
  const { status, data } = await tyche.call(method, target, body && { body });
  expect(status).toBe(200);
  return data;
};
const readAll = async <Item>(target: string): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: { readonly items: readonly Item[]; readonly nextCursor: string | null } = await call(
      "GET",
      `${target}?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
};
const readRuns = (id: string) => readAll<TriggerRun>(`/api/schedules/${id}/runs`);
/** Waits until the runs of a schedule, newest first, fulfil a condition. */
const waitFor = (id: string, condition: (runs: readonly TriggerRun[]) => boolean) =>
  vi.waitFor(async () => {
    const runs = await readRuns(id);
    if (!condition(runs)) throw new Error(JSON.stringify(runs.slice(0, 3)));
    return runs;
  }, PATIENCE);
const isRequested = ({ state }: TriggerRun): boolean => state === "requested";

test("a running service whose clock jumps ten minutes ahead and back, and that stands still, acts on each tick once", async () => {
  const hooks: string[] = [];
  for (const name of ["good", "flapping"])
    hooks.push((await call("POST", "/api/webhooks", { url: `${receiver.url}/${name}` })).id);
  const create = async (times: object): Promise<string> => {
    const action = { random: { numWords: 1 } };
    const body = { name: "ticks", network: "sepolia", overlap: "allow", action, ...times };
    return (await call("POST", "/api/schedules", body)).id;
  };
  const ids = {
    all: await create({ every: "10s", catchUp: "all" }),
    one: await create({ every: "10s", catchUp: "one" }),
    cron: await create({ cron: "*/10 * * * * *", timeZone: "Europe/Berlin", catchUp: "one" }),
  };
  for (const id of Object.values(ids)) await waitFor(id, (runs) => runs.some(isRequested));

  // Ahead: an outage whose ticks make one request, or one each.
  process.kill(tyche.pid, "SIGUSR2");
  await waitFor(ids.all, (runs) => runs.length >= TICKS_AHEAD && runs.every(isRequested));
  for (const id of [ids.one, ids.cron]) {
    const runs = await waitFor(id, (its) => its.length >= TICKS_AHEAD && isRequested(its[0]!));
    expect(runs.filter(({ reason }) => reason === "missed").length).toBeGreaterThan(TICKS_AHEAD / 2);
  }

  // Back: ticks run as before.
  process.kill(tyche.pid, "SIGUSR2");
  for (const id of [ids.one, ids.cron]) {
    const backAt = await vi.waitFor(async () => {
      const { next }: ScheduleView = await call("GET", `/api/schedules/${id}`);
      expect(Date.parse(next[0]!)).toBeLessThan(Date.now() + 60_000);
      return next[0]!;
    }, PATIENCE);
    await waitFor(id, (runs) => runs.some((run) => run.at >= backAt && isRequested(run)));
  }

  // Stopped until two ticks are due.
  const due = (await call("GET", `/api/schedules/${ids.one}`)).next[1] as string;
  process.kill(tyche.pid, "SIGSTOP");
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(due)), PATIENCE);
  process.kill(tyche.pid, "SIGCONT");
  await waitFor(ids.one, (runs) => runs.some((run) => run.at === due));

  const requestIds: string[] = [];
  for (const id of Object.values(ids)) {
    await call("PATCH", `/api/schedules/${id}`, { paused: true });
    const runs = await waitFor(id, (its) => its.every(({ state }) => state !== "due"));
    expect(new Set(runs.map(({ at }) => at)).size).toBe(runs.length);
    const soon = new Date().toISOString();
    const past = runs
      .map(({ at }) => Date.parse(at))
      .filter((at) => at < Date.parse(soon))
      .toSorted((a, b) => a - b);
    expect(past).toEqual(past.map((_, i) => past[0]! + i * 10_000));
    requestIds.push(...runs.flatMap(({ requestId }) => requestId ?? []));
  }
  const requests = await vi.waitFor(async () => {
    const found = await readAll<{ readonly id: string; readonly state: string }>("/api/requests");
    expect(found.filter(({ state }) => state !== "fulfilled")).toEqual([]);
    return found;
  }, PATIENCE);
  expect(requestIds.toSorted()).toEqual(requests.map(({ id }) => id).toSorted());

  // Failed attempts are due at once under a clock that is ahead.
  process.kill(tyche.pid, "SIGUSR2");
  for (const id of hooks)
    await vi.waitFor(
      async () => expect(await call("GET", `/api/webhooks/${id}`)).toMatchObject({ pending: 0, failed: 0 }),
      PATIENCE,
    );
  for (const path of ["/good", "/flapping"]) {
    const messages = receiver.received.filter((message) => message.path === path);
    const byId = Map.groupBy(messages, ({ id }) => id);
    const told = [...byId.values()].map(([first]) => JSON.parse(first!.body));
    const fulfilled = told
      .filter(({ type }) => type === "request.fulfilled")
      .map(({ data }) => String(data.id));
    expect(fulfilled.toSorted()).toEqual(requestIds.toSorted());
  }
});
