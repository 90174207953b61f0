import { afterAll, describe, expect, test } from "vitest";
import { createClient, createOperator, type RoleName, type TycheOperator } from "../../src/client/index.ts";
import { leastRoleOf, OPERATIONS, type OperationId } from "../../src/domain/operations.ts";
import {
  codeOf,
  createPasskey,
  createSessionBrowser,
  signUp,
  type SignedInPerson,
} from "../support/passkey.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator, readSessionToken, signIn as signInAsOperator } from "../support/signIn.ts";

const ROLES: readonly RoleName[] = ["viewer", "developer", "owner"];

let tyche: SharedDapp;
let other: SharedDapp;
let operator: TycheOperator;
const joined: Partial<Record<RoleName, SignedInPerson & { readonly id: string }>> = {};
shared.beforeAll(async ({ service }) => {
  operator = connectOperator(service);
  tyche = await joinService(service);
  other = await joinService(service);
  for (const role of ROLES) joined[role] = await join(role, `The ${role}`);
});
afterAll(async () => {
  for (const { dappId } of [tyche, other]) await operator.deleteDapp(dappId);
  for (const { id } of await operator.people()) await operator.removePerson(id);
});

/** Creates a person with a role in this file's dapp. */
async function join(role: RoleName, name: string) {
  const { link } = await operator.invite(tyche.dappId, role);
  const person = await signUp(tyche.url, link, name);
  const { id } = await as(person.token).me();
  return { ...person, id: id! };
}

const as = (token: string): TycheOperator => createOperator({ baseUrl: tyche.url, token, retries: 0 });

describe("roles", () => {
  interface Described {
    readonly operationId: string;
    readonly security?: readonly object[];
  }
  /** Calls every operation that takes a credential, with a parameter that none has, so that an admitted call does nothing. */
  const callAll = async (token: string, dappId: string) => {
    const { paths } = (await (await fetch(`${tyche.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    };
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security?.length !== 0)
        .map(([method, { operationId }]) => ({ path, method, operationId })),
    );
    return await Promise.all(
      calls.map(async ({ path, method, operationId }) => {
        const target = path.replace("{dappId}", dappId).replaceAll(/\{\w+\}/g, "none");
        const response = await fetch(`${tyche.url}${target}?nonsense=1`, {
          method: method.toUpperCase(),
          headers: { authorization: token, "tyche-dapp": dappId, "content-type": "application/json" },
          ...(method === "get" || method === "delete" ? {} : { body: JSON.stringify({ nonsense: 1 }) }),
        });
        const { data } = (await response.json()) as {
          readonly data: { readonly code?: string; readonly err?: string };
        };
        return { path, method, operationId, status: response.status, ...data };
      }),
    );
  };

  test.each(ROLES)("a %s may do what the role has, and nothing to another dapp", async (role) => {
    const { token } = joined[role]!;
    const before = await operator.audit();
    const own = await callAll(token, tyche.dappId);
    expect(own.length).toBeGreaterThan(70);
    const admitted = own.filter(({ status }) => status !== 403);
    const allowed = (Object.keys(OPERATIONS) as OperationId[]).filter((id) => {
      const least = leastRoleOf(id);
      return least === "anyone" || (least !== undefined && ROLES.indexOf(least) <= ROLES.indexOf(role));
    });
    expect(admitted.map(({ operationId }) => operationId).toSorted()).toEqual(allowed.toSorted());
    expect(admitted.filter(({ status }) => ![400, 404].includes(status))).toEqual([]);

    const foreign = await callAll(token, other.dappId);
    expect(foreign.filter(({ err }) => err !== `there is no dapp ${other.dappId}`)).toEqual([]);
    expect(await operator.audit()).toEqual(before);
  });

  test("a viewer changes nothing, and only an owner has keys, members, links and deletion", async () => {
    const changing = async (role: RoleName) =>
      (await callAll(joined[role]!.token, tyche.dappId))
        .filter(({ method, status }) => method !== "get" && status !== 403)
        .map(({ path, method }) => `${method} ${path}`);
    expect((await changing("viewer")).toSorted()).toEqual([
      "delete /api/passkeys/{passkeyId}",
      "delete /api/sessions/{sessionId}",
      "post /api/faucet",
    ]);
    const developer = (await changing("developer")).join("\n");
    expect(developer).not.toMatch(
      /\/keys|members|invitations|consumer|people|delete \/api\/dapps|post \/api\/dapps$/i,
    );
    const owner = (await changing("owner")).join("\n");
    expect(owner).not.toMatch(/people|post \/api\/dapps$/m);
  });

  test("a person sees their own dapps and nothing that spans all", async () => {
    const client = as(joined.owner!.token);
    expect((await client.dapps()).map(({ id }) => id)).toEqual([tyche.dappId]);
    expect(await client.me()).toMatchObject({
      name: "The owner",
      isOperator: false,
      memberships: [{ dappId: tyche.dappId, role: "owner" }],
    });
    for (const call of [
      () => client.people(),
      () => client.activity(),
      () => client.presetProblems(),
      () => client.audit(),
      () => client.createDapp({ name: "x" }),
      () => client.changeDapp(tyche.dappId, { facilities: ["presets"] }),
      () => client.setOperator(joined.owner!.id, true),
    ])
      await expect(call()).rejects.toMatchObject({ code: "forbidden" });
    await expect(client.as(other.dappId).requests()).rejects.toMatchObject({ code: "not_found" });
  });

  test("a change of a role counts in a session that is open, and so does its end", async () => {
    const { id, token } = await join("owner", "Grace");
    await as(token).keys(tyche.dappId);
    await as(joined.owner!.token).changeMember(tyche.dappId, id, "developer");
    await expect(as(token).keys(tyche.dappId)).rejects.toMatchObject({ code: "forbidden" });
    await operator.removeMember(tyche.dappId, id);
    await expect(as(token).dapp(tyche.dappId)).rejects.toMatchObject({ code: "not_found" });
    expect(await as(token).dapps()).toEqual([]);
    await operator.removePerson(id);
    await expect(as(token).me()).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("what another dapp has does not exist in one's own", async () => {
    const hook = await other.call("POST", "/api/webhooks", { body: { url: "https://example.com/x" } });
    const webhook = `/api/webhooks/${hook.data.id}`;
    const request = await other.call("POST", "/api/vrfv2/requestRandomNumber?network=sepolia", {
      headers: { prefer: "respond-async" },
    });
    const [key] = await operator.keys(other.dappId);
    const keyOfOther = `/api/dapps/${tyche.dappId}/keys/${key!.id}`;
    const headers = { authorization: joined.owner!.token, "tyche-dapp": tyche.dappId };
    for (const [method, path, body] of [
      ["GET", webhook],
      ["PATCH", webhook, { paused: true }],
      ["DELETE", webhook],
      ["POST", `${webhook}/test`],
      ["GET", `/api/requests/${request.data.id}`],
      ["DELETE", keyOfOther],
      ["GET", keyOfOther],
    ] as const) {
      const { status, data } = await tyche.call(method, path, { headers, ...(body && { body }) });
      expect({ method, path, status, code: data.code }).toMatchObject({ status: 404, code: "not_found" });
    }
  });

  test("a dapp's key has nothing to do with people", async () => {
    for (const call of [() => as(tyche.apiKey).me(), () => as(tyche.apiKey).invite(tyche.dappId, "owner")])
      await expect(call()).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("sign-in", () => {
  const invite = async (role: RoleName = "viewer") =>
    codeOf((await operator.invite(tyche.dappId, role)).link);
  /** Signs in with a passkey in a browser. */
  const signIn = async ({ passkey }: SignedInPerson, browser = createSessionBrowser(tyche.url)) => {
    const answer = passkey.sign(await browser.challenge(), browser.origin);
    return { browser, ...(await browser.post("/session", { passkey: answer })) };
  };

  test("a person signs in with the passkey alone, and out", async () => {
    const { browser, data } = await signIn(joined.viewer!);
    expect(await as(data.token!).me()).toMatchObject({ name: "The viewer" });
    expect(await browser.token()).toBe(data.token);
    const ended = (await as(data.token!).sessions()).find(({ isCurrent }) => isCurrent)!;
    expect(ended).toMatchObject({ name: "The viewer", browser: "Test browser" });
    await as(joined.viewer!.token).endSession(ended.id);
    await expect(as(data.token!).me()).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await browser.token()).toBeNull();
  });

  test("a person adds a passkey from their own pages, and it signs in alone", async () => {
    const { browser, passkey, token, id } = await join("viewer", "Grace");
    const second = await browser.addPasskey();
    const stolen = createSessionBrowser(tyche.url);
    for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
    await expect(stolen.addPasskey()).rejects.toThrow("Sign in with your passkey again");
    for (const path of ["/session/challenge", "/session/passkeys"])
      expect(await browser.post(path, { passkey: {} }, { origin: "http://evil.example" })).toMatchObject({
        status: 403,
      });
    const { passkeys } = await as(token).me();
    const found = await signIn({ browser, passkey: second, token });
    await as(found.data.token!).removePasskey(passkeys[0]!.id);
    expect((await signIn({ browser, passkey, token })).status).toBe(403);
    await expect(as(token).me()).rejects.toMatchObject({ code: "unauthenticated" });
    const { items } = await operator.audit({ limit: 3 });
    expect(items).toMatchObject([
      { actor: id, action: "removePasskey", subject: passkeys[0]!.id },
      { actor: id, action: "signIn", subject: expect.stringMatching(/^session_/) },
      { actor: id, action: "addPasskey", subject: passkeys[1]!.id },
    ]);
  });

  test("a person ends no session of another", async () => {
    const [mine] = await as(joined.developer!.token).sessions();
    await expect(as(joined.viewer!.token).endSession(mine!.id)).rejects.toMatchObject({
      code: "not_found",
    });
    const seen = (await as(joined.viewer!.token).sessions()).map(({ personId }) => personId);
    expect(new Set(seen)).toEqual(new Set([joined.viewer!.id]));
  });

  test("a session that was in the browser before is not the person's", async () => {
    const planted = await signIn(joined.developer!);
    const victim = createSessionBrowser(tyche.url);
    for (const [name, value] of planted.browser.cookies) victim.cookies.set(name, value);
    const { data } = await signIn(joined.viewer!, victim);
    expect(await as(data.token!).me()).toMatchObject({ name: "The viewer" });
    expect(await as((await planted.browser.token())!).me()).toMatchObject({ name: "The developer" });
    expect([...victim.cookies.values()]).not.toEqual([...planted.browser.cookies.values()]);
  });

  test("who is signed in accepts an invitation without another passkey, and nobody else does", async () => {
    const { id, token, browser } = joined.viewer!;
    const client = as(joined.owner!.token);
    const { link } = await operator.invite(other.dappId, "developer");
    expect((await createSessionBrowser(tyche.url).accept(codeOf(link))).data).toEqual({ token: null });
    expect((await browser.accept(codeOf(link))).data.token).toBe(token);
    expect((await as(token).dapps()).map((one) => one.id)).toContain(other.dappId);
    expect((await browser.accept(codeOf(link))).data).toMatchObject({ code: "sign_in_refused" });
    await operator.removeMember(other.dappId, id);
    expect(await client.invitations(tyche.dappId)).toEqual([]);
  });

  test("an invitation says which dapp, which role, who invites and until when", async () => {
    const { name } = await operator.dapp(tyche.dappId);
    for (const [client, invitedBy] of [
      [operator, ""],
      [as(joined.owner!.token), "The owner"],
    ] as const) {
      const { id, link, expiresAt } = await client.invite(tyche.dappId, "developer");
      const { post } = createSessionBrowser(tyche.url);
      const { data } = await post("/session/challenge", { invitation: codeOf(link) });
      const { dappId } = tyche;
      const shown = { dappId, dappName: name, role: "developer", invitedBy, expiresAt };
      expect(data.invitation).toEqual(shown);
      await operator.revokeInvitation(dappId, id);
    }
  });

  test("an invitation has the name of who it is for in the list and in the audit log, before and after it is accepted", async () => {
    const name = "Carol of sales";
    const { id, link } = await operator.invite(tyche.dappId, "viewer", { name });
    expect(await operator.invitations(tyche.dappId)).toMatchObject([{ id, name }]);
    await signUp(tyche.url, link, "Carol");
    const { items } = await operator.audit({ dappId: tyche.dappId, limit: 2 });
    expect(items.map(({ action, subject, subjectName }) => [action, subject, subjectName])).toEqual([
      ["acceptInvitation", id, name],
      ["createInvitation", id, name],
    ]);
    await operator.removePerson((await operator.people()).find((one) => one.name === "Carol")!.id);
    const hidden = operator.invite(tyche.dappId, "viewer", { name: "a\u202eb" });
    await expect(hidden).rejects.toMatchObject({ code: "invalid_parameter" });
  });

  test("an invitation that is revoked opens nothing, and an owner doesn't revoke another dapp's", async () => {
    const { id, link } = await operator.invite(other.dappId, "owner");
    await expect(as(joined.owner!.token).revokeInvitation(tyche.dappId, id)).rejects.toMatchObject({
      code: "not_found",
    });
    await operator.revokeInvitation(other.dappId, id);
    await expect(signUp(tyche.url, link, "Eve")).rejects.toThrow(/used or revoked/);
  });

  test("refuses the answer to another browser's challenge, and an answer that was given before", async () => {
    const browser = createSessionBrowser(tyche.url);
    const stolen = joined.viewer!.passkey.sign(await browser.challenge(), browser.origin);
    const thief = createSessionBrowser(tyche.url);
    await thief.challenge();
    const statuses: number[] = [];
    for (const one of [thief, browser, browser])
      statuses.push((await one.post("/session", { passkey: stolen })).status);
    expect(statuses).toEqual([403, 200, 403]);
  });

  test.each<Record<string, string>>([
    { origin: "http://evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("refuses a page of another origin: %j", async (headers) => {
    const browser = createSessionBrowser(tyche.url);
    const asked = await browser.post("/session/challenge", {}, headers);
    expect(asked).toMatchObject({ status: 403, data: { success: false } });
    const options = await browser.challenge();
    const passkey = joined.viewer!.passkey.sign(options, browser.origin);
    expect(await browser.post("/session", { passkey }, headers)).toMatchObject({ status: 403 });
    const phished = joined.viewer!.passkey.sign(options, "http://evil.example");
    expect(await browser.post("/session", { passkey: phished })).toMatchObject({ status: 403 });
  });

  test("says which address to open where passkeys can't be used", async () => {
    const { host } = new URL(tyche.url);
    const { post } = createSessionBrowser(tyche.url);
    const { status, data } = await post("/session/challenge", {}, { host, origin: tyche.url });
    expect({ status, err: data.err }).toEqual({
      status: 400,
      err: expect.stringContaining(
        `open the application at http://${host.replace("127.0.0.1", "localhost")}`,
      ),
    });
  });

  test("an invitation's link and a session's secret are stored and logged nowhere", async () => {
    const { link } = await operator.invite(tyche.dappId, "viewer");
    expect(link).toMatch(/^http:\/\/localhost:\d+\/invitation#[\w-]{43}$/);
    const { token, browser } = await signUp(tyche.url, link, "Linus");
    const secrets = [codeOf(link), token, ...browser.cookies.values()];
    const told = tyche.output() + JSON.stringify([await operator.audit(), await operator.sessions()]);
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
  });

  test.each(["", "a\u202eb", "x".repeat(61)])("takes nobody named %j", async (name) => {
    const invitation = await invite();
    const browser = createSessionBrowser(tyche.url);
    const passkey = createPasskey().register(await browser.challenge(invitation), browser.origin);
    expect(await browser.post("/session", { invitation, name, passkey })).toMatchObject({
      status: 400,
      data: { code: "invalid_parameter" },
    });
    await signUp(tyche.url, `http://x/#${invitation}`, "Somebody");
  });
});

describe("audit log", () => {
  test("says who did what to which dapp, and an owner sees their own dapp's", async () => {
    const name = `<img src=x onerror="document.title='pwned'">`;
    const { id, token } = await join("owner", name);
    const expiresAt = "2099-12-31T00:00:00.000Z";
    const key = await as(token).addKey(tyche.dappId, { name: "k", access: "read", expiresAt });
    await as(token).revokeKey(tyche.dappId, key.id);
    await operator.removePerson(id);
    const { items } = await as(joined.owner!.token).audit({ dappId: tyche.dappId, limit: 4 });
    expect(items.map(({ actor, actorName, action, subject }) => [actor, actorName, action, subject])).toEqual(
      [
        [id, name, "revokeKey", key.id],
        [id, name, "addKey", key.id],
        [id, name, "acceptInvitation", expect.stringMatching(/^inv_/)],
        ["operator", "", "createInvitation", expect.stringMatching(/^inv_/)],
      ],
    );
    const given = (member: string, to: unknown) => ({ member, from: null, to });
    expect(items.map(({ changes }) => changes)).toEqual([
      [],
      [given("access", "read"), given("expiresAt", expiresAt)],
      [given("role", "owner")],
      [given("role", "owner"), given("expiresAt", expect.stringMatching(/^\d{4}-.*Z$/))],
    ]);
    const page = await operator.audit({ limit: 1 });
    expect(page.items).toMatchObject([{ action: "removePerson", subject: id, dappId: null }]);
    expect((await operator.audit({ limit: 1, cursor: page.nextCursor! })).items).toMatchObject([
      { action: "revokeKey" },
    ]);
  });

  test("can be narrowed to an action and an actor", async () => {
    const key = await operator.addKey(tyche.dappId, { name: "narrowed", dailyLimit: 2 });
    await operator.rotateKey(tyche.dappId, key.id);
    await as(joined.owner!.token).revealKey(tyche.dappId, key.id);
    await operator.revealKey(tyche.dappId, key.id);
    const reveals = (await operator.audit({ dappId: tyche.dappId, action: "revealKey" })).items;
    expect(new Set(reveals.map(({ action }) => action))).toEqual(new Set(["revealKey"]));
    expect(reveals[0]!.changes).toEqual([]);
    const { items: rotations } = await operator.audit({ dappId: tyche.dappId, action: "rotateKey" });
    expect(rotations).toMatchObject([{ subject: key.id, changes: [] }]);
    expect(reveals.slice(0, 2).map(({ actor }) => actor)).toEqual(["operator", joined.owner!.id]);
    const { items } = await operator.audit({ action: "revealKey", actor: joined.owner!.id, limit: 1 });
    expect(items).toEqual([reveals[1]]);
    expect((await operator.audit({ actor: "nobody" })).items).toEqual([]);
    await expect(operator.audit({ action: "revealKeys" })).rejects.toMatchObject({
      code: "invalid_parameter",
    });
  });

  test("records no change to the role that a member has", async () => {
    const { id } = joined.developer!;
    const before = await operator.audit();
    await as(joined.owner!.token).changeMember(tyche.dappId, id, "developer");
    expect(await operator.audit()).toEqual(before);
    await as(joined.owner!.token).changeMember(tyche.dappId, id, "viewer");
    await as(joined.owner!.token).changeMember(tyche.dappId, id, "developer");
    expect((await operator.audit({ limit: 2 })).items).toMatchObject([
      {
        action: "changeMember",
        subject: id,
        changes: [{ member: "role", from: "viewer", to: "developer" }],
      },
      {
        action: "changeMember",
        subject: id,
        changes: [{ member: "role", from: "developer", to: "viewer" }],
      },
    ]);
  });

  test("records who signs in with the operator token, and no call that is refused", async () => {
    const { pageKey, cookie } = await signInAsOperator(tyche);
    const token = (await readSessionToken(tyche.url, { pageKey, cookie }))!;
    await as(token)
      .createDapp({ name: "" })
      .catch(() => {});
    await as(token)
      .deleteDapp("dapp_none")
      .catch(() => {});
    const { items } = await operator.audit({ limit: 1 });
    const subject = `session_${token.slice("tyche_session_".length).slice(0, 12)}`;
    expect(items).toMatchObject([{ actor: "operator", action: "signIn", subject, dappId: null }]);
  });

  test("records what a dapp's key does, and no call that only reads or that the list of requests has", async () => {
    const key = await operator.addKey(tyche.dappId, { name: "ci" });
    const { webhooks } = createClient({ baseUrl: tyche.url, apiKey: key.apiKey });
    const { id } = await webhooks.create({ url: "https://example.com/x" });
    await webhooks.list();
    await webhooks.change(id, { url: "https://hooks.example.com/secret-path", paused: true });
    const { items } = await operator.audit({ dappId: tyche.dappId, limit: 2 });
    expect(items).toMatchObject([
      { actor: key.id, action: "changeWebhook", subject: id, actorName: "ci" },
      { actor: key.id, action: "createWebhook", subject: id, actorName: "ci", changes: [] },
    ]);
    expect(items[0]!.changes).toEqual([
      { member: "url", from: "example.com", to: "hooks.example.com" },
      { member: "pausedAt", from: null, to: expect.stringMatching(/^\d{4}-/) },
    ]);
  });
});
