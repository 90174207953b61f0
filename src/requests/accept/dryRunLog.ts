import type { Checked } from "../../api/parameters/requestSchemas.ts";
import type { DryRunPage, DryRunView, SimulateResult } from "../../api/types.ts";
import { cut } from "../../lib/cut.ts";
import { NotFoundError } from "../../lib/errors.ts";
import { createId } from "../../domain/id.ts";
import { readPage, assertCursor } from "../../domain/readPage.ts";
import {
  findDryRun,
  insertDryRun,
  KEPT_DRY_RUNS,
  listDryRuns,
  type DryRunRecord,
  type StoredDryRun,
} from "../../store/dryRuns.ts";
import type { UsageKind } from "../../store/schema.ts";
import type { Store } from "../../store/store.ts";
import type { Queryable } from "../../store/queryable.ts";
import { addUsage, dayOf } from "../../store/usage.ts";
import type { RequestFacts } from "../openRequest.ts";
import type { FunctionRefusal } from "./runDetails.ts";

/** Characters kept of a source, and of each text that it produced. */
const TITLE_CHARACTERS = 80;
const TEXT_CHARACTERS = 1_000;

/** A run to record. */
export interface DryRun {
  readonly dappId: string;
  /** Absent if none was named. */
  readonly network?: string | undefined;
  readonly kind: UsageKind;
  readonly preset?: string | undefined;
  readonly source?: string | undefined;
  /** What a refused call asked for, with the names of its secrets: kept beside the run. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly result: SimulateResult | FunctionRefusal;
  /** Whether the result shows a secret: the caller may see it, but the record would keep it in clear. Default `false`. */
  readonly showsSecret?: boolean;
}

/**
 * Counts and records a dry run, in one transaction that doesn't wait for a flush to disk.
 *
 * @returns its id.
 */
export async function recordDryRun(store: Pick<Store, "writeSoon">, run: DryRun): Promise<string> {
  const { dappId, network = "", kind } = run;
  const createdAt = Date.now();
  const id = createId("dry", createdAt);
  const count = kind === "dry-run" ? { requests: 1 } : { refused: 1 };
  await store.writeSoon(async (db) => {
    await addUsage(db, [{ dappId, network, kind, day: dayOf(createdAt), ...count }]);
    await insertDryRun(db, { id, dappId, network, kind, createdAt, ...recordOf(run) }, run.params);
  });
  return id;
}

/**
 * Reads a page of a dapp's dry runs, of which the last 100 are kept.
 *
 * @throws {InvalidParameterError} at `/cursor` when the cursor is malformed.
 */
export async function readDryRuns(
  db: Queryable,
  dappId: string,
  { limit = KEPT_DRY_RUNS, cursor, ...filter }: Partial<Checked<"dryRuns">> = {},
): Promise<DryRunPage> {
  assertCursor(cursor, "dry");
  const { rows, nextCursor } = await readPage(limit, (most) =>
    listDryRuns(db, { dappId, limit: most, before: cursor, ...filter }),
  );
  return { items: rows.map(viewOf), nextCursor };
}

/**
 * Reads one of a dapp's dry runs, with what the refused call asked for.
 *
 * @throws {NotFoundError} for an unknown id, once it is not kept any more, and for another dapp's alike.
 */
export async function readDryRun(db: Queryable, dappId: string, id: string): Promise<DryRunView> {
  const run = await findDryRun(db, { dappId, id });
  if (run === undefined) throw new NotFoundError(`dry run ${id}; a dapp's last ${KEPT_DRY_RUNS} are kept`);
  const { params } = run;
  return { ...viewOf(run), ...(params === undefined ? {} : { params }) };
}

/** Returns what a request keeps of its dry run. */
export function keptOf({
  console,
  timeMs,
  memoryBytes,
  httpRequests,
}: Pick<SimulateResult, "console" | "timeMs" | "memoryBytes" | "httpRequests">): Pick<
  RequestFacts,
  "dryRun"
> {
  return { dryRun: { console: cut(console, TEXT_CHARACTERS), timeMs, memoryBytes, httpRequests } };
}

function viewOf(run: StoredDryRun): DryRunView {
  const { id, kind, network, createdAt, success, title, parsedResult, err, console } = run;
  const { line, column, timeMs, memoryBytes, httpRequests, details, warnings, withheld } = run;
  return {
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
    ...(timeMs === undefined ? {} : { timeMs }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(httpRequests === undefined ? {} : { httpRequests }),
    ...(details === undefined ? {} : { details }),
    ...(warnings === undefined ? {} : { warnings }),
    ...(withheld === undefined ? {} : { withheld }),
  };
}

function recordOf({ preset, source = "", result, showsSecret = false }: DryRun): DryRunRecord {
  const { success, parsedResult, err, console, line, column, timeMs, memoryBytes, httpRequests } = result;
  const { details, warnings } = result;
  const [title = ""] = source.split("\n").filter((one) => one.trim() !== "");
  return {
    success,
    title: cut(preset ?? title.trim(), TITLE_CHARACTERS),
    parsedResult: showsSecret ? "" : cut(parsedResult, TEXT_CHARACTERS),
    err: cut(err, TEXT_CHARACTERS),
    console: cut(console, TEXT_CHARACTERS),
    line,
    column,
    timeMs,
    memoryBytes,
    httpRequests,
    details: details?.map(({ path, message }) => ({ path, message: cut(message, TEXT_CHARACTERS) })),
    warnings: warnings?.map((warning) => cut(warning, TEXT_CHARACTERS)),
    ...(showsSecret ? { withheld: true } : {}),
  };
}
