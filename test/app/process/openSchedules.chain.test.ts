import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import {
  createActionChecks,
  openSchedules,
  type OpenSchedules,
} from "../../../src/app/process/openTriggers.ts";
import { createLiveSchemas } from "../../../src/http/liveSchemas.ts";
import { createId } from "../../../src/domain/id.ts";
import type { Service } from "../../../src/requests/service.ts";
import type { Dapp } from "../../../src/dapps/dapp.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { insertRequests } from "../../../src/store/requests.ts";
import { insertSchedule } from "../../../src/store/schedules.ts";
import type { Store } from "../../../src/store/store.ts";
import { createExampleService } from "../../http/exampleService.ts";
import { DATABASES, useStore, type TestDatabase } from "../../support/databases.ts";
import { makeStoredRequest } from "../../support/storedRequest.ts";

const DAPP: Dapp = { id: "dapp_a", name: "a", keyId: "key_a", facilities: ["presets"] };
const bus = { tell() {}, listen: () => () => {}, close: async () => {} };

let store: Store;
let database: TestDatabase;
const closers: (() => Promise<void>)[] = [];
useStore(DATABASES.find(([name]) => name === "PostgreSQL")![1], (opened, its) => {
  store = opened;
  database = its;
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const openReplica = async (id: string, requested: string[]): Promise<OpenSchedules> => {
  const own = await database.open();
  const submit: Service["submit"] = async (_dapp, _command, { idempotencyKey }) => {
    requested.push(idempotencyKey!);
    const request = { ...makeStoredRequest("1"), id: createId("req"), idempotencyKey: idempotencyKey! };
    await insertRequests(own.db, [request]);
    return { id: request.id } as Awaited<ReturnType<Service["submit"]>>;
  };
  const service = Object.assign(createExampleService(), { submit });
  const schedules = openSchedules({
    store: own,
    service,
    checks: createActionChecks(service, createLiveSchemas(service)),
    dapps: { findActing: async () => DAPP },
    blockMsOf: () => undefined,
    onEvent() {},
    replica: { id, bus },
    log: pino({ level: "silent" }),
  });
  await schedules.start();
  closers.push(() => own.close());
  return schedules;
};

test("of two replicas one requests each tick; the other takes over when that one ends", async () => {
  await insertDapp(store.db, { id: DAPP.id, name: "a", facilities: [], createdAt: 1 });
  const [byFirst, bySecond]: string[][] = [[], []];
  const [first, second] = [await openReplica("rep_1", byFirst!), await openReplica("rep_2", bySecond!)];
  const startsAt = Date.now();
  const id = createId("sch");
  await store.write((db) =>
    insertSchedule(db, {
      id,
      dappId: DAPP.id,
      keyId: null,
      name: "fast",
      command: { kind: "random", network: "sepolia" },
      timing: { everyMs: 100, startsAt },
      catchUp: "all",
      windowMs: 86_400_000,
      overlap: "allow",
      until: startsAt + 3_000,
      pausedAt: null,
      createdAt: startsAt,
      nextAt: startsAt + 100,
    }),
  );
  await vi.waitFor(() => expect(byFirst!.length).toBeGreaterThan(4), { timeout: 60_000, interval: 20 });
  await first.close();
  const ticks = Array.from(
    { length: 30 },
    (_, i) => `${id} ${new Date(startsAt + (i + 1) * 100).toISOString()}`,
  );
  await vi.waitFor(() => expect([...byFirst!, ...bySecond!]).toEqual(ticks), {
    timeout: 60_000,
    interval: 50,
  });
  await vi.waitFor(
    async () => {
      const { items } = await second.useCases.runs(DAPP.id, id, { limit: 100 });
      expect(items.map(({ state }) => state)).toEqual(ticks.map(() => "requested"));
    },
    { timeout: 60_000, interval: 50 },
  );
  await second.close();
});
