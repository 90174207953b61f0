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

/** Begins a sign-in as a page of the service does. */
async function begin(body: object = {}, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/session/provider`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const [cookie = ""] = response.headers.getSetCookie().map((one) => one.split(";")[0]!);
  const { data } = (await response.json()) as { readonly data: { readonly url: string } };
  return { status: response.status, cookie, url: data.url };
}

/** Comes back from the provider; returns where the page goes on, and whether a session was opened. */
async function comeBack(to: string, cookie: string) {
  const { headers } = await fetch(to, { redirect: "manual", headers: { cookie } });
  const isSignedIn = headers.getSetCookie().some((one) => /^tyche_session_\d+=[^;]/.test(one));
  return { location: headers.get("location"), isSignedIn };
}

const codeOfInvitation = async (): Promise<string> =>
  new URL((await operator.invite(dappId, "viewer")).link).hash.slice(1);

test("default: an invited person accepts with the provider, and signs in with it from then on", async () => {
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
  await page.getByRole("heading", { level: 1, name: "Tyche" }).waitFor();
  expect(page.url()).not.toContain("pageKey");
  expect(await operator.people()).toMatchObject([{ name: "ada of the provider" }]);

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(`${url}/sign-in?next=/sessions`);
  await page.getByRole("button", { name: "Sign in with Acme" }).waitFor();
  await visitor.inspect();
  // The provider still knows the browser.
  await page.getByRole("button", { name: "Sign in with Acme" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await visitor.close();
});

test("error: nobody signs in without an invitation, nor with one that is used", async () => {
  const stranger = await begin();
  const to = await provider.logIn(stranger.url, "bob");
  expect(await comeBack(to, stranger.cookie)).toEqual({
    location: "/sign-in?refused=uninvited",
    isSignedIn: false,
  });
  const invitation = await codeOfInvitation();
  const taken = async (account: string) => {
    const begun = await begin({ invitation });
    return await comeBack(await provider.logIn(begun.url, account), begun.cookie);
  };
  expect(await taken("carol")).toMatchObject({ isSignedIn: true });
  expect(await taken("bob")).toEqual({ location: "/sign-in?refused=invitation", isSignedIn: false });
  const people = await operator.people();
  expect(people.map(({ name }) => name)).not.toContain("bob of the provider");
  const carol = people.find(({ name }) => name === "carol of the provider")!;
  expect(carol.memberships).toMatchObject([{ role: "viewer" }]);

  await operator.removePerson(carol.id);
  const again = await begin();
  expect(await comeBack(await provider.logIn(again.url, "carol"), again.cookie)).toEqual({
    location: "/sign-in?refused=uninvited",
    isSignedIn: false,
  });
});

test("error: an answer counts once, in the browser that it was asked for in, and not for a foreign page", async () => {
  const invitation = await codeOfInvitation();
  const refused = { location: "/sign-in?refused=provider", isSignedIn: false };
  const mine = await begin({ invitation });
  const other = await begin({ invitation });
  const to = await provider.logIn(mine.url, "dora");
  expect(await comeBack(to, "")).toEqual(refused);
  expect(await comeBack(to, other.cookie)).toEqual(refused);
  expect(await comeBack(`${to}0`, mine.cookie)).toEqual(refused);
  expect(await comeBack(`${url}/session/provider/callback?error=access_denied`, mine.cookie)).toEqual(
    refused,
  );
  expect(await comeBack(to, mine.cookie)).toMatchObject({ isSignedIn: true });
  expect(await comeBack(to, mine.cookie)).toEqual(refused);
  expect((await begin({}, { origin: "https://evil.example" })).status).toBe(403);
  expect(tyche.output()).toContain("a sign-in was refused");
  expect(tyche.output()).not.toContain(CLIENT.secret);
  expect(tyche.output()).not.toContain(new URL(to).searchParams.get("code"));
});

test("error: while the provider is away, its button says so, and other ways in stay", async () => {
  const begun = await begin({ invitation: await codeOfInvitation() });
  const to = await provider.logIn(begun.url, "eve");
  await provider.close();
  expect(await comeBack(to, begun.cookie)).toEqual({
    location: "/sign-in?refused=provider",
    isSignedIn: false,
  });
  const visitor = await createVisitor(browser);
  await visitor.open(`${url}/sign-in?refused=provider`);
  const { page } = visitor;
  await page.getByText("Signing in there did not succeed").waitFor();
  await page.getByRole("button", { name: "Use a passkey" }).waitFor();
  await visitor.close();
});
