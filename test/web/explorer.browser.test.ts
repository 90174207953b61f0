import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createExplorer } from "../../src/client/index.ts";
import { DRY_RUN_WORD } from "../../src/requests/accept/dryRun.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

let browser: Browser;
let tyche: SharedDapp;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
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
  await page.getByRole("search").getByRole("textbox").press("Enter");
}

test("names the newest requests with their labels and results, each linked to its result's page, and the height of each chain", async () => {
  const { data: drawn } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { list: ["ann", "bob"], numberOfWinners: "2", label: "explorer raffle-1" },
  });
  const { pathname } = new URL(drawn.shareUrl);
  const read: string[] = [];
  page.on("request", (one) => void read.push(one.url()));
  await page.reload();
  const rows = page.getByRole("region", { name: "Latest requests" }).getByRole("row");
  const row = rows.filter({ has: page.locator(`a[href="${pathname}"]`) });
  await expect
    .poll(() => row.getByRole("cell").allInnerTexts())
    .toEqual([
      "Draw winners from a list: explorer raffle-1",
      drawn.value.join(", "),
      "Ethereum Sepolia",
      expect.stringMatching(/^(?:just now|.* ago)$/),
    ]);
  expect(read.filter((url) => url.includes("/api/explorer/requests"))).not.toEqual([]);
  expect(read.filter((url) => url.includes("/transactions/"))).toEqual([]);
  await page.getByText(/^Block \d+, chain 11155111$/).waitFor();
  await visitor.inspect();
  await row.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "explorer raffle-1" }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a batch is one of the newest requests, which leads to its transaction", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: { label: "explorer batch" },
  });
  const { pathname } = new URL(data.url);
  const [own] = (await tyche.call("GET", `/api/explorer/requests?dapp=${tyche.dappId}`)).data.items;
  const older = { ...own, requestId: "0xa", transactionHash: `0x${"a".repeat(64)}` };
  let sideOf = (i: number) => `side ${i}`;
  let isMixed = false;
  const draw = { title: "Draw winners from a list", label: "party", result: "ann" };
  const batchOf = () =>
    Array.from({ length: 60 }, (_, i) => {
      const labelled = i % 2 === 0 ? {} : { label: undefined, dappId: undefined };
      const other = isMixed && i === 7 ? draw : {};
      return { ...own, ...labelled, requestId: `0x${i}`, result: sideOf(i), ...other };
    });
  await page.route("**/api/explorer/requests*", async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    const [to, all] = [from + 25, [...batchOf(), older]];
    const nextCursor = to < all.length ? String(to) : null;
    await route.fulfill({ json: { data: { items: all.slice(from, to), nextCursor } } });
  });
  await page.reload();
  const links = page.getByRole("region", { name: "Latest requests" }).getByRole("row").getByRole("link");
  await links.first().waitFor();
  expect((await links.allInnerTexts())[0]).toBe("60 × Flip a coin: explorer batch");
  expect(await links.count()).toBe(2);
  await page.getByText(/^side 0, side 1, /).waitFor();
  sideOf = (i) => (i < 40 ? "Heads" : "Tails");
  await page.getByText("Heads: 40, Tails: 20", { exact: true }).waitFor();
  await visitor.inspect();
  isMixed = true;
  await page
    .getByRole("link", { name: "Draw winners from a list: party; 59 × Flip a coin: explorer batch" })
    .waitFor();
  await page.getByText("ann; Heads: 39, Tails: 20", { exact: true }).waitFor();
  await links.first().click();
  await page.waitForURL(`**${pathname}`);
  expect(visitor.troubles).toEqual([]);
});

test("a request that waits is seen waiting, and then with its result, without a reload", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: { label: "explorer live" },
  });
  const { pathname } = new URL(data.shareUrl);
  let isEnded = false;
  await page.route("**/api/explorer/requests*", async (route) => {
    const response = await route.fetch();
    const { data: answer } = (await response.json()) as { data: { readonly items: readonly object[] } };
    const items = answer.items.map((one) =>
      isEnded ? one : { ...one, state: "randomness", result: undefined, success: undefined },
    );
    await route.fulfill({ response, json: { data: { ...answer, items } } });
  });
  await page.reload();
  const row = page
    .getByRole("region", { name: "Latest requests" })
    .getByRole("row")
    .filter({ has: page.locator(`a[href="${pathname}"]`) });
  await row.getByText("waiting", { exact: true }).waitFor();
  isEnded = true;
  await row.getByText(/^(?:Heads|Tails)$/).waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(visitor.troubles).toEqual([]);
});

test("lists all requests page by page, also those of one network, and all transactions of a network", async () => {
  const label = "w".repeat(64); // the widest
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=fuji&preset=coinflip", {
    body: { label },
  });
  const { pathname } = new URL(data.shareUrl);
  const own = page.locator(`a[href="${pathname}"]`);
  await page.getByRole("link", { name: "All requests" }).click();
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  await own.waitFor();
  await visitor.inspect();
  await page.getByLabel("Network").selectOption("sepolia");
  await own.waitFor({ state: "detached" });
  await page.getByLabel("Network").selectOption("fuji");
  await own.waitFor();

  await page.clock.setFixedTime(Date.now() + 17 * 60_000); // a wide one
  await page.goto(`${tyche.url}/explorer/fuji`);
  const latest = page.getByRole("region", { name: "Latest requests" });
  await latest.locator(`a[href="${pathname}"]`).waitFor();
  expect(await latest.getByRole("columnheader").allInnerTexts()).toEqual(["Request", "Result", "Time"]);
  await page
    .locator("#transactions")
    .getByText(/^1\d min\. ago$/)
    .first()
    .waitFor();
  await visitor.inspect();
  await page.getByRole("link", { name: "All transactions" }).click();
  await page.getByRole("heading", { level: 1, name: "Transactions" }).waitFor();
  await page.locator(`a[href="${new URL(data.url).pathname}"]`).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a label leads to its result's page, and any part of labels to a list of them", async () => {
  const draw = async (label: string) =>
    (await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", { body: { label } }))
      .data;
  const { shareUrl } = await draw("explorer prefix-1");
  await draw("explorer prefix-2");
  await search("Explorer Prefix-1");
  await page.getByRole("heading", { level: 1, name: "explorer prefix-1" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(new URL(shareUrl).pathname);
  await visitor.open(`${tyche.url}/explorer`);
  await search("rer pref");
  const found = page.getByRole("region", { name: "Found" }).locator('a[href^="/r/"]');
  await expect.poll(() => found.count()).toBe(2);
  expect(await found.last().getAttribute("href")).toBe(new URL(shareUrl).pathname);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a transaction's page begins with its result and request, and folds the proof", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=sepolia&numWords=1", {
    body: { label: "explorer words" },
  });
  await visitor.open(data.url.replace(new URL(data.url).origin, tyche.url));
  const name = page.locator("#requests").getByRole("link", { name: "Random numbers: explorer words" });
  await name.waitFor();
  const headings = page.locator("main :is(h1, h2, #overview)");
  expect(
    (await headings.evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent))).slice(0, 4),
  ).toEqual([
    "Transaction: result of Random numbers",
    "Random numbers: explorer words",
    "Overview",
    "Verify without us",
  ]);
  const request = page.locator("#requests");
  await request.getByText(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/).waitFor();
  await request.locator(`a[href="/explorer/requests?dapp=${tyche.dappId}"]`).waitFor();
  const bytes = request.getByText(/^0x[0-9a-f]{64}$/).first();
  expect(await bytes.isVisible()).toBe(false);
  await request.getByText("As 32 bytes", { exact: true }).click();
  await bytes.waitFor();
  const proof = page.locator("[data-proof=gamma]");
  expect(await proof.isVisible()).toBe(false);
  await page.getByText("Proof", { exact: true }).click();
  await proof.waitFor();
  await page.locator("#call summary").first().click();
  await page.locator("#call").getByText("PresetConsumer", { exact: true }).first().waitFor();
  await visitor.inspect();
  await name.click();
  await page.getByRole("heading", { level: 1, name: "explorer words" }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a draw's transaction begins with its result, folds the source, and lists what was drawn from", async () => {
  const list = Array.from({ length: 60 }, (_, i) => `ticket-${i + 1}`);
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { list, numberOfWinners: "2" },
  });
  await visitor.open(data.url.replace(new URL(data.url).origin, tyche.url));
  const headings = page.locator("main :is(h1, h2, #overview)");
  expect(
    (await headings.evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent))).slice(0, 4),
  ).toEqual([
    "Transaction: result of Draw winners from a list",
    "Draw winners from a list",
    "Overview",
    "Verify without us",
  ]);
  const run = page.locator("[data-preset-run]");
  expect(await run.getByRole("region", { name: "Source of the preset" }).isVisible()).toBe(false);
  expect(await run.getByRole("list", { name: "Result" }).getByRole("listitem").allInnerTexts()).toEqual(
    data.value,
  );
  const { presets, randomness } = await createExplorer({ baseUrl: tyche.url }).transaction(
    "sepolia",
    data.vrfv2Hash,
  );
  await run.getByText(String(BigInt(presets[0]!.word!)), { exact: true }).waitFor();
  const batch = page.locator("section").filter({
    has: page.getByRole("heading", { name: "The batch's random word, with its proof", exact: true }),
  });
  await batch.getByText(randomness[0]!.words[0]!, { exact: true }).waitFor();
  const signature = page.getByRole("region", { name: "Signatures" });
  expect(await signature.isVisible()).toBe(false);
  await page.getByText(/^\d signatures$/).click();
  await signature.waitFor();
  await run.getByText("60 entries", { exact: true }).click();
  await run.getByRole("searchbox", { name: "Find in: Entries" }).fill("ticket-60");
  await run.getByText("1 of 60", { exact: true }).waitFor();
  await run.getByText("Source of the preset lotto", { exact: true }).click();
  await run.getByRole("region", { name: "Source of the preset" }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a batch's transaction sums its requests up, lists each with its result and details, and finds some of them", async () => {
  const draw = async () => {
    const calls = Array.from({ length: 20 }, (_, i) =>
      tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
        body: i % 2 === 0 ? { label: `batch ${i}` } : {},
      }),
    );
    const drawn = (await Promise.all(calls)).map(
      ({ data }) => data as { id: string; url: string; label?: string; value: boolean },
    );
    return [...Map.groupBy(drawn, ({ url }) => url)].toSorted(([, a], [, b]) => b.length - a.length)[0]!;
  };
  // How many go together depends on when they come.
  const labelledOf = (all: readonly { readonly label?: string }[]) =>
    all.filter(({ label }) => label !== undefined);
  let [url, batch] = await draw();
  while (batch.length < 6 || labelledOf(batch).length < 5) [url, batch] = await draw();
  const size = batch.length;
  await visitor.open(url.replace(new URL(url).origin, tyche.url));
  await page.getByRole("heading", { name: `Transaction: results of ${size} × Flip a coin` }).waitFor();
  const heads = batch.filter(({ value }) => value).length;
  const sides = [`Heads: ${heads}`, `Tails: ${size - heads}`].filter((text) => !text.endsWith(" 0"));
  const requests = page.locator("#requests");
  expect((await requests.getByRole("definition").allInnerTexts()).map((text) => text.split(/\n+/))).toEqual([
    [`${size} of ${size}`],
    sides,
  ]);
  const rows = page.getByRole("region", { name: "Requests", exact: true }).getByRole("row");
  for (const { id, label, value } of batch) {
    const row = rows.filter({ has: page.locator(`a[href="/r/${id}"]`) });
    const name = label === undefined ? "Flip a coin" : `Flip a coin: ${label}`;
    expect((await row.getByRole("cell").allInnerTexts()).slice(0, 2)).toEqual([
      expect.stringMatching(new RegExp(`^\\d+ ${name}$`)),
      value ? "Heads" : "Tails",
    ]);
  }
  expect(await page.locator("[data-preset-run]").count()).toBe(0);
  await requests.getByRole("searchbox").fill("no such side");
  await requests
    .getByText(`None of the ${size} requests has "no such side" in its name, label or result.`)
    .waitFor();
  const one = batch.find(({ label }) => label !== undefined)!;
  await requests.getByRole("searchbox").fill(`Coin: ${one.label}`);
  const found = batch.filter(({ label }) => label?.startsWith(one.label!));
  await requests.getByText(`${found.length} of ${size}`, { exact: true }).waitFor();
  expect(await rows.count()).toBe(found.length + 1);
  await requests.getByRole("button", { name: `Details of Flip a coin: ${one.label}`, exact: true }).click();
  await page
    .locator("[data-preset-run]")
    .getByText(one.value ? "Heads" : "Tails", { exact: true })
    .waitFor();
  await visitor.inspect();
  await requests
    .getByRole("button", { name: `Hide details of Flip a coin: ${one.label}`, exact: true })
    .click();
  await page.locator("[data-preset-run]").waitFor({ state: "detached" });

  const hash = url.split("/").at(-1);
  const chain = "/api/explorer/networks/sepolia";
  const mined = (await tyche.call("GET", `${chain}/transactions/${hash}`)).data;
  const block = (await tyche.call("GET", `${chain}/blocks/${mined.block.number}`)).data;
  const idsOf = (requests: readonly { readonly id: string }[]) =>
    requests.map(({ id }) => id).filter((id) => batch.some((own) => own.id === id));
  expect(idsOf(block.requests)).toEqual(idsOf(mined.requests));
  const { requestedBy } = mined.presets[0];
  await visitor.open(`${tyche.url}/explorer/sepolia/tx/${requestedBy}`);
  const requested = (await tyche.call("GET", `${chain}/transactions/${requestedBy}`)).data.requests as {
    label?: string;
  }[];
  await page
    .getByRole("heading", { name: `Transaction: request for ${requested.length} × Flip a coin` })
    .waitFor();
  const events = page.locator("#events").getByText("Labelled", { exact: true });
  expect(await events.count()).toBe(labelledOf(requested).length + 1);
  expect(await events.last().isVisible()).toBe(false);
  await events.first().click();
  await events.last().waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a transaction with a function's error says first that the function failed, not the transaction", async () => {
  // Its dry run gets another word than the nodes, and ends well.
  const source = `// The price\nif (bytesArgs[0] !== "${DRY_RUN_WORD}") throw Error("no <price>"); return Functions.encodeString("fine")`;
  const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source, beacon: "local", returnType: "string" },
  });
  expect(data).toMatchObject({ err: "no <price>" });
  await visitor.open(data.url.replace(new URL(data.url).origin, tyche.url));
  const first = page.locator("main > .subject + *");
  await first.getByText("The function failed: no <price>").waitFor();
  await first
    .getByText(
      /^The oracle's nodes signed this error, whose text line 2 of the source throws: if \(bytesArgs.*[^.]$/,
    )
    .waitFor();
  await first.getByText(/^The transaction itself succeeded/).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(
    "Transaction: error of “Function: The price”",
  );
  expect(await page.getByText("no <price>", { exact: true }).count()).toBe(0);
  const listing = page.getByRole("region", { name: "Source" });
  expect(await listing.locator("mark").innerText()).toMatch(/^if \(bytesArgs.*"fine"\)\s*$/);
  expect(
    await listing.locator(".line-number").evaluateAll((all) => all.map((one) => one.dataset["number"])),
  ).toEqual(["1", "2"]);
  await page.locator("#overview").getByText("transaction succeeded", { exact: true }).waitFor();
  const check = page.locator("#check");
  await check.getByText("it computes every step that can be repeated in your browser").waitFor();
  expect(await check.getByText("Everything that decides").count()).toBe(0);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("the transaction of a draw says that the chain decides its result, that of a function does not", async () => {
  const run = async (source: string) => {
    const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
      body: { network: "sepolia", source, returnType: "string" },
    });
    await visitor.open(data.url.replace(new URL(data.url).origin, tyche.url));
    await page.locator("#check").waitFor();
  };
  const claim = page.locator("#check").getByText("Everything that decides this result is on chain.");
  const requests = page.locator("[data-function-result]").getByText(/^The nodes made HTTP requests; /);
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip");
  await visitor.open(data.url.replace(new URL(data.url).origin, tyche.url));
  await claim.waitFor();
  await run("return Functions.encodeString('of the chain')");
  expect([await claim.count(), await requests.count()]).toEqual([0, 0]);
  await run(
    "const { error } = await Functions.makeHttpRequest({ url: 'https://127.0.0.1:1/', timeout: 1000 });" +
      "return Functions.encodeString(error ? 'no answer' : 'an answer')",
  );
  await requests.waitFor();
  expect(await claim.count()).toBe(0);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a stranger's first page says what Tyche is, and leads to the explorer and the docs", async () => {
  await page.goto(`${tyche.url}/`);
  const lead = page.getByText(/^Tyche makes verifiable random numbers/);
  await lead.waitFor();
  expect(
    await lead.getByRole("link").evaluateAll((all) => all.map((one) => one.getAttribute("href"))),
  ).toEqual(["/explorer", "/docs"]);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("each page of the explorer has one search box, which prefers the page's network", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=fuji&preset=coinflip", { body: {} });
  const networks = await connectOperator(tyche).networks();
  const { contracts } = networks.find(({ name }) => name === "fuji")!;
  for (const path of [
    "/explorer/requests",
    "/explorer/search?q=coordinator",
    "/explorer/fuji",
    "/explorer/fuji/blocks",
    "/explorer/fuji/transactions",
    `/explorer/fuji/address/${contracts["link"]}`,
    `/explorer/fuji/address/${contracts["link"]}/contract`,
    "/explorer/fuji/block/2",
    new URL(data.url).pathname,
  ]) {
    await visitor.open(tyche.url + path);
    expect([path, await page.getByRole("search").getByRole("textbox").count()]).toEqual([path, 1]);
    await visitor.inspect();
  }
  await search("1");
  await page.waitForURL("**/explorer/fuji/block/1");
  expect(visitor.troubles).toEqual([]);
});

test("a pasted link is searched for what it is about, and a hash that was cut off found by its beginning", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: {},
  });
  const hash = (data as { vrfv2Hash: string }).vrfv2Hash;
  await search(`https://tyche.example/explorer/fantom_testnet/tx/${hash}?${"x".repeat(60)}`);
  await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  expect(page.url()).toBe(`${tyche.url}/explorer/sepolia/tx/${hash}`);
  await page.goBack();
  // The page that is left has a box, too.
  await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
  await search(hash.slice(0, 30));
  await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  expect(page.url()).toBe(`${tyche.url}/explorer/sepolia/tx/${hash}`);
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
  const response = await page.goto(`${tyche.url}/explorer/sepolia/tx/0x${"0".repeat(64)}`);
  expect(response?.status()).toBe(404);
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  await page.getByText(/^Nor is it on /).waitFor();
  expect(await page.getByText("another network").count()).toBe(0);
  const box = page.getByRole("search").getByRole("textbox");
  expect(await box.inputValue()).toBe(`0x${"0".repeat(64)}`);
  await visitor.inspect();
  await page.goto(`${tyche.url}/explorer/fuji/tx/${hash.slice(0, 12)}`);
  await page.getByRole("main").locator(`a[href="/explorer/sepolia/tx/${hash}"]`).click();
  await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  await page.goto(`${tyche.url}/explorer/sepolia/foo`);
  await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
  await box.waitFor();
  expect(await page.getByRole("navigation", { name: "Path" }).getByRole("link").allInnerTexts()).toEqual([
    "Explorer",
    "Ethereum Sepolia (local chain)",
  ]);
  await visitor.inspect();
  await page.getByRole("navigation", { name: "Path" }).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: "Explorer" }).waitFor();
  expect(visitor.takeTroubles().filter((text) => !text.includes("404"))).toEqual([]);
  const unknown = `${hash.slice(0, 20)}${"0".repeat(10)}`;
  await search(unknown);
  await page.getByText(`${unknown} has 28 hex digits`).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a stranger who searches for a preset reads what it does, its parameters and its source", async () => {
  await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { list: ["ann"], numberOfWinners: "1" },
  });
  await visitor.open(`${tyche.url}/explorer`);
  await page.locator("#q").fill("lotto");
  await page.getByRole("button", { name: "Find" }).click();
  await page.getByRole("link", { name: "Preset lotto" }).click();
  await page.waitForURL("**/presets/lotto");
  await page.getByRole("heading", { name: "Draw winners from a list" }).waitFor();
  await page.getByText("numberOfWinners", { exact: true }).waitFor();
  await page.getByRole("region", { name: "Source" }).getByText("args").first().waitFor();
  await visitor.inspect();
  await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
  await page.waitForURL("**/sign-in?next=%2Fpresets%2Flotto");
  expect(visitor.troubles).toEqual([]);
});

test("a preset's page lists its own results, the list of requests takes a preset, and a label says what it led to", async () => {
  const label = `prize ${tyche.dappId.slice(-6)}`;
  const draw = (preset: string, body: object) =>
    tyche.call("POST", `/api/vrfv2/presets?network=sepolia&preset=${preset}`, { body });
  await draw("coinflip", {});
  await draw("lotto", { list: ["ann", "bob"], numberOfWinners: "2", label: `${label} a` });
  await draw("lotto", { list: ["ann"], numberOfWinners: "1", label: `${label} b` });
  await visitor.open(`${tyche.url}/presets/lotto`);
  const latest = page.locator("#latest");
  await latest.getByRole("link", { name: `Draw winners from a list: ${label} b` }).waitFor();
  expect(await latest.getByText("Flip a coin").count()).toBe(0);
  await visitor.inspect();
  await latest.getByRole("link", { name: "All results of this preset" }).click();
  await page.waitForURL("**/explorer/requests?preset=lotto");
  const requests = page.getByRole("region", { name: "Requests" });
  await requests.getByRole("link", { name: `Draw winners from a list: ${label} a` }).waitFor();
  expect(await requests.getByText("Flip a coin").count()).toBe(0);
  await page.getByLabel("Preset").selectOption("coinflip");
  await requests.getByRole("link", { name: "Flip a coin" }).first().waitFor();
  await page.waitForURL("**/explorer/requests?preset=coinflip");
  await visitor.inspect();
  await visitor.open(`${tyche.url}/explorer`);
  await search(label);
  const found = page.getByRole("region", { name: "Found" });
  const row = found.getByRole("row").filter({ hasText: `${label} b` });
  await row.getByRole("link", { name: `Draw winners from a list: ${label} b`, exact: true }).waitFor();
  await row.getByRole("cell", { name: "ann", exact: true }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a block says how full it is, and leads to its parent and the next one", async () => {
  const { data } = await tyche.call("GET", "/api/explorer/networks/sepolia/blocks?before=8");
  const { gasUsed, gasLimit } = (data.blocks as Record<string, string>[]).find(
    ({ number }) => number === "6",
  )!;
  const part = Number((BigInt(gasUsed!) * 1000n) / BigInt(gasLimit!)) / 10;
  await visitor.open(`${tyche.url}/explorer/sepolia/block/6`);
  const overview = page.getByRole("region", { name: "Overview" });
  await overview.getByText(`(${part}%)`).waitFor();
  await overview.getByText(/^\S+ gwei$/).waitFor();
  await overview.getByText(/ago$/).waitFor();
  const heads = page.getByRole("region", { name: "Transactions", exact: true }).getByRole("columnheader");
  expect(await heads.allInnerTexts()).toEqual([
    "Transaction",
    "Status",
    "What",
    "Time",
    "From",
    "To",
    "Fee, ETH",
  ]);
  await visitor.inspect();
  await page.getByRole("link", { name: "Next: block 7" }).click();
  await page.getByRole("heading", { level: 1, name: "Block 7" }).waitFor();
  await overview.locator('a[href="/explorer/sepolia/block/6"]').click();
  await page.getByRole("heading", { level: 1, name: "Block 6" }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a block lists its requests with their results, which a preset's name and a result find, too", async () => {
  const side = `cara ${tyche.dappId.slice(-6)}`;
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { list: [side], numberOfWinners: "1", label: "of a block" },
  });
  const hash = data.url.split("/").at(-1);
  const mined = await tyche.call("GET", `/api/explorer/networks/sepolia/transactions/${hash}`);
  await visitor.open(`${tyche.url}/explorer/sepolia/block/${mined.data.block.number}`);
  const rows = page.getByRole("region", { name: "Requests", exact: true }).getByRole("row");
  const link = `a[href="/r/${data.id}"]`;
  const row = rows.filter({ has: page.locator(link), hasText: side });
  await row.locator(`a[href="/explorer/sepolia/tx/${hash}"]`).waitFor();
  await visitor.inspect();
  await visitor.open(`${tyche.url}/explorer`);
  await search(side.toUpperCase());
  await page.waitForURL(`**/r/${data.id}`);
  await visitor.open(`${tyche.url}/explorer`);
  await search("lotto");
  const found = page.getByRole("region", { name: "Found" });
  await found.locator(link).waitFor();
  expect((await found.getByRole("heading").allInnerTexts())[0]).toBe("1 preset");
  await found.getByRole("heading", { name: /^(?:at least )?\d+ requests?$/ }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("where there is no such block or network, links lead to the newest block and to the networks", async () => {
  await visitor.open(`${tyche.url}/explorer/sepolia/block/999999`);
  await page.getByText(/^The newest block is \d+\.$/).waitFor();
  await visitor.inspect();
  await page.getByRole("main").getByRole("link", { name: /^\d+$/ }).click();
  await page.getByRole("heading", { level: 1, name: /^Block \d+$/ }).waitFor();
  await visitor.open(`${tyche.url}/explorer/nowhere/block/1`);
  const links = page.getByText("Networks:").getByRole("link");
  await links.first().waitFor();
  await visitor.inspect();
  const { items } = (await tyche.call("GET", "/api/explorer/networks")).data;
  const titles = (items as readonly { readonly title: string }[]).map(({ title }) => title);
  expect(await links.allInnerTexts()).toEqual(titles);
  await links.first().click();
  await page.getByRole("heading", { level: 1, name: titles[0]! }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("an address has its transactions with what they answer and cost, requests, events and transfers of LINK", async () => {
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { list: ["dora"], numberOfWinners: "1", label: "of an address" },
  });
  const hash: string = data.url.split("/").at(-1);
  const networks = await connectOperator(tyche).networks();
  const { presetConsumer, link } = networks.find(({ name }) => name === "sepolia")!.contracts;
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${presetConsumer}`);
  const row = page.getByRole("row").filter({ has: page.locator(`a[href$="${hash}"]`) });
  await row.getByText("Draw winners from a list, dora deliver", { exact: true }).waitFor();
  const overview = page.getByRole("region", { name: "Overview" });
  await overview.getByText("Created in").waitFor();
  await visitor.inspect();
  await page.getByLabel("Show").selectOption("sent");
  await page.getByText("No transactions here.").waitFor();
  await page.getByLabel("Show").selectOption("received");
  await row.waitFor();
  const tabs = page.getByRole("navigation", { name: "Address" });
  await tabs.getByRole("link", { name: "Requests" }).click();
  await page.locator(`a[href="/r/${data.id}"]`).waitFor();
  await visitor.inspect();
  await tabs.getByRole("link", { name: "Events" }).click();
  const reported = row.filter({ hasText: "BatchReported" }).first();
  await reported.getByText("Draw winners from a list, dora deliver", { exact: true }).waitFor();
  const labelled = page.getByRole("row").filter({ hasText: "Labelled" }).filter({ hasText: "of an address" });
  expect(await labelled.first().getByRole("definition").last().innerText()).toBe("of an address");
  await visitor.inspect();
  await reported.locator('a[href^="/explorer/search"]').first().click();
  await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  await page.goBack();
  await page.setViewportSize({ width: 390, height: 800 });
  await tabs.getByRole("link", { name: "LINK transfers" }).click();
  await page.getByText(/^It sent and received no LINK in blocks 0 to \d+, and holds none\./).waitFor();
  await overview.getByText("Contracts created").locator("xpath=..").getByRole("link").click();
  const created = page.getByRole("region", { name: "Contracts created" });
  await created
    .getByText(/ bytes$/)
    .first()
    .waitFor();
  await visitor.inspect();
  await page.setViewportSize({ width: 390, height: 800 });
  const tab = tabs.getByRole("link", { name: "Contract", exact: true });
  await tab.click();
  await page.getByRole("heading", { name: "Build" }).waitFor();
  const { x, width } = (await tab.boundingBox())!;
  expect([x > 0, x + width < 390]).toEqual([true, true]);
  await page.setViewportSize({ width: 1280, height: 800 });
  // What was minted is on the last page: how many there are depends on what else this service was used for.
  const transfers = `/api/explorer/networks/sepolia/addresses/${link}/transfers`;
  let last = "";
  for (let older: string | null = ""; older !== null;) {
    last = older;
    ({ older } = (await tyche.call("GET", last === "" ? transfers : `${transfers}?before=${last}`)).data);
  }
  const place = last === "" ? "" : `&before=${last}`;
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${link}?show=transfers${place}`);
  const minted = page.getByRole("row").filter({ hasText: "minted" }).filter({ hasText: "SubscriptionOwner" });
  await minted.getByText("100 000 000 LINK").waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a contract's events of an unknown interface fold topics and data, and an account has no tab for events", async () => {
  const networks = await connectOperator(tyche).networks();
  const { rpcUrl } = networks.find(({ name }) => name === "sepolia")!;
  const rpc = async (method: string, ...params: readonly unknown[]) => {
    const response = await fetch(rpcUrl!, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return ((await response.json()) as { readonly result: unknown }).result;
  };
  const [from] = (await rpc("eth_accounts")) as readonly [string];
  // Creation code that logs the topic 0x2a with the number 7, and deploys nothing.
  const hash = (await rpc("eth_sendTransaction", { from, data: "0x6007600052602a60206000a100" })) as string;
  const created = async () =>
    (await tyche.call("GET", `/api/explorer/networks/sepolia/transactions/${hash}`)).data.created?.address;
  await expect.poll(created).toMatch(/^0x/);
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${await created()}?show=events`);
  const row = page.getByRole("row").filter({ hasText: "Unknown event" });
  await row.getByText(/^Topic 0x0000/).click();
  await row.getByText(`0x${"7".padStart(64, "0")}`, { exact: true }).waitFor();
  await visitor.inspect();
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${from}`);
  const tabs = page.getByRole("navigation", { name: "Address" });
  expect(await tabs.getByRole("link").allInnerTexts()).toEqual([
    "Transactions",
    "Requests",
    "LINK transfers",
    "Contracts created",
  ]);
  await tabs.getByRole("link", { name: "Contracts created" }).click();
  await page
    .getByRole("row")
    .filter({ has: page.locator(`a[href$="${hash}"]`) })
    .waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a list says what failed in a transaction that succeeded", async () => {
  const source = `if (bytesArgs[0] !== "${DRY_RUN_WORD}") throw Error("none"); return Functions.encodeString("fine")`;
  const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source, beacon: "local", returnType: "string" },
  });
  const hash: string = data.url.split("/").at(-1);
  const { functionsCoordinator } = (await connectOperator(tyche).networks()).find(
    ({ name }) => name === "sepolia",
  )!.contracts;
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${functionsCoordinator}`);
  const row = page.getByRole("row").filter({ has: page.locator(`a[href$="${hash}"]`) });
  await row.getByText("function failed", { exact: true }).waitFor();
  await page.getByLabel("Show").selectOption("failed");
  await row.waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("an account that delegates to a contract names it, and a contract never created fewer than none", async () => {
  const networks = await connectOperator(tyche).networks();
  const { rpcUrl, contracts } = networks.find(({ name }) => name === "sepolia")!;
  const link = contracts["link"];
  const address = `0x${"7702".repeat(10)}`;
  const setCode = (code: string) =>
    fetch(rpcUrl!, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setCode", params: [address, code] }),
    });
  const overview = page.getByRole("region", { name: "Overview" });
  await setCode(`0xef0100${link.slice(2)}`);
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${address}`);
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  await expect.poll(() => overview.textContent()).toMatch(/account that delegates to .*Nonce0$/);
  await visitor.inspect();
  await overview.getByRole("link").click();
  await page.waitForURL(new RegExp(`/explorer/sepolia/address/${link}$`, "i"));
  await setCode("0x00");
  await visitor.open(`${tyche.url}/explorer/sepolia/address/${address}`);
  await page.getByRole("heading", { level: 1, name: "Contract" }).waitFor();
  await expect
    .poll(() => overview.textContent())
    .toMatch(/contract with 1 byte of code(?!.*Contracts created)/);
  expect(visitor.troubles).toEqual([]);
});

test("data that can't be updated stay, with their time and the reason, until they can", async () => {
  await visitor.open(`${tyche.url}/explorer/sepolia`);
  const latest = page.getByRole("heading", { name: "Latest blocks" });
  await latest.waitFor();
  const notice = page.getByRole("status").filter({ hasText: "can't be updated now" });
  expect(await notice.count()).toBe(0);
  const failure = { success: false, code: "chain_unavailable", err: "the chain can't be reached" };
  await page.route("**/api/explorer/networks/sepolia", (route) =>
    route.fulfill({ status: 503, json: { data: failure } }),
  );
  await notice.waitFor();
  expect(await notice.textContent()).toMatch(
    /^This is from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC and can't be updated now\. The chain can't be reached\.$/,
  );
  expect(await latest.count()).toBe(1);
  expect(await page.getByRole("alert").count()).toBe(0);
  await visitor.inspect();
  await page.context().setOffline(true);
  await page.unroute("**/api/explorer/networks/sepolia");
  await page.getByRole("alert").filter({ hasText: "The service can't be reached." }).waitFor();
  await notice.waitFor({ state: "detached" });
  await page.context().setOffline(false);
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(await notice.count()).toBe(0);
  await latest.waitFor();
  expect(visitor.takeTroubles().filter((text) => !/503|ERR_INTERNET_DISCONNECTED/.test(text))).toEqual([]);
});

test("a page without data says why its chain can't be read, also while it asks again, and goes on by itself", async () => {
  const { contracts } = (await connectOperator(tyche).networks()).find(({ name }) => name === "sepolia")!;
  const address = contracts["link"];
  const failure = { success: false, code: "chain_unavailable", err: "the chain can't be reached" };
  let refusals = 0;
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await page.route(`**/api/explorer/networks/sepolia/addresses/${address}`, async (route) => {
    refusals += 1;
    // The client itself tries three times before the page hears of it.
    if (refusals <= 3) return await route.fulfill({ status: 503, json: { data: failure } });
    asked.resolve();
    await held.promise;
    return await route.continue();
  });
  await page.goto(`${tyche.url}/explorer/sepolia/address/${address}?show=transfers`);
  const reason = page.getByText("The chain can't be reached.", { exact: true });
  await reason.waitFor();
  await asked.promise;
  expect(await reason.isVisible()).toBe(true);
  expect(await page.locator(".loading").count()).toBe(0);
  held.resolve();
  await page.getByRole("heading", { name: "LINK transfers" }).waitFor();
  expect(visitor.takeTroubles().filter((text) => !text.includes("503"))).toEqual([]);
});

test("a list of what was found names the networks that could not be asked", async () => {
  await page.route("**/api/explorer/search?*", async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: object };
    await route.fulfill({ response, json: { data: { ...data, silent: ["Fantom Testnet"] } } });
  });
  await search("coordinator");
  await page.getByText("Fantom Testnet could not be searched, so there may be more results.").waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a search says how many requests it found, of which it shows some", async () => {
  const label = `many ${tyche.dappId.slice(-6)}`;
  await Promise.all(
    ["a", "b"].map((name) =>
      tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
        body: { list: [`${label} ${name}`], numberOfWinners: "1" },
      }),
    ),
  );
  await page.route("**/api/explorer/search?*", async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: { readonly matches: object } };
    expect(data.matches).toMatchObject({ count: 2 });
    await route.fulfill({ response, json: { data: { ...data, matches: { count: 110, isAll: true } } } });
  });
  await search(label);
  await page.getByText(/^Found 110 requests\. Searched for /).waitFor();
  await page.getByText(/^2 are shown\. All requests with this text$/).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("where older blocks were not searched for a label, a link goes on there", async () => {
  const asked: string[] = [];
  await page.route("**/api/explorer/search?*", async (route) => {
    const { search: query } = new URL(route.request().url());
    asked.push(query);
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: object };
    const older = query.includes("before=") ? [] : [{ network: "sepolia", before: "5000" }];
    await route.fulfill({ response, json: { data: { ...data, older } } });
  });
  await search("nobody's raffle");
  await page.getByText(/^Not searched yet for the label: .*, the blocks below 5000\. /).waitFor();
  await page.getByRole("link", { name: "Search older blocks" }).click();
  await expect.poll(() => asked.at(-1)).toContain("before=5000");
  await page.getByText(/^Not searched yet/).waitFor({ state: "detached" });
  expect(asked.at(-1)).toBe("?q=nobody%27s+raffle&network=sepolia&before=5000");
  expect(visitor.troubles).toEqual([]);
});

test("requests are filtered by text and organiser, and pages lead back, with the filters in the address", async () => {
  const mark = `list ${tyche.dappId.slice(-6)}`;
  for (let from = 0; from < 55; from += 11)
    await Promise.all(
      Array.from({ length: 11 }, (_, i) =>
        tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
          body: { label: `${mark} #${from + i}` },
        }),
      ),
    );
  await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", { body: {} });
  await visitor.open(`${tyche.url}/explorer/requests?network=sepolia`);
  const names = page.getByRole("region", { name: "List of requests" }).locator('a[href^="/r/"]');
  const texts = async () => new Set(await names.allInnerTexts());
  await page.getByLabel("Text").fill(mark.toUpperCase());
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/\?network=sepolia&text=/);
  await expect.poll(async () => [...(await texts())].every((name) => name.includes(mark))).toBe(true);
  const first = await texts();
  expect(first.size).toBe(25);
  const pages = page.getByRole("navigation", { name: "Pages" });
  expect(await pages.getByRole("link").allInnerTexts()).toEqual(["Older"]);
  await page.getByText(/^1 to 25 of 55 requests$/).waitFor();
  await pages.getByRole("link", { name: "Older" }).click();
  await expect.poll(async () => (await texts()).isDisjointFrom(first)).toBe(true);
  expect(await pages.getByRole("link").allInnerTexts()).toEqual(["Newer", "Older"]);
  await page.getByText(/^26 to 50 of 55 requests$/).waitFor();
  const second = await texts();
  await pages.getByRole("link", { name: "Older" }).click();
  await expect.poll(async () => (await texts()).size).toBe(5);
  expect(await pages.getByRole("link").allInnerTexts()).toEqual(["First page", "Newer"]);
  await visitor.inspect();
  await pages.getByRole("link", { name: "Newer" }).click();
  await expect.poll(texts).toEqual(second);
  await page.reload();
  await expect.poll(texts).toEqual(second);
  const { searchParams: places } = new URL(page.url());
  await pages.getByRole("link", { name: "Newer" }).click();
  await expect.poll(texts).toEqual(first);
  places.delete("cursor", "");
  await page.goto(`${tyche.url}/explorer/requests?${places.toString()}`);
  await page.getByText(/^55 requests$/).waitFor();
  await expect.poll(texts).toEqual(second);
  expect(await pages.getByRole("link").allInnerTexts()).toEqual(["First page", "Older"]);
  await pages.getByRole("link", { name: "First page" }).click();
  await expect.poll(texts).toEqual(first);

  await page
    .getByRole("link", { name: /^dapp_/ })
    .first()
    .click();
  await page.getByText(`Of the organiser ${tyche.dappId}: requests with a label.`).waitFor();
  await page.goto(`${tyche.url}/explorer/requests?dapp=${tyche.dappId}`);
  await names.first().waitFor();
  for (const name of await texts()) expect(name).toContain(": ");
  await page.getByRole("link", { name: "Show those of all" }).click();
  await names
    .filter({ hasText: /^Flip a coin$/ })
    .first()
    .waitFor();
  await page.getByLabel("Text").fill("no such request");
  await page.getByRole("button", { name: "Filter" }).click();
  await page
    .getByText(/^(?:No requests here|None among the newest thousand) with text "no such request"\.$/)
    .waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.waitForURL("**/explorer/requests");
  await names.first().waitFor();
  expect(await page.getByRole("link", { name: "Clear filters" }).count()).toBe(0);
  const preset = page.getByLabel("Preset");
  const kind = page.getByLabel("Kind");
  expect(await preset.isEnabled()).toBe(true);
  await kind.selectOption({ label: "random numbers" });
  await page.waitForURL("**/explorer/requests?kind=random");
  expect(await preset.isDisabled()).toBe(true);
  await kind.selectOption({ label: "any" });
  await page.waitForURL("**/explorer/requests");
  await page.getByLabel("Text").fill("FLIP");
  await page.getByLabel("State").selectOption({ label: "waiting" });
  await page.waitForURL(/[?&]text=FLIP&state=|[?&]state=\w+&text=FLIP/);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("what a search looks for is said where it finds nothing, and a dapp's id finds what it has labelled", async () => {
  await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: { label: "explorer by organiser" },
  });
  let isAll = true;
  await page.route("**/api/explorer/search?*", async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: { readonly matches?: object } };
    const matches = data.matches && { ...data.matches, isAll };
    await route.fulfill({ response, json: { data: { ...data, matches } } });
  });
  await search("nobody has this");
  await page.getByRole("heading", { name: "What can be searched for" }).waitFor();
  const older = page.getByRole("link", { name: "look through older ones" });
  expect(await older.count()).toBe(0);
  await visitor.inspect();
  isAll = false;
  await page.reload();
  await older.click();
  await page.waitForURL("**/explorer/requests?text=nobody+has+this");
  await visitor.open(`${tyche.url}/explorer`);
  await search(tyche.dappId);
  await page
    .getByRole("region", { name: "Found" })
    .getByRole("link", { name: "Flip a coin: explorer by organiser", exact: true })
    .first()
    .waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a network's page has a wallet add the network, says what became of it, and has no button without a wallet", async () => {
  await page.goto(`${tyche.url}/explorer/sepolia`);
  await page.getByRole("heading", { name: "Latest blocks" }).waitFor();
  expect(await page.getByRole("button", { name: /^Add to wallet/ }).count()).toBe(0);
  await page.addInitScript(() => {
    const refused = new Error("4001");
    const calls: unknown[] = [];
    const request = async (call: unknown) => {
      if (calls.push(call) > 1) throw refused;
      return null;
    };
    Object.assign(globalThis, { ethereum: { request }, calls });
  });
  await page.reload();
  const button = page.getByRole("button", { name: "Add to wallet Ethereum Sepolia (local chain)" });
  await page.getByText("It has the id of the public network").waitFor();
  await visitor.inspect();
  await button.click();
  await page.locator("main").getByText("The wallet has Ethereum Sepolia (local chain).").waitFor();
  const { items } = (await tyche.call("GET", "/api/networks")).data;
  const { rpcUrl } = items.find(({ name }: { name: string }) => name === "sepolia");
  expect(await page.evaluate("calls")).toEqual([
    {
      method: "wallet_addEthereumChain",
      params: [
        {
          chainId: "0xaa36a7",
          chainName: "Ethereum Sepolia (local chain)",
          rpcUrls: [rpcUrl],
          nativeCurrency: { name: "ETH", symbol: "ETH", decimals: 18 },
        },
      ],
    },
  ]);
  await button.click();
  await page.locator("main").getByText("The wallet did not add it.").waitFor();
  expect(visitor.troubles).toEqual([]);
});
