import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createExplorer, type TycheOperator } from "../../src/client/index.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { enter, signInOn } from "./support/enter.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const NETWORK = "sepolia";
/** Text that is markup, ends attributes, and reverses the direction of what follows it. */
const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>\u202Eevil`;

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
beforeEach(async () => {
  visitor = await createVisitor(browser);
  page = visitor.page;
});
afterEach(() => visitor.close());

const open = (target: string): Promise<void> => visitor.open(tyche.url + target);

async function becomeOperator(): Promise<void> {
  await visitor.close();
  visitor = await createVisitor(browser, { operatorOf: tyche });
  page = visitor.page;
}

describe("signing in", () => {
  test("leads on to the page that was asked for, and signing out to the explorer", async () => {
    await page.goto(`${tyche.url}/networks`);
    await enter(page, tyche);
    await page.getByRole("heading", { level: 1, name: "Networks" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
    expect(await page.getByRole("link", { name: "Networks" }).count()).toBe(0);
    await page.goto(`${tyche.url}/networks`);
    await page.getByLabel("Operator token").waitFor();
    // A call may be on its way while the session ends.
    expect(visitor.takeTroubles().filter((trouble) => !trouble.includes("401"))).toEqual([]);
  });

  test("a wrong token is said at its field, which has the focus", async () => {
    await page.goto(tyche.url);
    await page.getByLabel("Operator token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This is not the operator token.").waitFor();
    await page.getByLabel("Operator token").and(page.locator(":focus")).waitFor();
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("a link that was used asks for the token instead", async () => {
    await page.goto(`${tyche.url}/sign-in?code=wrong`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("already been used").waitFor();
    await enter(page, tyche);
    await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a link whose call got no answer can be tried again", async () => {
    await page.goto(`${tyche.url}/sign-in?code=unused`);
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    const sent: unknown[] = [];
    await page.route("**/session", async (route) => {
      sent.push(route.request().postDataJSON());
      if (sent.length === 1) return route.abort();
      const body = { data: { success: false, code: "overloaded", err: "The service is busy." } };
      return sent.length === 2 ? route.fulfill({ status: 503, json: body }) : route.continue();
    });
    for (const text of ["The service can't be reached. Try again.", "The service is busy."]) {
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").filter({ hasText: text }).waitFor();
      expect(await page.getByLabel("Operator token").count()).toBe(0);
    }
    await visitor.inspect();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("already been used").waitFor();
    await page.getByLabel("Operator token").and(page.locator(":focus")).waitFor();
    expect(sent).toEqual([{ code: "unused" }, { code: "unused" }, { code: "unused" }]);
    const troubles = visitor.takeTroubles();
    expect(troubles.filter((trouble) => !/503|ERR_FAILED/.test(trouble))).toEqual([]);
  });

  test.each([
    "//evil.example/",
    "/\\evil.example",
    "/.//evil.example",
    "/%2e//evil.example",
    "/\t/evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "networks",
  ])("it doesn't lead away to %s", async (next) => {
    await page.goto(`${tyche.url}/sign-in?next=${encodeURIComponent(next)}`);
    await enter(page, tyche);
    await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
    expect(page.url()).toBe(`${tyche.url}/`);
    expect(visitor.troubles).toEqual([]);
  });

  test("a session that ended elsewhere leads to the sign-in and back to the page", async () => {
    await signInOn(page, tyche);
    await open(`/dapps/${tyche.dappId}/requests`);
    await page.evaluate("fetch('/session', { method: 'DELETE' })");
    await page.getByLabel("Operator token").waitFor();
    await enter(page, tyche);
    await page.getByRole("region", { name: "Requests", exact: true }).waitFor();
    // The page may leave before the browser reports the answer that told it to.
    expect(visitor.takeTroubles().filter((trouble) => !trouble.includes("401"))).toEqual([]);
  });
});

describe("whoever is signed in", () => {
  beforeEach(becomeOperator);

  test("names a key, uses it, and revokes it", async () => {
    await open(`/dapps/${tyche.dappId}/keys`);
    await page.getByLabel("Name").fill("build server");
    await page.getByLabel("Requests a day").fill("900");
    await page.getByRole("button", { name: "Add a key" }).click();
    const apiKey = await visitor.copy(
      page.getByRole("button", { name: "Copy API key" }).and(page.locator(":focus")),
    );
    const call = () => tyche.call("GET", "/api/requests", { headers: { authorization: apiKey } });
    expect((await call()).status).toBe(200);
    await visitor.inspect();
    await open(`/dapps/${tyche.dappId}/keys`);
    const item = page.getByRole("listitem").filter({ hasText: "build server" });
    await item.getByText(apiKey.slice(-4)).waitFor();
    await item.getByText("last used").waitFor();
    await item.getByText("used today: 0 of 900 requests").waitFor();
    expect(await page.content()).not.toContain(apiKey);
    await item.getByRole("button", { name: /^Revoke key/ }).click();
    await page.getByRole("alertdialog", { name: "Revoke this key?" }).waitFor();
    await visitor.inspect();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await call()).status).toBe(200);
    await item.getByRole("button", { name: /^Revoke key/ }).click();
    await page.getByRole("button", { name: "Revoke it" }).click();
    await item.getByText("revoked").waitFor();
    expect((await call()).status).toBe(401);
    expect(visitor.troubles).toEqual([]);
  });

  test("asks for random numbers, and has their proof verified step by step", async () => {
    await open("/presets");
    await page.getByRole("link", { name: "Random numbers" }).click();
    await page.getByLabel("How many").fill("3");
    await page.getByLabel("Network").selectOption(NETWORK);
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    const steps = page.getByRole("region", { name: "Verify", exact: true }).getByRole("listitem");
    await page.getByRole("heading", { name: "These numbers match the operator's own chain" }).waitFor();
    await page.getByText(/^\d+ steps: /).click();
    expect((await steps.allTextContents()).filter((text) => text.startsWith("failed"))).toEqual([]);
    expect(await steps.filter({ hasText: /^holds:/ }).count()).toBeGreaterThan(3);
    await visitor.inspect();
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByText("3 random numbers").first().waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("more words than there are to have are refused at their field", async () => {
    await open("/random");
    await page.getByLabel("How many").fill("100000");
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByLabel("How many").and(page.locator("[aria-invalid]:focus")).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("usage is a chart, a table and a file", async () => {
    await (await operator.as(tyche.dappId).submit.preset("coinflip", {}, { network: NETWORK })).wait();
    await open(`/dapps/${tyche.dappId}/usage`);
    const chart = page.getByRole("img", { name: /^[1-9]\d* requests? from / });
    // The library that draws it may not be loaded when the mouse comes.
    await expect
      .poll(async () => {
        await page.mouse.move(0, 0);
        await chart.hover();
        return await page.locator(".chart .pointed").textContent();
      })
      .toMatch(/^\d{4}-\d\d-\d\d: \d+ requests?, \d+ failed$/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as CSV" }).click(),
    ]);
    expect(await readFile(await download.path(), "utf8")).toMatch(
      /^day,network,preset,.*\r\n(?:.*\r\n)*.*,sepolia,[1-9]/,
    );
    await page.goto(`${tyche.url}/dapps/${tyche.dappId}/usage?from=2026-02-30`);
    await page.locator("#from-problem", { hasText: "must be a day" }).waitFor();
    await page.getByRole("img", { name: /requests? from / }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("broken presets are shown with file, line and reason, and gone once they are repaired", async () => {
    const file = path.join(tyche.pluginsDir, "range/source.js");
    const source = await readFile(file, "utf8");
    await writeFile(file, `${source}\nconst broken = ;\n`);
    await open("/presets");
    const row = page.getByRole("region", { name: "Presets that are not served" }).getByRole("row").nth(1);
    await row.filter({ hasText: /range\/source\.js:\d+:\d+/ }).waitFor();
    await visitor.inspect();
    await writeFile(file, source);
    await page.getByRole("link", { name: "Draw a number from a range" }).waitFor();
    await row.waitFor({ state: "detached" });
    expect(visitor.troubles).toEqual([]);
  });

  test("a draw that failed shows the preset's source with the line that threw, and leads to the preset", async () => {
    const folder = path.join(tyche.pluginsDir, "chest");
    const definition = JSON.parse(
      await readFile(path.join(tyche.pluginsDir, "coinflip/preset.json"), "utf8"),
    ) as object;
    const gold = { description: "Needed.", decimal: { minimum: "0", maximum: "9" }, default: "1" };
    const parameters = { type: "object", properties: { gold } };
    await mkdir(folder);
    try {
      await writeFile(
        path.join(folder, "preset.json"),
        JSON.stringify({ ...definition, name: "chest", parameters, args: ["gold"] }),
      );
      await writeFile(
        path.join(folder, "source.js"),
        'const gold = args[0];\nif (gold === "0") throw Error("no gold");\nreturn Functions.encodeUint256(BigInt(bytesArgs[0]) & 1n);\n',
      );
      let id = "";
      // Until the service has found it, there is no such preset.
      await expect
        .poll(async () => {
          const { status, data } = await tyche.call(
            "POST",
            `/api/vrfv2/presets?network=${NETWORK}&preset=chest`,
            { body: { gold: "0" }, headers: { prefer: "respond-async" } },
          );
          if (status === 202) ({ id } = data);
          return status;
        })
        .toBe(202);
      for (const target of [`/dapps/${tyche.dappId}/requests/${id}`, `/r/${id}`]) {
        await open(target);
        await page.getByText(/no gold \(line 2, column \d+\)/).waitFor();
        const source = page.getByRole("region", { name: "Source of the preset" });
        expect(await source.locator("mark").innerText()).toBe('if (gold === "0") throw Error("no gold");\n');
        await visitor.inspect();
      }
      await page.getByRole("link", { name: "The preset", exact: true }).click();
      await page.waitForURL("**/presets/chest");
      expect(visitor.troubles).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
      await expect
        .poll(async () => JSON.stringify((await tyche.call("GET", "/api/presets")).data))
        .not.toContain("chest");
    }
  });

  test("hostile text in a name, a source, an argument and a result stays text", async () => {
    page.on("dialog", (dialog) => expect(dialog.message()).toBe("none"));
    const name = HOSTILE.replace("\u202E", "").slice(0, 60);
    const made = await operator.createDapp({ name });
    const client = operator.as(made.id);
    const source = `// ${HOSTILE}\nreturn Functions.encodeString(args[0])`;
    const submitted = await client.submit.runFunction({ network: NETWORK, source, args: [HOSTILE] });
    const { url } = await submitted.wait();
    await client.simulate({ source: `throw new Error(${JSON.stringify(HOSTILE)})` });
    for (const target of [
      "/",
      `/dapps/${made.id}`,
      `/dapps/${made.id}/keys`,
      `/dapps/${made.id}/config-vars`,
      `/dapps/${made.id}/requests`,
      `/dapps/${made.id}/requests/${submitted.id}`,
      `/dapps/${made.id}/dry-runs`,
      `/r/${submitted.id}`,
      new URL(url).pathname,
      `/presets/coinflip?dapp=${made.id}`,
    ]) {
      await open(target);
      await page.getByText("<script>alert(1)").first().waitFor({ state: "attached" });
      expect(await page.locator("#application img, #application script").count()).toBe(0);
    }
    await open(new URL(url).pathname);
    await page.locator(".hidden-char", { hasText: "U+202E" }).first().waitFor();
    expect(await page.locator("#application").textContent()).not.toContain("\u202E");
    expect(visitor.troubles).toEqual([]);
  });

  test("a dapp without permissions, and one that there isn't", async () => {
    await open("/");
    await page.getByLabel("Name").fill("nothing");
    await page.getByLabel("presets and random numbers").uncheck();
    await page.getByLabel("functions", { exact: true }).uncheck();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Choose at least one permission.").waitFor();
    await page.goto(`${tyche.url}/dapps/dapp_none`);
    await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
    await page.goto(`${tyche.url}/dapps/${tyche.dappId}/requests?cursor=nothing`);
    await page.getByRole("region", { name: "Requests", exact: true }).getByRole("alert").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    await page.goto(`${tyche.url}/presets/none`);
    await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "home page" }).click();
    await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
  });

  test("a dapp that may only run functions is led to those, and is chosen there", async () => {
    const { id } = await operator.createDapp({ name: "only functions", facilities: ["functions"] });
    await page.goto(`${tyche.url}/dapps/${id}`);
    await page.getByRole("link", { name: "run a function from here" }).click();
    await expect.poll(() => page.getByLabel("Dapp that pays").inputValue()).toBe(id);
    await page.goto(`${tyche.url}/dapps/${id}/settings`);
    await page.getByLabel("presets and random numbers").check();
    await page.getByRole("group", { name: "Permissions" }).locator("..").getByRole("button").click();
    await expect.poll(async () => (await operator.dapp(id)).facilities).toEqual(["presets", "functions"]);
  });

  test.each([
    ["0x12", "0x and 40 hex digits"],
    ["0x000000000000000000000000000000000000dEaD", "there is no contract"],
    ["0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD", "checksum"],
  ])("the consumer %s is refused with the reason", async (address, reason) => {
    await open(`/dapps/${tyche.dappId}/consumers`);
    await page.getByLabel("Contract address").fill(address);
    await page.getByRole("button", { name: "Link", exact: true }).click();
    await page.locator("#consumer-problem", { hasText: reason }).waitFor();
    await page.getByLabel("Contract address").and(page.locator(":focus")).waitFor();
    expect(visitor.troubles).toEqual([]);
  });
});

describe("on a phone", () => {
  beforeEach(becomeOperator);

  test.each([390, 320])("at %d px, all that is said of a network is in view", async (width) => {
    const title = "A network whose title is far longer than a phone is wide";
    const networks = await createExplorer({ baseUrl: tyche.url }).networks();
    const items = networks.map((one) => ({ ...one, title, status: "unavailable" }));
    await page.route("**/api/explorer/networks", (route) => route.fulfill({ json: { data: { items } } }));
    await open("/");
    await page.setViewportSize({ width, height: 800 });
    const region = page.getByRole("region", { name: "Networks" });
    await region.getByText("caught up").first().waitFor();
    await region.getByRole("link", { name: "A network" }).first().waitFor();
    await expect.poll(() => region.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });
});

describe("a page that is open", () => {
  beforeEach(becomeOperator);

  test("says when the service can't be reached, and goes on by itself", async () => {
    await open(`/dapps/${tyche.dappId}/requests`);
    await page.context().setOffline(true);
    const alert = page.getByRole("alert").filter({ hasText: "The service can't be reached." });
    await alert.waitFor();
    await visitor.inspect();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.context().setOffline(false);
    await page.getByRole("img", { name: /requests? from / }).waitFor();
    await alert.waitFor({ state: "detached" });
    const expected = /ERR_INTERNET_DISCONNECTED/;
    expect(visitor.takeTroubles().filter((trouble) => !expected.test(trouble))).toEqual([]);
  });

  test("says when a part of it is missing, and others go on", async () => {
    await open("/");
    await page.route(/\/assets\/app\/functions-[^/]*\.js$/, (route) => route.abort());
    await page.getByRole("link", { name: "Functions", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "This page can't be shown" }).waitFor();
    await visitor.inspect();
    await page.getByRole("link", { name: "Networks", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Networks" }).waitFor();
    const expected = /Failed to load resource|Failed to fetch dynamically|ERR_FAILED/;
    expect(visitor.takeTroubles().filter((trouble) => !expected.test(trouble))).toEqual([]);
  });
});

describe("strangers", () => {
  test("see a proof's fields as the chain has them", async () => {
    const { vrfv2Hash } = await operator.as(tyche.dappId).preset("coinflip", {}, { network: NETWORK });
    const [one] = (await createExplorer({ baseUrl: tyche.url }).transaction(NETWORK, vrfv2Hash)).randomness;
    await open(`/explorer/${NETWORK}/tx/${vrfv2Hash}`);
    for (const [name, value] of Object.entries(one!.proof)) {
      const shown = async () =>
        (await page.locator(`td[data-proof=${name}] code`).allTextContents()).join(" ");
      await expect.poll(shown, { message: name }).toBe([value].flat().join(" "));
    }
    await page.getByRole("listitem").getByText(one!.words[0]!).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("are led to the network that has a transaction, and told of what no network has", async () => {
    const { vrfv2Hash } = await operator.as(tyche.dappId).preset("coinflip", {}, { network: NETWORK });
    await page.goto(`${tyche.url}/explorer/fuji/tx/${vrfv2Hash}`);
    await page.getByText(`Avalanche Fuji (local chain) has no transaction ${vrfv2Hash}`).waitFor();
    await page.getByRole("link", { name: "Open it on Ethereum Sepolia (local chain)" }).click();
    await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
    await page.goto(`${tyche.url}/explorer/nowhere`);
    await page.getByText('There is no network "nowhere" here.').waitFor();
    await page.getByRole("search").getByRole("button", { name: "Find" }).waitFor();
    await page.goto(`${tyche.url}/explorer/search?q=%3Cscript%3Enothing`);
    await page.getByRole("heading", { level: 1, name: "Nothing found" }).waitFor();
    await page.goto(`${tyche.url}/r/req_${"0".repeat(26)}`);
    await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("get the list of blocks page by page", async () => {
    await open(`/explorer/${NETWORK}/blocks`);
    // A new block may be mined meanwhile.
    const newest = async (): Promise<number> =>
      Number(await page.getByRole("row").nth(1).getByRole("link").first().textContent());
    const first = await newest();
    await page.getByRole("link", { name: "Older" }).click();
    await expect.poll(newest).toBeLessThan(first);
    await page.goBack();
    await expect.poll(newest).toBeGreaterThanOrEqual(first);
    expect(visitor.troubles).toEqual([]);
  });
});
