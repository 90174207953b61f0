import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createGuardedPost, type GuardedPost } from "../../sandbox/index.ts";
import { createRequestOutbox } from "../../src/requests/follow/requestOutbox.ts";
import { createRequestBook, type RequestBook } from "../../src/requests/requestBook.ts";
import type { OpenRequest } from "../../src/requests/openRequest.ts";
import type { WakeLoop } from "../../src/lib/wakeLoop.ts";
import { createId } from "../../src/domain/id.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { deleteOldEvents } from "../../src/store/outbox.ts";
import type { Store } from "../../src/store/store.ts";
import { startDelivery } from "../../src/webhooks/delivery.ts";
import { OVERLAP_HOURS, TOLD_EVENTS, WEBHOOK_EVENTS } from "../../src/domain/vocabulary.ts";
import { createWebhooks, type Webhooks } from "../../src/webhooks/webhooks.ts";
import { DATABASES, useStore } from "../support/databases.ts";
import { DESK_DAPP, makeRequest } from "../support/pipelineWorld.ts";
import { startReceiver, type Receiver } from "./receiver.ts";

const DAY_MS = 86_400_000;
const PATIENCE = { timeout: 60_000, interval: 10 };
/** What a call says that gives no more than a URL. */
const DEFAULTS = { events: WEBHOOK_EVENTS, description: "", signature: "hmac" } as const;
const OUTCOME = { transactionHash: "0x1", requestId: "0x2", words: ["1", "2"] } as const;

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  let receiver: Receiver;
  let post: GuardedPost;
  let webhooks: Webhooks;
  let delivery: WakeLoop;
  let book: RequestBook;
  let clock: number;
  let errors: unknown[];
  let flaps: boolean;
  let held: ServerResponse | undefined;
  const sealingKey = new Uint8Array(32).fill(7);

  useStore(create, (opened) => (store = opened));
  beforeAll(async () => {
    receiver = await startReceiver({
      "/hanging": () => {},
      "/500": (to) => void to.writeHead(500).end("x".repeat(5_000)),
      "/redirect": (to) => void to.writeHead(307, { location: "/fine" }).end(),
      "/closing": (to) => void to.destroy(),
      "/huge": (to) => {
        to.writeHead(200);
        const write = (): void => {
          while (!to.destroyed) if (!to.write("y".repeat(65_536))) return void to.once("drain", write);
        };
        write();
      },
      "/headers": (to) =>
        void to
          .writeHead(
            200,
            [
              ["x-served-by", "a"],
              ["Set-Cookie", "session=1"],
              ["x-served-by", "b"],
              ["x-api-key", "1"],
              ["x-filler", "z".repeat(2_000)],
              ["x-later", "1"],
            ].flat(),
          )
          .end(),
      "/410": (to) => void to.writeHead(410).end(),
      "/later": (to) => void to.writeHead(503, { "retry-after": "3600" }).end(),
      "/held": (to) => void (held = to),
      "/flapping": (to) => void to.writeHead(flaps ? 502 : 200).end(),
    });
  });
  beforeAll(() => void (post = createGuardedPost({ allowHosts: [receiver.host], userAgent: "test" })));
  afterAll(() => receiver.close());
  const begin = (timeoutMs = 60_000): void => {
    const onError = (error: unknown): void => void errors.push(error);
    delivery = startDelivery({ store, post, sealingKey, onError, now: () => clock, timeoutMs });
  };
  beforeEach(async () => {
    await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
    receiver.clear();
    clock = Date.now();
    errors = [];
    flaps = false;
    begin();
    const wake = (): void => delivery.wake();
    const baseUrl = (): string => "http://tyche";
    webhooks = createWebhooks({ store, post, sealingKey, baseUrl, wake, now: () => clock });
    const outbox = createRequestOutbox({ baseUrl, wake });
    book = createRequestBook(store, { outbox });
  });
  afterEach(async () => {
    await delivery.stop({ atOnce: true });
    if (errors.length > 0) throw errors[0];
  });

  const hook = (path: string, more: Partial<Parameters<Webhooks["create"]>[1]> = {}) =>
    webhooks.create(DESK_DAPP, { ...DEFAULTS, url: receiver.url + path, ...more });
  /** Stores a request that has ended at once. */
  const fulfil = async (change: Partial<OpenRequest> = {}): Promise<OpenRequest> => {
    const request = { ...makeRequest("random", "0x"), ...change } as OpenRequest;
    await book.add(request);
    await book.change(() => [{ request, state: "fulfilled", outcome: OUTCOME }]);
    clock = Math.max(clock, Date.now());
    delivery.wake();
    return request;
  };
  const attemptsOf = async (id: string) => (await webhooks.attempts(DESK_DAPP, id, { limit: 100 })).items;
  /** Waits until a webhook has had this many attempts; returns them, the first one first. */
  const attempted = (id: string, count: number) =>
    vi.waitFor(async () => {
      const items = await attemptsOf(id);
      if (items.length < count) throw new Error(`${items.length} of ${count} attempts`);
      return items.toReversed();
    }, PATIENCE);

  test("holds the most webhooks of a dapp against parallel calls", async () => {
    // A call may find no connection to the database in time; then they are made again. The delivery must not wait for one, too.
    await delivery.stop();
    const hookMany = () => Promise.allSettled(Array.from({ length: 30 }, (_, i) => hook(`/parallel/${i}`)));
    await expect.poll(() => hookMany().then(() => webhooks.list(DESK_DAPP))).toHaveLength(20);
  });

  test("the receiver is told the end of a request, signed, in sequence, and nothing else", async () => {
    const { id, secret } = await hook("/told");
    const { params } = makeRequest("random", "0x");
    const beacon = { round: "7", time: "2026-12-24T18:00:00.000Z", chainHash: "0x07" };
    const request = await fulfil({
      params: { ...params, label: "raffle", beacon },
      idempotencyKey: "sch_1 2026-12-24T18:00:00.000Z",
    } as Partial<OpenRequest>);
    const [message] = await receiver.count("/told", 1);
    const body = new Webhook(secret!).verify(message!.body, message!.headers as Record<string, string>);
    expect(body).toEqual({
      type: "request.fulfilled",
      timestamp: expect.any(String),
      data: {
        id: request.id,
        sequence: 2,
        kind: "random",
        network: "sepolia",
        state: "fulfilled",
        triggerId: "sch_1",
        label: "raffle",
        beacon,
        requestId: "0x2",
        result: ["1", "2"],
        statusUrl: `http://tyche/api/requests/${request.id}`,
        shareUrl: `http://tyche/r/${request.id}`,
      },
    });
    const [attempt] = await attempted(id, 1);
    expect(attempt).toMatchObject({ success: true, status: 204, subject: request.id, eventId: message!.id });
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 0, failed: 0 });
    const sent = await webhooks.attempt(DESK_DAPP, id, attempt!.id);
    expect(sent).toMatchObject({ ...attempt, body: message!.body });
    expect(message!.headers).toMatchObject(sent.headers);
    const other = await hook("/other");
    for (const [hookId, attemptId] of [
      [other.id, attempt!.id],
      [id, "att_none"],
    ] as const)
      await expect(webhooks.attempt(DESK_DAPP, hookId, attemptId)).rejects.toMatchObject({
        code: "not_found",
      });
    const listed = async (
      filter: Pick<Parameters<typeof webhooks.attempts>[2], "state" | "type" | "eventId">,
    ) => (await webhooks.attempts(DESK_DAPP, id, { limit: 9, ...filter })).items.length;
    expect(await listed({ state: "delivered", type: "request.fulfilled" })).toBe(1);
    expect([await listed({ state: "failed" }), await listed({ type: "request.failed" })]).toEqual([0, 0]);
    const { eventId } = attempt!;
    expect([await listed({ eventId }), await listed({ eventId: "evt_none" })]).toEqual([1, 0]);
  });

  test("a result that a reorg takes back and gives again is three events", async () => {
    const { id } = await hook("/reorg");
    const request = await fulfil();
    await book.change(() => [{ request, state: "submitted", detail: "a reorg removed the result" }]);
    await book.change(() => [{ request, state: "failed", error: { code: "request_failed", message: "no" } }]);
    clock = Date.now();
    delivery.wake();
    await attempted(id, 3);
    const told = receiver.received
      .filter(({ path }) => path === "/reorg")
      .map(({ body }) => JSON.parse(body));
    const inOrder = told.toSorted((a, b) => a.data.sequence - b.data.sequence);
    expect(inOrder.map(({ type, data }) => [type, data.sequence, data.state])).toEqual([
      ["request.fulfilled", 2, "fulfilled"],
      ["request.reopened", 3, "submitted"],
      ["request.failed", 4, "failed"],
    ]);
    expect(inOrder[2].data.error).toEqual({ code: "request_failed", message: "no" });
  });

  test("a change that isn't stored is not told; a webhook gets only the types that it asked for", async () => {
    const { id } = await hook("/failures", { events: ["request.failed"] });
    const request = await fulfil();
    const also = async (): Promise<never> => {
      throw new Error("no");
    };
    await expect(book.change(() => [{ request, state: "failed" }], also)).rejects.toThrow("no");
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 0 });
  });

  test("a body stays below 20 kB", async () => {
    await hook("/large");
    const request = makeRequest("random", "0x") as OpenRequest;
    await book.add(request);
    const words = Array.from({ length: 500 }, () => "9".repeat(77));
    await book.change(() => [{ request, state: "fulfilled", outcome: { ...OUTCOME, words } }]);
    clock = Date.now();
    delivery.wake();
    const [message] = await receiver.count("/large", 1);
    expect(JSON.parse(message!.body).data).toMatchObject({ id: request.id, state: "fulfilled" });
    expect(JSON.parse(message!.body).data.result).toBeUndefined();
  });

  test.each([
    ["/500", { status: 500, answer: "x".repeat(2_048), error: null }],
    ["/redirect", { status: 307 }],
    ["/closing", { status: null, error: expect.stringContaining("failed") }],
    ["/hanging", { status: null, error: "No whole answer within 2 seconds." }],
  ] as const)("%s is no delivery; the same id comes again, and counts once it succeeds", async (path, is) => {
    if (path === "/hanging") {
      await delivery.stop();
      begin(2_000);
    }
    const { id } = await hook(path);
    await fulfil();
    const [first] = await attempted(id, 1);
    await delivery.stop();
    begin();
    expect(first).toMatchObject({ success: false, eventState: "pending", ...is });
    expect(receiver.received.filter((one) => one.path === "/fine")).toEqual([]);
    const waitMs = Date.parse(first!.nextAttemptAt!) - clock;
    expect(waitMs).toBeGreaterThanOrEqual(4_500);
    expect(waitMs).toBeLessThanOrEqual(5_500);
    await webhooks.change(DESK_DAPP, id, { url: `${receiver.url}/fine` });
    clock += 5_500;
    delivery.wake();
    const [former, second] = await attempted(id, 2);
    expect(second).toMatchObject({ success: true, eventId: first!.eventId, nextAttemptAt: null });
    expect(former).toMatchObject({ id: first!.id, nextAttemptAt: null, eventState: "delivered" });
    expect((await webhooks.get(DESK_DAPP, id)).failingSince).toBeNull();
  });

  test("of an endless answer only the beginning is read", async () => {
    const { id } = await hook("/huge");
    await fulfil();
    expect((await attempted(id, 1))[0]).toMatchObject({ success: true, answer: "y".repeat(2_048) });
  });

  test("Retry-After is honoured", async () => {
    const { id } = await hook("/later");
    await fulfil();
    const [first] = await attempted(id, 1);
    expect(Date.parse(first!.nextAttemptAt!) - clock).toBe(3_600_000);
  });

  test("slow and hanging webhooks delay no other", async () => {
    for (let i = 0; i < 5; i += 1) await hook("/hanging");
    const { id } = await hook("/quick");
    for (let i = 0; i < 30; i += 1) await fulfil();
    const quick = await attempted(id, 30);
    expect(new Set(quick.map(({ eventId }) => eventId)).size).toBe(30);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 0 });
  });

  test("after ten attempts an event has failed; replayed, it comes with its id, signed with the present secret", async () => {
    const { id } = await hook("/flapping");
    flaps = true;
    const since = clock - 1_000;
    await fulfil();
    for (let i = 1; i <= 10; i += 1) {
      const made = await attempted(id, i);
      const last = made.at(-1)!;
      expect(made.filter(({ nextAttemptAt }) => nextAttemptAt !== null)).toEqual(i === 10 ? [] : [last]);
      if (last.nextAttemptAt !== null) clock = Date.parse(last.nextAttemptAt);
      delivery.wake();
    }
    const attempts = await attempted(id, 10);
    for (const one of attempts) expect(one).toMatchObject({ nextAttemptAt: null, eventState: "failed" });
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 0, failed: 1, pausedAt: null });
    flaps = false;
    const { secret } = await webhooks.rotate(DESK_DAPP, id, { overlapHours: OVERLAP_HOURS });
    await webhooks.change(DESK_DAPP, id, { paused: true });
    expect(await webhooks.replay(DESK_DAPP, id, { since })).toEqual({ replayed: 1 });
    await attempted(id, 11);
    const message = receiver.received.filter(({ path }) => path === "/flapping").at(-1)!;
    expect(message.id).toBe(attempts[0]!.eventId);
    expect(message.headers["webhook-signature"]!.toString().split(" ")).toHaveLength(2);
    const shifted = String(message.headers["webhook-timestamp"]);
    expect(Number(shifted)).toBe(Math.floor(clock / 1_000));
    vi.useFakeTimers({ now: clock, toFake: ["Date"] });
    new Webhook(secret!).verify(message.body, message.headers as Record<string, string>);
    vi.useRealTimers();
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 0, failed: 0, pausedWhy: "owner" });
    await expect(webhooks.replay(DESK_DAPP, id, { eventId: "evt_0" })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("410 pauses; what happens meanwhile is delivered once the webhook is resumed", async () => {
    const { id } = await hook("/410");
    await fulfil();
    await attempted(id, 1);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pausedWhy: "gone", pending: 1 });
    await fulfil();
    await webhooks.change(DESK_DAPP, id, { url: `${receiver.url}/resumed`, paused: false });
    clock += 6_000;
    delivery.wake();
    const events = (await attempted(id, 3)).map(({ eventId }) => eventId);
    expect(new Set(events).size).toBe(2);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pausedAt: null, pausedWhy: null, pending: 0 });
  });

  test("five days of failures pause a webhook; a success in between starts the days anew", async () => {
    const { id } = await hook("/flapping");
    flaps = true;
    await fulfil();
    await attempted(id, 1);
    clock += 4 * DAY_MS;
    flaps = false;
    delivery.wake();
    await attempted(id, 2);
    flaps = true;
    await webhooks.test(DESK_DAPP, id, { type: "webhook.test" });
    await attempted(id, 3);
    // A clock that jumps five days ahead is not five days of failures.
    for (const [i, days] of [5, 1, 1].entries()) {
      clock += days * DAY_MS;
      delivery.wake();
      await attempted(id, 4 + i);
    }
    expect((await webhooks.get(DESK_DAPP, id)).pausedAt).toBeNull();
    clock += DAY_MS;
    delivery.wake();
    await attempted(id, 7);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pausedWhy: "failing" });
  });

  test.each([
    [500, { paused: false }],
    [410, { url: "/moved", paused: false }],
  ])(
    "an attempt that ends with %i after its webhook was resumed does not pause it",
    async (status, change) => {
      const { id } = await hook("/held");
      await fulfil();
      await receiver.count("/held", 1);
      await store.db
        .updateTable("webhooks")
        .set({ failing_since: clock - 6 * DAY_MS })
        .execute();
      held!.writeHead(500).end();
      const [first] = await attempted(id, 1);
      const row = await store.db.selectFrom("webhook_attempts").selectAll().executeTakeFirstOrThrow();
      const earlier = [1, 2, 3, 4, 5].map((days) => {
        const at = clock - days * DAY_MS;
        return { ...row, id: createId("att", at), at };
      });
      await store.db.insertInto("webhook_attempts").values(earlier).execute();
      clock = Date.parse(first!.nextAttemptAt!);
      delivery.wake();
      await receiver.count("/held", 2);
      const { url, ...rest } = change as { readonly url?: string; readonly paused: boolean };
      await webhooks.change(DESK_DAPP, id, {
        ...rest,
        ...(url === undefined ? {} : { url: receiver.url + url }),
      });
      held!.writeHead(status).end();
      await attempted(id, 7);
      expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pausedAt: null });
    },
  );

  test("of two rotations at once, the secret of one replaces that of the other, and both sign", async () => {
    const { id } = await hook("/rotated");
    const rotated = await Promise.all(
      [1, 2].map(() => webhooks.rotate(DESK_DAPP, id, { overlapHours: OVERLAP_HOURS })),
    );
    await webhooks.test(DESK_DAPP, id, { type: "webhook.test" });
    const [message] = await receiver.count("/rotated", 1);
    for (const { secret } of rotated)
      expect(
        new Webhook(secret!).verify(message!.body, message!.headers as Record<string, string>),
      ).toMatchObject({ type: "webhook.test" });
  });

  test("a clock that jumps a day ahead and back loses nothing, delays nothing new, and sends nothing twice", async () => {
    const { id } = await hook("/flapping");
    flaps = true;
    await fulfil();
    await attempted(id, 1);
    clock += DAY_MS;
    delivery.wake();
    await attempted(id, 2);
    await delivery.stop();
    const { eventId } = await webhooks.test(DESK_DAPP, id, { type: "webhook.test" });
    clock -= DAY_MS;
    flaps = false;
    begin();
    const [, , third] = await attempted(id, 3);
    expect(third).toMatchObject({ success: true, eventId });
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 1, failed: 0 });
    clock += DAY_MS + 360_000;
    delivery.wake();
    const attempts = await attempted(id, 4);
    expect(attempts.map(({ success }) => success)).toEqual([false, false, true, true]);
    expect(new Set(attempts.map(({ eventId }) => eventId)).size).toBe(2);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ pending: 0, failed: 0 });
  });

  test("a test goes to a paused webhook", async () => {
    const { id } = await hook("/tested", { events: ["request.failed"] });
    await webhooks.change(DESK_DAPP, id, { paused: true });
    const { eventId } = await webhooks.test(DESK_DAPP, id, { type: "webhook.test" });
    const [message] = await receiver.count("/tested", 1);
    expect(message).toMatchObject({ id: eventId });
    expect(JSON.parse(message!.body)).toMatchObject({ type: "webhook.test", data: { webhookId: id } });
  });

  test.each(TOLD_EVENTS)(
    "a test can be a sample of %s, with what a real one has, marked as a test",
    async (type) => {
      const { id } = await hook("/sampled", { events: ["request.failed"] });
      const { eventId } = await webhooks.test(DESK_DAPP, id, { type });
      const [message] = await receiver.count("/sampled", 1);
      expect(message).toMatchObject({ id: eventId });
      const { data, ...rest } = JSON.parse(message!.body);
      expect(rest).toEqual({ type, timestamp: new Date(clock).toISOString() });
      expect(data.test).toBe(true);
      if (type !== "request.fulfilled") return;
      await webhooks.change(DESK_DAPP, id, { events: [type] });
      await fulfil();
      const [, real] = await receiver.count("/sampled", 2);
      expect(Object.keys(data)).toEqual(["test", ...Object.keys(JSON.parse(real!.body).data)]);
    },
  );

  test("attempts are numbered, and the last success is known beside the first failure since", async () => {
    const { id } = await hook("/flapping");
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ lastSuccessAt: null, failingSince: null });
    await fulfil();
    const [first] = await attempted(id, 1);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({ lastSuccessAt: first!.at, failingSince: null });
    flaps = true;
    await webhooks.replay(DESK_DAPP, id, { eventId: first!.eventId });
    const [, second] = await attempted(id, 2);
    await fulfil();
    const attempts = await attempted(id, 3);
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 1]);
    expect(await webhooks.get(DESK_DAPP, id)).toMatchObject({
      lastSuccessAt: first!.at,
      failingSince: second!.at,
    });
    expect(await webhooks.attempt(DESK_DAPP, id, second!.id)).toMatchObject({ number: 2 });
  });

  test("an attempt has the answer's headers, without secrets, and no more than 2 KiB of them", async () => {
    const { id } = await hook("/headers");
    await fulfil();
    const [first] = await attempted(id, 1);
    expect((await webhooks.attempt(DESK_DAPP, id, first!.id)).answerHeaders).toEqual({
      "x-served-by": "a, b",
    });
    await webhooks.change(DESK_DAPP, id, { url: `${receiver.url}/closing` });
    await fulfil();
    const [, silent] = await attempted(id, 2);
    expect(await webhooks.attempt(DESK_DAPP, id, silent!.id)).toMatchObject({ answerHeaders: null });
  });

  test("what a stopped delivery left is delivered by the next one, with the same id", async () => {
    const { id } = await hook("/hanging");
    await fulfil();
    const [sent] = await receiver.count("/hanging", 1);
    await delivery.stop({ atOnce: true });
    expect(await attemptsOf(id)).toEqual([]);
    await webhooks.change(DESK_DAPP, id, { url: `${receiver.url}/next` });
    begin();
    const [message] = await receiver.count("/next", 1);
    expect(message!.id).toBe(sent!.id);
  });

  test("a clock that is set back while it delivers delays no attempt that was announced", async () => {
    const { id } = await hook("/later");
    await fulfil();
    const [first] = await attempted(id, 1);
    clock -= 20 * 3_600_000;
    const due = Date.parse(first!.nextAttemptAt!) - 20 * 3_600_000;
    const nextAt = async () =>
      (await store.db.selectFrom("webhook_deliveries").select("next_at").executeTakeFirstOrThrow()).next_at!;
    delivery.wake();
    await vi.waitFor(async () => expect(Math.abs((await nextAt()) - due)).toBeLessThan(3_600_000), PATIENCE);
    clock = await nextAt();
    delivery.wake();
    await attempted(id, 2);
  });

  test("old events and attempts are deleted, but not what is still to be delivered", async () => {
    await hook("/kept");
    const { id } = await hook("/410");
    await fulfil();
    const [waiting] = await attempted(id, 1);
    await vi.waitFor(async () => {
      const states = await store.db.selectFrom("webhook_deliveries").select("state").execute();
      expect(states.map(({ state }) => state).toSorted()).toEqual(["delivered", "pending"]);
    }, PATIENCE);
    const events = () => store.db.selectFrom("webhook_events").select("id").execute();
    await deleteOldEvents(store.db, { eventId: "evt_z", attemptId: "att_z" });
    expect(await attemptsOf(id)).toEqual([]);
    expect(await events()).toEqual([{ id: waiting!.eventId }]);
    await webhooks.delete(DESK_DAPP, id);
    await deleteOldEvents(store.db, { eventId: "evt_z", attemptId: "att_z" });
    expect(await events()).toEqual([]);
  });

  test("another dapp's webhook is not found, and the tables have no secret in plain text", async () => {
    const { id, secret } = await hook("/mine");
    await expect(webhooks.get("dapp_other", id)).rejects.toMatchObject({ code: "not_found" });
    const rows = await store.db.selectFrom("webhooks").selectAll().execute();
    const bytes = Buffer.from(secret!.replace("whsec_", ""), "base64");
    expect(rows.some((row) => Buffer.from(row.secret).includes(bytes))).toBe(false);
  });

  test.each([
    "http://example.com/",
    "https://127.0.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[::ffff:a00:1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:a00:1::]/",
    "https://2130706433/",
    "https://10.1.2.3/",
    "https://localhost/",
    "https://db.internal/",
    "https://example.com:6379/",
    "https://user:secret@example.com/",
    "ftp://example.com/",
    "example.com",
  ])("%s is refused", async (url) => {
    await expect(webhooks.create(DESK_DAPP, { ...DEFAULTS, url })).rejects.toMatchObject({
      code: "invalid_parameter",
    });
  });
});

describe("a name", () => {
  let receiver: Receiver;
  beforeAll(async () => void (receiver = await startReceiver()));
  afterAll(() => receiver.close());
  const send = (post: GuardedPost, url: string) =>
    post.post({ url, headers: [], body: Buffer.from("{}") }, { timeoutMs: 60_000, maxAnswerBytes: 10 });
  const answer = (...addresses: string[]) =>
    addresses.map((address) => ({ address, family: address.includes(":") ? (6 as const) : (4 as const) }));

  test.each([
    [["127.0.0.1"]],
    [["::1"]],
    [["::ffff:127.0.0.1"]],
    [["::ffff:7f00:1"]],
    [["64:ff9b::127.0.0.1"]],
    [["64:ff9b:1::7f00:1"]],
    [["2002:7f00:1::"]],
    [["93.184.215.14", "127.0.0.1"]],
    [["2a00:1450:4001:81b::200e", "64:ff9b::7f00:1"]],
  ])("that leads to %j is refused when the message is sent", async (addresses) => {
    const post = createGuardedPost({ userAgent: "test", resolve: async () => answer(...addresses) });
    const url = `https://rebinding.example.com:${receiver.host.split(":")[1]}/`;
    expect(post.refusalOf("https://rebinding.example.com/")).toBeUndefined();
    expect(await send(post, url)).toMatchObject({ ok: false, failure: { kind: "refused" } });
    expect(receiver.received).toEqual([]);
  });

  test("that changes its address between check and use leads to the one that was checked", async () => {
    const port = receiver.host.split(":")[1]!;
    let lookups = 0;
    const post = createGuardedPost({
      userAgent: "test",
      allowHosts: [`rebinding.example.com:${port}`],
      // Nothing listens at the second address.
      resolve: async () => answer((lookups += 1) % 2 === 1 ? "127.0.0.1" : "127.0.0.2"),
    });
    const url = `http://rebinding.example.com:${port}/`;
    expect(await send(post, url)).toMatchObject({ ok: true, answer: { status: 204 } });
    expect(lookups).toBe(1);
    // The next message looks the name up anew.
    expect(await send(post, url)).toMatchObject({ ok: false, failure: { kind: "network" } });
    expect(lookups).toBe(2);
  });
});
