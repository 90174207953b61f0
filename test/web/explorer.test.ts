import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { launchChromium } from "./support/chromium.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

let browser: Browser;
let tyche: TycheProcess;
beforeAll(async () => {
  [browser, tyche] = await Promise.all([launchChromium(), startTycheProcess()]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), tyche?.stop()]);
});

let visitor: Visitor;
let page: Page;
beforeEach(async () => {
  visitor = await createVisitor(browser);
  page = visitor.page;
  await visitor.open(`${tyche.url}/explorer`);
});
afterEach(() => visitor.close());

async function search(text: string): Promise<void> {
  await page.getByRole("search").getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
}

test("behaviour: a pasted link is searched for what it is about, and a hash that was cut off told with its length", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: {},
  });
  const hash = (data as { vrfv2Hash: string }).vrfv2Hash;
  await search(`https://tyche.example/explorer/fantom_testnet/tx/${hash}?${"x".repeat(60)}`);
  await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  expect(page.url()).toBe(`${tyche.url}/explorer/sepolia/tx/${hash}`);
  await page.goBack();
  await search(hash.slice(0, 30));
  await page.getByText(`${hash.slice(0, 30)} has 28 hex digits`).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("error: a list of what was found names the networks that could not be asked", async () => {
  await page.route("**/api/explorer/search?*", async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: object };
    await route.fulfill({ response, json: { data: { ...data, silent: ["Fantom Testnet"] } } });
  });
  await search("coordinator");
  await page.getByText("Fantom Testnet could not be searched, so there may be more results.").waitFor();
  expect(visitor.troubles).toEqual([]);
});
