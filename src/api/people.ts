import { Type } from "typebox";
import { ROLES } from "../domain/vocabulary.ts";
import { nullable, pageOf, time } from "./common.ts";

/** What a member may do: a viewer reads; a developer also runs, and edits what runs; an owner also has keys, members, linked contracts and deletion. */
export const RoleName = Type.Enum([...ROLES]);

const personId = Type.String({ description: "Identifier of the person: `person_` and 26 characters." });

/** A person's role in a dapp. */
export const Membership = Type.Object({ dappId: Type.String(), role: RoleName });

/** A passkey of a person. */
export const PasskeyView = Type.Object({
  id: Type.String({ description: "Identifier that its authenticator chose, base64url." }),
  browser: Type.String({ description: "What the browser that made it called itself." }),
  createdAt: time("When it was made."),
});

/** Who makes a call. */
export const Me = Type.Object({
  id: nullable(personId, "`null` for the operator token and its sessions."),
  name: Type.String({ description: "The person's name; `Operator` for the operator token." }),
  isOperator: Type.Boolean({ description: "Whether everything is allowed." }),
  memberships: Type.Array(Membership),
  passkeys: Type.Array(PasskeyView, { description: "What the person signs in with, oldest first." }),
});

/** A member of a dapp. */
export const MemberView = Type.Object({
  personId,
  name: Type.String(),
  role: RoleName,
  createdAt: time("When the person became a member."),
});

/** An open invitation, without its link. */
export const InvitationView = Type.Object({
  id: Type.String({ description: "Identifier: `inv_` and 26 characters." }),
  name: Type.String({ description: "Who it is for, as the one who invites says; empty if they don't." }),
  role: RoleName,
  createdAt: time("When it was created."),
  expiresAt: time("When it is over."),
});

/** An invitation as it is shown on creation. */
export const NewInvitation = Type.Object({
  ...InvitationView.properties,
  link: Type.String({ description: "Opens the invitation, once. It is not shown again. Keep it secret." }),
});

/** A person who signs in. */
export const PersonView = Type.Object({
  id: personId,
  name: Type.String(),
  isOperator: Type.Boolean(),
  createdAt: time("When the person accepted the first invitation."),
  memberships: Type.Array(Membership),
});

/** A browser in which a person is signed in. */
export const SessionView = Type.Object({
  id: Type.String({ description: "Identifier: `session_` and 12 hex digits." }),
  personId,
  name: Type.String({ description: "The person's name." }),
  browser: Type.String({ description: "What the browser called itself at the sign-in." }),
  isCurrent: Type.Boolean({ description: "Whether this call is made in it." }),
  createdAt: time("When the person signed in."),
  lastUsedAt: time("When it was last used, to the minute. It ends 30 days later."),
});

/** A member that was changed. */
export const AuditChange = Type.Object({
  member: Type.String({ description: "Name of the member in the answer of the operation, such as `role`." }),
  from: nullable(Type.String(), "What it was, as text; `null` if it had no value, or one that isn't kept."),
  to: nullable(Type.String(), "What it became, as `from`; of a URL, only the host."),
});

/** A change that somebody made. */
export const AuditEntry = Type.Object({
  id: Type.String({ description: "Identifier: `aud_` and 26 characters." }),
  at: time("When."),
  actor: Type.String({
    description:
      "Id of the person or of the API key; `operator` for the operator token, `session_…` for a session of it.",
  }),
  actorName: Type.String({
    description: "Name of the person or of the API key at that time; empty for others.",
  }),
  dappId: nullable(Type.String(), "The dapp that was changed, if it was one."),
  action: Type.String({
    description: "Id of the operation in `/openapi.json`, or `signIn`, `acceptInvitation` or `addPasskey`.",
  }),
  subject: nullable(Type.String(), "Id of what was created, changed or deleted, if it has one."),
  subjectName: nullable(
    Type.String(),
    "Its name at that time, who an invitation is for, the host of a webhook's URL, or a contract's address; `null` if it has none.",
  ),
  changes: Type.Array(AuditChange, {
    description:
      "What was changed of it; of what was created, role, daily limit, access and expiry; of what was removed, the role.",
  }),
});

/** A page of the audit log. */
export const AuditPage = pageOf(AuditEntry);
