import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createDappDirectory } from "../../src/dapps/dapps.ts";
import { NotFoundError } from "../../src/lib/errors.ts";
import { createDeletedDapps } from "../../src/requests/keep/deletedDapps.ts";
import type { Command } from "../../src/requests/service.ts";
import type { Dapp } from "../../src/dapps/dapp.ts";
import { saveConsumer } from "../../src/store/chainRecords.ts";
import { listDappIds, listDeletedDappConsumers, listKeys } from "../../src/store/dapps.ts";
import { insertRequests } from "../../src/store/requests.ts";
import type { Store } from "../../src/store/store.ts";
import { DATABASES, useStore, type TestDatabase } from "../support/databases.ts";
import { makeStoredRequest } from "../support/storedRequest.ts";

const SEALING_KEY = new Uint8Array(32).fill(7);
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const linked = (dappId: string, network = "fuji") => ({
  dappId,
  network,
  address: ADDRESS,
  transactionHash: "0x1",
  createdAt: 1,
});

describe.each(DATABASES)("on %s", (_name, create) => {
  let database: TestDatabase;
  let store: Store;
  let other: Store;
  useStore(create, (opened, itsDatabase) => {
    store = opened;
    database = itsDatabase;
  });
  beforeAll(async () => {
    other = await database.open();
  });
  afterAll(() => other?.close());

  test("a deleted dapp is gone for every process, its keys stop and are erased, its requests stay", async () => {
    const [here, there] = [store, other].map((one) => createDappDirectory(one, SEALING_KEY)) as [
      ReturnType<typeof createDappDirectory>,
      ReturnType<typeof createDappDirectory>,
    ];
    const { dapp, key } = await here.create("shop");
    const second = await here.addKey(dapp.id);
    const kept = await here.create("kept");
    await insertRequests(store.db, [makeStoredRequest("1", { dappId: dapp.id })]);
    expect(await there.authenticate(key.apiKey)).toMatchObject({ id: dapp.id });

    await here.delete(dapp.id);
    for (const { apiKey } of [key, second])
      await expect(there.authenticate(apiKey)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await there.authenticate(kept.key.apiKey)).toMatchObject({ id: kept.dapp.id });
    expect((await there.list()).map(({ id }) => id)).toEqual([kept.dapp.id]);
    for (const { sealed } of await listKeys(store.db, dapp.id)) expect(sealed).toHaveLength(0);
    expect((await listDappIds(store.db)).toSorted()).toEqual([dapp.id, kept.dapp.id].toSorted());
    expect(await store.db.selectFrom("requests").select("dapp_id").execute()).toEqual([{ dapp_id: dapp.id }]);
    for (const again of [
      () => there.delete(dapp.id),
      () => there.get(dapp.id),
      () => there.change(dapp.id, { name: "x" }),
    ])
      await expect(again()).rejects.toMatchObject({ code: "not_found" });
  });

  test("a key that an older version adds to a deleted dapp is worth nothing", async () => {
    const dapps = createDappDirectory(store, SEALING_KEY);
    const { dapp } = await dapps.create("shop");
    await dapps.delete(dapp.id);
    const { apiKey } = await dapps.addKey(dapp.id);
    await expect(dapps.authenticate(apiKey)).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("contracts of deleted dapps are unlinked, one request at a time, and no others", async () => {
    const dapps = createDappDirectory(store, SEALING_KEY);
    const [gone, kept] = [(await dapps.create("gone")).dapp, (await dapps.create("kept")).dapp];
    for (const consumer of [linked(gone.id), linked(gone.id, "sepolia"), linked(kept.id)])
      await saveConsumer(store.db, consumer);
    await dapps.delete(gone.id);

    const accepted: { dapp: Dapp; command: Command }[] = [];
    const open: { dappId: string; kind: "unlink"; params: { consumer: string } }[] = [];
    let refusal: unknown;
    let obstacle: string | undefined;
    let looks = 0;
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now);
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const options: Parameters<typeof createDeletedDapps>[0] = {
      store,
      book: { open: () => open as never },
      acceptance: {
        async accept(dapp, command) {
          accepted.push({ dapp, command });
          if (refusal !== undefined) throw refusal;
          return undefined as never;
        },
      },
    };
    const deletedDapps = createDeletedDapps(options);
    const unlinkDeleted = (network: string) =>
      deletedDapps.unlinkDeleted(network, async () => {
        looks += 1;
        return obstacle;
      });
    await unlinkDeleted("fuji");
    await unlinkDeleted("fuji");
    expect(accepted).toMatchObject([
      { dapp: { id: gone.id }, command: { kind: "unlink", network: "fuji", consumer: ADDRESS } },
    ]);
    now += 60_000;
    open.push({ dappId: gone.id, kind: "unlink", params: { consumer: ADDRESS } });
    await unlinkDeleted("fuji");
    expect(accepted).toHaveLength(1);
    open.pop();
    refusal = new NotFoundError("consumer");
    await unlinkDeleted("fuji");
    expect(accepted).toHaveLength(2);
    expect(await listDeletedDappConsumers(store.db, "fuji")).toEqual([]);
    expect(await listDeletedDappConsumers(store.db, "sepolia")).toHaveLength(1);

    // A dapp whose requests never end is checked ever less often, without sending anything, and eventually given up.
    refusal = undefined;
    accepted.length = looks = 0;
    obstacle = "requests are under way";
    const held = { dappId: gone.id, consumer: ADDRESS, waitsFor: obstacle };
    for (const end = now + 2 * 86_400_000; now < end; now += 600_000)
      expect(await unlinkDeleted("sepolia")).toEqual([{ ...held, isGivenUp: false }]);
    expect(looks).toBe(12);
    now += 29 * 86_400_000;
    expect(await unlinkDeleted("sepolia")).toEqual([{ ...held, isGivenUp: true }]);
    expect([looks, accepted.length]).toEqual([12, 0]);

    // A restart checks once more.
    obstacle = undefined;
    const restarted = createDeletedDapps(options);
    expect(await restarted.unlinkDeleted("sepolia", async () => undefined)).toEqual([]);
    expect(accepted).toHaveLength(1);
  });
});
