import type { AuditChange } from "../api/types.ts";
import { AUDIT_TEXT } from "../domain/operations.ts";
import { TycheError } from "../lib/errors.ts";
import type { HttpContext } from "./context.ts";
import type { Operation } from "./operation.ts";
import type { OperatorPart } from "./operatorPart.ts";

/** Members whose change the log records. The values of objects aren't kept: they may be long, and secret. */
const CHANGEABLE = [
  "name",
  "role",
  "isOperator",
  "facilities",
  "dailyLimit",
  "expiresAt",
  "beacon",
  "every",
  "cron",
  "timeZone",
  "catchUp",
  "window",
  "overlap",
  "until",
  "action",
  "actionNetwork",
  "url",
  "description",
  "events",
  "pausedAt",
];
/** Those of them that matter of what is created, and of what is removed. */
const GIVEN = ["role", "dailyLimit", "access", "expiresAt"];
const LOST = ["role"];

/**
 * Handles a call of an operation with an entry in the audit log, unless it only reads or its request is recorded anyway. The entry is stored
 * first and removed if the call is refused or changes nothing, so that nothing that was changed lacks one when the process or the database stops in between.
 */
export async function recordChange(
  ctx: HttpContext,
  operation: Operation,
  { people }: Pick<OperatorPart, "people">,
): Promise<void> {
  if (!AUDIT_TEXT.has(operation.id)) return await operation.handle(ctx);
  const { caller, dapp } = ctx.state;
  const params = Object.entries(ctx["params"] as Readonly<Record<string, string>>);
  const named = params.find(([name]) => name !== "dappId")?.[1];
  const entry = await people.audit({
    actor: caller?.id ?? dapp?.keyId ?? "",
    actor_name: caller?.person?.name ?? dapp?.keyName ?? "",
    dapp_id: dapp?.id ?? null,
    action: operation.id,
    subject: named ?? null,
  });
  // A request may end well after its caller has stopped waiting for it.
  const requestId = (): string | null => ctx.response.get("Tyche-Request-Id") || null;
  try {
    await operation.handle(ctx);
  } catch (error) {
    const isRefused = error instanceof TycheError && error.blame === "caller";
    if (isRefused && requestId() === null) await people.withdrawAudit(entry);
    throw error;
  }
  const isRefused = ctx.status >= 400 && requestId() === null;
  if (isRefused || ctx.state.isUnchanged === true) return await people.withdrawAudit(entry);
  const data = readData(ctx.body);
  const { id: made, name } = readSubject(data);
  const dappId = dapp?.id ?? (operation.id === "createDapp" ? made : undefined);
  await people.completeAudit(entry, {
    dapp_id: dappId ?? null,
    subject: named ?? made ?? requestId(),
    // Whoever deletes a dapp is not told its name again.
    subject_name: ctx.state.consumer ?? name ?? (operation.id === "deleteDapp" ? dapp?.name : null) ?? null,
    changes: JSON.stringify(
      findChanges(operation, { isNew: named === undefined, before: ctx.state.before, data }),
    ),
  });
}

type Data = Readonly<Record<string, unknown>>;

/** Returns what an answer says; an empty object if it says nothing. */
function readData(body: unknown): Data {
  return typeof body === "string" ? ((JSON.parse(body) as { readonly data?: Data }).data ?? {}) : {};
}

/** Returns id and name of what an answer is about, as far as it has them; of a webhook, the host of its URL. */
function readSubject(data: Data): { readonly id?: string; readonly name?: string } {
  const text = (member: string): string | undefined =>
    typeof data[member] === "string" && data[member] !== "" ? data[member] : undefined;
  const id = text("id");
  const name = text("name") ?? URL.parse(text("url") ?? "")?.host;
  return { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
}

/** Returns what an operation changed, created or removed, by what was there before it and by its answer. */
function findChanges(
  { method }: Pick<Operation, "method">,
  {
    isNew,
    before,
    data,
  }: { readonly isNew: boolean; readonly before: object | undefined; readonly data: Data },
): readonly AuditChange[] {
  const isRemoved = method === "delete";
  const [from, to]: readonly [Data, Data] = isRemoved ? [data, {}] : [{ ...before }, data];
  // What is revealed, rotated or sent again keeps what it has.
  const given = isNew ? GIVEN : [];
  return (isRemoved ? LOST : before === undefined ? given : CHANGEABLE)
    .filter((member) => JSON.stringify(from[member] ?? null) !== JSON.stringify(to[member] ?? null))
    .map((member) => ({ member, from: textOf(member, from), to: textOf(member, to) }));
}

/** Returns a value as the log keeps it. A URL may hold a token. */
function textOf(member: string, { [member]: value }: Data): string | null {
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "string") return member === "url" ? (URL.parse(value)?.host ?? null) : value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}
