/**
 * Does a webhook whose server hangs slow down the others?
 *
 * Question: a webhook of a server that never answers has 10,000 events to be delivered; beside it another one, whose server answers at once, is told one
 * event a second. How long is it from the event's commit until it has arrived, compared with the same without the first webhook; what memory and
 * processor time does the process take, which has delivery, receivers and SQLite in it; and how long do the delivery's queries and the list of webhooks take
 * meanwhile? Each event is checked to arrive once. Left out: the network, TLS, and what makes the events.
 *
 * Run: `node bench/hangingWebhook.ts`; `-- --postgres`, `--events 10000`, `--seconds 60`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createGuardedPost } from "../sandbox/index.ts";
import { createId } from "../src/domain/id.ts";
import { insertDapp } from "../src/store/dapps.ts";
import { addEvents, listDueDeliveries, listDueWebhooks } from "../src/store/outbox.ts";
import { createPostgresDialect } from "../src/store/postgresDialect.ts";
import { createSqliteDialect } from "../src/store/sqliteDialect.ts";
import { openStore } from "../src/store/store.ts";
import { startDelivery } from "../src/webhooks/delivery.ts";
import { createWebhooks } from "../src/webhooks/webhooks.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { startReceiver } from "../test/webhooks/receiver.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { median } from "./support/median.ts";

const { values } = parseArgs({
  options: {
    postgres: { type: "boolean", default: false },
    events: { type: "string", default: "10000" },
    seconds: { type: "string", default: "60" },
  },
});
const DAPP = "dapp_bench";
const TYPE = "request.fulfilled";
const EVENTS_AT_ONCE = 1_000;
const TIMINGS = 20;

console.log(describeMachine(readMachine()));
const folder = mkdtempSync(path.join(tmpdir(), "tyche-bench-"));
const server = values.postgres ? await startPostgres() : undefined;
const file = path.join(folder, "tyche.sqlite");
const store =
  server === undefined
    ? await openStore(createSqliteDialect(file), { file })
    : await openStore(createPostgresDialect(await server.createDatabase()));
/** When each event arrived at the fast server. */
const arrivals = new Map<string, number>();
const receiver = await startReceiver({
  "/hanging": () => {},
  "/fast": (to, { id }) => {
    if (arrivals.has(id)) throw new Error(`${id} came twice`);
    arrivals.set(id, performance.now());
    to.writeHead(204).end();
  },
});
const post = createGuardedPost({ allowHosts: [receiver.host], userAgent: "bench" });
const sealingKey = new Uint8Array(32);
const onError = (error: unknown): void => console.error(error);
const delivery = startDelivery({ store, post, sealingKey, onError });
const webhooks = createWebhooks({ store, post, sealingKey, baseUrl: () => "", wake: () => delivery.wake() });

const eventAt = (at: number) => ({
  id: createId("evt", at),
  dappId: DAPP,
  type: TYPE,
  subject: "req_bench",
  at,
  write: () => JSON.stringify({ type: TYPE, data: { id: "req_bench", text: "x".repeat(600) } }),
});
const timed = async (work: () => Promise<unknown>): Promise<string> => {
  const times: number[] = [];
  for (let i = 0; i < TIMINGS; i += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return `${median(times).toFixed(2)} ms`;
};

/** Tells the fast server an event a second, and prints how long each took. */
const measure = async (title: string): Promise<void> => {
  const committed = new Map<string, number>();
  const cpu = process.cpuUsage();
  for (const end = performance.now() + Number(values.seconds) * 1_000; performance.now() < end;) {
    const event = eventAt(Date.now());
    await store.write((db) => addEvents(db, [event]));
    committed.set(event.id, performance.now());
    delivery.wake();
    await sleep(1_000);
  }
  while ([...committed.keys()].some((id) => !arrivals.has(id))) await sleep(10);
  const { user, system } = process.cpuUsage(cpu);
  const times = [...committed].map(([id, at]) => arrivals.get(id)! - at).toSorted((a, b) => a - b);
  const quantile = (part: number): string => times[Math.floor(part * (times.length - 1))]!.toFixed(1);
  const percent = (user + system) / 10_000 / Number(values.seconds);
  console.log(
    `${title}: ${times.length} events, p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, max ${quantile(1)} ms; ` +
      `${percent.toFixed(1)} % of a core; ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB`,
  );
};

try {
  await insertDapp(store.db, { id: DAPP, name: "bench", facilities: [], createdAt: 1 });
  const given = { signature: "hmac", events: [TYPE], description: "" } as const;
  const fast = await webhooks.create(DAPP, { ...given, url: `${receiver.url}/fast` });
  await measure("alone");

  await webhooks.change(DAPP, fast.id, { events: [] });
  const hanging = await webhooks.create(DAPP, { ...given, url: `${receiver.url}/hanging` });
  for (let left = Number(values.events); left > 0; left -= EVENTS_AT_ONCE) {
    const at = Date.now();
    await store.write((db) =>
      addEvents(
        db,
        Array.from({ length: Math.min(left, EVENTS_AT_ONCE) }, () => eventAt(at)),
      ),
    );
  }
  await webhooks.change(DAPP, hanging.id, { events: ["request.failed"] });
  await webhooks.change(DAPP, fast.id, { events: [TYPE] });
  delivery.wake();
  await measure(`beside ${values.events} events for a server that hangs`);
  const now = Date.now();
  const which = { webhookId: hanging.id, isPaused: false, now, limit: 16 };
  console.log(
    `due webhooks ${await timed(() => listDueWebhooks(store.db, now))}, due deliveries ${await timed(() =>
      listDueDeliveries(store.db, which),
    )}, the list of webhooks ${await timed(() => webhooks.list(DAPP))}`,
  );
} finally {
  await delivery.stop({ atOnce: true });
  await receiver.close();
  await store.close();
  await server?.remove();
  rmSync(folder, { recursive: true, force: true });
}
