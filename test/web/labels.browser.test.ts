import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TycheOperator } from "../../src/client/index.ts";
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
  operator = connectOperator(tyche);
});

let visitor: Visitor;
let page: Page;
beforeEach(async () => {
  visitor = await createVisitor(browser, { operatorOf: tyche });
  page = visitor.page;
});
afterEach(() => visitor.close());

const open = (path: string): Promise<void> => visitor.open(tyche.url + path);

test("lists show a result as its preset says, and an empty one as empty", async () => {
  const client = operator.as(tyche.dappId);
  const { parsedResult } = await client.preset("coinflip", {}, { network: NETWORK });
  const NAMED = "Function “return Functions.encodeString('')”";
  const empty = { source: "return Functions.encodeString('')", network: NETWORK };
  await Promise.all([
    client.preset("nDice", { numDice: 2, numFaces: 6 }, { network: NETWORK }),
    client.runFunction(empty),
    client.simulate(empty),
  ]);
  await open(`/dapps/${tyche.dappId}/requests`);
  const resultOf = (name: string) =>
    page
      .getByRole("row")
      .filter({ has: page.getByRole("link", { name, exact: true }) })
      .getByRole("cell")
      .nth(2)
      .innerText();
  await expect.poll(() => resultOf("coinflip")).toBe(parsedResult === "1" ? "Heads" : "Tails");
  await expect.poll(() => resultOf("nDice")).toMatch(/^[1-6], [1-6]$/);
  await expect.poll(() => resultOf(NAMED)).toBe("empty text");
  await page.getByRole("link", { name: NAMED, exact: true }).click();
  await page.locator(".big-result", { hasText: "empty text" }).waitFor();
  await open(`/dapps/${tyche.dappId}/dry-runs`);
  await page.getByRole("cell", { name: "empty text" }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a request's page, and that of its transaction, say which round it waited for", async () => {
  const drawn = await operator.as(tyche.dappId).preset("coinflip", {}, { network: NETWORK, beacon: "local" });
  const round = page.getByText(/^the local beacon's round \d+, of .*, so it proves nothing$/);
  await open(`/dapps/${tyche.dappId}/requests/${drawn.id}`);
  await round.waitFor();
  const source = "return Functions.encodeString(bytesArgs[0])";
  const run = await operator
    .as(tyche.dappId)
    .runFunction({ network: NETWORK, source, args: [], beacon: "local" });
  for (const { url } of [drawn, run]) {
    await open(`/explorer/${NETWORK}/tx/${url.split("/").pop()}`);
    await round.waitFor();
  }
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("the faucet says which transaction sent what", async () => {
  await open("/networks");
  await page.getByLabel("Address").fill("0x00000000000000000000000000000000000000a1");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const hash = String.raw`0x[0-9a-f]{8}…[0-9a-f]{6}`;
  await expect
    .poll(() => page.locator("#faucet").getByRole("status").innerText())
    .toMatch(new RegExp(`^Sent 10 coins in transaction ${hash} and 100 LINK in transaction ${hash}\\.$`));
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("the explorer says why the preset consumer creates contracts, and no other contract", async () => {
  const { contracts } = (await operator.networks()).find(({ name }) => name === NETWORK)!;
  const why = page.getByText("Each holds a preset's source or the parameters of a batch as its code.");
  await open(`/explorer/${NETWORK}/address/${contracts["presetConsumer"]}?show=created`);
  await why.waitFor();
  await open(`/explorer/${NETWORK}/address/${contracts["link"]}?show=created`);
  expect(await why.count()).toBe(0);
  expect(visitor.troubles).toEqual([]);
});

test("every form begins with the default network, then with the one that was chosen last", async () => {
  const forms = [
    "/",
    "/presets/coinflip",
    "/random",
    "/functions",
    "/networks",
    `/dapps/${tyche.dappId}/consumers`,
  ];
  const expectAll = async (network: string): Promise<void> => {
    for (const path of forms) {
      await open(path);
      await expect
        .poll(() => page.getByLabel("Network", { exact: true }).inputValue(), { message: path })
        .toBe(network);
    }
  };
  await expectAll("sepolia");
  await page.getByLabel("Network", { exact: true }).selectOption("fuji");
  // A source that is being edited stays on its network.
  await page.evaluate("sessionStorage.clear()");
  await expectAll("fuji");
  await open("/functions");
  await page.getByLabel("Network", { exact: true }).selectOption("polygon_mumbai");
  await expectAll("polygon_mumbai");
  expect(visitor.troubles).toEqual([]);
});
