import { TycheError } from "../lib/errors.ts";
import type { HttpContext } from "./context.ts";
import type { Operation } from "./operation.ts";
import type { OperatorPart } from "./operatorPart.ts";

/** Operations that only read, or make a request that the dapp's list of requests records; all others are in the audit log. */
const UNRECORDED =
  /^(?:(?:get|list|explore|run|request|simulate|verify|search|read|test)[A-Z]|useFaucet$|search$)/;

/** Whether the audit log records an operation: it reveals, creates, changes or deletes something. */
export function isAudited(operation: string): boolean {
  return !UNRECORDED.test(operation);
}

/**
 * Handles a call of an operation with an entry in the audit log, unless it only reads or its request is recorded anyway. The entry is stored
 * first and removed if the call is refused or changes nothing, so that nothing that was changed lacks one when the process or the database stops in between.
 */
export async function recordChange(
  ctx: HttpContext,
  operation: Operation,
  { people }: Pick<OperatorPart, "people">,
): Promise<void> {
  if (!isAudited(operation.id)) return await operation.handle(ctx);
  const { caller, dapp } = ctx.state;
  const params = Object.entries(ctx["params"] as Readonly<Record<string, string>>);
  const named = params.find(([name]) => name !== "dappId")?.[1];
  const entry = await people.audit({
    actor: caller?.id ?? dapp?.keyId ?? "",
    actor_name: caller?.person?.name ?? "",
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
  const { id: made, name } = readSubject(ctx.body);
  const dappId = dapp?.id ?? (operation.id === "createDapp" ? made : undefined);
  await people.completeAudit(entry, {
    dapp_id: dappId ?? null,
    subject: named ?? made ?? requestId(),
    // Whoever deletes a dapp is not told its name again.
    subject_name: ctx.state.consumer ?? name ?? (operation.id === "deleteDapp" ? dapp?.name : null) ?? null,
  });
}

/** Returns id and name of what an answer is about, as far as it has them; of a webhook, the host of its URL. */
function readSubject(body: unknown): { readonly id?: string; readonly name?: string } {
  if (typeof body !== "string") return {};
  const { data } = JSON.parse(body) as { readonly data?: Readonly<Record<string, unknown>> };
  const text = (member: string): string | undefined =>
    typeof data?.[member] === "string" && data[member] !== "" ? data[member] : undefined;
  const id = text("id");
  const name = text("name") ?? URL.parse(text("url") ?? "")?.host;
  return { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
}
