import { sql } from "kysely";
import type { UsageKind } from "./schema.ts";
import { fromRow } from "./columns.ts";
import type { Queryable } from "./queryable.ts";

/** Counts for one dapp's requests of a kind, on a network and a day. As differences they may be negative. */
export interface UsageCounts {
  readonly requests: number;
  readonly fulfilled: number;
  readonly failed: number;
  /** Calls refused after their dry run, which created no request. */
  readonly refused: number;
  readonly words: number;
  readonly gasUsed: number;
  readonly linkJuels: bigint;
  readonly coinWei: bigint;
}

/** Identifies usage: whose it is, of what, and when. A top-up's amounts are what the subscriptions received. */
export interface UsagePlace {
  readonly dappId: string;
  /** Empty for a dry run that names no network. */
  readonly network: string;
  /** UTC: `YYYY-MM-DD`. */
  readonly day: string;
  readonly kind: UsageKind;
}

/** A row of counts. */
export interface StoredUsage extends UsagePlace, UsageCounts {}

/** Returns the UTC day of a time (milliseconds since the epoch). */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Adds to the counts, in the transaction that stores what is counted. */
export async function addUsage(
  db: Queryable,
  usage: readonly (UsagePlace & Partial<UsageCounts>)[],
): Promise<void> {
  if (usage.length === 0) return;
  await db
    .insertInto("usage")
    .values(
      // The same order everywhere, so that transactions that wait for each other's rows can't deadlock.
      usage.toSorted(byKey).map((one) => {
        const [link_high, link_low] = split(one.linkJuels ?? 0n);
        const [coin_high, coin_low] = split(one.coinWei ?? 0n);
        return {
          dapp_id: one.dappId,
          network: one.network,
          day: one.day,
          kind: one.kind,
          requests: one.requests ?? 0,
          fulfilled: one.fulfilled ?? 0,
          failed: one.failed ?? 0,
          refused: one.refused ?? 0,
          words: one.words ?? 0,
          gas_used: one.gasUsed ?? 0,
          link_high,
          link_low,
          coin_high,
          coin_low,
        };
      }),
    )
    .onConflict((conflict) => conflict.columns(["dapp_id", "network", "day", "kind"]).doUpdateSet(ADDED))
    .execute();
}

/** Returns a dapp's counts between two days, both inclusive, oldest first. */
export async function listUsage(
  db: Queryable,
  page: {
    readonly dappId: string;
    readonly from: string;
    readonly to: string;
    readonly network?: string | undefined;
  },
): Promise<StoredUsage[]> {
  let query = db
    .selectFrom("usage")
    .selectAll()
    .where("dapp_id", "=", page.dappId)
    .where("day", ">=", page.from)
    .where("day", "<=", page.to);
  if (page.network !== undefined) query = query.where("network", "=", page.network);
  const rows = await query.orderBy("day").orderBy("network").orderBy("kind").execute();
  return rows.map(({ link_high, link_low, coin_high, coin_low, ...row }) => ({
    ...fromRow(row),
    linkJuels: join(link_high, link_low),
    coinWei: join(coin_high, coin_low),
  }));
}

/** What the subscriptions of a dapp were topped up with on one day. */
export interface ToppedUp {
  readonly dappId: string;
  readonly juels: bigint;
  readonly wei: bigint;
}

/** Returns what dapps' subscriptions on a network were topped up with on a day; only dapps with a top-up. */
export async function listToppedUp(
  db: Queryable,
  { network, day, dappId }: Pick<UsagePlace, "network" | "day"> & { readonly dappId?: string | undefined },
): Promise<ToppedUp[]> {
  let query = db
    .selectFrom("usage")
    .select(["dapp_id", "link_high", "link_low", "coin_high", "coin_low"])
    .where("network", "=", network)
    .where("day", "=", day)
    .where("kind", "=", "top-up");
  if (dappId !== undefined) query = query.where("dapp_id", "=", dappId);
  const rows = await query.orderBy("dapp_id").execute();
  return rows.map((row) => ({
    dappId: row.dapp_id,
    juels: join(row.link_high, row.link_low),
    wei: join(row.coin_high, row.coin_low),
  }));
}

const SUMS = [
  "requests",
  "fulfilled",
  "failed",
  "refused",
  "words",
  "gas_used",
  "link_high",
  "link_low",
  "coin_high",
  "coin_low",
] as const;
/** What a row becomes when counts are added to it. */
const ADDED = Object.fromEntries(
  SUMS.map((name) => [name, sql.raw<number>(`usage.${name} + excluded.${name}`)]),
);

function byKey(a: UsagePlace, b: UsagePlace): number {
  const [left, right] = [a, b].map(({ dappId, day, network, kind }) => `${dappId} ${day} ${network} ${kind}`);
  return left! < right! ? -1 : 1;
}

/** SQLite's integers end at 2^63, which is 9.2 LINK in juels. A sum is therefore stored as a multiple of 1e9 juels and the remainder. */
const HIGH = 1_000_000_000n;

function split(amount: bigint): readonly [high: number, low: number] {
  return [Number(amount / HIGH), Number(amount % HIGH)];
}

function join(high: number, low: number): bigint {
  return BigInt(high) * HIGH + BigInt(low);
}
