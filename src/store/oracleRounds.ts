import type { Queryable, Store } from "./store.ts";

/** Which records: of one request, under one configuration of one network. */
export interface OracleRoundKey {
  readonly network: string;
  readonly configDigest: string;
  readonly requestId: string;
}

/** What a node must not forget, with its place. */
export interface OracleRoundRecord extends OracleRoundKey {
  readonly record: string;
}

/** Returns what a node has recorded about a request, in its order. */
export async function listRoundRecords(db: Queryable, key: OracleRoundKey): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("oracle_rounds")
    .select("record")
    .where("request_id", "=", key.requestId)
    .where("config_digest", "=", key.configDigest)
    .where("network", "=", key.network)
    .orderBy("id")
    .execute();
  return rows.map(({ record }) => record);
}

/** Adds records in their order; resolves when they are on disk. */
export async function appendRoundRecords(
  store: Pick<Store, "write">,
  records: readonly OracleRoundRecord[],
): Promise<void> {
  const created_at = Date.now();
  const rows = records.map(({ network, configDigest, requestId, record }) => ({
    network,
    config_digest: configDigest,
    request_id: requestId,
    record,
    created_at,
  }));
  await store.write((db) => db.insertInto("oracle_rounds").values(rows).execute());
}

/** Forgets records from before a time (Unix, in milliseconds). */
export async function forgetRoundRecords(db: Queryable, before: number): Promise<void> {
  await db.deleteFrom("oracle_rounds").where("created_at", "<", before).execute();
}

/** Returns what a node's keys of a chain are used for, or `undefined` before their first use. */
export async function findNodeBinding(db: Queryable, chainId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("settings")
    .select("value")
    .where("name", "=", bindingName(chainId))
    .executeTakeFirst();
  return row?.value;
}

/** Notes what a node's keys of a chain are used for, from now on. */
export async function saveNodeBinding(
  store: Pick<Store, "write">,
  chainId: number,
  value: string,
): Promise<void> {
  await store.write((db) =>
    db
      .insertInto("settings")
      .values({ name: bindingName(chainId), value })
      .execute(),
  );
}

function bindingName(chainId: number): string {
  return `oracle node of chain ${chainId}`;
}
