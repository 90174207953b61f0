import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { LAST_BREAKING, migrations } from "../../src/store/migrations.ts";
import { findSetting, saveSetting } from "../../src/store/settings.ts";
import type { Store } from "../../src/store/store.ts";
import { USABLE_SINCE_SETTING } from "../../src/store/tableVersion.ts";
import { DATABASES, useStore, type TestDatabase } from "../support/databases.ts";

const FUTURE = "9999_future";

describe.each(DATABASES)("on %s", (_name, create) => {
  let database: TestDatabase;
  let store: Store;
  useStore(create, (opened, itsDatabase) => {
    store = opened;
    database = itsDatabase;
  });
  afterEach(async () => {
    await sql`DELETE FROM kysely_migration WHERE name = ${FUTURE}`.execute(store.db);
  });

  const NEWEST = Object.keys(migrations).at(-1)!;
  const upgrade = async (noted?: string): Promise<void> => {
    await sql`INSERT INTO kysely_migration (name, timestamp) VALUES (${FUTURE}, 'later')`.execute(store.db);
    if (noted !== undefined) await saveSetting(store.db, USABLE_SINCE_SETTING, noted);
  };

  test("what a database notes is a migration of this version", async () => {
    await (await database.open()).close();
    const [newest, since] = (await findSetting(store.db, USABLE_SINCE_SETTING))!.split(" ");
    expect(newest).toBe(NEWEST);
    expect(Object.keys(migrations)).toContain(since);
  });

  test("tables that another process serves from are only added to", async () => {
    const { rows } = await sql<{
      name: string;
      timestamp: string;
    }>`DELETE FROM kysely_migration WHERE name >= ${LAST_BREAKING} RETURNING name, timestamp`.execute(
      store.db,
    );
    await expect(database.open({ isAlone: false })).rejects.toThrow(
      `${LAST_BREAKING}) in a way that the version which serves from it can't live with`,
    );
    for (const { name, timestamp } of rows)
      await sql`INSERT INTO kysely_migration VALUES (${name}, ${timestamp})`.execute(store.db);
  });

  test("a newer database that says so is used, and left at its version", async () => {
    await upgrade(`${FUTURE} ${NEWEST}`);
    const older = await database.open();
    expect(older.migrated.names).toEqual([]);
    await saveSetting(older.db, "a", "b");
    await older.close();
    const { rows } = await sql`SELECT name FROM kysely_migration WHERE name = ${FUTURE}`.execute(store.db);
    expect(rows).toHaveLength(1);
  });

  test.each([undefined, FUTURE])("one that says %s is refused in one sentence", async (usableSince) => {
    await upgrade(usableSince);
    await expect(database.open()).rejects.toMatchObject({
      code: "store_unusable",
      message: expect.stringMatching(
        /^the database .* was made by a newer version of Tyche \(9999_future\); start that version/,
      ) as string,
    });
  });
});
