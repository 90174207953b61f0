import type { Store } from "../store/store.ts";
import { createAuditLog } from "./audit.ts";
import { createInvitations } from "./invitations.ts";
import { createMembers } from "./members.ts";
import { createPasskeySignIn } from "./passkeySignIn.ts";
import { createProviderSignIn } from "./providerSignIn.ts";
import { createSessions } from "./sessions.ts";

/** The people who sign in as themselves: their passkeys, sessions, memberships and invitations, and the audit log. */
export type People = ReturnType<typeof createPeople>;

/** Creates the use cases. */
export function createPeople(
  store: Store,
  options: {
    /** Days that an entry of the audit log is kept. Default: forever. */
    readonly auditDays?: number | undefined;
    /** Default: `Date.now`. */
    readonly now?: () => number;
  } = {},
) {
  const { auditDays, now = Date.now } = options;
  const log = createAuditLog({ store, now, auditDays });
  const parts = { store, now, audit: log.audit };
  return {
    ...log,
    ...createPasskeySignIn(parts),
    ...createProviderSignIn(parts),
    ...createInvitations(parts),
    ...createMembers(parts),
    ...createSessions(parts),
  };
}
