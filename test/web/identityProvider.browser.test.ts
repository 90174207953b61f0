import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import type { TycheOperator } from "../../src/client/index.ts";
import { findFreePorts } from "../support/freePorts.ts";
import { startTestProvider, type TestProvider } from "../support/identityProvider.ts";
import { shared } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { createVisitor } from "./support/visitor.ts";

const CLIENT = { id: "tyche", secret: "the-secret-of-the-client" };

let browser: Browser;
let provider: TestProvider;
let tyche: TycheProcess;
let operator: TycheOperator;
let dappId: string;
/** Address by which browsers reach the service: another site than the provider's. */
let url: string;
const dataDir = makeDataDir();
shared.beforeAll(async ({ browser: chromium }) => {
  browser = chromium;
  const [port] = await findFreePorts(1);
  url = `http://localhost:${port}`;
  provider = await startTestProvider(CLIENT, url);
  const { id: clientId } = CLIENT;
  const identityProvider = {
    issuer: provider.issuer,
    clientId,
    clientSecret: { env: "OIDC_SECRET" },
    title: "Acme",
  };
  const config = { publicUrl: url, port, networks: { sepolia: "embedded" }, identityProvider };
  writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify(config));
  tyche = await startTycheProcess({
    dataDir,
    env: { PORT: String(port), OIDC_SECRET: CLIENT.secret, LOG_LEVEL: "info" },
  });
  operator = connectOperator(tyche);
  dappId = (await operator.dapps())[0]!.id;
});
afterAll(async () => {
  await tyche?.stop();
  await provider?.close();
  removeDataDir(dataDir);
});

const post = (target: string, body: object, origin = url): Promise<Response> =>
  fetch(`${url}${target}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify(body),
  });

/** Leaves for the provider as a page of the service does; returns the page's secret, and where it goes. */
async function leave(): Promise<{ readonly secret: string; readonly url: string }> {
  const { data } = (await (await post("/session/provider", {})).json()) as {
    readonly data: { readonly secret: string; readonly url: string };
  };
  return data;
}

/** Comes back from the provider; returns the status, and the session's cookie. */
async function comeBack(to: string, secret: string, invitation?: string) {
  const { search } = new URL(to);
  const response = await post("/session", { provider: { secret, search }, invitation });
  const { data } = (await response.json()) as { readonly data: { readonly err?: string } };
  return { status: response.status, err: data.err, cookies: response.headers.getSetCookie() };
}

const SIGNED_IN = { status: 200, cookies: [expect.stringContaining("SameSite=Strict")] };
const REFUSED = { status: 403, cookies: [] };

const codeOfInvitation = async (): Promise<string> =>
  new URL((await operator.invite(dappId, "viewer")).link).hash.slice(1);

test("an invited person accepts with the provider, and signs in with it from then on", async () => {
  const { link } = await operator.invite(dappId, "developer");
  const visitor = await createVisitor(browser);
  const { page } = visitor;
  const logIn = async (): Promise<void> => {
    await page.getByRole("button", { name: "Sign in with Acme" }).click();
    await page.locator('input[name="login"]').fill("ada");
    await page.locator('input[name="password"]').fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await page.goto(link.replace(tyche.url, url));
  await logIn();
  await page.waitForURL(`**/dapps/${dappId}`);
  expect(page.url()).not.toContain("pageKey");
  expect(await operator.people()).toMatchObject([{ name: "ada of the provider" }]);

  // A developer, who has no say in the keys.
  await page.goto(`${url}/dapps/${dappId}/keys`);
  await page.getByText("Only owners can see and change API keys.").waitFor();
  expect(await page.getByRole("button", { name: "Add a key" }).count()).toBe(0);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
  await page.goto(`${url}/sign-in?next=/sessions`);
  await page.getByRole("button", { name: "Sign in with Acme" }).waitFor();
  await visitor.inspect();
  // The provider still knows the browser.
  await page.getByRole("button", { name: "Sign in with Acme" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await visitor.close();
});

test("nobody signs in without an invitation, nor with one that is used", async () => {
  const logIn = async (account: string, invitation?: string) => {
    const left = await leave();
    return await comeBack(await provider.logIn(left.url, account), left.secret, invitation);
  };
  expect(await logIn("bob")).toMatchObject({
    ...REFUSED,
    err: expect.stringMatching(/^You are not a member/),
  });
  const invitation = await codeOfInvitation();
  expect(await logIn("carol", invitation)).toMatchObject(SIGNED_IN);
  expect(await logIn("bob", invitation)).toMatchObject({
    ...REFUSED,
    err: expect.stringMatching(/^This invitation has been used/),
  });
  const people = await operator.people();
  expect(people.map(({ name }) => name)).not.toContain("bob of the provider");
  const carol = people.find(({ name }) => name === "carol of the provider")!;
  expect(carol.memberships).toMatchObject([{ role: "viewer" }]);

  await operator.removePerson(carol.id);
  expect(await logIn("carol")).toMatchObject(REFUSED);
});

test("an answer counts once, for the page that left, and for no page of another origin", async () => {
  const invitation = await codeOfInvitation();
  const [mine, other] = [await leave(), await leave()];
  const to = await provider.logIn(mine.url, "dora");
  expect(await comeBack(to, "", invitation)).toMatchObject(REFUSED);
  expect(await comeBack(to, other.secret, invitation)).toMatchObject(REFUSED);
  expect(await comeBack(`${to}0`, mine.secret, invitation)).toMatchObject(REFUSED);
  expect(await comeBack(`${url}/?error=access_denied`, mine.secret, invitation)).toMatchObject(REFUSED);
  expect(await comeBack(to, mine.secret, invitation)).toMatchObject(SIGNED_IN);
  expect(await comeBack(to, mine.secret)).toMatchObject(REFUSED);
  expect((await post("/session/provider", {}, "https://evil.example")).status).toBe(403);
  expect(tyche.output()).toContain("a sign-in was refused");
  for (const secret of [CLIENT.secret, mine.secret, invitation, new URL(to).searchParams.get("code")!])
    expect(tyche.output()).not.toContain(secret);
});

test("a stranger's answer signs nobody in whose window has not left for the provider", async () => {
  const theirs = await leave();
  const to = await provider.logIn(theirs.url, "mallory");
  const visitor = await createVisitor(browser);
  await visitor.open(to);
  await expect
    .poll(() => visitor.page.locator("main").textContent())
    .toContain("This window has not begun to sign in");
  await visitor.close();
});

test("while the provider is away, its answers sign nobody in, and the log says why", async () => {
  const left = await leave();
  const to = await provider.logIn(left.url, "eve");
  await provider.close();
  expect(await comeBack(to, left.secret, await codeOfInvitation())).toMatchObject(REFUSED);
  expect(tyche.output()).toContain("ECONNREFUSED");
});
