import { Type, type Static } from "typebox";
import { createId } from "../../lib/id.ts";
import { DRY_RUN_KINDS } from "../../lib/vocabulary.ts";
import {
  insertDryRun,
  KEPT_DRY_RUNS,
  listDryRuns,
  type DryRunRecord,
  type StoredDryRun,
} from "../../store/dryRuns.ts";
import type { UsageKind } from "../../store/schema.ts";
import type { Queryable, Store } from "../../store/store.ts";
import { addUsage, dayOf } from "../../store/usage.ts";
import { assertCursor } from "../read/cursor.ts";
import type { FunctionRefusal, SimulateResult } from "../read/results.ts";

/** Characters kept of a source, and of each text that it produced. */
const TITLE_CHARACTERS = 80;
const TEXT_CHARACTERS = 1_000;

/** A source that ran without creating a request: in a dry run that was asked for, or in a call that was refused. */
export type DryRunView = Static<typeof DryRunView>;
export const DryRunView = Type.Object({
  id: Type.String({ description: "`dry_` and 26 characters, ordered by time." }),
  kind: Type.Enum([...DRY_RUN_KINDS], {
    description: "`dry-run`: a dry run was requested; the others: a call of that kind was refused.",
  }),
  network: Type.Union([Type.String(), Type.Null()], { description: "`null` where none was named." }),
  at: Type.String({ format: "date-time", description: "When it ran." }),
  title: Type.String({ description: "Name of the preset, or the beginning of the source." }),
  success: Type.Boolean({ description: "Whether the source returned a result." }),
  parsedResult: Type.String({ description: "At most 1,000 characters." }),
  err: Type.String({ description: "`0x` means no error." }),
  console: Type.String({ description: "The first 1,000 characters that the source wrote." }),
  line: Type.Optional(Type.Integer({ minimum: 1, description: "Line where the source threw." })),
  column: Type.Optional(Type.Integer({ minimum: 1, description: "Column on that line." })),
});

/** A run to record. */
export interface DryRun {
  readonly dappId: string;
  /** Absent if none was named. */
  readonly network?: string | undefined;
  readonly kind: UsageKind;
  readonly preset?: string | undefined;
  readonly source?: string | undefined;
  readonly result: SimulateResult | FunctionRefusal;
}

/** Counts and records a dry run, in one transaction that doesn't wait for a flush to disk. */
export async function recordDryRun(store: Pick<Store, "writeSoon">, run: DryRun): Promise<void> {
  const { dappId, network = "", kind } = run;
  const createdAt = Date.now();
  const count = kind === "dry-run" ? { requests: 1 } : { refused: 1 };
  await store.writeSoon(async (db) => {
    await addUsage(db, [{ dappId, network, kind, day: dayOf(createdAt), ...count }]);
    await insertDryRun(db, {
      id: createId("dry", createdAt),
      dappId,
      network,
      kind,
      createdAt,
      ...recordOf(run),
    });
  });
}

/** A page of dry runs, newest first. */
export interface DryRunPage {
  readonly items: readonly DryRunView[];
  /** Pass it as `cursor` to get the next page; `null` on the last one. */
  readonly nextCursor: string | null;
}

/** Selects dry runs. */
export interface DryRunOptions {
  /** 1–100. Default 100: all that are kept. */
  readonly limit?: number;
  /** A `nextCursor` of an earlier page. */
  readonly cursor?: string;
  readonly kind?: DryRunView["kind"];
  /** Only dry runs that named this network. */
  readonly network?: string;
}

/**
 * Reads a page of a dapp's dry runs, of which the last 100 are kept.
 *
 * @throws {InvalidParameterError} at `/cursor` when the cursor is malformed.
 */
export async function readDryRuns(
  db: Queryable,
  dappId: string,
  { limit = KEPT_DRY_RUNS, cursor, ...filter }: DryRunOptions = {},
): Promise<DryRunPage> {
  assertCursor(cursor, "dry");
  const rows = await listDryRuns(db, { dappId, limit: limit + 1, before: cursor, ...filter });
  const items = viewsOf(rows.slice(0, limit));
  return { items, nextCursor: rows.length > limit ? items.at(-1)!.id : null };
}

function viewsOf(rows: readonly StoredDryRun[]): DryRunView[] {
  return rows.map(
    ({ id, kind, network, createdAt, success, title, parsedResult, err, console, line, column }) => ({
      id,
      kind: kind as DryRunView["kind"],
      network: network === "" ? null : network,
      at: new Date(createdAt).toISOString(),
      title,
      success,
      parsedResult,
      err,
      console,
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    }),
  );
}

function recordOf({ preset, source = "", result }: DryRun): DryRunRecord {
  const { success, parsedResult, err, console, line, column } = result;
  const [title = ""] = source.split("\n").filter((one) => one.trim() !== "");
  return {
    success,
    title: cut(preset ?? title.trim(), TITLE_CHARACTERS),
    parsedResult: cut(parsedResult, TEXT_CHARACTERS),
    err: cut(err, TEXT_CHARACTERS),
    console: cut(console, TEXT_CHARACTERS),
    line,
    column,
  };
}

function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters - 1)}…`.toWellFormed() : text;
}
