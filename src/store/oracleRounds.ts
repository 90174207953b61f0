import type { Store } from "./store.ts";
import type { Queryable } from "./queryable.ts";

/** Identifies the records of one request under one configuration of one network. */
export interface OracleRoundKey {
  readonly network: string;
  readonly configDigest: string;
  readonly requestId: string;
}

/** A fact that a node must not forget, with the round it belongs to. */
export interface OracleRoundRecord extends OracleRoundKey {
  readonly record: string;
}

/** Returns a node's records about a request, in insertion order. */
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

/** Appends records in order; resolves once they are on disk. */
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

/** Deletes records from before a time (Unix milliseconds). */
export async function forgetRoundRecords(db: Queryable, before: number): Promise<void> {
  await db.deleteFrom("oracle_rounds").where("created_at", "<", before).execute();
}

/** Returns what a node's keys for a chain are used for, or `undefined` before their first use. */
export async function findNodeBinding(db: Queryable, chainId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom("settings")
    .select("value")
    .where("name", "=", bindingName(chainId))
    .executeTakeFirst();
  return row?.value;
}

/** Records what a node's keys for a chain are used for from here on. */
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
