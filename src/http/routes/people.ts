import { listOf } from "../../api/common.ts";
import {
  AuditPage,
  InvitationView,
  Me,
  MemberView,
  NewInvitation,
  PasskeyView,
  PersonView,
  SessionView,
} from "../../api/people.ts";
import type { AuditChange, Membership } from "../../api/types.ts";
import { readPage } from "../../domain/readPage.ts";
import { formatTime } from "../../lib/time.ts";
import type { Role } from "../../domain/vocabulary.ts";
import { localNameOf } from "../../people/passkeys.ts";
import type { People } from "../../people/people.ts";
import { getCaller, type HttpContext, type HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";

/** No dapp's key may call them. */
const SHARED = { tag: "People", access: "operator" } as const;

/** Who is signed in, the people and their roles, invitations, sessions, and the audit log. */
export function peopleOperations(deps: HttpDeps, part: OperatorPart): readonly Operation[] {
  return [...memberOperations(deps, part), ...personOperations(deps, part), auditOperation(deps, part)];
}

/** The members of a dapp, and the invitations to become one. */
function memberOperations(deps: HttpDeps, { people, baseUrl }: OperatorPart): readonly Operation[] {
  const operation = createOperations(deps, SHARED);
  const member = "/api/dapps/:dappId/members/:personId";
  const invitations = "/api/dapps/:dappId/invitations";
  return [
    operation({
      id: "listMembers",
      path: "/api/dapps/:dappId/members",
      summary: "List members",
      description: "The people who have a role in the dapp, in the order in which they joined.",
      answer: listOf(MemberView),
      run: async ({ dapp }) => ({ items: (await people.members(dapp.id)).map(viewMember) }),
    }),
    operation({
      id: "changeMember",
      method: "patch",
      path: member,
      summary: "Change a member's role",
      description: "Counts from the person's next call on. A dapp's last owner stays one: 403.",
      request: "changeMember",
      example: { role: "developer" },
      answer: MemberView,
      async run({ ctx, dapp, param, values: { role } }) {
        const was = await people.changeMember(dapp.id, param("personId"), role);
        ctx.state.before = viewMember(was);
        ctx.state.isUnchanged = was.role === role;
        return viewMember({ ...was, role });
      },
    }),
    operation({
      id: "removeMember",
      method: "delete",
      path: member,
      summary: "Remove a member",
      description:
        "Counts from the person's next call on. API keys that the person knows go on working: revoke them too. A dapp's last owner stays: 403.",
      answer: MemberView,
      run: async ({ dapp, param }) =>
        viewMember(await people.changeMember(dapp.id, param("personId"), undefined)),
    }),
    operation({
      id: "listInvitations",
      path: invitations,
      summary: "List open invitations",
      description: "The invitations to the dapp that nobody has accepted yet, oldest first.",
      answer: listOf(InvitationView),
      run: async ({ dapp }) => ({ items: (await people.invitations(dapp.id)).map(viewInvitation) }),
    }),
    operation({
      id: "createInvitation",
      method: "post",
      path: invitations,
      summary: "Invite a person",
      description:
        "The answer contains a link, which is not shown again: whoever accepts it first, within seven days, becomes a member with the role.",
      request: "createInvitation",
      example: { role: "developer", name: "Alice" },
      answer: NewInvitation,
      async run({ ctx, dapp, values: { role, name } }) {
        const invitedBy = ctx.state.caller?.person?.name ?? "";
        const { code, invitation } = await people.invite(dapp.id, role, { name, invitedBy });
        return { ...viewInvitation(invitation), link: `${localNameOf(baseUrl())}/invitation#${code}` };
      },
    }),
    operation({
      id: "revokeInvitation",
      method: "delete",
      path: `${invitations}/:invitationId`,
      summary: "Revoke an invitation",
      description: "Its link no longer works.",
      answer: InvitationView,
      run: async ({ dapp, param }) =>
        viewInvitation(await people.revokeInvitation(dapp.id, param("invitationId"))),
    }),
  ];
}

/** Who is signed in, where, and the people of the whole service. */
function personOperations(deps: HttpDeps, { people }: OperatorPart): readonly Operation[] {
  const operation = createOperations(deps, SHARED);
  const findPerson = async (id: string) => (await people.list()).find((one) => one.id === id);
  /** Whose sessions a caller sees: their own, or with the operator's rights everybody's. */
  const personOf = (ctx: HttpContext): string | undefined => {
    const { id, isOperator } = getCaller(ctx);
    return isOperator ? undefined : id;
  };
  const listSessions = async (ctx: HttpContext) => {
    const { person } = getCaller(ctx);
    return (await people.sessions(personOf(ctx))).map((one) => ({
      id: one.id,
      personId: one.person_id,
      name: one.name,
      browser: one.browser,
      isCurrent: one.id === person?.sessionId,
      createdAt: formatTime(one.created_at),
      lastUsedAt: formatTime(one.last_used_at),
    }));
  };
  return [
    operation({
      id: "getMe",
      path: "/api/me",
      summary: "Read who is calling",
      description: "The person whose session makes the call, their roles and their passkeys.",
      answer: Me,
      async run({ ctx }) {
        const { id, isOperator, person } = getCaller(ctx);
        const memberships = person === undefined ? [] : viewRoles(person.roles);
        return {
          id: person === undefined ? null : id,
          name: person?.name ?? "Operator",
          isOperator,
          memberships,
          passkeys: (await people.passkeys(id)).map(viewPasskey),
        };
      },
    }),
    operation({
      id: "removePasskey",
      method: "delete",
      path: "/api/passkeys/:passkeyId",
      summary: "Remove a passkey",
      description:
        "Removes a passkey of the calling person, such as that of a lost device, and signs their other browsers out at once. The last one stays: 403.",
      answer: PasskeyView,
      run: async ({ ctx, param }) =>
        viewPasskey(await people.removePasskey(getCaller(ctx), param("passkeyId"))),
    }),
    operation({
      id: "listSessions",
      path: "/api/sessions",
      summary: "List sessions",
      description:
        "The browsers in which the calling person is signed in, or with the operator's rights everybody. Sessions of the operator token aren't listed: they end after twelve hours.",
      answer: listOf(SessionView),
      run: async ({ ctx }) => ({ items: await listSessions(ctx) }),
    }),
    operation({
      id: "endSession",
      method: "delete",
      path: "/api/sessions/:sessionId",
      summary: "End a session",
      description: "Signs the browser out at once.",
      answer: SessionView,
      async run({ ctx, param }) {
        const id = param("sessionId");
        const ended = (await listSessions(ctx)).find((one) => one.id === id);
        await people.endSession(id, personOf(ctx));
        return ended!;
      },
    }),
    operation({
      id: "listPeople",
      path: "/api/people",
      summary: "List people",
      description: "Everybody who can sign in with a passkey.",
      answer: listOf(PersonView),
      run: async () => ({ items: (await people.list()).map(viewPerson) }),
    }),
    operation({
      id: "changePerson",
      method: "patch",
      path: "/api/people/:personId",
      summary: "Make a person an operator",
      description:
        "Gives the person all rights of the operator token, or takes them back. The last of the people who has them keeps them: 403.",
      request: "changePerson",
      example: { isOperator: true },
      answer: PersonView,
      async run({ ctx, param, values: { isOperator } }) {
        const id = param("personId");
        const before = await findPerson(id);
        if (before !== undefined) ctx.state.before = viewPerson(before);
        await people.setOperator(id, isOperator);
        return viewPerson((await findPerson(id))!);
      },
    }),
    operation({
      id: "removePerson",
      method: "delete",
      path: "/api/people/:personId",
      summary: "Remove a person",
      description:
        "Deletes the person's passkeys, sessions and roles. The last operator and the last owner of a dapp stay: 403.",
      answer: PersonView,
      async run({ param }) {
        const id = param("personId");
        const person = await findPerson(id);
        await people.remove(id);
        return viewPerson(person!);
      },
    }),
  ];
}

/** `GET /api/audit`: who changed what. */
function auditOperation(deps: HttpDeps, { people }: OperatorPart): Operation {
  return createOperations(
    deps,
    SHARED,
  )({
    id: "listAudit",
    path: "/api/audit",
    summary: "Read the audit log",
    description:
      "Who created, revealed, changed (from what to what), revoked, linked or deleted what, and who signed in, newest first, page by page: of the dapp that the header `Tyche-Dapp` names, or without it of the whole service. " +
      "Requests are not in it: `GET /api/requests` has them.",
    request: "audit",
    answer: AuditPage,
    async run({ ctx, values: { limit, cursor, actor, action } }) {
      const dappId = ctx.state.dapp?.id;
      const { rows, nextCursor } = await readPage(limit, (most) =>
        people.auditLog({ dappId, actor, action, before: cursor, limit: most }),
      );
      const items = rows.map(({ at, actor_name, dapp_id, subject_name, changes, ...row }) => ({
        ...row,
        at: formatTime(at),
        actorName: actor_name,
        dappId: dapp_id,
        subjectName: subject_name,
        changes: JSON.parse(changes ?? "[]") as AuditChange[],
      }));
      return { items, nextCursor };
    },
  });
}

function viewRoles(roles: ReadonlyMap<string, Role>): Membership[] {
  return [...roles].map(([dappId, role]) => ({ dappId, role }));
}

function viewMember(member: {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly created_at: number;
}) {
  const { id, name, role, created_at } = member;
  return { personId: id, name, role, createdAt: formatTime(created_at) };
}

function viewInvitation(invitation: {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly created_at: number;
  readonly expires_at: number;
}) {
  const { id, name, role, created_at, expires_at } = invitation;
  return { id, name, role, createdAt: formatTime(created_at), expiresAt: formatTime(expires_at) };
}

function viewPasskey({ id, browser, created_at }: Awaited<ReturnType<People["passkeys"]>>[number]) {
  return { id, browser, createdAt: formatTime(created_at) };
}

function viewPerson(person: Awaited<ReturnType<OperatorPart["people"]["list"]>>[number]) {
  const { id, name, is_operator, created_at, roles } = person;
  return {
    id,
    name,
    isOperator: is_operator === 1,
    createdAt: formatTime(created_at),
    memberships: viewRoles(roles),
  };
}
