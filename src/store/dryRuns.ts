import type { UsageKind } from "./schema.ts";
import type { Queryable } from "./queryable.ts";

/** Dry runs kept per dapp; each new one replaces the oldest. */
export const KEPT_DRY_RUNS = 100;

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

/** Stores a dry run and deletes the dapp's oldest ones beyond {@link KEPT_DRY_RUNS}, in the transaction that counts it. */
export async function insertDryRun(db: Queryable, run: StoredDryRun): Promise<void> {
  const { id, dappId, network, kind, createdAt, ...record } = run;
  await db
    .insertInto("dry_runs")
    .values({ id, dapp_id: dappId, network, kind, record: JSON.stringify(record), created_at: createdAt })
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
  let query = db.selectFrom("dry_runs").selectAll().where("dapp_id", "=", page.dappId);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (page.kind !== undefined) query = query.where("kind", "=", page.kind);
  if (page.network !== undefined) query = query.where("network", "=", page.network);
  const rows = await query.orderBy("id", "desc").limit(page.limit).execute();
  return rows.map(({ id, dapp_id, network, kind, record, created_at }) => ({
    id,
    dappId: dapp_id,
    network,
    kind,
    createdAt: created_at,
    ...(JSON.parse(record) as DryRunRecord),
  }));
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
