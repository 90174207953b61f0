import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shared, type SharedService } from "../support/shared.ts";
import { connectOperator, readSessionToken } from "../support/signIn.ts";
import { enter } from "./support/enter.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

let browser: Browser;
let tyche: SharedService;
shared.beforeAll(({ browser: chromium, service }) => {
  browser = chromium;
  tyche = service;
});

let visitor: Visitor;
let page: Page;
beforeEach(async () => {
  visitor = await createVisitor(browser, { operatorOf: tyche });
  page = visitor.page;
});
afterEach(() => visitor.close());

/** Returns what went wrong on the pages, except answers with these statuses. */
const takeTroublesBut = (...statuses: readonly number[]): readonly string[] =>
  visitor.takeTroubles().filter((trouble) => !statuses.some((status) => trouble.includes(String(status))));

test("a session on another port of the host leaves this one open", async () => {
  const { hostname, port } = new URL(tyche.url);
  const forwarder = createServer((socket) => {
    const service = connect(Number(port), hostname);
    pipeline(socket, service, socket, () => {});
  }).listen(0, hostname);
  await once(forwarder, "listening");
  const other = `http://${hostname}:${(forwarder.address() as AddressInfo).port}`;
  await page.goto(other);
  await enter(page, tyche);
  await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
  for (const url of [tyche.url, other]) {
    await page.goto(url);
    await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
  }
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
  await page.goto(tyche.url);
  await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
  // A call may be on its way while the session ends.
  expect(takeTroublesBut(401)).toEqual([]);
  forwarder.close();
});

test("whoever signs out and leaves the page at once is signed out", async () => {
  await page.goto(tyche.url);
  await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
  const [cookie] = await page.context().cookies(`${tyche.url}/session`);
  const pageKey = await page.evaluate<string>("localStorage.getItem('tyche.pageKey')");
  const signedIn = { cookie: `${cookie!.name}=${cookie!.value}`, pageKey };
  expect(await readSessionToken(tyche.url, signedIn)).not.toBe(null);
  await page.evaluate(`{
    [...document.querySelectorAll("button")].find((one) => one.textContent === "Sign out").click();
    location.href = "/docs";
  }`);
  await page.waitForURL("**/docs");
  await expect.poll(() => readSessionToken(tyche.url, signedIn)).toBe(null);
});

test("a form that is sent after the session has ended leads to the sign-in and back", async () => {
  await visitor.open(`${tyche.url}/presets/coinflip`);
  const run = page.getByRole("button", { name: "Run", exact: true });
  // By now the page knows who is there: no call of its own is on its way, which would notice the end before the form.
  await run.waitFor();
  await page.evaluate("fetch('/session', { method: 'DELETE' })");
  await run.click();
  await enter(page, tyche);
  await page.getByRole("heading", { name: "Run it" }).waitFor();
  expect(takeTroublesBut(401)).toEqual([]);
});

test("a service that can't answer who is there is asked again, and nobody is sent to the sign-in", async () => {
  let asked = 0;
  await page.route("**/session", (route) => {
    const status = ++asked === 1 ? 429 : 503;
    return route.fulfill({ status, json: { data: { success: false, code: "overloaded", err: "busy" } } });
  });
  await page.goto(`${tyche.url}/networks`);
  await page.getByRole("alert").filter({ hasText: "The service can't be reached." }).waitFor();
  await expect.poll(() => asked).toBeGreaterThan(1);
  await page.unroute("**/session");
  await page.getByRole("heading", { level: 1, name: "Networks" }).waitFor();
  expect(takeTroublesBut(429, 503)).toEqual([]);
});

test.each([429, 503])("who could not be signed out is told so, after a %d", async (status) => {
  await visitor.open(tyche.url);
  const answers = [{ status, json: { data: { success: false, code: "overloaded", err: "busy" } } }];
  await page.route("**/session", (route) => {
    const answer = answers.shift();
    return answer === undefined ? route.continue() : route.fulfill(answer);
  });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("alert").filter({ hasText: "You are still signed in" }).waitFor();
  await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
  await visitor.inspect();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
  // A call may be on its way while the session ends.
  expect(takeTroublesBut(status, 401)).toEqual([]);
});

test("whoever is signed in with the operator token is told how to end that session", async () => {
  await visitor.open(`${tyche.url}/sessions`);
  await page.getByText("The operator token, with which you are signed in, isn't listed").waitFor();
  await page.getByRole("banner").getByText("Signed in as Operator").waitFor();
  const looks = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".account > a, .account > button")].map((one) => {
      const { color, font } = getComputedStyle(one);
      return color + font;
    })`,
  );
  expect(looks[0]).toBe(looks[1]);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("who is invited makes a passkey, sees their dapp alone, and signs in with another one once the first is lost", async () => {
  const operator = connectOperator(tyche);
  const dapp = await operator.createDapp({ name: "of a team" });
  const name = `<b onclick="alert(1)">Ada</b>`;
  const { link } = await operator.invite(dapp.id, "owner");
  const guest = await createVisitor(browser);
  try {
    const devtools = await guest.page.context().newCDPSession(guest.page);
    await devtools.send("WebAuthn.enable");
    const addDevice = async () =>
      await devtools.send("WebAuthn.addVirtualAuthenticator", {
        options: {
          protocol: "ctap2",
          transport: "internal",
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
        },
      });
    const lost = await addDevice();
    await guest.page.goto(link);
    await guest.page.getByText("The operator invites you to the dapp of a team as an owner.").waitFor();
    await guest.page.getByText(/^An owner does everything in the dapp, .* The invitation ends /).waitFor();
    await guest.page.getByText("A passkey replaces a password").waitFor();
    await guest.inspect();
    await guest.page.getByLabel("Your name").fill(name);
    await guest.page.getByRole("button", { name: "Create a passkey" }).click();
    await guest.page.getByRole("heading", { level: 1, name: "of a team", exact: true }).waitFor();
    expect(new URL(guest.page.url()).pathname).toBe(`/dapps/${dapp.id}`);
    const cards = guest.page.locator("ul.cards h3");
    await guest.page.getByRole("banner").getByText(`Signed in as ${name}`).waitFor();
    expect((await operator.members(dapp.id)).map((one) => [one.name, one.role])).toEqual([[name, "owner"]]);

    await guest.page.getByRole("link", { name: "People", exact: true }).click();
    await guest.page.getByLabel("Members").getByText(name).first().waitFor();
    await guest.page.getByRole("cell", { name: "accepted the invitation" }).waitFor();
    await guest.inspect();
    await guest.page.getByLabel("Role", { exact: true }).selectOption("viewer");
    await guest.page.getByLabel("For whom").fill("Bob");
    await guest.page.getByRole("button", { name: "Create a link" }).click();
    await guest.page
      .getByText(/^The first who opens this link and accepts, .* becomes a viewer: send it to Bob alone\./)
      .waitFor();
    await guest.page.getByLabel("Open invitations").getByRole("cell", { name: "Bob", exact: true }).waitFor();
    expect((await operator.invitations(dapp.id)).map(({ role }) => role)).toEqual(["viewer"]);
    await guest.page.getByRole("link", { name: "Sessions" }).click();
    await guest.page.getByText("this browser").waitFor();
    await guest.page
      .getByText(/^Chrome on /)
      .first()
      .waitFor();
    const listsLookLikeThePage = `getComputedStyle(document.querySelector(".scroll")).backgroundImage.includes(
      getComputedStyle(document.body).backgroundColor)`;
    expect(await guest.page.evaluate<boolean>(listsLookLikeThePage)).toBe(true);
    await guest.inspect();
    await devtools.send("WebAuthn.removeVirtualAuthenticator", lost);
    await addDevice();
    await guest.page.getByRole("button", { name: "Add a passkey" }).click();
    await guest.page.getByRole("button", { name: "Remove", exact: true }).nth(1).waitFor();
    await guest.inspect();

    await guest.page.getByRole("button", { name: "Sign out" }).click();
    await guest.page.getByRole("link", { name: "Sign in" }).click();
    await guest.page.getByRole("button", { name: "Use a passkey" }).click();
    await expect.poll(() => cards.allInnerTexts()).toEqual(["of a team"]);
    await guest.page.goto(link);
    await guest.page.getByText("This invitation has been used or revoked").waitFor();
    // A browser has passkeys at localhost, and not at the address of the other tests.
    expect(guest.takeTroubles().filter((trouble) => !trouble.endsWith(" localhost"))).toEqual([]);
  } finally {
    await guest.close();
    await operator.deleteDapp(dapp.id);
    for (const { id } of await operator.people()) await operator.removePerson(id);
  }
});
