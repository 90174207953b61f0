import { capitalize } from "../../../lib/capitalize.ts";
import type { ReactNode } from "react";
import { OPERATIONS, roleAllows, type MemberOperation } from "../../../lib/operations.ts";
import { ROLES } from "../../../lib/vocabulary.ts";
import { useMay } from "../services.tsx";

/** The controls of an operation, or whose they are if the role of who is signed in does not allow it. */
export function ForRole({
  dappId,
  operation,
  children,
}: {
  readonly dappId: string;
  readonly operation: MemberOperation;
  readonly children: ReactNode;
}) {
  const isAllowed = useMay(dappId)(operation);
  if (isAllowed === undefined) return null;
  return isAllowed ? children : <p className="note">{nameRoles(operation)} only.</p>;
}

/** Names the roles that allow an operation, such as "Developers and owners". */
export function nameRoles(operation: MemberOperation): string {
  const roles = ROLES.filter((role) => roleAllows(role, OPERATIONS[operation].least));
  return capitalize(roles.map((role) => `${role}s`).join(" and "));
}
