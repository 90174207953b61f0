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
import { readPage } from "../../lib/readPage.ts";
import { formatTime } from "../../lib/time.ts";
import type { Role } from "../../lib/vocabulary.ts";
import { localNameOf } from "../../people/passkeys.ts";
import type { People } from "../../people/people.ts";
import { getCaller, getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { RequestSchemas } from "../schemas/liveSchemas.ts";
import type { Operation } from "../operation.ts";
import type { OperatorPart } from "../operatorPart.ts";
import { readParameters, readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import type { Static } from "typebox";
import type { Validator } from "../validator.ts";
import { createReading } from "./operatorReading.ts";

/** Who is signed in, the people and their roles, invitations, sessions, and the audit log. */
export function peopleOperations(deps: HttpDeps, part: OperatorPart): readonly Operation[] {
  return [...memberOperations(deps, part), ...personOperations(deps, part), auditOperation(deps, part)];
}

/** The members of a dapp, and the invitations to become one. */
function memberOperations(deps: HttpDeps, { people, baseUrl }: OperatorPart): readonly Operation[] {
  const reading = createPeopleReading(deps);
  const writing = createWriting(deps);
  const member = "/api/dapps/:dappId/members/:personId";
  const invitations = "/api/dapps/:dappId/invitations";
  return [
    reading({
      id: "listMembers",
      path: "/api/dapps/:dappId/members",
      summary: "List members",
      description: "The people who have a role in the dapp, in the order in which they joined.",
      answer: listOf(MemberView),
      read: async (ctx) => ({ items: (await people.members(getDapp(ctx).id)).map(viewMember) }),
    }),
    writing({
      id: "changeMember",
      method: "patch",
      path: member,
      summary: "Change a member's role",
      description: "Counts from the person's next call on. A dapp's last owner stays one: 403.",
      request: "changeMember",
      example: { role: "developer" },
      answer: MemberView,
      async run(ctx, { role }) {
        const was = await people.changeMember(getDapp(ctx).id, readParam(ctx, "personId"), role);
        ctx.state.before = viewMember(was);
        ctx.state.isUnchanged = was.role === role;
        return viewMember({ ...was, role });
      },
    }),
    {
      ...reading({
        id: "removeMember",
        path: member,
        summary: "Remove a member",
        description:
          "Counts from the person's next call on. API keys that the person knows go on working: revoke them too. A dapp's last owner stays: 403.",
        answer: MemberView,
        read: async (ctx) =>
          viewMember(await people.changeMember(getDapp(ctx).id, readParam(ctx, "personId"), undefined)),
      }),
      method: "delete",
    },
    reading({
      id: "listInvitations",
      path: invitations,
      summary: "List open invitations",
      description: "The invitations to the dapp that nobody has accepted yet, oldest first.",
      answer: listOf(InvitationView),
      read: async (ctx) => ({ items: (await people.invitations(getDapp(ctx).id)).map(viewInvitation) }),
    }),
    writing({
      id: "createInvitation",
      method: "post",
      path: invitations,
      summary: "Invite a person",
      description:
        "The answer contains a link, which is not shown again: whoever accepts it first, within seven days, becomes a member with the role.",
      request: "createInvitation",
      example: { role: "developer" },
      answer: NewInvitation,
      async run(ctx, { role }) {
        const invitedBy = ctx.state.caller?.person?.name ?? "";
        const { code, invitation } = await people.invite(getDapp(ctx).id, role, invitedBy);
        return { ...viewInvitation(invitation), link: `${localNameOf(baseUrl())}/invitation#${code}` };
      },
    }),
    {
      ...reading({
        id: "revokeInvitation",
        path: `${invitations}/:invitationId`,
        summary: "Revoke an invitation",
        description: "Its link no longer works.",
        answer: InvitationView,
        read: async (ctx) =>
          viewInvitation(await people.revokeInvitation(getDapp(ctx).id, readParam(ctx, "invitationId"))),
      }),
      method: "delete",
    },
  ];
}

/** Who is signed in, where, and the people of the whole service. */
function personOperations(deps: HttpDeps, { people }: OperatorPart): readonly Operation[] {
  const reading = createPeopleReading(deps);
  const writing = createWriting(deps);
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
    reading({
      id: "getMe",
      path: "/api/me",
      summary: "Read who is calling",
      description: "The person whose session makes the call, their roles and their passkeys.",
      answer: Me,
      async read(ctx) {
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
    {
      ...reading({
        id: "removePasskey",
        path: "/api/passkeys/:passkeyId",
        summary: "Remove a passkey",
        description:
          "Removes a passkey of the calling person, such as that of a lost device, and signs their other browsers out at once. The last one stays: 403.",
        answer: PasskeyView,
        read: async (ctx) =>
          viewPasskey(await people.removePasskey(getCaller(ctx), readParam(ctx, "passkeyId"))),
      }),
      method: "delete",
    },
    reading({
      id: "listSessions",
      path: "/api/sessions",
      summary: "List sessions",
      description:
        "The browsers in which the calling person is signed in, or with the operator's rights everybody. Sessions of the operator token aren't listed: they end after twelve hours.",
      answer: listOf(SessionView),
      read: async (ctx) => ({ items: await listSessions(ctx) }),
    }),
    {
      ...reading({
        id: "endSession",
        path: "/api/sessions/:sessionId",
        summary: "End a session",
        description: "Signs the browser out at once.",
        answer: SessionView,
        async read(ctx) {
          const id = readParam(ctx, "sessionId");
          const ended = (await listSessions(ctx)).find((one) => one.id === id);
          await people.endSession(id, personOf(ctx));
          return ended!;
        },
      }),
      method: "delete",
    },
    reading({
      id: "listPeople",
      path: "/api/people",
      summary: "List people",
      description: "Everybody who can sign in with a passkey.",
      answer: listOf(PersonView),
      read: async () => ({ items: (await people.list()).map(viewPerson) }),
    }),
    writing({
      id: "changePerson",
      method: "patch",
      path: "/api/people/:personId",
      summary: "Make a person an operator",
      description:
        "Gives the person all rights of the operator token, or takes them back. The last of the people who has them keeps them: 403.",
      request: "changePerson",
      example: { isOperator: true },
      answer: PersonView,
      async run(ctx, { isOperator }) {
        const id = readParam(ctx, "personId");
        const before = await findPerson(id);
        if (before !== undefined) ctx.state.before = viewPerson(before);
        await people.setOperator(id, isOperator);
        return viewPerson((await findPerson(id))!);
      },
    }),
    {
      ...reading({
        id: "removePerson",
        path: "/api/people/:personId",
        summary: "Remove a person",
        description:
          "Deletes the person's passkeys, sessions and roles. The last operator and the last owner of a dapp stay: 403.",
        answer: PersonView,
        async read(ctx) {
          const id = readParam(ctx, "personId");
          const person = await findPerson(id);
          await people.remove(id);
          return viewPerson(person!);
        },
      }),
      method: "delete",
    },
  ];
}

/** `GET /api/audit`: who changed what. */
function auditOperation(deps: HttpDeps, { people }: OperatorPart): Operation {
  return {
    id: "listAudit",
    method: "get",
    path: "/api/audit",
    access: "operator",
    tag: "People",
    summary: "Read the audit log",
    description:
      "Who created, revealed, changed (from what to what), revoked, linked or deleted what, and who signed in, newest first, page by page: of the dapp that the header `Tyche-Dapp` names, or without it of the whole service. " +
      "Requests are not in it: `GET /api/requests` has them.",
    request: "audit",
    placement: "query",
    answer: AuditPage,
    isAsync: false,
    errors: [],
    async handle(ctx) {
      const { limit, cursor, actor, action } = parseRequest(readQuery(ctx), deps.schemas().validate.audit);
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
      sendJson(ctx, 200, { data: { items, nextCursor } });
    },
  };
}

/** As {@link createReading}, for operations that no dapp's key may call. */
function createPeopleReading(deps: HttpDeps) {
  const reading = createReading(deps);
  return (given: Omit<Parameters<typeof reading>[0], "access" | "tag">): Operation =>
    reading({ ...given, access: "operator", tag: "People" });
}

/** Creates a builder of operations with a body that no dapp's key may call; `run` returns `data`. */
function createWriting(deps: HttpDeps) {
  return <Name extends keyof RequestSchemas>({
    run,
    ...given
  }: Pick<Operation, "id" | "method" | "path" | "summary" | "description" | "answer" | "example"> & {
    readonly request: Name;
    readonly run: (ctx: HttpContext, values: Static<RequestSchemas[Name]>) => Promise<object>;
  }): Operation => ({
    ...given,
    access: "operator",
    tag: "People",
    placement: "body",
    isAsync: false,
    errors: ["not_found"],
    async handle(ctx) {
      const values = await readParameters(ctx, deps.limits);
      const validate = deps.schemas().validate[given.request] as Validator<Static<RequestSchemas[Name]>>;
      sendJson(ctx, 200, { data: await run(ctx, parseRequest(values, validate)) });
    },
  });
}

function readParam(ctx: HttpContext, name: string): string {
  return (ctx["params"] as Readonly<Record<string, string>>)[name] ?? "";
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
  readonly role: Role;
  readonly created_at: number;
  readonly expires_at: number;
}) {
  const { id, role, created_at, expires_at } = invitation;
  return { id, role, createdAt: formatTime(created_at), expiresAt: formatTime(expires_at) };
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
