import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createClient, type ScheduleView, type TriggerRun } from "../../src/client/index.ts";
import {
  makeDataDir,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;
beforeAll(() => {
  dataDir = makeDataDir();
});
afterAll(async () => {
  await tyche?.stop();
  removeDataDir(dataDir);
});

const start = () => startTycheProcess({ dataDir, networks: ["sepolia"] });
const client = () => createClient({ baseUrl: tyche.url, apiKey: tyche.apiKey });

test("a service killed while schedules are due makes one request of each tick once it is back", async () => {
  tyche = await start();
  const create = async (action: object) => {
    const settings = { name: "often", network: "sepolia", every: "10s", catchUp: "all", overlap: "allow" };
    const { status, data } = await tyche.call("POST", "/api/schedules", { body: { ...settings, action } });
    expect(status).toBe(200);
    return data as Pick<ScheduleView, "id" | "next">;
  };
  const created = [
    ...(await Promise.all(Array.from({ length: 20 }, () => create({ random: { numWords: 1 } })))),
    await create({ preset: "range", min: "1", max: "6" }),
    await create({ function: { source: "return Functions.encodeUint256(7n);", returnType: "uint256" } }),
  ];
  const runsOf = async (id: string): Promise<readonly TriggerRun[]> =>
    (await client().schedules.runs(id, { limit: 100 })).items.toReversed();
  const ids = created.map(({ id }) => id);
  const first = created[0]!.next[0];
  // As soon as one tick is recorded, the others are about to be.
  await vi.waitFor(async () => expect(await runsOf(ids[0]!)).not.toHaveLength(0), {
    timeout: 60_000,
    interval: 5,
  });
  await tyche.stop("SIGKILL");

  tyche = await start();
  await vi.waitFor(
    async () => {
      for (const id of ids) {
        const runs = await runsOf(id);
        expect(runs.length).toBeGreaterThan(1);
        expect(runs.map(({ state }) => state)).not.toContain("due");
      }
    },
    { timeout: 120_000, interval: 100 },
  );
  for (const id of ids) await client().schedules.change(id, { paused: true });
  // A tick that was stored just before the pause is skipped by it.
  const runs = await vi.waitFor(async () => {
    const all = (await Promise.all(ids.map(runsOf))).flat();
    expect(all.map(({ state }) => state)).not.toContain("due");
    return all.filter(({ reason }) => reason !== "paused");
  });
  for (const id of ids) {
    const times = (await runsOf(id)).map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.map((_, i) => times[0]! + i * 10_000));
  }
  expect((await runsOf(ids[0]!))[0]!.at).toBe(first);
  expect(runs.map(({ state, reason }) => reason ?? state)).toEqual(runs.map(() => "requested"));
  const requestIds = runs.map(({ requestId }) => requestId!).toSorted();
  const listed: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await client().requests({ limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    listed.push(...page.items.map(({ id }) => id));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(listed.toSorted()).toEqual(requestIds);
  await vi.waitFor(
    async () => {
      for (const id of ids) {
        const { requestId } = (await runsOf(id))[0]!;
        expect((await client().request(requestId!)).state).toBe("fulfilled");
      }
    },
    { timeout: 120_000, interval: 100 },
  );

  const asked = await client().schedules.run(ids.at(-2)!);
  expect(asked).toMatchObject({ asked: true, state: "requested" });
  expect(await client().request(asked.requestId!)).toMatchObject({ triggerId: ids.at(-2) });
  expect((await client().schedules.get(ids.at(-2)!)).action).toEqual({ preset: "range", min: "1", max: "6" });
  await client().schedules.delete(ids[0]!);

  const env = { TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
  const run = async (...words: string[]) => (await runTyche(["schedule", ...words], env)).output;
  const action = '{"random": {"numWords": 1}}';
  const added = await run("add", "Daily", "--network", "sepolia", "--cron", "0 20 * * *", "--action", action);
  const id = /sch_\w+/.exec(added)![0];
  expect(added).toContain("0 20 * * * UTC  sepolia  Daily");
  expect(await run("change", id, "--time-zone", "Europe/Berlin")).toContain("0 20 * * * Europe/Berlin");
  expect(await run("pause", id)).toContain("paused");
  const shown = ["requests", "show", /req_\w+/.exec(await run("run", id))![0]];
  expect((await runTyche(shown, env)).output).toContain(`by      ${id}`);
  expect(await run("runs", id, "--limit", "1")).toMatch(/ {2}by you +req_\w+/);
  expect(await run("list")).toContain(id);
  expect(await run("add", "None", "--every", "1h", "--network", "sepolia")).toContain("needs a JSON object");
  expect(await run("remove", id)).toContain(`removed ${id}`);
  expect(await client().schedules.list()).toHaveLength(ids.length - 1);
});

test.each([
  [{ action: { preset: "range", min: "x" } }, "/action/min"],
  [{ action: { random: { numWords: 0 } } }, "/action/random/numWords"],
  [{ action: { random: { network: "sepolia" } } }, "/action/random/network"],
  [{ action: { function: { source: 5 } } }, "/action/function/source"],
  [{ action: { preset: "coinflip", random: {} } }, "/action"],
  [{ action: {} }, "/action"],
  [{ action: { random: 5 } }, "/action/random"],
  [{ action: { preset: "coinflip" }, network: "none" }, "/network"],
])("says where in %j the mistake is", async (changes, path) => {
  const body = { name: "a", network: "sepolia", every: "1h", ...changes };
  const { status, data } = await tyche.call("POST", "/api/schedules", { body });
  expect(status).toBe(400);
  expect(data.details.map((one: { readonly path: string }) => one.path)).toContain(path);
});
