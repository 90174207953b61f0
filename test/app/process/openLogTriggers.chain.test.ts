import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  createActionChecks,
  openLogTriggers,
  type OpenLogTriggers,
} from "../../../src/app/process/openTriggers.ts";
import { createLiveSchemas } from "../../../src/http/liveSchemas.ts";
import { createId } from "../../../src/domain/id.ts";
import type { Service } from "../../../src/requests/service.ts";
import type { Dapp } from "../../../src/dapps/dapp.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import { insertRequests } from "../../../src/store/requests.ts";
import type { Store } from "../../../src/store/store.ts";
import { createExampleService } from "../../http/exampleService.ts";
import { startTestChain, testAccount, type TestChain } from "../../support/anvil.ts";
import { DATABASES, useStore, type TestDatabase } from "../../support/databases.ts";
import { makeStoredRequest } from "../../support/storedRequest.ts";
import { CLOSED, deployEmitter, encodeClose } from "../../triggers/emitter.ts";

const DAPP: Dapp = { id: "dapp_a", name: "a", keyId: "key_a", facilities: ["presets"] };
const PATIENCE = { timeout: 60_000, interval: 20 };
const bus = { tell() {}, listen: () => () => {}, close: async () => {} };

let store: Store;
let database: TestDatabase;
let chain: TestChain;
const closers: (() => Promise<void>)[] = [];
useStore(DATABASES.find(([name]) => name === "PostgreSQL")![1], (opened, its) => {
  store = opened;
  database = its;
});
beforeEach(async () => {
  chain = await startTestChain();
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await chain.close();
});

const openReplica = async (id: string, requested: string[]): Promise<OpenLogTriggers> => {
  const own = await database.open();
  const submit: Service["submit"] = async (_dapp, _command, { idempotencyKey }) => {
    requested.push(idempotencyKey!);
    const request = { ...makeStoredRequest("1"), id: createId("req"), idempotencyKey: idempotencyKey! };
    await insertRequests(own.db, [request]);
    return { id: request.id } as Awaited<ReturnType<Service["submit"]>>;
  };
  const service = Object.assign(createExampleService(), { submit });
  const triggers = openLogTriggers({
    store: own,
    service,
    checks: createActionChecks(service, createLiveSchemas(service)),
    dapps: { findActing: async () => DAPP },
    findChain: () => ({
      client: chain.client,
      chainId: chain.chainId,
      identity: "test",
      isEmbedded: true,
      terms: { finalityDepth: 3, hasFinalizedTag: false, pollIntervalMs: 20, rolledBackAfterMs: 0 },
      explorerUrl: "https://example.com",
    }),
    onEvent() {},
    replica: { id, bus },
    log: pino({ level: "silent" }),
  });
  await triggers.start();
  closers.push(() => own.close());
  return triggers;
};

test("of two replicas one acts on each log; the other takes over when that one ends", async () => {
  await insertDapp(store.db, { id: DAPP.id, name: "a", facilities: [], createdAt: 1 });
  const [byFirst, bySecond]: string[][] = [[], []];
  const [first, second] = [await openReplica("rep_1", byFirst!), await openReplica("rep_2", bySecond!)];
  const emitter = await deployEmitter(chain, testAccount(0));
  const { id } = await second.useCases.create(DAPP, {
    name: "any",
    network: "sepolia",
    addresses: [emitter],
    event: CLOSED,
    confidence: "safe",
    action: { random: { numWords: 1 } },
    paused: false,
  });
  const emit = (round: number) =>
    chain.send(testAccount(0), { to: emitter, data: encodeClose(round, 1, 20) });
  const receipts = [await emit(1), await emit(2)];
  await vi.waitFor(() => expect(byFirst!.length).toBeGreaterThan(4), PATIENCE);
  await first.close();
  receipts.push(await emit(3));
  const keys = receipts.flatMap(({ transactionHash }) =>
    Array.from({ length: 20 }, (_, i) => `${id} ${chain.chainId} ${transactionHash} ${i}`),
  );
  await vi.waitFor(() => expect([...byFirst!, ...bySecond!].toSorted()).toEqual(keys.toSorted()), PATIENCE);
  expect(bySecond!.length).toBeGreaterThan(20);
  await second.close();
});
