import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  DappView,
  KeyView,
  TycheOperator,
  WebhookAttempt,
  WebhookView,
} from "../../src/client/index.ts";
import { deploySampleContract } from "../support/sampleContract.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const NETWORK = "sepolia";
const TITLE = "Ethereum Sepolia (local chain)";
const PAGE_SIZE = 25;

let browser: Browser;
let tyche: SharedDapp;
let operator: TycheOperator;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
  operator = connectOperator(tyche);
});

let visitor: Visitor;
let page: Page;
let dapp: DappView;
let made = 0;
/** The page's API calls, as method, path and query. */
let calls: string[];
beforeEach(async () => {
  made += 1;
  dapp = await operator.createDapp({ name: `shop ${made}` });
  visitor = await createVisitor(browser, { operatorOf: tyche });
  page = visitor.page;
  calls = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/")) calls.push(`${request.method()} ${pathname}${search}`);
  });
});
afterEach(() => visitor.close());

const open = (rest: string): Promise<void> => visitor.open(`${tyche.url}/dapps/${dapp.id}${rest}`);
const callsOf = (start: string): readonly string[] => calls.filter((call) => call.startsWith(start));
const dialog = (name: string) => page.getByRole("alertdialog", { name });

test("a secret of several lines keeps them", async () => {
  await open("/secrets");
  await page.getByLabel("Name", { exact: true }).fill("SIGNING_KEY");
  await page.getByLabel("Network", { exact: true }).selectOption(NETWORK);
  await page.getByLabel("Value", { exact: true }).fill("-----BEGIN-----\nMIGH\n-----END-----\n");
  await page.getByRole("button", { name: "Set the secret" }).click();
  await page.getByRole("cell", { name: "SIGNING_KEY", exact: true }).waitFor();
  await visitor.inspect();
  const { parsedResult } = await operator.as(dapp.id).simulate({
    network: NETWORK,
    source:
      "return Functions.encodeString(JSON.stringify(secrets.SIGNING_KEY.split('\\n').map((line) => line.length)))",
    secrets: ["SIGNING_KEY"],
  });
  expect(parsedResult).toBe("[15,4,13,0]");
});

test("a secret expires when its form says, in UTC, and a time that is over is said at its field", async () => {
  await open("/secrets");
  await page.getByLabel("Name", { exact: true }).fill("API_KEY");
  await page.getByLabel("Network", { exact: true }).selectOption(NETWORK);
  await page.getByLabel("Value", { exact: true }).fill("of a partner");
  const expiry = page.getByLabel("Expires");
  await expiry.fill("2020-01-31T23:30");
  const set = page.getByRole("button", { name: "Set the secret" });
  await set.click();
  await page.locator("#secret-expiry-problem", { hasText: "is in the past" }).waitFor();
  await expiry.and(page.locator("[aria-invalid]:focus")).waitFor();
  await visitor.inspect();
  await expiry.fill("2099-01-31T23:30");
  await set.click();
  await page.getByRole("cell", { name: "2099-01-31 23:30:00 UTC", exact: true }).waitFor();
  expect(await operator.as(dapp.id).secrets.list()).toMatchObject([
    { name: "API_KEY", expiresAt: "2099-01-31T23:30:00.000Z" },
  ]);
  // What it has stands in the form that replaces it.
  await page.getByRole("button", { name: "Replace" }).click();
  await page.getByRole("heading", { name: "Replace API_KEY" }).waitFor();
  await page.getByLabel("Value", { exact: true }).and(page.locator(":focus")).fill("of another");
  await page.getByLabel("Hosts", { exact: true }).fill("api.example.com");
  await page.getByRole("button", { name: "Replace it" }).click();
  await page.getByRole("cell", { name: "api.example.com", exact: true }).waitFor();
  await page.getByRole("heading", { name: "Set a secret" }).waitFor();
  expect(await operator.as(dapp.id).secrets.list()).toMatchObject([
    { name: "API_KEY", allowedHosts: ["api.example.com"], expiresAt: "2099-01-31T23:30:00.000Z" },
  ]);
});

test("on a phone the tabs are one row, with the current one in view", async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await open("/settings");
  const tabs = page.getByRole("navigation", { name: "Dapp" });
  const { x, width } = (await tabs.getByRole("link", { name: "Settings" }).boundingBox())!;
  expect(x).toBeGreaterThan(0);
  expect(x + width).toBeLessThanOrEqual(390);
  expect((await tabs.boundingBox())!.height).toBeLessThan(60);
  await visitor.inspect();
  // The first ones stay where they are, and a shadow at the side says that there are more.
  await open("/keys");
  const [overview, keys] = ["Overview", "Keys"].map((name) => tabs.getByRole("link", { name }));
  expect((await overview!.boundingBox())!.x).toBeGreaterThan(0);
  await keys!.and(page.locator("[aria-current]")).waitFor();
  const shadows =
    "getComputedStyle(document.querySelector('.tabs')).backgroundImage.match(/gradient/g)?.length";
  expect(await page.evaluate(shadows)).toBe(4);
  expect(visitor.troubles).toEqual([]);
});

describe("API keys", () => {
  const add = async (name: string): Promise<string> => {
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Add a key" }).click();
    const notice = page.locator(".notice", { hasText: `The new key ${name}` });
    return await visitor.copy(
      notice.getByRole("button", { name: "Copy API key" }).and(page.locator(":focus")),
    );
  };
  const item = (name: string) =>
    page.getByRole("list", { name: "API keys" }).getByRole("listitem").filter({ hasText: name });

  test("each new key is shown once, with the focus on what copies it", async () => {
    await open("/keys");
    const first = await add("build server");
    const second = await add("laptop");
    expect(second).not.toBe(first);
    expect(await page.content()).not.toContain(first);
    await item("laptop").getByText(second.slice(-4)).waitFor();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("");
    expect((await operator.keys(dapp.id)).map(({ name }) => name)).toEqual([
      "first key",
      "build server",
      "laptop",
    ]);
    expect(visitor.troubles).toEqual([]);
  });

  test("a key that is revoked elsewhere is not shown as the one of now", async () => {
    const [first] = await operator.dapps();
    const [old] = await operator.keys(first!.id);
    const { ending } = await operator.addKey(first!.id, { name: "next" });
    await visitor.open(tyche.url);
    await page.getByRole("button", { name: /^Reveal key/ }).click();
    const { apiKey } = await operator.revealKey(first!.id, old!.id);
    await page.getByText(apiKey).waitFor();
    await operator.revokeKey(first!.id, old!.id);
    await expect
      .poll(async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
        return await page.locator("#start .secret").textContent();
      })
      .toContain(`••••${ending}`);
    expect(await page.content()).not.toContain(apiKey);
    expect(visitor.troubles).toEqual([]);
  });

  test("a key is revealed when it is asked for, and has its use listed", async () => {
    const { apiKey } = await operator.addKey(dapp.id, { name: "laptop" });
    await open("/keys");
    await item("laptop").getByText("never used").waitFor();
    expect(await page.content()).not.toContain(apiKey);
    await item("laptop")
      .getByRole("button", { name: /^Reveal key/ })
      .click();
    await item("laptop").getByText(apiKey).waitFor();
    await visitor.inspect();
    await tyche.call("GET", "/api/requests", { headers: { authorization: apiKey } });
    await item("laptop").getByText("last used").waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("the audit log says in words who did what to which key", async () => {
    const { id } = await operator.addKey(dapp.id, { name: "ci" });
    await operator.revokeKey(dapp.id, id);
    await open("/people");
    await page.getByRole("cell", { name: "revoked the API key ci", exact: true }).waitFor();
    expect(visitor.troubles).toEqual([]);
    const client = operator.as(dapp.id);
    const webhook = await client.webhooks.create({ url: "https://hooks.example.com/secret-path" });
    await client.webhooks.delete(webhook.id);
    const schedule = await client.schedules.create({
      name: "Nightly",
      network: NETWORK,
      every: "1d",
      action: { preset: "coinflip" },
    });
    await client.schedules.delete(schedule.id);
    await client.secrets.set("API_KEY", { network: NETWORK, value: "value" });
    // The list is read again by itself.
    for (const words of [
      "deleted the webhook hooks.example.com",
      "deleted the schedule Nightly",
      "set the secret API_KEY",
    ])
      await page.getByRole("cell", { name: words, exact: true }).waitFor();
    const empty = await operator.createDapp({ name: `empty ${made}` });
    await page.route("**/api/audit**", async (route) => {
      await route.fulfill({ json: { data: { items: [], nextCursor: null } } });
    });
    await visitor.open(`${tyche.url}/dapps/${empty.id}/people`);
    await page.getByText("Nothing has been changed yet.").waitFor();
    await page.unrouteAll();
    await visitor.open(`${tyche.url}/audit`);
    const words = `revoked the API key ci in the dapp ${dapp.name}`;
    await page
      .getByRole("row", { name: "Operator token" })
      .getByRole("cell", { name: words, exact: true })
      .waitFor();
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("the first key has a name to tell it by, and a call that uses one is there to copy", async () => {
    await open("/keys");
    await item("first key").getByText("never used").waitFor();
    const command = await visitor.copy(page.getByRole("button", { name: "Copy curl" }));
    const [, url] = /^curl -sS '([^']+)' -H "Authorization: \$TYCHE_API_KEY"$/.exec(command)!;
    const [{ id }] = (await operator.keys(dapp.id)) as [KeyView];
    const headers = { authorization: (await operator.revealKey(dapp.id, id)).apiKey };
    expect((await fetch(url!, { headers })).status).toBe(200);
    await page.setViewportSize({ width: 390, height: 800 });
    const buttons = item("first key").getByRole("button", { name: /^(?:Revoke|Reveal|Edit|Rotate) key/ });
    await expect
      .poll(async () => {
        const tops = await buttons.evaluateAll((all) =>
          all.map((button) => button.getBoundingClientRect().top),
        );
        return [tops.length, new Set(tops).size];
      })
      .toEqual([4, 1]);
    expect(visitor.troubles).toEqual([]);
  });

  test("a key's name and limit are changed, and the audit log says from what to what", async () => {
    await operator.addKey(dapp.id, { name: "pipeline", dailyLimit: 5 });
    await open("/keys");
    const edit = item("pipeline").getByRole("button", { name: /^Edit key/ });
    await edit.click();
    await item("pipeline").getByRole("button", { name: "Cancel" }).click();
    await edit.and(page.locator(":focus")).press("Enter");
    await item("pipeline").getByLabel("Name").fill("nightly");
    await item("pipeline").getByLabel("Requests a day").fill("");
    await visitor.inspect();
    await item("pipeline").getByRole("button", { name: "Save" }).click();
    await item("nightly").getByText("never used").waitFor();
    expect(await item("nightly").textContent()).not.toContain("at most");
    await item("nightly")
      .getByRole("button", { name: /^Edit key/ })
      .click();
    await item("nightly").getByLabel("Requests a day").fill("0.5");
    expect(await item("nightly").locator(":invalid").count()).toBeGreaterThan(0);
    await open("/people");
    const words =
      "changed the API key nightly (name from pipeline to nightly, requests a day from 5 to no limit)";
    await page.getByRole("cell", { name: words, exact: true }).waitFor();
    await page
      .getByRole("cell", {
        name: "created the API key pipeline (requests a day: 5, full access)",
        exact: true,
      })
      .waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a key is rotated: it has a new value, and the former one goes on for as long as was chosen", async () => {
    const { id, apiKey } = await operator.addKey(dapp.id, { name: "pipeline", dailyLimit: 5 });
    await open("/keys");
    await item("pipeline").getByText("used today: 0 of 5 requests").waitFor();
    await item("pipeline")
      .getByRole("button", { name: /^Rotate key/ })
      .click();
    const question = dialog("Rotate the key pipeline?");
    await question.getByLabel("The present key stays valid for").selectOption("1 hour");
    expect(await question.getByText("The former value").count()).toBe(0);
    await visitor.inspect();
    await question.getByRole("button", { name: "Rotate it" }).click();
    const copy = page.getByRole("button", { name: "Copy API key" }).and(page.locator(":focus"));
    const fresh = await visitor.copy(copy);
    expect((await operator.revealKey(dapp.id, id)).apiKey).toBe(fresh);
    await item("pipeline").getByText("former value valid until").waitFor();
    const statusOf = async (authorization: string) =>
      (await tyche.call("GET", "/api/requests", { headers: { authorization } })).status;
    expect([await statusOf(apiKey), await statusOf(fresh)]).toEqual([200, 200]);
    await item("pipeline")
      .getByRole("button", { name: /^Rotate key/ })
      .click();
    await question.getByText("The former value, which is still valid, ends at once anyway.").waitFor();
    await question.getByLabel("The present key stays valid for").selectOption("not at all: it ends at once");
    await question.getByRole("button", { name: "Rotate it" }).click();
    await page.locator(".notice").getByText(fresh).waitFor({ state: "detached" });
    expect([await statusOf(apiKey), await statusOf(fresh)]).toEqual([401, 401]);
    await open("/people");
    const words = "gave a new value to the API key pipeline";
    await page.getByRole("cell", { name: words, exact: true }).first().waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a key may expire and only read; the dapp's pages say when it is about to expire", async () => {
    await open("/keys");
    await page.getByLabel("Access").selectOption("read");
    const soon = new Date(Date.now() + 2.4 * 86_400_000).toISOString();
    await page.getByLabel("Expires").fill(soon.slice(0, 16));
    const apiKey = await add("reader");
    await item("reader").getByText("read only").waitFor();
    await item("reader").getByText("expires in 2 days").waitFor();
    await visitor.inspect();
    const [, made] = (await operator.keys(dapp.id)) as [KeyView, KeyView];
    expect(made).toMatchObject({ access: "read", expiresAt: `${soon.slice(0, 16)}:00.000Z` });
    const headers = { authorization: apiKey };
    expect((await tyche.call("GET", "/api/requests", { headers })).status).toBe(200);
    await open("");
    await page.locator(".notice").getByText("reader").waitFor();
    await page.getByRole("link", { name: "Let it expire later" }).click();
    await item("reader")
      .getByRole("button", { name: /^Edit key/ })
      .click();
    expect(await item("reader").getByLabel("Access").count()).toBe(0);
    await item("reader").getByLabel("Expires").fill("2020-01-01T00:00");
    await item("reader").getByRole("button", { name: "Save" }).click();
    await item("reader").getByText("must be a time to come").waitFor();
    await item("reader").getByLabel("Expires").fill("");
    await item("reader").getByRole("button", { name: "Save" }).click();
    await item("reader").getByText("expires in").waitFor({ state: "detached" });
    await open("");
    await page.getByRole("heading", { name: "Subscriptions" }).waitFor();
    await expect.poll(() => page.locator(".notice").getByText("reader").count()).toBe(0);
    expect(visitor.troubles).toEqual([]);
  });

  test("the question before a key is revoked says what acts with it", async () => {
    const { id, apiKey } = await operator.addKey(dapp.id, { name: "ci" });
    const body = { name: "Nightly", network: NETWORK, every: "1d", action: { preset: "coinflip" } };
    const { data } = await tyche.call("POST", "/api/schedules", { body, headers: { authorization: apiKey } });
    expect(data).toMatchObject({ keyId: id });
    await open("/keys");
    const ask = async (name: string) => {
      await item(name)
        .getByRole("button", { name: /^Revoke key/ })
        .click();
      return dialog("Revoke this key?");
    };
    const question = await ask("ci");
    await question.getByText("It was last used").waitFor();
    await question.getByText("Nightly (schedule) acts with it").waitFor();
    await visitor.inspect();
    await question.getByRole("button", { name: "Cancel" }).click();
    await (await ask("first key")).getByText("No schedule or log trigger acts with it").waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a revoked key is erased from the page, and the list has the focus", async () => {
    await open("/keys");
    const apiKey = await add("laptop");
    await item("laptop")
      .getByRole("button", { name: /^Revoke key/ })
      .click();
    await dialog("Revoke this key?").getByRole("button", { name: "Revoke it" }).click();
    await item("laptop").getByText("revoked", { exact: true }).waitFor();
    await page.getByRole("list", { name: "API keys" }).and(page.locator(":focus")).waitFor();
    await expect.poll(() => page.content()).not.toContain(apiKey);
    // Four letters alone may occur in any word.
    await expect.poll(() => page.content()).not.toContain(`•${apiKey.slice(-4)}`);
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("a field is described by its note", async () => {
    await open("/keys");
    const description = "Leave empty for no limit. The day begins at 00:00 UTC.";
    await page.getByRole("spinbutton", { name: "Requests a day", description }).waitFor();
    await visitor.open(`${tyche.url}/functions`);
    await page.getByRole("textbox", { name: "Arguments", description: "One per line." }).waitFor();
    await visitor.open(`${tyche.url}/presets/nDice`);
    const control = page.locator(".field:has(.note)").first().locator("input, select, textarea");
    expect(await control.getAttribute("aria-describedby")).toMatch(/^param\.\w+-note$/);
    expect(visitor.troubles).toEqual([]);
  });

  test("a name that is refused is said at its field, which has the focus", async () => {
    await open("/keys");
    const field = page.getByLabel("Name");
    await field.fill("x".repeat(61));
    await page.getByRole("button", { name: "Add a key" }).click();
    const described = { name: "Name", description: /^must be 1 to 60 .* Optional\.$/ };
    await page.getByRole("textbox", described).waitFor();
    await field.and(page.locator("[aria-invalid]:focus")).waitFor();
    expect(await field.inputValue()).toHaveLength(61);
    expect(await operator.keys(dapp.id)).toHaveLength(1);
    expect(visitor.troubles).toEqual([]);
  });
});

describe("consumers", () => {
  const findLink = async () =>
    (await operator.networks()).find(({ name }) => name === NETWORK)!.contracts.link;

  test("a linked one has its date, its transaction and its status, and stays where unlinking is cancelled", async () => {
    const consumer = await findLink();
    const client = operator.as(dapp.id);
    await (await client.submit.addConsumer({ dappId: dapp.id, network: NETWORK, consumer })).wait();
    await open("/consumers");
    const row = page.getByRole("row").filter({ hasText: consumer });
    await row.locator(".tag.good", { hasText: "linked" }).waitFor();
    await row.locator("time").waitFor();
    const unlink = row.getByRole("button", { name: `Unlink ${consumer} on ${TITLE}` });
    await unlink.click();
    await dialog("Unlink this contract?").getByRole("button", { name: "Cancel" }).click();
    await unlink.and(page.locator(":focus")).waitFor();
    expect(callsOf("DELETE")).toEqual([]);
    await row.locator(`a[href^="/explorer/${NETWORK}/tx/"]`).click();
    await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("one that was linked a while ago doesn't scroll its list sideways", async () => {
    const consumer = await findLink();
    await operator.as(dapp.id).addConsumer({ dappId: dapp.id, network: NETWORK, consumer });
    await page.route("**/api/vrfv2/consumers", async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { linked: readonly object[] } };
      const linkedAt = new Date(Date.now() - 600_000).toISOString();
      const linked = data.linked.map((one) => ({ ...one, linkedAt }));
      await route.fulfill({ response, json: { data: { ...data, linked } } });
    });
    await open("/consumers");
    await page.getByText("10 minutes ago").waitFor();
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("what a contract requested itself is listed, with its result, and leads to proof and request", async () => {
    const contract = await deploySampleContract(operator, { dappId: dapp.id, network: NETWORK });
    const transactionHash = await contract.roll();
    await open("/consumers");
    const row = page
      .getByRole("region", { name: "Requests of your contracts" })
      .getByRole("row")
      .filter({ hasText: TITLE });
    await row.locator(".tag.good", { hasText: "fulfilled" }).waitFor();
    await row.locator("time").waitFor();
    const { items } = await operator.as(dapp.id).contractRequests({ network: NETWORK });
    await row.getByText(items[0]!.words![0]!).waitFor();
    const links = row.locator(`a[href^="/explorer/${NETWORK}/tx/"]`);
    await expect
      .poll(() => links.evaluateAll((all) => all.map((link) => link.getAttribute("href")!.split("/").at(-1))))
      .toEqual([transactionHash, items[0]!.answeredBy]);
    await row.getByRole("link", { name: "proof" }).click();
    await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
    await visitor.open(`${tyche.url}/explorer/${NETWORK}/address/${contract.address}?show=requests`);
    await page.getByText(/^linked to a dapp here 0x/).waitFor();
    const own = page.locator("#contract-requests").getByRole("row");
    await own.getByText(items[0]!.words![0]!).waitFor();
    await visitor.inspect();
    await page.getByRole("link", { name: "Contract", exact: true }).click();
    await page.getByText(/^0x60/).waitFor();
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("a contract can be linked once the networks are known", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route("**/api/explorer/networks", async (route) => {
      await promise;
      await route.continue();
    });
    await page.goto(`${tyche.url}/dapps/${dapp.id}/consumers`);
    await page.getByRole("heading", { name: "Link a consumer" }).waitFor();
    expect(await page.getByRole("button", { name: "Link", exact: true }).count()).toBe(0);
    resolve();
    await page.getByLabel("Contract address").fill(await findLink());
    await page.getByLabel("Network").selectOption({ label: TITLE });
    await page.getByRole("button", { name: "Link", exact: true }).click();
    await page.getByRole("region", { name: "Request", exact: true }).getByText("fulfilled").waitFor();
    expect(visitor.troubles).toEqual([]);
  });
});

describe("subscriptions", () => {
  const NAMES = ["sepolia", "fuji"] as const;
  interface Given {
    readonly network?: Readonly<Record<string, unknown>>;
    readonly balances?: readonly object[];
    readonly isCreated?: boolean;
  }
  /** Answers the page's calls as a service would whose networks are in that state. */
  const serve = async ({ network = {}, balances = [], isCreated = true }: Given): Promise<void> => {
    const replace = async (url: string, change: (item: Record<string, unknown>) => object): Promise<void> => {
      await page.route(url, async (route) => {
        const response = await route.fetch();
        const { data } = (await response.json()) as { data: { items: Record<string, unknown>[] } };
        await route.fulfill({ response, json: { data: { items: data.items.map(change) } } });
      });
    };
    await replace("**/api/explorer/networks", (item) => ({ ...item, ...network }));
    await replace("**/configVars", ({ vrfSubscriptionId, functionsSubscriptionId, ...rest }) =>
      isCreated ? { ...rest, vrfSubscriptionId, functionsSubscriptionId } : rest,
    );
    await page.route("**/balances", (route) => route.fulfill({ json: { data: { items: balances } } }));
  };
  const row = (title: string) =>
    page.getByRole("region", { name: "Balances" }).getByRole("row").filter({ hasText: title });
  const state = (name: string, text: string) => row(name).getByRole("cell", { name: text, exact: true });

  test("coin is shown beside LINK where there is some, or the network is paid in it", async () => {
    const held = { vrfJuels: "2000000000000000000", functionsJuels: "1000000000000000000" };
    const items = NAMES.map((network) => ({
      network,
      ...held,
      vrfWei: network === "fuji" ? "100000000000000000" : "0",
    }));
    await serve({ balances: items });
    await open("");
    await state("Avalanche Fuji (local chain)", "2 LINK and 0.1 AVAX").waitFor();
    await state(TITLE, "2 LINK").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await serve({ balances: items, network: { vrf: { nativePayment: true } } });
    await open("");
    await state(TITLE, "2 LINK and 0 ETH").waitFor();
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("balances that can't be read are told from subscriptions that don't exist", async () => {
    await serve({});
    await open("");
    await state(TITLE, "can't be read now").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await serve({ isCreated: false });
    await open("");
    await state(TITLE, "not created yet").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await serve({ isCreated: false, network: { status: "unavailable" } });
    await open("");
    await state(TITLE, "created once the network is serving").waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("config vars of the network that forms begin with are open", async () => {
    await open("/config-vars");
    const titles = page.locator("#networks .panel > details[open] > summary");
    await expect.poll(() => titles.allInnerTexts()).toEqual([TITLE]);
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("config vars of a network that isn't serving say so, and are not read every second", async () => {
    await page.clock.install();
    await serve({ isCreated: false, network: { status: "unavailable" } });
    await open("/config-vars");
    await page.locator("#networks summary").first().click();
    await page.getByText("created once the network is serving").first().waitFor();
    // From now on, the page's time passes only here: they are read every ten seconds.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.evaluate("fetch('/api/explorer/networks')");
    const before = callsOf(`GET /api/dapps/${dapp.id}/configVars`).length;
    for (let second = 0; second < 5; second++) {
      await page.clock.runFor("00:01");
      await page.evaluate("fetch('/api/explorer/networks')");
    }
    expect(callsOf(`GET /api/dapps/${dapp.id}/configVars`).length).toBeLessThan(before + 2);
    expect(visitor.troubles).toEqual([]);
  });
});

describe("webhooks", () => {
  const newWebhook = () => page.locator("#new-webhook");
  test("one is added, tested, paused, resumed, rotated and deleted; its attempts are listed", async () => {
    await open("/webhooks");
    const url = "https://tyche-receiver.invalid/hook";
    await newWebhook().getByLabel("URL").fill(url);
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const secret = await visitor.copy(
      page.getByRole("button", { name: "Copy webhook secret" }).and(page.locator(":focus")),
    );
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const client = operator.as(dapp.id);
    const [{ id }] = (await client.webhooks.list()) as [WebhookView];
    const attemptsOf = async () => (await client.webhooks.attempts(id)).items;
    const part = page.getByRole("region", { name: `Webhook ${url}` });
    await page.getByRole("link", { name: "Send it a test event" }).click();
    await part.getByText("active", { exact: true }).waitFor();
    await part.getByRole("button", { name: "Send test" }).click();
    await part.getByText("A test event is sent.").waitFor();
    const rows = part.getByRole("table").locator("tbody tr:not(.detail)");
    const message = part.locator("tr.detail");
    await rows.filter({ hasText: "webhook.test" }).filter({ hasText: "no answer" }).first().waitFor();
    await part.getByText("failing", { exact: true }).waitFor();
    await part.getByText("none yet", { exact: true }).waitFor();
    await part.getByText("Failing since", { exact: true }).waitFor();
    // The first attempt stays the last row, however many are made meanwhile.
    const show = rows.last().getByRole("button", { name: "Message" });
    await show.click();
    const tested = (await attemptsOf()).at(-1)!;
    const { body } = await client.webhooks.attempt(id, tested.id);
    expect(body).toContain(`"type":"webhook.test"`);
    const indented = JSON.stringify(JSON.parse(body!), null, 2);
    const region = message.getByRole("region", { name: "Body" });
    await expect.poll(async () => await region.textContent()).toBe(indented);
    await message.getByText(`webhook-id: ${tested.eventId}`).waitFor();
    await visitor.inspect();
    await show.click();
    await message.waitFor({ state: "detached" });
    await part.getByLabel("State").selectOption("delivered");
    await part.getByText("No such attempts.").waitFor();
    await part.getByLabel("State").selectOption("failed");
    await part.getByLabel("Event", { exact: true }).selectOption("webhook.test");
    await rows.first().waitFor();
    expect(page.url()).toMatch(/\?state=failed&type=webhook\.test$/);
    await part.getByLabel("State").selectOption("all");
    await part.getByLabel("Event", { exact: true }).selectOption("all");
    await part.getByRole("button", { name: "Pause" }).click();
    await part.getByText("paused", { exact: true }).waitFor();
    await visitor.inspect();
    await part.getByRole("button", { name: "Resume" }).click();
    await part.getByRole("button", { name: "Pause" }).waitFor();
    const undelivered = part.getByRole("button", { name: "Send undelivered again" });
    await undelivered.click();
    await part.getByText("1 event is sent again now.").waitFor();
    await undelivered.and(page.locator(":focus")).waitFor();
    await rows.nth(1).waitFor();
    // The next attempt stands at the event's last one only, and so does the button that sends it again.
    await expect.poll(() => rows.filter({ hasText: "UTC" }).count()).toBe(1);
    const [{ eventId }] = (await attemptsOf()) as [WebhookAttempt];
    const again = part.getByRole("button", { name: /^Send again/ });
    await rows.first().getByRole("code").getByText(eventId, { exact: true }).waitFor();
    await rows
      .first()
      .getByText(/^attempt [2-9]$/)
      .waitFor();
    const byId = part.getByLabel("Event id");
    await byId.fill("evt_1");
    await byId.press("Enter");
    await part.getByText("must be evt_ and 26 characters").waitFor();
    expect(await part.getByText(/eventId/i).count()).toBe(0);
    await expect.poll(() => byId.getAttribute("aria-invalid")).toBe("true");
    await byId.fill(`evt_${"0".repeat(26)}`);
    await byId.press("Enter");
    await part.getByText("No such attempts.").waitFor();
    await byId.fill(eventId);
    await byId.press("Enter");
    await expect.poll(() => part.getByRole("button", { name: "Its attempts" }).count()).toBe(0);
    await rows.first().waitFor();
    await visitor.inspect();
    await byId.fill("");
    await byId.press("Enter");
    await part.getByLabel("State").selectOption("failed");
    await part.getByRole("button", { name: "Its attempts" }).first().click();
    await expect.poll(() => new URL(page.url()).search).toBe(`?event=${eventId}`);
    await byId.fill("");
    await byId.press("Enter");
    const sent = (await attemptsOf()).length;
    await again.click();
    const said = { hasText: /^The event is sent again now\.$/ };
    await page.locator("#announcer", said).waitFor({ state: "attached" });
    await expect.poll(async () => (await attemptsOf()).length).toBeGreaterThan(sent);
    expect((await attemptsOf())[0]).toMatchObject({ eventId });
    await part.getByLabel("Test event").selectOption("request.fulfilled");
    await part.getByRole("button", { name: "Send test" }).click();
    await part.getByText("A sample of request.fulfilled, marked as a test, is sent.").waitFor();
    await rows.filter({ hasText: "request.fulfilled" }).first().waitFor();
    const edit = part.getByRole("button", { name: "Edit" });
    await edit.click();
    await part.getByRole("button", { name: "Cancel" }).click();
    await edit.and(page.locator(":focus")).press("Enter");
    const changed = `${url}/2`;
    await part.getByLabel("URL").fill(changed);
    await part.getByLabel("Note").fill("orders");
    await part.getByLabel("request.reopened").uncheck();
    await visitor.inspect();
    await part.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: changed }).waitFor();
    expect(await operator.as(dapp.id).webhooks.list()).toMatchObject([
      {
        url: changed,
        description: "orders",
        events: ["request.fulfilled", "request.failed", "trigger.skipped", "trigger.reverted"],
      },
    ]);
    await part.getByRole("button", { name: "Rotate the secret" }).click();
    await dialog("Rotate the secret?").getByRole("button", { name: "Rotate it" }).click();
    await page.getByText("The secret, which is not shown again").waitFor();
    await part.getByRole("button", { name: "Delete" }).click();
    await dialog("Delete this webhook?").getByRole("button", { name: "Delete it" }).click();
    await page.getByText("None yet.").waitFor();
    expect(await operator.as(dapp.id).webhooks.list()).toEqual([]);
  });

  test("the form chooses events and signature, and says how the public key verifies", async () => {
    await open("/webhooks");
    const events = page.getByRole("group", { name: "Events that it is told" });
    const url = newWebhook().getByLabel("URL");
    const add = page.getByRole("button", { name: "Add a webhook" });
    await url.fill("https://tyche-receiver.invalid/hook");
    expect(await events.getByRole("checkbox", { checked: true }).count()).toBe(5);
    for (const box of await events.getByRole("checkbox").all()) await box.uncheck();
    await add.click();
    await page.getByText("Choose at least one event.").waitFor();
    await events.getByLabel("request.failed").check();
    await page.getByLabel("Signature").selectOption("ed25519");
    await add.click();
    const publicKey = await visitor.copy(
      page.getByRole("button", { name: "Copy webhook public key" }).and(page.locator(":focus")),
    );
    await page.getByText("await verifyWebhook(body, headers, publicKey)").waitFor();
    const [made] = await operator.as(dapp.id).webhooks.list();
    expect(made).toMatchObject({ events: ["request.failed"], signature: "ed25519", publicKey });
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("an address that no message may go to is named at its field", async () => {
    await open("/webhooks");
    await newWebhook().getByLabel("URL").fill("https://169.254.169.254/");
    await page.getByRole("button", { name: "Add a webhook" }).click();
    await page.getByText("link-local").waitFor();
    await expect.poll(() => newWebhook().getByLabel("URL").getAttribute("aria-invalid")).toBe("true");
  });
});

describe("triggers", () => {
  const times = () => page.getByRole("status", { name: "Next times" });
  const newSchedule = () => page.locator("#new-schedule");
  const newTrigger = () => page.locator("#new-log-trigger");

  test("a schedule is added with its next times in sight, run now, paused and deleted", async () => {
    await open("/triggers");
    await visitor.inspect();
    await page.getByRole("button", { name: "New schedule" }).click();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByLabel("Cron expression").fill("30 20 * * 5");
    const shown = /^Fri, .*08:30:00 PM · \d{4}-\d\d-\d\d (?:18|19):30:00 UTC$/;
    await expect
      .poll(() => times().getByRole("listitem").allTextContents())
      .toEqual(Array.from({ length: 5 }, () => expect.stringMatching(shown)));
    await page.getByLabel("Cron expression").fill("61 * * * *");
    await times().getByText("No next times").waitFor();
    await page.getByLabel("Cron expression").fill("0 0 * * *");
    await newSchedule().getByLabel("Name").fill("Nightly");
    await visitor.inspect();
    await page.getByRole("button", { name: "Add a schedule" }).click();
    const words = `draws coinflip every day at 00:00 (Europe/Berlin), on `;
    const row = page.getByRole("row", { name: words });
    await row.getByText("active").waitFor();
    // The list is read by itself, too, which may come before the answer to the form.
    await newSchedule().waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Pause Nightly" }).click();
    await row.getByText("paused", { exact: true }).waitFor();
    await visitor.inspect();
    await row.getByRole("button", { name: "Resume Nightly" }).click();
    await row.getByText("active", { exact: true }).waitFor();
    await row.getByRole("link", { name: "History of Nightly" }).click();
    const part = page.getByRole("region", { name: /Nightly|Weekly dice/ });
    await part.getByRole("button", { name: "Run now" }).click();
    const run = part.getByRole("row").filter({ has: page.getByRole("link", { name: /^req_/ }) });
    await run.getByText(/Heads|Tails/).waitFor();
    await part.getByRole("link", { name: /^req_/ }).click();
    await page.getByRole("link", { name: /^schedule sch_/ }).click();
    await part.getByRole("button", { name: "Edit" }).click();
    expect(await part.getByLabel("Cron expression").inputValue()).toBe("0 0 * * *");
    await part.getByLabel("Name", { exact: true }).fill("Weekly dice");
    await part.getByLabel("Cron expression").fill("*/5 * * * * *");
    await times().getByText("these are 5 s apart, and on").waitFor();
    await part.getByLabel("Cron expression").fill("0 9 * * 1");
    await part.getByLabel("Preset").selectOption("nDice");
    await visitor.inspect();
    await part.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Weekly dice" }).waitFor();
    await page.getByText(/^draws nDice .* every Monday at 09:00 \(Europe\/Berlin\), on /).waitFor();
    await part.getByRole("button", { name: "Pause" }).click();
    await part.getByText("paused", { exact: true }).waitFor();
    await visitor.inspect();
    await part.getByRole("button", { name: "Resume" }).click();
    await part.getByText("active", { exact: true }).waitFor();
    await part.getByRole("button", { name: "Delete" }).click();
    await dialog("Delete this schedule?").getByRole("button", { name: "Delete it" }).click();
    await page.locator("#schedules").getByText("None yet.").waitFor();
    expect(await operator.as(dapp.id).schedules.list()).toEqual([]);
    expect(visitor.troubles).toEqual([]);
  });

  test("the form says what becomes of missed ticks and when it ends, and keeps it", async () => {
    const client = operator.as(dapp.id);
    await open("/triggers");
    await page.getByRole("button", { name: "New schedule" }).click();
    await newSchedule().getByLabel("Name", { exact: true }).fill("Season");
    await newSchedule().getByText("More", { exact: true }).click();
    await newSchedule().getByLabel("Requests that it misses").selectOption("all");
    await newSchedule().getByLabel("At most this late").fill("31d");
    await newSchedule().getByLabel("While the last request").selectOption("allow");
    const dayAhead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    await newSchedule()
      .getByLabel("Ends")
      .fill(`${dayAhead(3)}T23:59:58`);
    await times().getByText("Then it ends.").waitFor();
    expect(await times().getByRole("listitem").count()).toBeLessThan(5);
    await newSchedule()
      .getByLabel("Ends")
      .fill(`${dayAhead(-1)}T23:59:58`);
    await times().getByText("No next times: it ends before.").waitFor();
    await newSchedule().getByLabel("Ends").fill("2099-12-31T23:59:58");
    await expect.poll(() => times().getByRole("listitem").count()).toBe(5);
    await newSchedule().getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await newSchedule().locator("#schedule-window[aria-invalid]:focus").waitFor();
    await newSchedule().getByText('must be a duration from 1m to 30d, such as 6h, not "31d"').waitFor();
    await visitor.inspect();
    await newSchedule().getByLabel("At most this late").fill("6h");
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.getByRole("link", { name: "Season", exact: true }).click();
    const part = page.getByRole("region", { name: "Season" });
    const words =
      "After an outage, makes every missed request, up to 6 hours late; makes one even while the last one has not ended. Ends 2099-12-31 23:59:58 UTC.";
    await part.getByText(words, { exact: true }).waitFor();
    const before = await client.schedules.list();
    expect(before).toMatchObject([
      { catchUp: "all", window: "6h", overlap: "allow", until: "2099-12-31T23:59:58.000Z" },
    ]);
    const edit = part.getByRole("button", { name: "Edit" });
    await edit.click();
    await part.getByRole("button", { name: "Save" }).click();
    await edit.and(page.locator(":focus")).waitFor();
    expect(await client.schedules.list()).toEqual(before);
    await edit.click();
    await part.getByText("More", { exact: true }).click();
    await part.getByLabel("Requests that it misses").selectOption("skip");
    await part.getByLabel("Ends").fill("");
    await visitor.inspect();
    await part.getByRole("button", { name: "Save" }).click();
    await part.getByText(/^After an outage, makes none of the missed requests; [^.]+\.$/).waitFor();
    expect(await client.schedules.list()).toMatchObject([{ catchUp: "skip", window: "1m", until: null }]);
    expect(visitor.troubles).toEqual([]);
  });

  test("a half-typed end that is folded away unfolds when the schedule is added", async () => {
    await open("/triggers");
    await page.getByRole("button", { name: "New schedule" }).click();
    const more = newSchedule().getByText("More", { exact: true });
    await newSchedule().getByLabel("Name", { exact: true }).fill("Half-typed");
    await more.click();
    await newSchedule().getByLabel("Ends").pressSequentially("12");
    await more.click();
    await newSchedule().getByLabel("Ends").waitFor({ state: "hidden" });
    await newSchedule().getByRole("button", { name: "Add a schedule" }).click();
    await newSchedule().getByLabel("Ends").waitFor();
    expect(await operator.as(dapp.id).schedules.list()).toEqual([]);
  });

  test("an action is put together by fields, and unfolds as JSON", async () => {
    await open("/triggers");
    await page.getByRole("button", { name: "New schedule" }).click();
    const add = async (name: string) => {
      await newSchedule().getByLabel("Name", { exact: true }).fill(name);
      await page.getByRole("button", { name: "Add a schedule" }).click();
      await page.getByRole("link", { name, exact: true }).waitFor();
      await page.getByRole("button", { name: "New schedule" }).and(page.locator(":focus")).press("Enter");
    };
    const what = newSchedule().getByLabel("What it requests");
    await newSchedule().getByLabel("Preset").selectOption("range");
    await newSchedule().getByLabel("min").fill("1");
    await newSchedule().getByLabel("max").fill("6");
    await newSchedule().getByText("As JSON").click();
    await expect
      .poll(() => newSchedule().getByLabel("Action").inputValue())
      .toBe(JSON.stringify({ preset: "range", min: "1", max: "6" }, null, 2));
    await visitor.inspect();
    await newSchedule().getByText("As JSON").click();
    await add("Dice");
    await what.selectOption("random");
    await newSchedule().getByLabel("How many").fill("3");
    await add("Words");
    await what.selectOption("function");
    await newSchedule().getByLabel("Source").fill("return Functions.encodeUint256(BigInt(args[0]))");
    await newSchedule().getByLabel("Arguments").fill("7");
    await newSchedule().getByLabel("Return type").selectOption("uint256");
    await visitor.inspect();
    await add("Call");
    const made = await operator.as(dapp.id).schedules.list();
    expect(Object.fromEntries(made.map(({ name, action }) => [name, action]))).toEqual({
      Dice: { preset: "range", min: "1", max: "6" },
      Words: { random: { numWords: 3 } },
      Call: {
        function: {
          source: "return Functions.encodeUint256(BigInt(args[0]))",
          args: ["7"],
          returnType: "uint256",
        },
      },
    });
    expect(visitor.troubles).toEqual([]);
  });

  test("what can't be read is named at its field", async () => {
    await open("/triggers");
    await page.getByRole("button", { name: "New schedule" }).click();
    await newSchedule().getByLabel("Name").fill("Often");
    await page.getByLabel("Repeats").selectOption("every");
    await page.getByLabel("Distance").fill("1s");
    await newSchedule().getByText("As JSON").click();
    await newSchedule().getByLabel("Action").fill("{");
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.getByText("must be a JSON object").waitFor();
    await newSchedule().getByLabel("Action").fill('{"preset": "coinflip"}');
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.locator("#schedule-every-problem").getByText("at least 10 s apart").waitFor();
    await times().getByText("these are 1 s apart").waitFor();
    await expect.poll(() => page.getByLabel("Distance").getAttribute("aria-invalid")).toBe("true");
    await newSchedule().getByLabel("Action").fill('{"preset": "coinflip", "label": ""}');
    await page.getByRole("button", { name: "Add a schedule" }).click();
    await page.getByText("label must have 1 to 100 characters; got 0", { exact: true }).waitFor();
  });

  test("a log trigger is added, shows its runs with their requests, and is paused and deleted", async () => {
    const client = operator.as(dapp.id);
    const { contracts } = (await client.networks()).find(({ name }) => name === NETWORK)!;
    const [account] = await operator.fundedAccounts();
    const to = account!.address;
    await open("/triggers");
    await page.getByRole("button", { name: "New log trigger" }).click();
    await newTrigger().getByLabel("Name").fill("Thanks");
    await newTrigger().getByLabel("Network").selectOption(NETWORK);
    await newTrigger().getByLabel("Contracts").fill(contracts.link);
    await newTrigger().getByLabel("Event").fill("event Transfer(address indexed from)");
    await newTrigger().getByLabel("What it requests").selectOption("random");
    await newTrigger().getByLabel("Filters").fill(JSON.stringify({ to }));
    await newTrigger().getByRole("button", { name: "Add a log trigger" }).click();
    await newTrigger().locator("#trigger-filters-problem").waitFor();
    await newTrigger()
      .getByLabel("Event")
      .fill("event Transfer(address indexed from, address indexed to, uint256 value)");
    expect(
      await page
        .locator("#log-values option")
        .evaluateAll((options) => options.map((one) => one.getAttribute("value"))),
    ).toContain('{"event":"value"}');
    await visitor.inspect();
    await newTrigger().getByRole("button", { name: "Add a log trigger" }).click();
    await page.getByRole("row", { name: "requests a random number when 0x" }).waitFor();
    await page.getByRole("link", { name: "Thanks", exact: true }).click();
    await client.faucet({ network: NETWORK, address: to });
    const part = page.getByRole("region", { name: "Thanks" });
    await part.getByRole("link", { name: /^req_/ }).first().waitFor();
    await part.getByText("read to block").waitFor();
    await part.getByRole("button", { name: "Edit" }).click();
    expect(await part.getByLabel("What it requests").inputValue()).toBe("random");
    await part.getByLabel("How many").fill("2");
    await visitor.inspect();
    await part.getByRole("button", { name: "Save" }).click();
    await page.getByText("requests 2 random numbers when 0x").waitFor();
    await part.getByRole("button", { name: "Pause" }).click();
    await part.getByText("paused", { exact: true }).waitFor();
    await part.getByRole("button", { name: "Delete" }).click();
    await dialog("Delete this log trigger?").getByRole("button", { name: "Delete it" }).click();
    await page.locator("#triggers").getByText("None yet.").waitFor();
    expect(visitor.troubles).toEqual([]);
  });
});

describe("dry runs", () => {
  test("they are listed page by page, newest first", async () => {
    const client = operator.as(dapp.id);
    for (let i = 0; i <= PAGE_SIZE; i++)
      await client.simulate({ source: `return Functions.encodeString("run ${i}")` });
    await open("/dry-runs");
    const rows = page.locator("#dry-runs tbody tr");
    await rows
      .filter({ hasText: `run ${PAGE_SIZE}` })
      .first()
      .waitFor();
    await expect.poll(() => rows.count()).toBe(PAGE_SIZE);
    await page.getByRole("link", { name: "Older" }).click();
    await rows.filter({ hasText: "run 0" }).waitFor();
    await rows.nth(1).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Older" }).waitFor({ state: "detached" });
    await page.goBack();
    await rows.nth(PAGE_SIZE - 1).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a place in the list that there isn't is not asked for again", async () => {
    await page.clock.install();
    await page.goto(`${tyche.url}/dapps/${dapp.id}/dry-runs?cursor=none`);
    await page.getByRole("region", { name: "Dry runs" }).getByRole("alert").waitFor();
    await page.clock.runFor("01:00");
    await page.evaluate("fetch('/api/explorer/networks')");
    expect(callsOf("GET /api/dryRuns")).toHaveLength(1);
    expect(visitor.troubles).toEqual([]);
  });
});

describe("requests", () => {
  test("going back to a request that had ended announces nothing", async () => {
    const client = operator.as(dapp.id);
    const { id, wait } = await client.submit.preset("coinflip", {}, { network: NETWORK });
    await wait();
    await open(`/requests/${id}`);
    // The next request doesn't end.
    await page.route(/\/api\/requests\/req_/, async (route) => {
      if (route.request().url().endsWith(id)) return route.continue();
      const response = await route.fetch();
      const { data } = (await response.json()) as { readonly data: object };
      return route.fulfill({ response, json: { data: { ...data, state: "randomness", outcome: null } } });
    });
    await page.getByRole("button", { name: "Run again" }).click();
    const heading = page.locator("#request h2").first();
    await heading.filter({ hasText: "randomness" }).waitFor();
    await page.goBack();
    await heading.filter({ hasText: "fulfilled" }).waitFor();
    expect(await page.locator("#announcer").textContent()).toBe("");
    expect(visitor.troubles).toEqual([]);
  });
});

describe("usage", () => {
  const field = (label: string) => page.getByLabel(label, { exact: true });

  test("the network of the address is chosen in the form, and the file has no other", async () => {
    const client = operator.as(dapp.id);
    await client.preset("coinflip", {}, { network: NETWORK });
    await client.preset("coinflip", {}, { network: "fuji" });
    await open("/usage?network=fuji");
    const cells = page.getByRole("region", { name: "Usage by day and network" }).getByRole("cell");
    await cells.filter({ hasText: /^Avalanche Fuji \(local chain\)$/ }).waitFor();
    expect(await cells.filter({ hasText: /^Ethereum Sepolia \(local chain\)$/ }).count()).toBe(0);
    await expect.poll(() => field("Network").inputValue()).toBe("fuji");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as CSV" }).click(),
    ]);
    const rows = (await readFile(await download.path(), "utf8")).trim().split("\r\n").slice(1);
    expect(rows.map((row) => row.split(",")[1])).toEqual(["fuji"]);
    await field("Network").selectOption("sepolia");
    await page.getByRole("button", { name: "Show" }).click();
    await cells.filter({ hasText: /^Ethereum Sepolia \(local chain\)$/ }).waitFor();
    expect(new URL(page.url()).searchParams.get("network")).toBe("sepolia");
    await page.goBack();
    await cells.filter({ hasText: /^Avalanche Fuji \(local chain\)$/ }).waitFor();
    await expect.poll(() => field("Network").inputValue()).toBe("fuji");
    expect(visitor.troubles).toEqual([]);
  });

  test("coin charged is summed by network, beside LINK", async () => {
    const day = {
      day: "2026-11-01",
      requests: { preset: 1, function: 0, random: 0, consumer: 0, unlink: 0 },
      fulfilled: 1,
      failed: 0,
      refused: 0,
      dryRuns: 0,
      words: 1,
      gasUsed: "1",
      linkJuels: "0",
      toppedUpJuels: "6000000000000000000",
      toppedUpWei: "0",
    };
    const items = [
      { ...day, network: "sepolia", coinWei: "2000000000000000" },
      { ...day, network: "fuji", coinWei: "300000000000000000" },
      { ...day, day: "2026-11-02", network: "fuji", coinWei: "200000000000000000" },
    ];
    await page.route("**/api/usage*", (route) =>
      route.fulfill({ json: { data: { from: "2026-11-01", to: "2026-11-03", items } } }),
    );
    await open("/usage");
    await page
      .getByText("0.002 ETH on Ethereum Sepolia (local chain), 0.5 AVAX on Avalanche Fuji (local chain)")
      .waitFor();
    await page.getByText("18 LINK", { exact: true }).waitFor();
    await page.setViewportSize({ width: 320, height: 800 });
    await expect.poll(() => page.evaluate<number>("document.documentElement.scrollWidth")).toBe(320);
    expect(visitor.troubles).toEqual([]);
  });

  test("where there was none, the chart says at most 0", async () => {
    await open("/usage");
    await page.getByRole("img", { name: /^0 requests from .*, at most 0 a day$/ }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a chart is drawn where the browser names its language as POSIX does", async () => {
    await page.addInitScript(
      `Object.defineProperty(navigator, "language", { value: "en-US@posix", configurable: true })`,
    );
    await open("/usage");
    await page.locator(".chart canvas").waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a chart that can't be loaded points at the table", async () => {
    await page.route(/\/assets\/app\/plotBars-[^/]*\.js$/, (route) => route.abort());
    await open("/usage");
    await page.getByText("The chart could not be loaded; the table has its numbers.").waitFor();
    const refused = /Failed to load resource|net::ERR_FAILED/;
    expect(visitor.takeTroubles().filter((trouble) => !refused.test(trouble))).toEqual([]);
  });

  test("days the wrong way round are said at their field, which has the focus, and stay", async () => {
    await open("/usage");
    await field("From").fill("2026-02-03");
    await field("To").fill("2026-02-01");
    await page.getByRole("button", { name: "Show" }).click();
    await page.locator("#from-problem", { hasText: "must not be after to, which is 2026-02-01" }).waitFor();
    await field("From").and(page.locator("[aria-invalid]:focus")).waitFor();
    expect(await field("From").inputValue()).toBe("2026-02-03");
    expect(await field("To").inputValue()).toBe("2026-02-01");
    await visitor.inspect();
    await field("From").fill("2026-01-20");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("img", { name: /from 2026-01-20 to 2026-02-01/ }).waitFor();
    await page.locator("#from-problem").waitFor({ state: "detached" });
    expect(visitor.troubles).toEqual([]);
  });
});

describe("settings", () => {
  test("nothing is deleted where the question is answered with no", async () => {
    await open("/settings");
    await page.getByLabel("Type the dapp’s name").fill(dapp.name);
    await page.getByRole("button", { name: "Delete this dapp" }).click();
    await dialog("Delete this dapp?").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete this dapp" }).and(page.locator(":focus")).waitFor();
    expect(callsOf("DELETE")).toEqual([]);
    expect((await operator.dapp(dapp.id)).name).toBe(dapp.name);
    expect(visitor.troubles).toEqual([]);
  });

  test("a name of 60 emoji is given, and a dapp of that name deleted by it", async () => {
    const name = "🎲".repeat(60);
    await open("/settings");
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Type the dapp’s name").fill(name);
    await page.getByRole("button", { name: "Delete this dapp" }).click();
    await dialog("Delete this dapp?").getByRole("button", { name: "Delete it" }).click();
    await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
    expect((await operator.dapps()).map(({ id }) => id)).not.toContain(dapp.id);
    expect(visitor.troubles).toEqual([]);
  });

  test("a name that is refused is said at its field, which has the focus", async () => {
    await open("/settings");
    const field = page.getByLabel("Name", { exact: true });
    await field.fill("   ");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.locator("#name-problem").waitFor();
    await field.and(page.locator("[aria-invalid]:focus")).waitFor();
    await visitor.inspect();
    expect((await operator.dapp(dapp.id)).name).toBe(dapp.name);
    expect(visitor.troubles).toEqual([]);
  });
});
