import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import type { RoleName, TycheOperator } from "../../src/client/index.ts";
import { signUp } from "../support/passkey.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const NETWORK = "sepolia";

let browser: Browser;
let tyche: SharedDapp;
let operator: TycheOperator;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
  operator = connectOperator(service);
  const client = operator.as(tyche.dappId);
  const consumer = (await operator.networks()).find(({ name }) => name === NETWORK)!.contracts.link;
  await client.addConsumer({ dappId: tyche.dappId, network: NETWORK, consumer });
  const action = { preset: "coinflip" };
  await client.schedules.create({ name: "daily", network: NETWORK, every: "24h", action });
  await client.secrets.set("KEY", { network: NETWORK, value: "x" });
  await client.preset("coinflip", {}, { network: NETWORK });
  await client.webhooks.create({ url: "https://example.com/x" });
});
afterAll(async () => {
  await operator.deleteDapp(tyche.dappId);
  for (const { id } of await operator.people()) await operator.removePerson(id);
});

test("the operator sees all people, changes a role once that is confirmed, and saves the audit log", async () => {
  const { link } = await operator.invite(tyche.dappId, "viewer");
  await signUp(tyche.url, link, "Ada");
  const visitor = await createVisitor(browser, { operatorOf: tyche });
  const { page } = visitor;
  const roleOfAda = async () =>
    (await operator.members(tyche.dappId)).find(({ name }) => name === "Ada")?.role;
  try {
    await visitor.open(`${tyche.url}/dapps/${tyche.dappId}/people`);
    const select = page.getByLabel("Role of Ada");
    const dialog = page.getByRole("alertdialog", { name: "Make Ada a developer?" });
    await select.selectOption("developer");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await select.inputValue()).toBe("viewer");
    expect(await roleOfAda()).toBe("viewer");
    await select.selectOption("developer");
    await visitor.inspect();
    await dialog.getByRole("button", { name: "Change the role" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await roleOfAda()).toBe("developer");

    await page.getByLabel("Show").selectOption("changed the role of");
    const log = page.locator("#audit").getByRole("row");
    await expect.poll(() => log.count()).toBe(2);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as CSV" }).click();
    const saved = await readFile(await (await saving).path(), "utf8");
    expect(saved).toMatch(/^at,actor,.*\r\n[^\r]*,changeMember,[^\r]*,Ada,from viewer to developer\r\n$/);
    expect(saved).toMatch(/^[^,\r]*,[^,\r]*,Operator,changeMember/m);
    await page.getByLabel("Show").selectOption("created the webhook");
    const [webhook] = await operator.as(tyche.dappId).webhooks.list();
    const href = await log.getByRole("link", { name: "example.com" }).getAttribute("href");
    expect(href).toBe(`/dapps/${tyche.dappId}/webhooks/${webhook!.id}`);

    await visitor.open(`${tyche.url}/people`);
    const row = page.getByRole("row").filter({ hasText: "Ada" });
    await row.getByRole("link").waitFor();
    await visitor.inspect();
    const make = row.getByRole("button", { name: "Make operator" });
    expect(await make.getAttribute("class")).toBeNull();
    await make.click();
    // The service's only operator can't be removed again, which other tests here need.
    await page.getByText("Ada may then do everything in every dapp").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "hidden" });
    // Behind the dialog, which stays until the answer has come, the row counts as hidden.
    await expect.poll(() => operator.people()).toEqual([]);
    expect(visitor.troubles).toEqual([]);
  } finally {
    await visitor.close();
  }
});

/** Opens a window of a new member. */
async function visitAs(role: RoleName): Promise<Visitor> {
  const { link } = await operator.invite(tyche.dappId, role);
  const person = await signUp(tyche.url, link, `The ${role}`);
  return await createVisitor(browser, { session: { ...person.browser.session(), url: tyche.url } });
}

/** Pages with controls, each with a text that shows that its data are there. */
const PAGES = {
  "/": "Each dapp has API keys",
  "/dapps/{dapp}": "Latest requests",
  "/dapps/{dapp}/secrets": "KEY",
  "/dapps/{dapp}/consumers": "linked",
  "/dapps/{dapp}/triggers": "daily",
  "/dapps/{dapp}/webhooks": "https://example.com/x",
  "/dapps/{dapp}/webhooks/{webhook}": "No attempts yet",
  "/dapps/{dapp}/people": "A viewer reads",
  "/dapps/{dapp}/settings": "Presets wait for",
  "/dapps/{dapp}/requests/{request}": "Timeline",
  "/presets/coinflip": "Dapp that pays|of a dapp can run it",
  "/random": "Dapp that pays|of a dapp can request them",
  "/functions": "Dapp that pays|you can read sources",
  "/people": "Only operators see this page",
};

/** Returns the buttons of every page, but those that copy, and what each page says of roles. */
async function readControls({ page, ...visitor }: Visitor) {
  const [webhook] = await operator.as(tyche.dappId).webhooks.list();
  const [request] = (await operator.as(tyche.dappId).requests({ kind: "preset" })).items;
  const found: Record<string, readonly string[]> = {};
  for (const [target, text] of Object.entries(PAGES)) {
    await visitor.open(
      tyche.url +
        target
          .replace("{dapp}", tyche.dappId)
          .replace("{request}", request!.id)
          .replace("{webhook}", webhook!.id),
    );
    await page.locator("header").getByText("Signed in as The ").waitFor();
    const main = page.locator("main");
    await main.getByText(new RegExp(text)).first().waitFor();
    const buttons = (await main.getByRole("button").allInnerTexts()).map((name) =>
      name.split("\n")[0]!.trim(),
    );
    const said = await main
      .getByText(/(?:^|: you can read sources\. )Only (?:developers and owners|owners) .*\.$/)
      .allInnerTexts();
    const notes = said.map((note) => note.replace(/file \w+:/, "DAPP:"));
    found[target] = [...buttons.filter((name) => !/^(?:Copy|$)/.test(name)), ...notes];
  }
  return found;
}

test("a viewer opens a refused call's source in Functions, and is told who has keys", async () => {
  const client = operator.as(tyche.dappId);
  await client.runFunction({ network: NETWORK, source: "return 1 +" }).catch(() => {});
  const [refused] = (await client.dryRuns()).items;
  const visitor = await visitAs("viewer");
  const { page } = visitor;
  try {
    await visitor.open(`${tyche.url}/dapps/${tyche.dappId}/dry-runs/${refused!.id}`);
    await page.getByText("To read the source with its arguments, and copy it.").waitFor();
    await page.getByRole("link", { name: "Open in Functions" }).click();
    await page.getByText("you can read sources").waitFor();
    expect(visitor.troubles).toEqual([]);
    await visitor.open(`${tyche.url}/docs`);
    await page.locator("#take-key").click();
    await page.getByText("No dapp that you own has a live key: ask an owner of yours for one.").waitFor();
  } finally {
    await visitor.close();
  }
});

describe("pages offer what the role allows", () => {
  test("to a viewer", async () => {
    const visitor = await visitAs("viewer");
    try {
      expect(await readControls(visitor)).toMatchInlineSnapshot(`
        {
          "/": [],
          "/dapps/{dapp}": [],
          "/dapps/{dapp}/consumers": [
            "Only owners can link and unlink contracts that ask for random numbers or run functions on this dapp's subscriptions.",
          ],
          "/dapps/{dapp}/people": [],
          "/dapps/{dapp}/requests/{request}": [
            "Verify",
          ],
          "/dapps/{dapp}/secrets": [
            "Only developers and owners can set and delete secrets.",
          ],
          "/dapps/{dapp}/settings": [
            "Only developers and owners can change the name and the wait, and only the operator what the dapp may use.",
          ],
          "/dapps/{dapp}/triggers": [
            "Only developers and owners can create, pause and delete schedules and log triggers.",
          ],
          "/dapps/{dapp}/webhooks": [
            "Only developers and owners can add and change webhooks.",
          ],
          "/dapps/{dapp}/webhooks/{webhook}": [],
          "/functions": [
            "You are a viewer of DAPP: you can read sources. Only developers and owners can run them.",
          ],
          "/people": [],
          "/presets/coinflip": [
            "Only developers and owners of a dapp can run it.",
          ],
          "/random": [
            "Only developers and owners of a dapp can request them.",
          ],
        }
      `);
      await visitor.inspect();
      expect(visitor.troubles).toEqual([]);
    } finally {
      await visitor.close();
    }
  });

  test("to a developer", async () => {
    const visitor = await visitAs("developer");
    try {
      expect(await readControls(visitor)).toMatchInlineSnapshot(`
        {
          "/": [
            "Flip a coin",
          ],
          "/dapps/{dapp}": [],
          "/dapps/{dapp}/consumers": [
            "Only owners can link and unlink contracts that ask for random numbers or run functions on this dapp's subscriptions.",
          ],
          "/dapps/{dapp}/people": [],
          "/dapps/{dapp}/requests/{request}": [
            "Verify",
            "Run again",
          ],
          "/dapps/{dapp}/secrets": [
            "Replace",
            "Delete",
            "Set the secret",
          ],
          "/dapps/{dapp}/settings": [
            "Rename",
            "Save",
            "Only owners can delete the dapp.",
          ],
          "/dapps/{dapp}/triggers": [
            "Pause",
            "Delete",
            "New schedule",
            "New log trigger",
          ],
          "/dapps/{dapp}/webhooks": [
            "Add a webhook",
          ],
          "/dapps/{dapp}/webhooks/{webhook}": [
            "Send test",
            "Pause",
            "Edit",
            "Send undelivered again",
            "Rotate the secret",
            "Delete",
          ],
          "/functions": [
            "Dry run",
            "Run on chain",
          ],
          "/people": [],
          "/presets/coinflip": [
            "Run",
          ],
          "/random": [
            "Request",
          ],
        }
      `);
      await visitor.inspect();
      expect(visitor.troubles).toEqual([]);
    } finally {
      await visitor.close();
    }
  });
});
