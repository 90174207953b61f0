import { randomBytes } from "node:crypto";
import { parseOptionalName } from "../domain/names.ts";
import { createId } from "../domain/id.ts";
import { roleAllows } from "../domain/operations.ts";
import type { Role } from "../domain/vocabulary.ts";
import { NotFoundError, TycheError } from "../lib/errors.ts";
import { DAY_MS } from "../lib/time.ts";
import {
  addInvitation,
  findPersonSession,
  listInvitations,
  listMemberships,
  saveMember,
  takeInvitation,
  type StoredInvitation,
  type StoredPerson,
} from "../store/people.ts";
import type { Queryable } from "../store/queryable.ts";
import type { SignInParts } from "./audit.ts";
import { hashSecret, IDLE_MS } from "./sessions.ts";

/** How long an invitation counts. */
const INVITATION_MS = 7 * DAY_MS;

/** Creates the invitations to become a member of a dapp. */
export function createInvitations({ store, now, audit }: SignInParts) {
  return {
    invitations: (dappId: string) => listInvitations(store.db, dappId, now()),
    /**
     * Creates an invitation; its code is known to nobody after this.
     *
     * @param who `name`: whom it is for, `invitedBy`: name of the person who invites, empty for the operator. Default: both empty.
     * @throws InvalidParameterError for a name.
     */
    async invite(
      dappId: string,
      role: Role,
      { name = "", invitedBy = "" }: { readonly name?: string; readonly invitedBy?: string } = {},
    ): Promise<{ readonly code: string; readonly invitation: StoredInvitation }> {
      const code = randomBytes(32).toString("base64url");
      const at = now();
      const invitation = {
        id: createId("inv"),
        dapp_id: dappId,
        role,
        name: parseOptionalName(name),
        hash: hashSecret(code),
        invited_by: invitedBy,
        created_at: at,
        expires_at: at + INVITATION_MS,
      };
      await store.write((db) => addInvitation(db, invitation, at));
      return { code, invitation };
    },
    /** Throws `not_found`. */
    async revokeInvitation(dappId: string, id: string): Promise<StoredInvitation> {
      const taken = await store.write((db) => takeInvitation(db, { id, dapp_id: dappId }, now()));
      if (taken === undefined) throw new NotFoundError(`open invitation ${id}`);
      return taken;
    },
    /**
     * Accepts an invitation as the person whose session it is.
     *
     * @throws {InvitationRefusedError} also if it is nobody's.
     */
    async accept(code: string, sessionId: string): Promise<void> {
      await store.write(async (db) => {
        const session = await findPersonSession(db, sessionId, now() - IDLE_MS);
        if (session === undefined) throw new InvitationRefusedError();
        await joinByInvitation(db, { code, person: session.person }, { now, audit });
      });
    },
  };
}

/** Consumes an invitation and makes the person a member, who keeps a higher role. */
export async function joinByInvitation(
  db: Queryable,
  { code, person }: { readonly code: string; readonly person: Pick<StoredPerson, "id" | "name"> },
  { now, audit }: Pick<SignInParts, "now" | "audit">,
): Promise<void> {
  const invitation = await takeInvitation(db, { hash: hashSecret(code) }, now());
  if (invitation === undefined) throw new InvitationRefusedError();
  const { dapp_id, role, id, name } = invitation;
  const from = (await listMemberships(db, person.id)).find((one) => one.dapp_id === dapp_id)?.role ?? null;
  const to = from !== null && roleAllows(from, role) ? from : role;
  await saveMember(db, { dappId: dapp_id, personId: person.id, role: to }, now());
  const changes = JSON.stringify([{ member: "role", from, to }]);
  await audit(
    {
      actor: person.id,
      actor_name: person.name,
      dapp_id,
      action: "acceptInvitation",
      subject: id,
      ...(name === "" ? {} : { subject_name: name }),
      changes,
    },
    db,
  );
}

/** An invitation was used, revoked, is over, or never was. */
export class InvitationRefusedError extends TycheError {
  constructor() {
    super("This invitation has been used or revoked, or its seven days are over. Ask for a new one.", {
      code: "sign_in_refused",
      blame: "caller",
    });
  }
}
