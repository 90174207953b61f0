import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, Migrator } from "kysely";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { describeMigrated } from "../../src/cli/describeMigrated.ts";
import { createApiKey, hashApiKey } from "../../src/dapps/apiKey.ts";
import { openDapps } from "../../src/app/tools/dappTools.ts";
import { openDataDirectory } from "../../src/store/dataDirectory.ts";
import { deriveKey, seal } from "../../src/lib/seal.ts";
import { listKeys } from "../../src/store/dapps.ts";
import { migrationProvider, migrations } from "../../src/store/migrations.ts";
import { createSqliteDialect } from "../../src/store/sqliteDialect.ts";
import type { Migrated, Store } from "../../src/store/store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tyche-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = async (name: string) => {
  const directory = openDataDirectory(join(folder, name), { exclusive: true });
  try {
    const { store, dapps } = await openDapps(directory, { onFatal: () => {} });
    const close = async (): Promise<void> => {
      await store.close();
      directory.close();
    };
    return { directory, store, dapps, close };
  } catch (error) {
    directory.close();
    throw error;
  }
};

test("a database of an earlier version tells from what to what it was migrated, a new one and the next start nothing", async () => {
  const told: Migrated[] = [];
  const start = async (): Promise<void> => {
    const directory = openDataDirectory(join(folder, "a"), { exclusive: true });
    const { store } = await openDapps(directory, { onMigrated: (migrated) => void told.push(migrated) });
    await store.close();
    directory.close();
  };
  const directory = openDataDirectory(join(folder, "a"), { exclusive: true });
  const db = new Kysely<unknown>({ dialect: createSqliteDialect(directory.file("tyche.sqlite"), () => {}) });
  await new Migrator({ db, provider: migrationProvider }).migrateTo("0043_inviters");
  await db.destroy();
  directory.close();
  await start();
  const names = Object.keys(migrations);
  expect(told).toEqual([
    {
      from: "0043_inviters",
      names: names.slice(names.indexOf("0043_inviters") + 1),
      ms: expect.any(Number) as number,
    },
  ]);
  expect(describeMigrated(told[0]!)).toMatch(
    new RegExp(String.raw`^the database was migrated from 0043_inviters to ${names.at(-1)} in \d+\.\d\d s$`),
  );
  await start();
  await (await open("new")).close();
  expect(told).toHaveLength(1);
});

test("a key in place of its id is not revoked, and not shown", async () => {
  const { dapps, close } = await open("a");
  const { key } = await dapps.create("shop");
  await expect(dapps.revokeKey(key.apiKey)).rejects.toMatchObject({
    code: "not_found",
    message: "there is no key with this id: ids begin with key_, and tyche dapp config shows them",
  });
  await expect(dapps.revokeKey("key_other")).rejects.toThrow("there is no live key key_other");
  await close();
});

test("a revoked key is erased from every file of the database", async () => {
  const { directory, store, dapps, close } = await open("a");
  const { dapp, key } = await dapps.create("shop");
  const other = await dapps.addKey(dapp.id);
  const { sealed } = (await listKeys(store.db)).find(({ id }) => id === key.id)!;
  const filesWith = (bytes: Uint8Array) =>
    readdirSync(directory.path).filter((name) => readFileSync(directory.file(name)).includes(bytes));
  expect(filesWith(sealed)).not.toEqual([]);
  await dapps.revokeKey(key.id);
  expect(filesWith(sealed)).toEqual([]);
  expect(await dapps.keys(dapp.id)).toMatchObject([
    { id: key.id, apiKey: null, revokedAt: expect.any(Number) },
    { id: other.id, apiKey: other.apiKey, revokedAt: null },
  ]);
  await expect(dapps.authenticate(key.apiKey)).rejects.toMatchObject({ code: "unauthenticated" });
  await close();
});

test("the keys of a deleted dapp are erased from every file of the database", async () => {
  const { directory, store, dapps, close } = await open("a");
  const { dapp } = await dapps.create("shop");
  const { sealed } = (await listKeys(store.db))[0]!;
  await dapps.delete(dapp.id);
  const files = readdirSync(directory.path);
  expect(files.filter((name) => readFileSync(directory.file(name)).includes(sealed))).toEqual([]);
  await close();
});

test("a key that is changed is still the one of its row", async () => {
  const first = await open("a");
  const { dapp, key } = await first.dapps.create("shop");
  expect(await first.dapps.changeKey(key.id, { dailyLimit: 5 })).toMatchObject({
    name: key.name,
    dailyLimit: 5,
  });
  await first.close();
  const { dapps, close } = await open("a");
  expect(await dapps.authenticate(key.apiKey)).toMatchObject({ id: dapp.id, keyDailyLimit: 5 });
  await dapps.revokeKey(key.id);
  await expect(dapps.changeKey(key.id, { name: "x" })).rejects.toThrow(`there is no live key ${key.id}`);
  expect(await dapps.keys(dapp.id)).toMatchObject([{ apiKey: null, name: key.name }]);
  await close();
});

test("a key expires at its time, and works again once it may expire later", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const { dapps, close } = await open("a");
  const { dapp } = await dapps.create("shop");
  const expiresAt = Date.UTC(2026, 0, 2);
  const { id, apiKey } = await dapps.addKey(dapp.id, { expiresAt });
  expect(await dapps.authenticate(apiKey)).toMatchObject({ keyId: id });
  expect(await dapps.findActing(dapp.id, id)).toMatchObject({ keyId: id });
  vi.setSystemTime(expiresAt);
  await expect(dapps.authenticate(apiKey)).rejects.toMatchObject({
    code: "key_expired",
    message: `the API key ${id} expired at 2026-01-02T00:00:00.000Z; an owner of the dapp can let it expire later, or add another key`,
  });
  expect(await dapps.findActing(dapp.id, id)).toBeUndefined();
  expect(await dapps.changeKey(id, { expiresAt: null })).toMatchObject({ apiKey, expiresAt: null });
  expect(await dapps.authenticate(apiKey)).toMatchObject({ keyId: id });
  for (const past of [expiresAt, NaN])
    await expect(dapps.changeKey(id, { expiresAt: past })).rejects.toMatchObject({
      code: "invalid_parameter",
      details: [{ path: "/expiresAt", message: "must be a time to come; to end a key now, revoke it" }],
    });
  await close();
});

test("the former value of a rotated key is valid for the overlap, also after a restart and a change", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  onTestFinished(() => void vi.useRealTimers());
  const first = await open("a");
  const { dapp, key } = await first.dapps.create("shop");
  const second = await first.dapps.rotateKey(key.id);
  expect(second).toMatchObject({ id: key.id, name: key.name, previousUntil: Date.UTC(2026, 0, 2) });
  await first.close();
  const { dapps, close } = await open("a");
  await dapps.changeKey(key.id, { dailyLimit: 5 });
  for (const apiKey of [key.apiKey, second.apiKey])
    expect(await dapps.authenticate(apiKey)).toMatchObject({ keyId: key.id, keyDailyLimit: 5 });
  expect(await dapps.keys(dapp.id)).toMatchObject([{ apiKey: second.apiKey }]);
  vi.setSystemTime(Date.UTC(2026, 0, 2));
  await expect(dapps.authenticate(key.apiKey)).rejects.toMatchObject({
    code: "key_expired",
    message: `the API key ${key.id} has a new value, and this one was valid until 2026-01-02T00:00:00.000Z; send the new one`,
  });
  expect(await dapps.authenticate(second.apiKey)).toMatchObject({ keyId: key.id });
  const third = await dapps.rotateKey(key.id, { overlapHours: 0 });
  expect(third).toMatchObject({ previousUntil: null });
  for (const apiKey of [key.apiKey, second.apiKey])
    await expect(dapps.authenticate(apiKey)).rejects.toMatchObject({ code: "unauthenticated" });
  const rotated = await Promise.all([dapps.rotateKey(key.id), dapps.rotateKey(key.id)]);
  for (const { apiKey } of rotated) expect(await dapps.authenticate(apiKey)).toMatchObject({ keyId: key.id });
  await dapps.revokeKey(key.id);
  await expect(dapps.authenticate(rotated[1].apiKey)).rejects.toMatchObject({ code: "unauthenticated" });
  await expect(dapps.rotateKey(key.id)).rejects.toThrow(`there is no live key ${key.id}`);
  await close();
});

test("a rotated key's former value is erased from every file of the database", async () => {
  const { directory, store, dapps, close } = await open("a");
  const { key } = await dapps.create("shop");
  const { sealed } = (await listKeys(store.db))[0]!;
  await dapps.rotateKey(key.id);
  const files = readdirSync(directory.path);
  expect(files.filter((name) => readFileSync(directory.file(name)).includes(sealed))).toEqual([]);
  await close();
});

test("creations with one idempotency key are one, also at the same time and after a restart", async () => {
  const first = await open("a");
  const calls = [1, 2, 3].map(() => first.dapps.create("shop", undefined, { idempotencyKey: "k" }));
  const [made, ...repeated] = await Promise.all(calls);
  expect(repeated).toEqual([made, made]);
  const keys = [1, 2].map(() => first.dapps.addKey(made!.dapp.id, { dailyLimit: 5, idempotencyKey: "k" }));
  const [added, again] = await Promise.all(keys);
  expect(again).toEqual(added);
  await first.close();
  const { dapps, close } = await open("a");
  expect(await dapps.create("shop", ["presets", "functions"], { idempotencyKey: "k" })).toEqual(made);
  expect(await dapps.list()).toEqual([made!.dapp]);
  expect(await dapps.keys(made!.dapp.id)).toEqual([made!.key, added]);
  await close();
});

test("an idempotency key for another creation is a conflict, and one whose creation is gone is not_found", async () => {
  const { dapps, close } = await open("a");
  const { dapp, key } = await dapps.create("shop", undefined, { idempotencyKey: "k" });
  const other = await dapps.create("other");
  const added = await dapps.addKey(other.dapp.id, { idempotencyKey: "k" });
  expect(added.id).not.toBe(key.id);
  await expect(dapps.create("bank", undefined, { idempotencyKey: "k" })).rejects.toMatchObject({
    code: "idempotency_conflict",
    message: 'the Idempotency-Key "k" was used for another request; use a new key',
  });
  await dapps.revokeKey(added.id);
  await dapps.delete(dapp.id);
  for (const call of [
    dapps.create("shop", undefined, { idempotencyKey: "k" }),
    dapps.addKey(other.dapp.id, { idempotencyKey: "k" }),
  ])
    await expect(call).rejects.toMatchObject({ code: "not_found" });
  await close();
});

describe("a row of the database that somebody else wrote", () => {
  const apiKey = createApiKey();
  const forge = async (store: Store, change: object): Promise<void> => {
    const [row] = await store.db.selectFrom("api_keys").selectAll().execute();
    await store.db
      .insertInto("api_keys")
      .values({ ...row!, id: "key_forged", hash: hashApiKey(apiKey), creation_key: null, ...change })
      .execute();
  };

  test("an inserted one is no key, and ends the next start until it is revoked", async () => {
    const { directory, store, dapps, close } = await open("a");
    const { key } = await dapps.create("shop");
    await forge(store, {});
    await expect(dapps.authenticate(apiKey)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await dapps.authenticate(key.apiKey)).toMatchObject({ keyId: key.id });
    await close();
    await expect(open("a")).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(
        /^the API key key_forged of dapp_\w+ in .*tyche dapp revoke-key key_forged/,
      ),
    });
    const beside = await openDapps(openDataDirectory(directory.path, { exclusive: false }));
    await beside.dapps.revokeKey("key_forged");
    await beside.store.close();
    await (await open("a")).close();
  });

  test.each([
    ["dapp", (other: string) => ({ dapp_id: other })],
    ["daily limit", () => ({ daily_limit: null })],
    ["hash", () => ({ hash: hashApiKey(apiKey) })],
    ["access", () => ({ access: "full" as const })],
    ["expiry", () => ({ expires_at: null })],
    ["former hash", () => ({ previous_hash: hashApiKey(apiKey) })],
    ["end of the overlap", () => ({ previous_until: 2 ** 41 + 1 })],
  ])("an edited %s makes the key useless", async (what, edit) => {
    const { store, dapps, close } = await open("a");
    const { dapp } = await dapps.create("shop");
    const other = await dapps.create("bank");
    const { id } = await dapps.addKey(dapp.id, { dailyLimit: 5, access: "read", expiresAt: 2 ** 41 });
    const key = await dapps.rotateKey(id);
    await store.db.updateTable("api_keys").set(edit(other.dapp.id)).where("id", "=", key.id).execute();
    const presented = what.endsWith("hash") ? apiKey : key.apiKey;
    await expect(dapps.authenticate(presented)).rejects.toMatchObject({ code: "unauthenticated" });
    await close();
    await expect(open("a")).rejects.toThrow(key.id);
  });
});

test("the keys of an earlier version, sealed for their id alone, are sealed for their row at the start", async () => {
  const { directory, store, dapps, close } = await open("a");
  const { dapp, key } = await dapps.create("shop");
  const sealed = seal(deriveKey(directory.masterKey, "api keys"), Buffer.from(key.apiKey), key.id);
  await store.db.updateTable("api_keys").set({ sealed }).execute();
  await store.db.deleteFrom("settings").where("name", "=", "api keys are bound").execute();
  await close();
  for (let start = 0; start < 2; start += 1) {
    const later = await open("a");
    expect(await later.dapps.authenticate(key.apiKey)).toMatchObject({ id: dapp.id });
    await later.close();
  }
});

test("another directory's master key is refused before anything is sealed under it", async () => {
  for (const name of ["a", "b"]) {
    const { dapps, close } = await open(name);
    await dapps.create("shop");
    await close();
  }
  copyFileSync(join(folder, "a", "master-key"), join(folder, "b", "master-key"));
  await expect(open("b")).rejects.toMatchObject({
    code: "data_dir_unusable",
    message: expect.stringContaining("the master key is not the one"),
  });
});

test("a dapp gets no other dapp's name, in whatever case", async () => {
  const { dapps, close } = await open("a");
  const { dapp: shop } = await dapps.create("Straße Shop");
  const taken = { code: "name_taken", message: expect.stringContaining('"Straße Shop"') };
  await expect(dapps.create("straße SHOP")).rejects.toMatchObject(taken);
  const { dapp: other } = await dapps.create("other");
  await expect(dapps.change(other.id, { name: "STRAßE shop" })).rejects.toMatchObject(taken);
  const twins = await Promise.allSettled([dapps.create("twin"), dapps.create("Twin")]);
  expect(twins.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  // Its own name in another case, and the name of a dapp that is gone.
  await dapps.change(shop.id, { name: "straße shop" });
  await dapps.delete(shop.id);
  await dapps.change(other.id, { name: "Straße shop" });
  expect((await dapps.get(other.id)).name).toBe("Straße shop");
  await close();
});
