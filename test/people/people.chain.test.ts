import { beforeEach, describe, expect, test } from "vitest";
import { insertDapp, saveKeyFingerprint } from "../../src/store/dapps.ts";
import type { Store } from "../../src/store/store.ts";
import { createPeople, type People } from "../../src/people/people.ts";
import { hashSecret, IDLE_MS } from "../../src/people/sessions.ts";
import type { Role } from "../../src/domain/vocabulary.ts";
import { DATABASES, useStore } from "../support/databases.ts";
import { createPasskey, type Passkey } from "../support/passkey.ts";

const PARTY = { id: "tyche.example.org", origin: "https://tyche.example.org" };
const DAPP = "dapp_1";
const DAY_MS = 24 * 60 * 60 * 1000;
let latest = 1_800_000_000_000;
const REFUSED = { code: "sign_in_refused" };

describe.each(DATABASES)("%s", (_, database) => {
  let store: Store;
  useStore(database, (opened) => {
    store = opened;
  });
  let people: People;
  let now: number;
  beforeEach(async () => {
    now = 1_800_000_000_000;
    people = createPeople(store, { now: () => now });
    await saveKeyFingerprint(store.db, "of these tests");
    await insertDapp(store.db, { id: DAPP, name: "one", facilities: [], createdAt: now });
  });

  const ask = async (code?: string, sessionId?: string) => {
    const { secret, data } = await people.challenge(PARTY, { code, sessionId });
    const ceremony = { party: PARTY, challenge: secret, browser: "Test browser" };
    return { options: data.options as Parameters<Passkey["sign"]>[0], ceremony };
  };
  const signUp = async (code: string, name: string, passkey = createPasskey()): Promise<string> => {
    const { options, ceremony } = await ask(code);
    return await people.signUp({ code, name, answer: passkey.register(options, PARTY.origin) }, ceremony);
  };
  /** Creates a person with a role. */
  const join = async (name: string, role: Role) => {
    const passkey = createPasskey();
    const secret = await signUp((await people.invite(DAPP, role)).code, name, passkey);
    return { passkey, secret, ...(await people.findCaller(hashSecret(secret)))! };
  };
  const signIn = async (passkey: Passkey, deviations?: Parameters<Passkey["sign"]>[2]): Promise<string> => {
    const { options, ceremony } = await ask();
    return await people.signIn(passkey.sign(options, PARTY.origin, deviations), ceremony);
  };
  const addPasskey = async (secret: string, passkey = createPasskey()): Promise<Passkey> => {
    const sessionId = hashSecret(secret);
    const { options, ceremony } = await ask(undefined, sessionId);
    await people.addPasskey({ answer: passkey.register(options, PARTY.origin), sessionId }, ceremony);
    return passkey;
  };

  test("signs a person up with an invitation, and in with the passkey", async () => {
    const { passkey, person, isOperator } = await join("Ada", "developer");
    expect({ name: person!.name, isOperator, roles: [...person!.roles] }).toEqual({
      name: "Ada",
      isOperator: false,
      roles: [[DAPP, "developer"]],
    });
    const again = await people.findCaller(hashSecret(await signIn(passkey)));
    expect(again!.person!.roles).toEqual(person!.roles);
    expect(await people.sessions(undefined)).toHaveLength(2);
  });

  test("an invitation counts once, until it is revoked, and for seven days", async () => {
    const used = await people.invite(DAPP, "viewer");
    await signUp(used.code, "Ada");
    const revoked = await people.invite(DAPP, "viewer");
    await people.revokeInvitation(DAPP, revoked.invitation.id);
    const old = await people.invite(DAPP, "viewer");
    now += 7 * DAY_MS;
    for (const { code } of [used, revoked, old]) await expect(ask(code)).rejects.toMatchObject(REFUSED);
    expect(await people.invitations(DAPP)).toEqual([]);
    await expect(people.revokeInvitation("dapp_2", used.invitation.id)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("of two who accept an invitation at the same time, one becomes a member", async () => {
    const { code } = await people.invite(DAPP, "owner");
    const done = await Promise.allSettled([signUp(code, "Ada"), signUp(code, "Eve")]);
    expect(done.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await people.list()).toHaveLength(1);
  });

  test("a challenge counts once, for five minutes, and in the browser that asked", async () => {
    const { passkey } = await join("Ada", "viewer");
    const first = await ask();
    const answer = passkey.sign(first.options, PARTY.origin);
    const second = await ask();
    for (const challenge of ["", second.ceremony.challenge])
      await expect(people.signIn(answer, { ...first.ceremony, challenge })).rejects.toMatchObject(REFUSED);
    await people.signIn(answer, first.ceremony);
    await expect(people.signIn(answer, first.ceremony)).rejects.toMatchObject(REFUSED);
    const late = await ask();
    now += 5 * 60_000;
    await expect(
      people.signIn(passkey.sign(late.options, PARTY.origin), late.ceremony),
    ).rejects.toMatchObject(REFUSED);
    await expect(signIn(passkey)).resolves.toEqual(expect.any(String));
  });

  test("refuses another origin, another passkey, no check of the user, and a count that goes back", async () => {
    const { passkey } = await join("Ada", "viewer");
    await signIn(passkey, { counter: 10 });
    for (const part of [{ id: 7 }, { id: "none" }, { response: null }, { response: { signature: [] } }]) {
      const { ceremony, options } = await ask();
      const answer = { ...passkey.sign(options, PARTY.origin), ...part };
      await expect(people.signIn(answer, ceremony)).rejects.toMatchObject(REFUSED);
    }
    await expect(signIn(createPasskey())).rejects.toMatchObject(REFUSED);
    for (const deviations of [
      { origin: "https://evil.example" },
      { challenge: "AAAA" },
      { isUserVerified: false },
      { counter: 10 },
      { counter: 9 },
    ])
      await expect(signIn(passkey, { counter: 20, ...deviations })).rejects.toMatchObject(REFUSED);
    await signIn(passkey, { counter: 21 });
  });

  test("a second passkey signs in once the first is lost, whose removal ends the other sessions", async () => {
    const { passkey, secret, id } = await join("Ada", "owner");
    now += 1;
    const second = await addPasskey(secret);
    const found = await signIn(second);
    const caller = (await people.findCaller(hashSecret(found)))!;
    expect(caller.id).toBe(id);
    const [lost, kept] = await people.passkeys(id);
    expect([lost!.browser, kept!.browser]).toEqual(["Test browser", "Test browser"]);
    await people.removePasskey(caller, lost!.id);
    await expect(signIn(passkey)).rejects.toMatchObject(REFUSED);
    expect(await people.findCaller(hashSecret(secret))).toBeUndefined();
    expect(await people.findCaller(hashSecret(found))).toBeDefined();
    await expect(people.removePasskey(caller, kept!.id)).rejects.toMatchObject({ code: "forbidden" });
    await expect(signIn(second)).resolves.toEqual(expect.any(String));
  });

  test("of two passkeys that are removed at once, one stays, and nobody removes another's", async () => {
    const ada = await join("Ada", "owner");
    const bob = await join("Bob", "owner");
    await addPasskey(ada.secret);
    const own = await people.passkeys(ada.id);
    const done = await Promise.allSettled(own.map(({ id }) => people.removePasskey(ada, id)));
    expect(done.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const [left] = await people.passkeys(ada.id);
    await addPasskey(bob.secret);
    await expect(people.removePasskey(bob, left!.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a passkey is added by its person, once, in the first ten minutes of a session, and ten at most", async () => {
    const ada = await join("Ada", "viewer");
    const bob = await join("Bob", "viewer");
    await expect(addPasskey(bob.secret, ada.passkey)).rejects.toMatchObject(REFUSED);
    for (const nobody of ["", "of the operator"])
      await expect(addPasskey(nobody)).rejects.toMatchObject(REFUSED);
    const { options, ceremony } = await ask(undefined, hashSecret(ada.secret));
    const answer = createPasskey().register(options, PARTY.origin);
    now += 10 * 60_000 - 1;
    await expect(
      people.addPasskey({ answer, sessionId: hashSecret(ada.secret) }, ceremony),
    ).rejects.toMatchObject(REFUSED);
    for (let i = 1; i < 10; i += 1) await addPasskey(ada.secret);
    await expect(addPasskey(ada.secret)).rejects.toMatchObject({ code: "forbidden" });
    now += 1;
    await expect(addPasskey(bob.secret)).rejects.toThrow("Sign in with your passkey again");
    await addPasskey(await signIn(bob.passkey));
    expect(await people.passkeys(bob.id)).toHaveLength(2);
  });

  test("entries of the audit log are kept for the days that are set", async () => {
    people = createPeople(store, { now: () => now, auditDays: 365 });
    const first = (latest += 1_000 * DAY_MS); // ids never go back
    const entry = { actor: "operator", actor_name: "", dapp_id: null, action: "x", subject: null };
    const days = async (): Promise<number[]> =>
      (
        await people.auditLog({
          dappId: undefined,
          actor: undefined,
          action: undefined,
          before: undefined,
          limit: 10,
        })
      ).map(({ at }) => (at - first) / DAY_MS);
    for (const day of [0, 1, 365]) {
      now = first + day * DAY_MS;
      await people.audit(entry);
    }
    expect(await days()).toEqual([365, 1, 0]);
    now += 1;
    await people.audit(entry);
    expect(await days()).toHaveLength(3);
  });

  test("a session ends 30 days after its last use", async () => {
    const { secret, passkey } = await join("Ada", "viewer");
    now += IDLE_MS - 1;
    expect(await people.findCaller(hashSecret(secret))).toBeDefined();
    now += IDLE_MS;
    expect(await people.findCaller(hashSecret(secret))).toBeUndefined();
    expect(await people.sessions(undefined)).toEqual([]);
    await signIn(passkey);
    const stored = await store.db.selectFrom("person_sessions").select("browser").execute();
    expect(stored).toEqual([{ browser: "Test browser" }]);
  });

  test("keeps the last owner and the last operator, also of two who go at once", async () => {
    const [ada, bob] = [await join("Ada", "owner"), await join("Bob", "owner")];
    const gone = await Promise.allSettled([
      people.changeMember(DAPP, ada.id, "viewer"),
      people.changeMember(DAPP, bob.id, undefined),
    ]);
    expect(gone.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const owners = (await people.members(DAPP)).filter(({ role }) => role === "owner");
    expect(owners).toHaveLength(1);
    await expect(people.remove(owners[0]!.id)).rejects.toMatchObject({ code: "forbidden" });
    const other = owners[0]!.id === ada.id ? bob : ada;
    await people.setOperator(other.id, true);
    for (const change of [() => people.setOperator(other.id, false), () => people.remove(other.id)])
      await expect(change()).rejects.toMatchObject({ code: "forbidden" });
    await people.setOperator(owners[0]!.id, true);
    await people.remove(other.id);
    expect(await people.findCaller(hashSecret(other.secret))).toBeUndefined();
    await expect(signIn(other.passkey)).rejects.toMatchObject(REFUSED);
  });

  test("an invitation gives a member more, and never less", async () => {
    const { secret, id } = await join("Ada", "developer");
    const roleAfter = async (role: Role) => {
      await people.accept((await people.invite(DAPP, role)).code, hashSecret(secret));
      return (await people.members(DAPP)).find((one) => one.id === id)!.role;
    };
    expect([await roleAfter("viewer"), await roleAfter("owner"), await roleAfter("developer")]).toEqual([
      "developer",
      "owner",
      "owner",
    ]);
  });
});
