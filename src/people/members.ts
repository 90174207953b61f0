import type { Role } from "../domain/vocabulary.ts";
import { ForbiddenError, NotFoundError } from "../lib/errors.ts";
import { lockAll } from "../store/dapps.ts";
import {
  deletePerson,
  findPerson,
  listMembers,
  listMemberships,
  listPeople,
  saveMember,
  saveOperator,
  type StoredPerson,
} from "../store/people.ts";
import type { Queryable } from "../store/queryable.ts";
import type { SignInParts } from "./audit.ts";

/** Creates the members of dapps, and the operators among the people. */
export function createMembers({ store, now }: Pick<SignInParts, "store" | "now">) {
  /** Runs a change of people, one after another, and undoes it if a dapp or the service has lost its last owner or operator by it. */
  const change = <Changed>(work: (db: Queryable) => Promise<Changed>): Promise<Changed> =>
    store.write(async (db) => {
      await lockAll(db);
      const before = await findLed(db);
      const changed = await work(db);
      const after = await findLed(db);
      for (const where of before)
        if (!after.has(where))
          throw new ForbiddenError(
            where === "operator"
              ? "this is the only operator among the people: make another person an operator first"
              : `this is the only owner of ${where}: make another member an owner first`,
          );
      return changed;
    });
  const getMember = async (db: Queryable, dappId: string, personId: string) => {
    const member = (await listMembers(db, dappId)).find(({ id }) => id === personId);
    if (member === undefined) throw new NotFoundError(`member ${personId}`);
    return member;
  };
  /** Throws `not_found`. */
  const getPerson = async (db: Queryable, personId: string): Promise<StoredPerson> => {
    const person = await findPerson(db, personId);
    if (person === undefined) throw new NotFoundError(`person ${personId}`);
    return person;
  };

  return {
    members: (dappId: string) => listMembers(store.db, dappId),
    /** Returns all people, each with their roles by dapp. */
    async list(): Promise<(StoredPerson & { readonly roles: ReadonlyMap<string, Role> })[]> {
      const memberships = await listMemberships(store.db);
      return (await listPeople(store.db)).map((person) => ({
        ...person,
        roles: new Map(
          memberships
            .filter(({ person_id }) => person_id === person.id)
            .map(({ dapp_id, role }) => [dapp_id, role]),
        ),
      }));
    },
    /**
     * Gives a member another role; `undefined` removes them. Returns the member as before. Throws `not_found`, and `forbidden` if nobody would be left.
     */
    changeMember: (dappId: string, personId: string, role: Role | undefined) =>
      change(async (db) => {
        const before = await getMember(db, dappId, personId);
        await saveMember(db, { dappId, personId, role }, now());
        return before;
      }),
    /** Makes a person an operator, or ends that. Throws `not_found`, and `forbidden` if nobody would be left. */
    async setOperator(personId: string, isOperator: boolean): Promise<void> {
      await change(async (db) => {
        await getPerson(db, personId);
        await saveOperator(db, personId, isOperator);
      });
    },
    /** Deletes a person with passkeys, memberships and sessions. Throws `not_found`, and `forbidden` if nobody would be left. */
    async remove(personId: string): Promise<void> {
      await change(async (db) => {
        await getPerson(db, personId);
        await deletePerson(db, personId);
      });
    },
  };
}

/** Returns the dapps that have an owner, and "operator" if there is a person who is one. */
async function findLed(db: Queryable): Promise<ReadonlySet<string>> {
  const owners = (await listMemberships(db)).filter(({ role }) => role === "owner");
  const hasOperator = (await listPeople(db)).some(({ is_operator }) => is_operator === 1);
  return new Set([...owners.map(({ dapp_id }) => dapp_id), ...(hasOperator ? ["operator"] : [])]);
}
