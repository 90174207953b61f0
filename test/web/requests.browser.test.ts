import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FunctionFailedError, type TycheOperator } from "../../src/client/index.ts";
import { joinService, SHARED_VRF_KEYS, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

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
/** The page's API calls, as method, path and query. */
let calls: string[];
beforeEach(async () => {
  visitor = await createVisitor(browser, { operatorOf: tyche });
  page = visitor.page;
  calls = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith("/api/")) calls.push(`${request.method()} ${pathname}${search}`);
  });
});
afterEach(() => visitor.close());

const open = (target: string): Promise<void> => visitor.open(tyche.url + target);
const callsOf = (start: string): readonly string[] => calls.filter((call) => call.startsWith(start));

/** Holds back the list of networks; returns a function that releases it. */
async function holdNetworks(): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/api/explorer/networks", async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

test("a request that there isn't has a page that says so, and is not asked for again", async () => {
  await page.clock.install();
  const id = `req_${"0".repeat(26)}`;
  await page.goto(`${tyche.url}/dapps/${tyche.dappId}/requests/${id}`);
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
  await page.clock.runFor("01:00");
  await page.evaluate("fetch('/api/explorer/networks')");
  expect(callsOf(`GET /api/requests/${id}`)).toHaveLength(1);
  expect(visitor.troubles).toEqual([]);
});

test("says which filter in the address there isn't, and lists requests without it", async () => {
  await open(`/dapps/${tyche.dappId}/requests?state=moon&kind=preset`);
  await page.getByRole("alert").getByText("There is no state moon").waitFor();
  await expect
    .poll(() => callsOf("GET /api/requests?")[0])
    .toMatch(/^GET \/api\/requests\?(?!.*moon).*kind=preset/);
});

test("points out the last call that was refused, and leads to its dry run, as the refusal does", async () => {
  const client = operator.as(tyche.dappId);
  const refuse = async (text: string): Promise<string> => {
    const error: unknown = await client
      .runFunction({ network: "fuji", source: `\nthrow new Error("${text}")` })
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof FunctionFailedError)) throw error;
    return error.dryRunUrl!;
  };
  const first = await refuse("no price");
  await refuse("no market");
  await client.simulate({ source: "throw new Error('mine')" });
  await open(`/dapps/${tyche.dappId}/requests`);
  await page.getByText(/^A call was refused .*: no market \(line 2, column 7\)\./).waitFor();
  await visitor.inspect();
  await page.getByLabel("Kind").selectOption("preset");
  await page.getByText("A call was refused").waitFor({ state: "detached" });
  await page.getByLabel("Kind").selectOption("function");
  await page.getByLabel("State").selectOption("fulfilled");
  await page.getByText("A call was refused").waitFor({ state: "detached" });
  await page.getByLabel("State").selectOption("failed");
  await page.getByRole("link", { name: "See its dry run" }).click();
  const run = page.getByRole("region", { name: "Dry run" });
  await run.getByText("no market (line 2, column 7)").waitFor();
  await visitor.inspect();
  await page.goto(first);
  await run.getByText("no price (line 2, column 7)").waitFor();
  await page.goto(first.replace("/dry_", "#dry_"));
  await run.getByText("no price (line 2, column 7)").waitFor();
  expect(page.url()).toBe(first);
  await page.goto(`${first.slice(0, -1)}!`);
  await page.getByText("a dapp's last 100 are kept").waitFor();
  expect(visitor.troubles.filter((trouble) => !trouble.includes("404"))).toEqual([]);
});

test("the page of a refused call shows the line that failed, and opens the source in Functions", async () => {
  const client = operator.as(tyche.dappId);
  const source = 'console.log("asking");\nthrow new Error(`no price of ${args[0]}`);';
  const error: unknown = await client
    .runFunction({ network: "fuji", source, args: ["BTC"], returnType: "uint256" })
    .catch((thrown: unknown) => thrown);
  await open(new URL((error as FunctionFailedError).dryRunUrl!).pathname);
  const run = page.getByRole("region", { name: "Dry run" });
  await run.getByText("no price of BTC (line 2, column 7)").waitFor();
  expect(await run.locator("mark").textContent()).toBe(`${source.split("\n")[1]}\n`);
  expect(await run.getByRole("region", { name: "Console" }).textContent()).toBe("asking\n");
  await run.getByText("args[0] = BTC").waitFor();
  await run.getByText("uint256").waitFor();
  await visitor.inspect();
  await run.getByRole("link", { name: "Open in Functions" }).click();
  await page.getByRole("region", { name: "Run" }).getByText("no price of BTC (line 2, column 7)").waitFor();
  expect(await page.getByLabel("Arguments").inputValue()).toBe("BTC");
  expect(await page.getByLabel("Return type").inputValue()).toBe("uint256");
  expect(visitor.troubles).toEqual([]);
});

test("names a preset that there isn't, and leads to the list", async () => {
  await open("/presets/zzz");
  await page.getByText("There is no preset zzz; see the list.").waitFor();
  await page.getByRole("link", { name: "the list" }).click();
  await page.getByRole("heading", { level: 1, name: "Presets" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/presets");
});

test("a list that the address filters by network is filtered from its first call on", async () => {
  const client = operator.as(tyche.dappId);
  await client.preset("coinflip", {}, { network: "sepolia" });
  await client.preset("coinflip", {}, { network: "fuji" });
  const release = await holdNetworks();
  await page.goto(`${tyche.url}/dapps/${tyche.dappId}/requests?network=fuji`);
  await page.getByRole("region", { name: "Requests", exact: true }).waitFor();
  release();
  await page.getByRole("cell", { name: "Avalanche Fuji (local chain)" }).waitFor();
  expect(await page.getByRole("cell", { name: "sepolia" }).count()).toBe(0);
  expect(callsOf("GET /api/requests").filter((call) => !call.includes("network=fuji"))).toEqual([]);
  expect(visitor.troubles).toEqual([]);
});

test("a preset can be run once its networks are known", async () => {
  const release = await holdNetworks();
  await page.goto(`${tyche.url}/presets/coinflip`);
  await page.getByRole("heading", { name: "Run it" }).waitFor();
  expect(await page.getByRole("button", { name: "Run", exact: true }).count()).toBe(0);
  release();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Request", exact: true }).getByText("fulfilled").waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("Back shows a preset's form as it was filled in", async () => {
  await page.goto(`${tyche.url}/presets/range`);
  await page.getByLabel(/max/i).fill("77");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Request", exact: true }).waitFor();
  await page.goBack();
  await expect.poll(() => page.getByLabel(/max/i).inputValue()).toBe("77");
  expect(await page.evaluate(() => sessionStorage.getItem("tyche.forms"))).toContain("77");
  expect(visitor.troubles).toEqual([]);
});

test("a labelled draw says that it is the only one, and is drawn no second time", async () => {
  const draw = async (): Promise<void> => {
    await page.goto(`${tyche.url}/presets/coinflip?dapp=${tyche.dappId}`);
    await page.getByLabel("Network").selectOption("sepolia");
    await page.getByRole("textbox", { name: "Label" }).fill("Kick-off");
    await page.getByRole("checkbox", { name: "the only request with this label" }).check();
    await page.getByRole("button", { name: "Run", exact: true }).click();
  };
  await draw();
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByText("The only draw with this label that this node knows.").waitFor();
  await page.getByText(/^\d+ steps: /).click();
  await page
    .getByText(/^"kick-off" of dapp_\w+: of those that the node lists, no other has this label/)
    .waitFor();
  await visitor.inspect();
  await page.getByText("without the label: with it, it would be a second draw").waitFor();
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByRole("heading", { level: 2, name: /^Flip a coin, on / }).waitFor();
  await draw();
  await page.getByText('the label "kick-off" was drawn with once, by request req_').waitFor();
  // The page may show the refusal before the browser reports it.
  await expect
    .poll(() => visitor.troubles.toSorted())
    .toEqual([expect.stringContaining("409 of "), expect.stringContaining("409 (Conflict)")]);
  visitor.takeTroubles();
  await page.getByRole("checkbox", { name: "the only request with this label" }).check();
  await page.getByRole("textbox", { name: "Label" }).fill("");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("textbox", { name: "Label" }).and(page.locator("[aria-invalid]:focus")).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

describe("the form for random numbers", () => {
  beforeEach(async () => {
    await open(`/random?dapp=${tyche.dappId}`);
    await page.getByLabel("Network").selectOption("sepolia");
  });

  test("joins the words of several keys, all of which are verified", async () => {
    const keys = page.getByRole("group", { name: "VRF keys" }).getByRole("checkbox");
    await expect.poll(() => keys.count()).toBe(SHARED_VRF_KEYS);
    await visitor.inspect();
    await keys.nth(2).check();
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await page.getByRole("heading", { name: "These numbers match the operator's own chain" }).waitFor();
    await page.getByText(/^\d+ steps: /).click();
    const [request] = (await operator.as(tyche.dappId).requests({ limit: 1 })).items;
    const keyHashes = request!.params["keyHashes"] as readonly string[];
    expect(keyHashes).toHaveLength(2);
    const steps = page.getByRole("region", { name: "Verify", exact: true }).getByRole("listitem");
    for (const keyHash of keyHashes)
      await steps.filter({ hasText: "key hash" }).filter({ hasText: keyHash }).first().waitFor();
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("no key at all is said at the keys, and nothing is sent", async () => {
    const keys = page.getByRole("group", { name: "VRF keys" }).getByRole("checkbox");
    await keys.first().uncheck();
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByText("Choose at least one key.").waitFor();
    await keys.first().and(page.locator("[aria-invalid]:focus")).waitFor();
    await visitor.inspect();
    expect(callsOf("POST")).toEqual([]);
    expect(visitor.troubles).toEqual([]);
  });

  test.each([
    ["How many", "0x3"],
    ["How many", "three"],
    ["How many", "-1"],
    ["Confirmations", "1e1"],
  ])("%s of %s is said at the field as it was typed, and nothing is sent", async (label, text) => {
    await page.getByLabel(label).fill(text);
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByText(`must be a whole number in decimal; got ${text}`, { exact: true }).waitFor();
    await page.getByLabel(label).and(page.locator("[aria-invalid]:focus")).waitFor();
    expect(callsOf("POST")).toEqual([]);
    expect(visitor.troubles).toEqual([]);
  });
});

test("the numbers of a step that fails are open, and those of the others folded away", async () => {
  const { id } = await operator.as(tyche.dappId).submit.preset("coinflip", {}, { network: "sepolia" });
  await page.route("**/api/verify?*", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text
      .replace('"outcome":"ok"', '"outcome":"failed"')
      .replace('"verdict":"valid"', '"verdict":"invalid"');
    await route.fulfill({ response, body });
  });
  await open(`/dapps/${tyche.dappId}/requests/${id}`);
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByRole("heading", { name: /^not valid/ }).waitFor();
  const steps = page.getByRole("region", { name: "Verify", exact: true }).locator(".checks");
  await expect.poll(() => steps.getByRole("table").count()).toBe(1);
  await expect.poll(() => steps.locator(".failed").getByRole("table").count()).toBe(1);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});
