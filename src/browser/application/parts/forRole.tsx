import { capitalize } from "../../../lib/capitalize.ts";
import type { ReactNode } from "react";
import { OPERATIONS, roleAllows, type MemberOperation } from "../../../lib/operations.ts";
import { ROLES } from "../../../lib/vocabulary.ts";
import { useMay } from "../services.tsx";

/** The controls of an operation; if the role of who is signed in does not allow it, nothing, or a sentence on who does what with them. */
export function ForRole({
  dappId,
  operation,
  does,
  children,
}: {
  readonly dappId: string;
  readonly operation: MemberOperation;
  /** What those roles do here, such as "set secrets". Default: nothing is said. */
  readonly does?: string;
  readonly children?: ReactNode;
}) {
  const isAllowed = useMay(dappId)(operation);
  if (isAllowed === undefined) return null;
  if (isAllowed) return children;
  return does === undefined ? null : (
    <p className="note">
      {nameRoles(operation)} {does}.
    </p>
  );
}

/** Names the roles that allow an operation, such as "Developers and owners". */
export function nameRoles(operation: MemberOperation): string {
  const roles = ROLES.filter((role) => roleAllows(role, OPERATIONS[operation].least));
  return capitalize(roles.map((role) => `${role}s`).join(" and "));
}
