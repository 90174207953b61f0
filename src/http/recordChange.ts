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

/** Adds a successful operation to the audit log, unless it only read or its request is recorded anyway. */
export async function recordChange(
  ctx: HttpContext,
  operation: Operation,
  { people }: Pick<OperatorPart, "people">,
): Promise<void> {
  // A request may end well after its caller has stopped waiting for it.
  const requestId = ctx.response.get("Tyche-Request-Id");
  if (!isAudited(operation.id) || (ctx.status >= 400 && requestId === "")) return;
  const { caller, dapp } = ctx.state;
  const params = Object.entries(ctx["params"] as Readonly<Record<string, string>>);
  const named = params.find(([name]) => name !== "dappId")?.[1];
  const made = readId(ctx.body);
  await people.audit({
    actor: caller?.id ?? dapp?.keyId ?? "",
    actor_name: caller?.person?.name ?? "",
    dapp_id: dapp?.id ?? (operation.id === "createDapp" ? (made ?? null) : null),
    action: operation.id,
    subject: named ?? made ?? (requestId === "" ? null : requestId),
  });
}

/** Returns the id of what an answer is about, if it has one. */
function readId(body: unknown): string | undefined {
  if (typeof body !== "string") return undefined;
  const { data } = JSON.parse(body) as { readonly data?: { readonly id?: unknown } };
  return typeof data?.id === "string" ? data.id : undefined;
}
