import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { WEBHOOK_EVENTS } from "../../../src/domain/vocabulary.ts";
import { openWebhooks, type OpenWebhooks } from "../../../src/app/process/openWebhooks.ts";
import { createId } from "../../../src/domain/id.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { addEvents } from "../../../src/store/outbox.ts";
import type { Store } from "../../../src/store/store.ts";
import { DATABASES, useStore, type TestDatabase } from "../../support/databases.ts";
import { startReceiver, type Receiver } from "../../webhooks/receiver.ts";

const DAPP = "dapp_a";
const bus = { tell() {}, listen: () => () => {}, close: async () => {} };

let store: Store;
let database: TestDatabase;
let receiver: Receiver;
const closers: (() => Promise<void>)[] = [];

useStore(DATABASES.find(([name]) => name === "PostgreSQL")![1], (opened, its) => {
  store = opened;
  database = its;
});
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openReplica = async (id: string): Promise<OpenWebhooks> => {
  const own = await database.open();
  const webhooks = openWebhooks({
    store: own,
    masterKey: new Uint8Array(32),
    baseUrl: () => "",
    allowHosts: [receiver.host],
    replica: { id, bus },
    log: pino({ level: "silent" }),
  });
  await webhooks.start();
  closers.push(() => own.close());
  return webhooks;
};
const addSome = async (many: number): Promise<string[]> => {
  const events = Array.from({ length: many }, () => {
    const at = Date.now();
    const id = createId("evt", at);
    return { id, dappId: DAPP, type: "request.failed", subject: null, at, write: () => "{}" };
  });
  for (const event of events) await store.write((db) => addEvents(db, [event]));
  return events.map(({ id }) => id);
};

test("of two replicas one delivers each event; the other takes over when that one ends", async () => {
  await insertDapp(store.db, { id: DAPP, name: "a", facilities: [], createdAt: 1 });
  const [first, second] = [await openReplica("rep_1"), await openReplica("rep_2")];
  const holder = async () => {
    const lease = await store.db.selectFrom("leases").select("holder").executeTakeFirst();
    return lease?.holder;
  };
  expect(await holder()).toBe("rep_1");
  const { id } = await second.useCases.create(DAPP, {
    url: `${receiver.url}/one`,
    events: WEBHOOK_EVENTS,
    description: "",
    signature: "hmac",
  });
  const before = await addSome(40);
  await receiver.count("/one", 10);
  await first.close();
  const after = await addSome(20);
  await vi.waitFor(
    async () => expect(await second.useCases.get(DAPP, id)).toMatchObject({ pending: 0, failed: 0 }),
    { timeout: 60_000, interval: 50 },
  );
  expect(await holder()).toBe("rep_2");
  const ids = new Set(receiver.received.map((message) => message.id));
  expect([...ids].toSorted()).toEqual([...before, ...after].toSorted());
  await second.close();
});
