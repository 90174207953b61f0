import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Dapp } from "../../src/dapps/dapp.ts";
import { TycheError } from "../../src/lib/errors.ts";
import type { WakeLoop } from "../../src/lib/wakeLoop.ts";
import { createId } from "../../src/domain/id.ts";
import { InvalidParameterError } from "../../src/lib/invalidParameter.ts";
import { OpenLimitError } from "../../src/requests/accept/requestLimits.ts";
import type { Service } from "../../src/requests/service.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { insertRequests } from "../../src/store/requests.ts";
import type { Store } from "../../src/store/store.ts";
import { insertWebhook } from "../../src/store/webhooks.ts";
import { planTicks, startScheduler } from "../../src/triggers/scheduler.ts";
import type { Checked } from "../../src/api/parameters/requestSchemas.ts";
import { createSchedules, type Schedules } from "../../src/triggers/schedules.ts";
import { DATABASES, useStore } from "../support/databases.ts";
import { makeStoredRequest } from "../support/storedRequest.ts";

const DAPP: Dapp = { id: "dapp_a", name: "a", keyId: "key_a", facilities: ["presets"] };
const START = Date.parse("2026-11-26T12:00:00Z");
const SETTINGS: Parameters<Schedules["create"]>[1] = {
  name: "words",
  network: "sepolia",
  every: "10s",
  action: { random: { numWords: 1 } },
  catchUp: "one",
  overlap: "allow",
  paused: false,
};

describe.each(DATABASES)("on %s", (_name, prepare) => {
  let store: Store;
  let clock: number;
  let acting: Dapp | undefined;
  /** Idempotency keys submitted, in order. */
  let submitted: string[];
  let refusal: TycheError | undefined;
  let loses: boolean;
  /** Time between the blocks of `fuji`, which others run. */
  let blockMs: number;
  let schedules: Schedules;
  let scheduler: WakeLoop;
  const opened: WakeLoop[] = [];
  useStore(prepare, (its) => {
    store = its;
  });

  const now = (): number => clock;
  /** Stores a request as the service does; `loses`: the answer is lost. */
  const submit: Service["submit"] = async (dapp, _command, { idempotencyKey }) => {
    if (refusal !== undefined) throw refusal;
    submitted.push(idempotencyKey!);
    const id = createId("req");
    await insertRequests(store.db, [
      { ...makeStoredRequest("1", { dappId: dapp.id }), id, idempotencyKey: idempotencyKey! },
    ]);
    if (loses) throw new Error("the answer is lost");
    return { id } as Awaited<ReturnType<Service["submit"]>>;
  };
  const act = () => ({ store, submit, findActing: async () => acting, onEvent() {}, now });
  const start = (): WakeLoop => {
    const one = startScheduler({ ...act(), onError() {} });
    opened.push(one);
    return one;
  };
  const create = (changes: Checked<"changeSchedule"> = {}) =>
    schedules.create(DAPP, { ...SETTINGS, ...changes });
  /** Sets the clock, and returns a schedule's runs once none is due, oldest first. */
  const runsAt = async (id: string, ms: number, count: number) => {
    clock = START + ms;
    scheduler.wake();
    return await vi.waitFor(
      async () => {
        const { items } = await schedules.runs(DAPP.id, id, { limit: 100 });
        expect(items.filter(({ state }) => state !== "due")).toHaveLength(count);
        return items.toReversed();
      },
      { timeout: 60_000, interval: 20 },
    );
  };
  const stateOf = ({ state, reason }: { readonly state: string; readonly reason: string | null }) =>
    reason ?? state;

  beforeEach(async () => {
    clock = START;
    blockMs = 12_030;
    acting = DAPP;
    submitted = [];
    refusal = undefined;
    loses = false;
    await insertDapp(store.db, { id: DAPP.id, name: "a", facilities: [], createdAt: 1 });
    scheduler = start();
    schedules = createSchedules({
      ...act(),
      parseAction: (_action, network) => ({ kind: "random", network, numWords: 1 }),
      checkCommand: async () => {},
      blockMsOf: (network) => (network === "sepolia" ? undefined : blockMs),
      wake: () => scheduler.wake(),
    });
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.stop();
  });

  test("requests each tick once, with the tick as its idempotency key", async () => {
    const { id, next } = await create();
    expect(next[0]).toBe("2026-11-26T12:00:10.000Z");
    await runsAt(id, 10_000, 1);
    const runs = await runsAt(id, 20_500, 2);
    expect(runs.map(stateOf)).toEqual(["requested", "requested"]);
    expect(submitted).toEqual([`${id} 2026-11-26T12:00:10.000Z`, `${id} 2026-11-26T12:00:20.000Z`]);
    expect(new Set(runs.map(({ requestId }) => requestId)).size).toBe(2);
  });

  test.each([
    ["skip", 300_000, 30, 1],
    ["one", 300_000, 30, 1],
    ["all", 300_000, 30, 30],
    ["skip", 395_000, 39, 1],
  ] as const)("after an outage, with %s: %i ms later", async (catchUp, ms, ticks, requested) => {
    const { id } = await create({ catchUp });
    const runs = await runsAt(id, ms, ticks);
    expect(runs.filter(({ state }) => state === "requested")).toHaveLength(requested);
    expect(runs.filter(({ reason }) => reason === "missed")).toHaveLength(ticks - requested);
    expect(submitted.at(-1)).toBe(`${id} ${new Date(START + ticks * 10_000).toISOString()}`);
  });

  test("holds the most schedules of a dapp against parallel calls", async () => {
    // A call may find no connection to the database in time; then they are made again.
    const createMany = () => Promise.allSettled(Array.from({ length: 110 }, () => create({ paused: true })));
    await expect.poll(() => createMany().then(() => schedules.list(DAPP.id))).toHaveLength(100);
  });

  test("skips the newest tick too when it is later than the window", async () => {
    const { id } = await create({ every: "1h", catchUp: "skip" });
    expect((await runsAt(id, 3_600_000 + 61_000, 1)).map(stateOf)).toEqual(["missed"]);
    expect(submitted).toEqual([]);
  });

  test("a clock that jumps ahead and back runs each tick once", async () => {
    const { id } = await create({ catchUp: "all", window: "1d" });
    await runsAt(id, 100_000, 10);
    await runsAt(id, 50_000, 10);
    await runsAt(id, 110_000, 11);
    clock = START + 30_000;
    await scheduler.stop();
    scheduler = start();
    const runs = await runsAt(id, 120_000, 12);
    expect(runs.map(stateOf)).toEqual(Array.from({ length: 12 }, () => "requested"));
    expect(new Set(submitted).size).toBe(submitted.length);
  });

  test("a clock that was far ahead makes no schedule wait until then", async () => {
    const { id } = await create({ catchUp: "one", every: "1h" });
    await runsAt(id, 100 * 3_600_000, 100);
    clock = START + 90 * 60_000;
    scheduler.wake();
    await vi.waitFor(
      async () => expect((await schedules.get(DAPP.id, id)).next[0]).toBe("2026-11-26T14:00:00.000Z"),
      { timeout: 60_000, interval: 20 },
    );
  });

  test("a clock that was a day ahead for a moment keeps no tick from running when it is due", async () => {
    const { id } = await create({ catchUp: "one", every: "1h", until: "2026-11-27T00:30:00Z" });
    expect((await runsAt(id, 86_400_000, 12)).map(stateOf)).toEqual([
      ...Array.from({ length: 11 }, () => "missed"),
      "requested",
    ]);
    expect((await schedules.get(DAPP.id, id)).next).toEqual([]);
    clock = START + 1_800_000;
    scheduler.wake();
    await vi.waitFor(
      async () => expect((await schedules.get(DAPP.id, id)).next[0]).toBe("2026-11-26T13:00:00.000Z"),
      { timeout: 60_000, interval: 20 },
    );
    for (let hour = 1; hour <= 12; hour += 1) await runsAt(id, hour * 3_600_000, Math.min(hour + 1, 12));
    const { items } = await schedules.runs(DAPP.id, id, { limit: 100 });
    expect(items.map(stateOf)).toEqual(items.map(() => "requested"));
    expect(new Set(submitted).size).toBe(12);
  });

  test.each([
    ["wait", "allow", ["due", "due"]],
    ["are skipped because of the one before", "skip", ["requested", "overlap"]],
  ] as const)(
    "ticks of a clock that was ahead run when they are due if they %s",
    async (_, overlap, [first, later]) => {
      const { id } = await create({ catchUp: "all", overlap });
      if (overlap === "allow") refusal = new OpenLimitError(1_250, "sepolia");
      const expectTicks = async (ms: number, states: readonly string[]) => {
        clock = START + ms;
        scheduler.wake();
        await vi.waitFor(
          async () => {
            const { items } = await schedules.runs(DAPP.id, id, { limit: 100 });
            expect(items.map(stateOf).toReversed()).toEqual(states);
          },
          { timeout: 60_000, interval: 20 },
        );
      };
      await expectTicks(10_000, [first]);
      await expectTicks(310_000, [first, ...Array<string>(30).fill(later)]);
      await expectTicks(10_000, [first]);
      refusal = undefined;
      await store.db.updateTable("requests").set({ state: "fulfilled" }).execute();
      await expectTicks(20_000, ["requested", "requested"]);
      expect(submitted).toEqual([`${id} 2026-11-26T12:00:10.000Z`, `${id} 2026-11-26T12:00:20.000Z`]);
    },
  );

  test("a run that was asked for stays when the clock is set back before it is acted on", async () => {
    const { id } = await create({ every: "1h" });
    await runsAt(id, 4 * 3_600_000, 4);
    refusal = new OpenLimitError(1_250, "sepolia");
    const asked = await schedules.run(DAPP, id);
    clock = START;
    scheduler.wake();
    await vi.waitFor(
      async () => expect((await schedules.get(DAPP.id, id)).next[0]).toBe("2026-11-26T13:00:00.000Z"),
      { timeout: 60_000, interval: 20 },
    );
    const { items } = await schedules.runs(DAPP.id, id, { limit: 100 });
    expect(items.filter(({ state }) => state === "due")).toMatchObject([{ id: asked.id }]);
  });

  test.each([
    ["every", { every: "10s" }],
    ["cron", { every: undefined, cron: "* * * * *" }],
  ])("has no tick before its creation when the clock is set back: %s", async (_, timing) => {
    clock = START - 3 * 3_600_000;
    const older = await create({ every: "1h" });
    await runsAt(older.id, 0, 3);
    const { id, next } = await create(timing as Checked<"changeSchedule">);
    clock = START - 3_600_000;
    scheduler.wake();
    await vi.waitFor(
      async () => expect((await schedules.get(DAPP.id, older.id)).next[0]).toBe("2026-11-26T12:00:00.000Z"),
      { timeout: 60_000, interval: 20 },
    );
    await scheduler.stop();
    expect((await schedules.get(DAPP.id, id)).next).toEqual(next);
    await schedules.change(DAPP, id, { paused: true });
    expect((await schedules.change(DAPP, id, { paused: false })).next).toEqual(next);
  });

  test("finds the request of a process that ended before it recorded it", async () => {
    const { id } = await create();
    loses = true;
    clock = START + 10_000;
    scheduler.wake();
    await vi.waitFor(() => expect(submitted).toHaveLength(1), { timeout: 60_000 });
    await scheduler.stop();
    loses = false;
    scheduler = start();
    const [run] = await runsAt(id, 10_000, 1);
    expect(run?.state).toBe("requested");
    expect(submitted).toHaveLength(1);
  });

  test("two schedulers that both believe to hold the lease make one request of a tick", async () => {
    const other = start();
    const { id } = await create();
    for (let tick = 1; tick <= 20; tick += 1) {
      other.wake();
      await runsAt(id, tick * 10_000, tick);
    }
    expect(new Set(submitted).size).toBe(20);
  });

  test("shows the state of a run's request, and why it failed", async () => {
    const { id } = await create();
    const { requestId } = (await runsAt(id, 10_000, 1))[0]!;
    const become = async (row: object): Promise<unknown> => {
      await store.db
        .updateTable("requests")
        .set({ checksum: null, ...row })
        .execute();
      return (await schedules.runs(DAPP.id, id, { limit: 1 })).items[0];
    };
    const requested = { state: "requested", requestId, error: null };
    expect(await become({})).toMatchObject({ ...requested, requestState: "received" });
    const error = { code: "function_failed", message: "syntax error in line 1, column 1: unexpected `)`" };
    const failed = { ...requested, requestState: "failed" };
    expect(await become({ state: "failed", error: JSON.stringify(error) })).toMatchObject({
      ...failed,
      error,
    });
    const outcome = {
      transactionHash: "0x1",
      requestId: "0x2",
      result: "0x",
      parsedResult: "",
      err: "it is closed",
    };
    expect(await become({ error: null, outcome: JSON.stringify(outcome) })).toMatchObject({
      ...failed,
      error: { code: "function_failed", message: "it is closed" },
    });
    const done = { transactionHash: "0x1", requestId: "0x2", words: ["1".repeat(201)] };
    expect(await become({ state: "fulfilled", outcome: JSON.stringify(done) })).toMatchObject({
      requestState: "fulfilled",
      error: null,
      result: `${"1".repeat(199)}…`,
    });
    await store.db.updateTable("requests").set({ params: "{", checksum: 1 }).execute();
    expect((await schedules.runs(DAPP.id, id, { limit: 1 })).items).toMatchObject([
      { ...requested, requestState: null },
    ]);
  });

  test("skips a tick while the request before it has not ended", async () => {
    const { id } = await create({ overlap: "skip" });
    const [first] = await runsAt(id, 10_000, 1);
    const { requestId: asked } = await schedules.run(DAPP, id);
    await store.db.updateTable("requests").set({ state: "fulfilled" }).where("id", "=", asked).execute();
    const [, , second] = await runsAt(id, 20_000, 3);
    expect(second).toMatchObject({ reason: "overlap", detail: `request ${first!.requestId} had not ended` });
    await store.db.updateTable("requests").set({ state: "fulfilled" }).execute();
    const [, , , third] = await runsAt(id, 30_000, 4);
    expect(third?.state).toBe("requested");
  });

  test.each([
    ["refused", new InvalidParameterError([{ path: "/preset", message: "is not served" }])],
    ["limit", new TycheError("no more today", { code: "rate_limited", blame: "caller", retryable: true })],
  ])("records a tick as %s with the service's reason", async (reason, error) => {
    refusal = error;
    const { id } = await create();
    expect(await runsAt(id, 10_000, 1)).toMatchObject([{ reason, detail: error.message, requestId: null }]);
  });

  test("records that the key of a schedule is revoked", async () => {
    acting = undefined;
    const { id } = await create();
    expect((await runsAt(id, 10_000, 1)).map(stateOf)).toEqual(["key"]);
  });

  test("waits while the dapp has its share of open requests", async () => {
    const { id } = await create({ catchUp: "all" });
    refusal = new OpenLimitError(1_250, "sepolia");
    clock = START + 10_000;
    scheduler.wake();
    await vi.waitFor(
      async () =>
        expect((await schedules.runs(DAPP.id, id, { limit: 1 })).items).toMatchObject([
          { state: "due", detail: refusal!.message },
        ]),
      { timeout: 60_000 },
    );
    clock = START + 20_000;
    scheduler.wake();
    await vi.waitFor(
      async () =>
        expect((await schedules.runs(DAPP.id, id, { limit: 1 })).items).toMatchObject([
          {
            state: "due",
            detail: `1 of the schedule's runs is before it; its trigger's first run waits: ${refusal!.message}`,
          },
        ]),
      { timeout: 60_000 },
    );
    refusal = undefined;
    expect((await runsAt(id, 20_000, 2)).map(stateOf)).toEqual(["requested", "requested"]);
  });

  test("acts on the newest of the ticks that had to wait, and skips those before it in one event", async () => {
    const { id } = await create({ catchUp: "one" });
    refusal = new OpenLimitError(1_250, "sepolia");
    for (const tick of [1, 2, 3]) {
      clock = START + tick * 10_000;
      scheduler.wake();
      await vi.waitFor(async () =>
        expect((await schedules.runs(DAPP.id, id, { limit: 100 })).items).toHaveLength(tick),
      );
    }
    refusal = undefined;
    const runs = await runsAt(id, 30_000, 3);
    expect(runs.map(stateOf)).toEqual(["missed", "missed", "requested"]);
  });

  test("waits while the chain is away, says so, and gives up when the window is over", async () => {
    const { id } = await create({ catchUp: "skip", every: "1h" });
    refusal = new TycheError("sepolia is away", {
      code: "chain_unavailable",
      blame: "upstream",
      retryable: true,
    });
    clock = START + 3_600_000;
    scheduler.wake();
    await vi.waitFor(
      async () =>
        expect((await schedules.runs(DAPP.id, id, { limit: 1 })).items).toMatchObject([
          { state: "due", detail: "sepolia is away" },
        ]),
      { timeout: 60_000 },
    );
    const [run] = await runsAt(id, 3_600_000 + 61_000, 1);
    expect(run).toMatchObject({ reason: "missed", detail: "sepolia is away" });
  });

  /** Stores a webhook for skipped ticks; returns what reads the events that it is sent. */
  const listen = async (): Promise<() => Promise<{ body: string; subject: string | null }[]>> => {
    const row = {
      id: "wh_1",
      dappId: DAPP.id,
      url: "https://example.com",
      description: "",
      scheme: "v1",
    } as const;
    const rest = {
      secret: new Uint8Array(1),
      previous: null,
      createdAt: 1,
      paused: null,
      failingSince: null,
      lastSuccessAt: null,
    };
    await store.write((db) => insertWebhook(db, { ...row, ...rest, events: ["trigger.skipped"] }));
    return () => store.db.selectFrom("webhook_events").select(["subject", "body"]).execute();
  };

  test("tells skipped ticks in one event", async () => {
    const readEvents = await listen();
    const { id } = await create({ catchUp: "one" });
    await runsAt(id, 50_000, 5);
    const events = await readEvents();
    expect(events).toHaveLength(1);
    expect(events[0]!.subject).toBe(id);
    expect(JSON.parse(events[0]!.body)).toMatchObject({
      type: "trigger.skipped",
      data: {
        triggerId: id,
        reason: "missed",
        count: 4,
        from: "2026-11-26T12:00:10.000Z",
        to: "2026-11-26T12:00:40.000Z",
      },
    });
  });

  test.each([
    ["all", "1m", ["window", "requested", "requested"]],
    ["one", "1m", ["newest", "newest", "requested"]],
    ["skip", undefined, ["newest", "newest", "requested"]],
  ] as const)("says of missed ticks what let them go, with catchUp %s", async (catchUp, window, expected) => {
    const { id } = await create({ every: "40s", catchUp, ...(window && { window }) });
    const runs = await runsAt(id, 120_000, 3);
    const why = runs.map(({ state, detail }) => /window|newest/.exec(detail ?? "")?.[0] ?? state);
    expect(why).toEqual(expected);
  });

  test("tells ticks that an outage left, and that overlap the request of the first, together", async () => {
    const readEvents = await listen();
    const { id } = await create({ catchUp: "all", overlap: "skip" });
    const runs = await runsAt(id, 3_600_000 / 4, 90);
    expect(runs.map(stateOf)).toEqual(["requested", ...Array<string>(89).fill("overlap")]);
    const told = (await readEvents()).map(({ body }) => JSON.parse(body).data);
    expect(told).toMatchObject([
      {
        reason: "overlap",
        detail: `request ${runs[0]!.requestId} had not ended`,
        count: 89,
        from: "2026-11-26T12:00:20.000Z",
        to: "2026-11-26T12:15:00.000Z",
      },
    ]);
  });

  test.each([
    ["refused", new InvalidParameterError([{ path: "/preset", message: "is not served" }])],
    ["limit", new TycheError("no more today", { code: "rate_limited", blame: "caller", retryable: true })],
    ["key", undefined],
  ])("tells ticks that an outage left, and that make no request (%s), together", async (reason, error) => {
    const readEvents = await listen();
    refusal = error;
    if (reason === "key") acting = undefined;
    const { id } = await create({ catchUp: "all" });
    const runs = await runsAt(id, 3_600_000 / 4, 90);
    expect(runs.map(stateOf)).toEqual(Array<string>(90).fill(reason));
    const told = (await readEvents()).map(({ body }) => JSON.parse(body).data);
    expect(told).toMatchObject([
      { reason, count: 90, from: "2026-11-26T12:00:10.000Z", to: "2026-11-26T12:15:00.000Z" },
    ]);
  });

  test("tells ticks that waited until their schedule was paused together", async () => {
    const readEvents = await listen();
    const { id } = await create({ catchUp: "all" });
    refusal = new OpenLimitError(1_250, "sepolia");
    for (const tick of [1, 2, 3]) {
      clock = START + tick * 10_000;
      scheduler.wake();
      await vi.waitFor(
        async () => expect((await schedules.runs(DAPP.id, id, { limit: 100 })).items).toHaveLength(tick),
        { timeout: 60_000, interval: 20 },
      );
    }
    await schedules.change(DAPP, id, { paused: true });
    expect((await runsAt(id, 30_000, 3)).map(stateOf)).toEqual(["paused", "paused", "paused"]);
    const told = (await readEvents()).map(({ body }) => JSON.parse(body).data);
    expect(told).toMatchObject([{ reason: "paused", count: 3 }]);
  });

  test.each([
    ["paused", { paused: true }],
    ["given other times", { every: "1h" }],
    ["ended", { until: "2026-11-26T15:00:15Z" }],
  ])("a schedule that is behind when it is %s keeps a record of each tick", async (_, changes) => {
    const { id } = await create({ catchUp: "skip" });
    await scheduler.stop();
    // Three hours, more than two pages of ticks.
    clock = START + 10_800_000;
    await schedules.change(DAPP, id, changes);
    const runs = await store.db.selectFrom("trigger_runs").select(["at", "state"]).orderBy("at").execute();
    expect(runs.map(({ at }) => at)).toEqual(
      Array.from({ length: 1_080 }, (__, i) => START + 10_000 * (i + 1)),
    );
    expect(runs.filter(({ state }) => state === "due")).toHaveLength(1);
  });

  test("a schedule that is weeks behind is changed once its ticks are recorded", async () => {
    const { id } = await create({ catchUp: "skip" });
    await scheduler.stop();
    clock = START + 10_000 * 6_000;
    await expect(schedules.change(DAPP, id, { paused: true })).rejects.toMatchObject({
      code: "overloaded",
      message: expect.stringContaining("try again"),
    });
    expect(await schedules.change(DAPP, id, { paused: true })).toMatchObject({ next: [] });
    const { count } = await store.db
      .selectFrom("trigger_runs")
      .select((on) => on.fn.countAll<number | string>().as("count"))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(6_000);
  });

  test("changes that are made at once are all kept", async () => {
    const { id } = await create();
    const changes = [{ paused: true }, { name: "renamed" }, { overlap: "skip" }, { catchUp: "all" }] as const;
    await Promise.all(changes.map((one) => schedules.change(DAPP, id, one)));
    const { pausedAt, ...rest } = await schedules.get(DAPP.id, id);
    expect(pausedAt).not.toBeNull();
    expect(rest).toMatchObject({ name: "renamed", overlap: "skip", catchUp: "all" });
  });

  test("has no ticks while it is paused and after its end, and runs when asked", async () => {
    const { id } = await create({ until: "2026-11-26T12:00:25Z" });
    await runsAt(id, 10_000, 1);
    expect(await schedules.change(DAPP, id, { paused: true })).toMatchObject({ next: [] });
    const asked = await schedules.run(DAPP, id);
    expect(asked).toMatchObject({ asked: true, state: "requested" });
    clock = START + 15_000;
    expect(await schedules.change(DAPP, id, { paused: false })).toMatchObject({
      next: ["2026-11-26T12:00:20.000Z"],
    });
    await runsAt(id, 40_000, 3);
    expect((await schedules.get(DAPP.id, id)).next).toEqual([]);
    expect(await schedules.change(DAPP, id, { name: "over", paused: true })).toMatchObject({ name: "over" });
    await expect(schedules.change(DAPP, id, { paused: false })).rejects.toMatchObject({
      details: [{ path: "/until" }],
    });
    expect((await schedules.change(DAPP, id, { paused: false, until: null })).next).toHaveLength(5);
  });

  test.each([
    [{ every: "5s" }, "/every", "at least 10 s apart"],
    [{ every: "soon" }, "/every", "such as 10s"],
    [{ every: undefined, cron: "*/5 * * * * *" }, "/cron", "at least 10 s apart"],
    [{ every: undefined, cron: "x" }, "/cron", "five fields"],
    [{ cron: "* * * * *" }, "/cron", "either every or cron"],
    [{ every: undefined, cron: "* * * * *", timeZone: "Mars/Olympus" }, "/timeZone", "Europe/Berlin"],
    [{ catchUp: "skip", window: "1h" }, "/window", "only for"],
    [{ window: "60d" }, "/window", "1m to 30d"],
    [{ until: "2026-11-26T12:00:05Z" }, "/until", "never run"],
  ] as const)("refuses %j", async (changes, path, message) => {
    const settings = { ...SETTINGS, ...changes } as typeof SETTINGS;
    await expect(schedules.create(DAPP, settings)).rejects.toMatchObject({
      code: "invalid_parameter",
      details: [{ path, message: expect.stringContaining(message) }],
    });
  });

  test("keeps ticks on a chain that others run a block and 30 s apart", async () => {
    const settings = { ...SETTINGS, network: "fuji" };
    await expect(schedules.create(DAPP, { ...settings, every: "42s" })).rejects.toMatchObject({
      details: [
        {
          path: "/every",
          message:
            "ticks on fuji are at least 42.1 s apart, 30 s and a block of 12.1 s; these are 42 s apart",
        },
      ],
    });
    const { id } = await schedules.create(DAPP, { ...settings, every: "43s" });
    blockMs = 20_000;
    expect(await schedules.change(DAPP, id, { every: "43s", name: "kept" })).toMatchObject({ name: "kept" });
    await expect(schedules.change(DAPP, id, { every: "42s" })).rejects.toMatchObject({
      details: [{ message: expect.stringContaining("at least 50 s apart") }],
    });
    expect((await runsAt(id, 43_000, 1)).map(stateOf)).toEqual(["requested"]);
  });

  test("lists all that is wrong with a schedule at once", async () => {
    const settings = {
      ...SETTINGS,
      every: undefined,
      cron: "x",
      timeZone: "Mars",
      window: "60d",
      until: "soon",
    };
    const refused = schedules.create(DAPP, settings as unknown as typeof SETTINGS);
    await expect(refused).rejects.toMatchObject({
      details: ["/cron", "/timeZone", "/window", "/until"].map((path) => ({ path })),
    });
  });

  test("knows no schedule of another dapp", async () => {
    const { id } = await create();
    await expect(schedules.get("dapp_b", id)).rejects.toMatchObject({ code: "not_found" });
    await expect(schedules.run({ ...DAPP, id: "dapp_b" }, id)).rejects.toMatchObject({ code: "not_found" });
    await expect(schedules.change({ ...DAPP, id: "dapp_b" }, id, {})).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

test("plans a month of missed ticks page by page", () => {
  const schedule = {
    timing: { everyMs: 10_000, startsAt: 0 },
    until: null,
    createdAt: 0,
    nextAt: 10_000,
    catchUp: "one",
    windowMs: 60_000,
  } as const;
  const month = 30 * 86_400_000;
  let [nextAt, count, due]: [number | null, number, number[]] = [schedule.nextAt, 0, []];
  while (nextAt !== null && nextAt <= month) {
    const page = planTicks({ ...schedule, nextAt }, month);
    count += page.ticks.length;
    due = [...due, ...page.ticks.filter(({ missed }) => missed === null).map(({ at }) => at)];
    nextAt = page.nextAt;
  }
  expect({ count, due }).toEqual({ count: month / 10_000, due: [month] });
});
