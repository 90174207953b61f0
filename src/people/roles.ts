import { leastRoleOf, roleAllows, type OperationId } from "../domain/operations.ts";
import type { Role } from "../domain/vocabulary.ts";

/** Who makes a call, other than with an API key: the operator token, or a session of an operator or of a person. */
export interface Caller {
  /** Identifies the caller in logs and limits without revealing a credential: `operator`, `session_…` or `person_…`. */
  readonly id: string;
  /** May do everything. */
  readonly isOperator: boolean;
  /** Absent for the operator token and its sessions. */
  readonly person?: {
    readonly name: string;
    /** Id of the session, as lists show it. */
    readonly sessionId: string;
    /** By dapp. */
    readonly roles: ReadonlyMap<string, Role>;
  };
}

/**
 * Decides whether a caller may do an operation: `hidden` if the caller may not even know that there is such a dapp.
 *
 * @param dappId the dapp that it is done to; `undefined` if it is none's.
 */
export function mayCall(
  { isOperator, person }: Caller,
  operation: OperationId,
  dappId: string | undefined,
): "yes" | "no" | "hidden" {
  if (isOperator) return "yes";
  const least = leastRoleOf(operation);
  if (dappId === undefined) return least === "anyone" ? "yes" : "no";
  const role = person?.roles.get(dappId);
  if (role === undefined) return "hidden";
  return least !== undefined && roleAllows(role, least) ? "yes" : "no";
}
