import type { ReactNode } from "react";
import { OPERATIONS, roleAllows, type MemberOperation } from "../../../domain/operations.ts";
import { ROLES } from "../../../domain/vocabulary.ts";
import { Loaded } from "../page.tsx";
import { useMay, useMeQuery } from "../services.tsx";

/** The controls of an operation; if the role of who is signed in does not allow it, nothing, or a sentence on who does what with them. */
export function ForRole({
  dappId,
  operation,
  does,
  children,
}: {
  readonly dappId: string;
  readonly operation: MemberOperation;
  /** What only those roles can do here, such as "set secrets". Default: nothing is said. */
  readonly does?: string;
  readonly children?: ReactNode;
}) {
  const isAllowed = useMay(dappId)(operation);
  if (isAllowed === undefined) return null;
  if (isAllowed) return children;
  return does === undefined ? null : (
    <p className="note">
      Only {nameRoles(operation)} can {does}.
    </p>
  );
}

/** What only operators may see; a sentence for others. */
export function ForOperators({ children }: { readonly children: ReactNode }) {
  const signedIn = useMeQuery();
  return (
    <Loaded query={signedIn}>
      {({ isOperator }) => (isOperator ? children : <p className="note">Only operators see this page.</p>)}
    </Loaded>
  );
}

/** Names the roles that allow an operation, such as "developers and owners". */
export function nameRoles(operation: MemberOperation): string {
  const roles = ROLES.filter((role) => roleAllows(role, OPERATIONS[operation].least));
  return roles.map((role) => `${role}s`).join(" and ");
}
