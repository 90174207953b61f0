import type { Selectable } from "kysely";
import type { Tables, UsageKind } from "./schema.ts";
import type { Queryable } from "./queryable.ts";

/** Dry runs kept per dapp; each new one replaces the oldest. */
export const KEPT_DRY_RUNS = 100;

/** Bytes of the parameters of refused calls that are kept per dapp, in UTF-8: those of the oldest calls go first. Any call's fit. */
export const KEPT_PARAMS_BYTES = 1_000_000;

/** The outcome of a source that ran once without becoming a request. */
export interface DryRunRecord {
  /** Whether the source returned a result. */
  readonly success: boolean;
  /** The preset's name, or the beginning of the source. */
  readonly title: string;
  readonly parsedResult: string;
  readonly err: string;
  readonly console: string;
  /** Position where the source threw, 1-based. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Whether the result showed a secret: then it isn't kept. */
  readonly withheld?: true | undefined;
  /** What the run took and found: absent from runs that earlier versions stored. */
  readonly timeMs?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly httpRequests?: number | undefined;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
  readonly warnings?: readonly string[] | undefined;
}

/** A stored dry run. */
export interface StoredDryRun extends DryRunRecord {
  /** `dry_` and 26 characters, ordered by time. */
  readonly id: string;
  readonly dappId: string;
  /** Empty if no network was named. */
  readonly network: string;
  /** `dry-run` if the caller asked for a dry run; otherwise the kind of request that was refused. */
  readonly kind: UsageKind;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
}

/**
 * Stores a dry run and deletes the dapp's oldest ones beyond {@link KEPT_DRY_RUNS}, and their parameters beyond {@link KEPT_PARAMS_BYTES}, in
 * the transaction that counts it.
 *
 * @param params what a refused call asked for
 */
export async function insertDryRun(
  db: Queryable,
  run: StoredDryRun,
  params?: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { id, dappId, network, kind, createdAt, ...record } = run;
  const kept = params === undefined ? null : JSON.stringify(params);
  await db
    .insertInto("dry_runs")
    .values({
      id,
      dapp_id: dappId,
      network,
      kind,
      record: JSON.stringify(record),
      created_at: createdAt,
      params_bytes: kept === null ? 0 : Buffer.byteLength(kept),
      params: kept,
    })
    .execute();
  await db
    .deleteFrom("dry_runs")
    .where("dapp_id", "=", dappId)
    .where("id", "<=", (inner) =>
      inner
        .selectFrom("dry_runs")
        .select("id")
        .where("dapp_id", "=", dappId)
        .orderBy("id", "desc")
        .limit(1)
        .offset(KEPT_DRY_RUNS),
    )
    .execute();
  if (kept !== null) await deleteOldParams(db, dappId);
}

async function deleteOldParams(db: Queryable, dappId: string): Promise<void> {
  const sizes = await db
    .selectFrom("dry_runs")
    .select(["id", "params_bytes"])
    .where("dapp_id", "=", dappId)
    .where("params_bytes", ">", 0)
    .orderBy("id", "desc")
    .execute();
  let bytes = 0;
  const last = sizes.find(({ params_bytes }) => (bytes += params_bytes) > KEPT_PARAMS_BYTES);
  if (last === undefined) return;
  await db
    .updateTable("dry_runs")
    .set({ params: null, params_bytes: 0 })
    .where("dapp_id", "=", dappId)
    .where("id", "<=", last.id)
    .execute();
}

/** Returns a dapp's dry run, with what the refused call asked for as far as it is kept; `undefined` if there is none. */
export async function findDryRun(
  db: Queryable,
  of: { readonly dappId: string; readonly id: string },
): Promise<(StoredDryRun & { readonly params: Readonly<Record<string, unknown>> | undefined }) | undefined> {
  const row = await db
    .selectFrom("dry_runs")
    .select([...COLUMNS, "params"])
    .where("dapp_id", "=", of.dappId)
    .where("id", "=", of.id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const params = row.params === null ? undefined : (JSON.parse(row.params) as Record<string, unknown>);
  return { ...toDryRun(row), params };
}

/** Returns a dapp's dry runs, newest first. @param page.before returns only those older than the one with this id */
export async function listDryRuns(
  db: Queryable,
  page: {
    readonly dappId: string;
    readonly limit: number;
    readonly before?: string | undefined;
    readonly kind?: UsageKind | undefined;
    readonly network?: string | undefined;
  },
): Promise<StoredDryRun[]> {
  let query = db.selectFrom("dry_runs").select(COLUMNS).where("dapp_id", "=", page.dappId);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (page.kind !== undefined) query = query.where("kind", "=", page.kind);
  if (page.network !== undefined) query = query.where("network", "=", page.network);
  const rows = await query.orderBy("id", "desc").limit(page.limit).execute();
  return rows.map(toDryRun);
}

/** What lists read: without the parameters. */
const COLUMNS = ["id", "dapp_id", "network", "kind", "record", "created_at"] as const;

function toDryRun({
  id,
  dapp_id,
  network,
  kind,
  record,
  created_at,
}: Pick<Selectable<Tables["dry_runs"]>, (typeof COLUMNS)[number]>): StoredDryRun {
  return {
    id,
    dappId: dapp_id,
    network,
    kind,
    createdAt: created_at,
    ...(JSON.parse(record) as DryRunRecord),
  };
}

/** Deletes the dry runs on a network, and those without a network, from before a time. They contain data that callers sent. */
export async function deleteOldDryRuns(
  db: Queryable,
  { network, before }: { readonly network: string; readonly before: number },
): Promise<void> {
  await db
    .deleteFrom("dry_runs")
    .where("network", "in", [network, ""])
    .where("created_at", "<", before)
    .execute();
}
