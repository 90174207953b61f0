import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeFragment } from "../../src/browser/application/pages/functions/share.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { enter, signInOn } from "./support/enter.ts";
import { createVisitor, type Screen, type Visitor } from "./support/visitor.ts";

const NETWORK = "Ethereum Sepolia (local chain)";
const SCREENS: readonly Screen[] = [
  { width: 1280, scheme: "light" },
  { width: 390, scheme: "dark" },
];

let browser: Browser;
/** The default dapp, which forms choose. */
let tyche: SharedDapp;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  const [first] = await connectOperator(service).dapps();
  tyche = await joinService(service, first!.id);
});

/** Runs a preset through its form; ends on the request's page, with its result. */
async function runPreset(page: Page, name: string, fill: () => Promise<void> = async () => {}) {
  await page.goto(`${tyche.url}/presets/${name}`);
  await fill();
  await page.getByLabel("Network").selectOption({ label: NETWORK });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Request", exact: true }).getByText("fulfilled").waitFor();
}

const coinflip = async (): Promise<{ url: string; vrfv2Hash: string }> =>
  (await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", { body: {} })).data;

describe.each(SCREENS)("at $width px, $scheme", (screen) => {
  let visitor: Visitor;
  let page: Page;
  beforeEach(async () => {
    visitor = await createVisitor(browser, { ...screen, operatorOf: tyche });
    page = visitor.page;
  });
  afterEach(() => visitor.close());

  test("a dapp is created, and its key is shown and copied", async () => {
    const name = `shop ${screen.width}`;
    await page.goto(`${tyche.url}/`);
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("heading", { name, exact: true }).waitFor();
    await page.getByRole("navigation", { name: "Dapp" }).getByRole("link", { name: "Keys" }).click();
    await page.getByRole("button", { name: /^Reveal/ }).click();
    const apiKey = await visitor.copy(
      page.getByRole("button", { name: "Copy", exact: true }).and(page.locator(":focus")),
    );
    // The button says so for a moment only, which may be missed; the announcement stays.
    await page.locator("#announcer", { hasText: "Copied." }).waitFor({ state: "attached" });
    const answer = await tyche.call("GET", "/api/requests", { headers: { authorization: apiKey } });
    expect({ status: answer.status, items: answer.data.items }).toEqual({ status: 200, items: [] });
    expect(visitor.troubles).toEqual([]);
  });

  test("a dapp is renamed, and deleted by its name alone", async () => {
    const name = `brief ${screen.width}`;
    await page.goto(`${tyche.url}/`);
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Name", { exact: true }).fill(`${name}er`);
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: `${name}er`, exact: true }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Type the dapp’s name").fill("another");
    await page.getByRole("button", { name: "Delete this dapp" }).click();
    await page.getByText("Nothing is deleted.").waitFor();
    await visitor.inspect(screen);
    await page.getByLabel("Type the dapp’s name").fill(`${name}er`);
    await page.getByRole("button", { name: "Delete this dapp" }).click();
    await page.getByRole("alertdialog", { name: "Delete this dapp?" }).waitFor();
    await visitor.inspect(screen);
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
    await page.getByRole("link", { name: `${name}er` }).waitFor({ state: "detached" });
    expect(visitor.troubles).toEqual([]);
  });

  test("a coin is flipped from the first page, whose key and counts are there", async () => {
    await page.goto(`${tyche.url}/`);
    await visitor.inspect(screen);
    await page.getByRole("button", { name: "Flip a coin" }).click();
    await page.getByRole("heading", { name: "Verify without us" }).waitFor();
    const [{ outcome }] = (await tyche.call("GET", "/api/requests?limit=1")).data.items;
    const side = outcome.parsedResult === "1" ? "Heads" : "Tails";
    await page.getByRole("region", { name: "Request", exact: true }).getByText(side).waitFor();
    await page.goto(`${tyche.url}/`);
    const { hours } = await connectOperator(tyche).activity();
    // Of all dapps, other files' among them.
    const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
    const counts = new RegExp(`^[1-9]\\d* requests? in 24 hours, ${failed} failed`);
    await page.getByRole("img", { name: counts }).waitFor();
    await page.getByRole("button", { name: /^Reveal/ }).click();
    const apiKey = await visitor.copy(
      page.getByRole("button", { name: "Copy", exact: true }).and(page.locator(":focus")),
    );
    expect((await tyche.call("GET", "/api/requests", { headers: { authorization: apiKey } })).status).toBe(
      200,
    );
    expect(visitor.troubles).toEqual([]);
  });

  test("dice are shown as dice, winners as a numbered list, also to strangers", async () => {
    await runPreset(page, "nDice", async () => {
      await page.getByLabel("Faces").fill("6");
      await page.getByLabel("numDice").fill("3");
    });
    const dice = page.getByRole("list", { name: "Dice" }).getByRole("img", { name: /^[1-6]$/ });
    await expect.poll(() => dice.count()).toBe(3);
    await visitor.inspect(screen);
    await runPreset(page, "lotto", async () => {
      await page.getByLabel("list").fill("Ada\nBarbara");
      await page.getByLabel("Winners").fill("2");
    });
    const winners = page.getByRole("list", { name: "Result" }).getByRole("listitem");
    await expect.poll(async () => (await winners.allTextContents()).toSorted()).toEqual(["Ada", "Barbara"]);
    await visitor.inspect(screen);
    await page.getByRole("link", { name: "public page" }).click();
    await page.getByRole("heading", { level: 1, name: "Draw winners from a list" }).waitFor();
    await expect.poll(async () => (await winners.allTextContents()).toSorted()).toEqual(["Ada", "Barbara"]);
    expect(visitor.troubles).toEqual([]);
  });

  test("a coin is flipped, and the page shows how it came about", async () => {
    await runPreset(page, "coinflip");
    const [request] = (await tyche.call("GET", "/api/requests?limit=1")).data.items;
    const panel = page.getByRole("region", { name: "Request", exact: true });
    await panel.getByText(request.shown.side, { exact: true }).waitFor();
    for (const state of ["received", "submitted", "randomness", "fulfilled"])
      await page.getByRole("listitem").filter({ hasText: state }).first().waitFor();
    await visitor.inspect(screen);
    expect(visitor.troubles).toEqual([]);
  });

  test("the first field that a form refuses has the focus, and what was typed stays", async () => {
    await page.goto(`${tyche.url}/presets/lotto`);
    const winners = page.getByLabel("Winners");
    expect(await winners.getAttribute("inputmode")).toBe("numeric");
    await winners.fill("3");
    await page.getByLabel("list").fill("Ann\nBob");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const wrong = page.getByRole("textbox", { name: "numberOfWinners" }).and(page.locator("[aria-invalid]"));
    await wrong.and(page.locator(":focus")).waitFor();
    expect(await page.getByLabel("list").inputValue()).toBe("Ann\nBob");
    await visitor.inspect(screen);
    expect(visitor.troubles).toEqual([]);
  });

  test("Back finds a preset's form as it was left, on the network that was chosen last", async () => {
    const network = page.getByLabel("Network", { exact: true });
    await page.goto(`${tyche.url}/presets/range`);
    await network.selectOption("fuji");
    await page.getByLabel("max").fill("7");
    await page.goto(`${tyche.url}/random`);
    await network.selectOption("sepolia");
    await page.goBack();
    await page.getByRole("heading", { level: 2, name: "Run it" }).waitFor();
    await expect.poll(() => page.getByLabel("max").inputValue()).toBe("7");
    await expect.poll(() => network.inputValue()).toBe("sepolia");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL(/\/requests\/req_/);
    const [request] = (await tyche.call("GET", "/api/requests?limit=1")).data.items;
    expect(request).toMatchObject({ network: "sepolia", params: { max: "7" } });
    await page.goBack();
    await page.getByRole("heading", { level: 2, name: "Run it" }).waitFor();
    await expect.poll(() => page.getByLabel("max").inputValue()).toBe("7");
    expect(visitor.troubles).toEqual([]);
  });

  test("the transaction that a success links to shows its result first, below the request's name", async () => {
    await coinflip();
    const [request] = (await tyche.call("GET", "/api/requests?limit=1&kind=preset")).data.items;
    const { vrfv2Hash, parsedResult } = request.outcome as { vrfv2Hash: string; parsedResult: string };
    await page.goto(`${tyche.url}/explorer/${request.network}/tx/${vrfv2Hash}`);
    const first = page.locator("main section").first();
    await first.getByRole("heading", { name: "Flip a coin" }).waitFor();
    const side = parsedResult === "1" ? "Heads" : "Tails";
    expect(await first.locator(".big-result").textContent()).toBe(side);
  });

  test("the explorer finds a transaction, a block, an address and a request", async () => {
    await coinflip();
    const [request] = (await tyche.call("GET", "/api/requests?limit=1&kind=preset")).data.items;
    const hash = request.outcome.vrfv2Hash as string;
    const networks = (await tyche.call("GET", "/api/networks")).data.items;
    const consumer = networks.find(({ name }: { name: string }) => name === "sepolia").contracts
      .presetConsumer;
    for (const [wanted, heading] of [
      [hash, "Transaction: result of Flip a coin"],
      [hash.slice(2), "Transaction: result of Flip a coin"],
      ["1", "Block 1"],
      [consumer, "PresetConsumer"],
      [request.id, "Flip a coin"],
      ["avalanche", "Avalanche Fuji (local chain)"],
      [request.outcome.requestId as string, "Transaction: result of Flip a coin"],
    ]) {
      await page.goto(`${tyche.url}/explorer/sepolia`);
      await page.getByRole("search").getByRole("textbox").fill(wanted);
      await page.getByRole("button", { name: "Find" }).click();
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
    }
    await page.goto(`${tyche.url}/explorer/sepolia`);
    const ages = page.locator("#transactions time");
    await ages
      .filter({ hasText: / ago|just now/ })
      .first()
      .waitFor();
    expect(await ages.first().getAttribute("title")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    await page.goto(`${tyche.url}/explorer`);
    await page.getByRole("search").getByRole("textbox").fill("presetcon");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText(/^Found \d+ addresses/).waitFor();
    await expect
      .poll(() => page.getByRole("link", { name: /^PresetConsumer/ }).count())
      .toBe(networks.length);
    expect(visitor.troubles).toEqual([]);
  });

  test("the faucet pays, and a contract is linked and unlinked", async () => {
    const networks = (await tyche.call("GET", "/api/networks")).data.items;
    const { contracts } = networks.find(({ name }: { name: string }) => name === "sepolia");
    await page.goto(`${tyche.url}/networks`);
    await page.getByLabel("Address").fill("0x00000000000000000000000000000000000000a1");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Sent 10 coins in transaction").waitFor();
    await page.goto(`${tyche.url}/`);
    await page.getByRole("link", { name: "default", exact: true }).click();
    await page.getByRole("link", { name: "Consumers" }).first().click();
    await page.getByLabel("Contract address").fill(contracts.link);
    await page.getByLabel("Network").selectOption({ label: NETWORK });
    await page.getByRole("button", { name: "Link", exact: true }).click();
    await page.getByRole("region", { name: "Request", exact: true }).getByText("fulfilled").waitFor();
    await page.getByRole("link", { name: "Consumers" }).first().click();
    await page.getByRole("button", { name: `Unlink ${contracts.link} on ${NETWORK}` }).click();
    await page.getByRole("alertdialog", { name: "Unlink this contract?" }).waitFor();
    await visitor.inspect(screen);
    await page.getByRole("button", { name: "Unlink it" }).click();
    await page.getByRole("heading", { name: /^Unlink/ }).waitFor();
    await page.getByRole("region", { name: "Request", exact: true }).getByText("fulfilled").waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("the page of the API takes over a key, runs a function and asks for random numbers", async () => {
    await page.goto(`${tyche.url}/docs`);
    await page.getByRole("button", { name: "Use a dapp's API key" }).click();
    await page.getByText("Calls from here use a key of the dapp").waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Functions" }).waitFor();
    for (const [called, member] of [
      ["/api/oracleFunctions/runFunction", '"parsedResult"'],
      ["/api/vrfv2/requestRandomNumber", '"randomNumber"'],
    ] as const) {
      const operation = page.locator(".operation").filter({ hasText: called });
      await operation.getByText(called).click();
      await operation.getByRole("button", { name: "TypeScript" }).click();
      await operation.getByText("import { createClient }").waitFor();
      await operation.getByRole("button", { name: "Send" }).click();
      await operation.getByRole("status").filter({ hasText: member }).waitFor();
    }
    await visitor.inspect(screen);
    await page.getByRole("heading", { name: "Error codes" }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("a source is written, dry-run, run on chain and shared", async () => {
    await page.goto(`${tyche.url}/functions`);
    const editor = page.getByRole("textbox", { name: "Source" }).and(page.locator(".cm-content"));
    const dryRun = page.getByRole("button", { name: "Dry run" });
    const panel = page.getByRole("region", { name: "Run", exact: true });
    await editor.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("console.log(args[0]);\nthrow new Error('no such pair');");
    await dryRun.click();
    await panel.getByText("line 2").waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();

    await editor.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type(
      "console.log(args[0]);\nreturn Functions.encodeUint256(BigInt(args[0]) + Functions.enc",
    );
    await page.getByRole("option", { name: /^encodeInt256/ }).waitFor();
    await visitor.inspect(screen);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("console.log(args[0]);\nreturn Functions.encodeUint256(BigInt(args[0]) + 1n);");
    await page.keyboard.press("Escape");
    await page.getByLabel("Arguments").fill("41");
    await page.getByLabel("Return type").selectOption("uint256");
    await dryRun.click();
    await panel.getByText("succeeded").waitFor();
    await panel.locator(".big-result", { hasText: /^42\b/ }).waitFor();
    await panel.getByRole("region", { name: "Console" }).getByText("41").waitFor();
    await page.getByRole("button", { name: "Run on chain" }).click();
    await panel.getByText("fulfilled").first().waitFor();
    await panel.getByRole("listitem").filter({ hasText: "executing" }).waitFor();
    await panel.locator(".big-result", { hasText: /^42\b/ }).waitFor();

    const link = await visitor.copy(page.getByRole("button", { name: "Copy a link" }));
    expect(link).toMatch(/\/functions#v1\./);
    expect(visitor.troubles).toEqual([]);

    // Another visitor, who has to sign in first.
    const other = await createVisitor(browser, screen);
    const { page: theirs } = other;
    await theirs.goto(link);
    await enter(theirs, tyche);
    await theirs.getByText("This source came from a link.").waitFor();
    await expect.poll(() => theirs.getByLabel("Arguments").inputValue()).toBe("41");
    await theirs.locator(".cm-content", { hasText: "+ 1n" }).waitFor();
    expect(other.troubles).toEqual([]);
    await other.close();
  });

  test("a stranger checks a shared result in the browser, and a changed one is refused", async () => {
    await coinflip();
    const [request] = (await tyche.call("GET", "/api/requests?limit=1&kind=preset")).data.items;
    const stranger = await createVisitor(browser, screen);
    const { page: theirs } = stranger;
    await theirs.goto(`${tyche.url}/r/${request.id}`);
    const isOne = request.outcome.url.endsWith(request.outcome.vrfv2Hash);
    await theirs.getByText(isOne ? "Proof and result in" : "Result in", { exact: true }).waitFor();
    await theirs.getByRole("link", { name: "The verifier" }).click();
    await theirs.getByRole("heading", { name: "Valid", exact: true }).waitFor();
    await stranger.inspect(screen);
    const [download] = await Promise.all([
      theirs.waitForEvent("download"),
      theirs.getByRole("link", { name: "Save the chain data that was read" }).click(),
    ]);
    const data = await readFile(await download.path(), "utf8");
    const { result } = request.outcome as { result: string };
    const other = `${result.slice(2, -1)}${result.endsWith("1") ? "0" : "1"}`;
    await theirs
      .getByLabel("Or chain data: paste it, or open a file")
      .fill(data.replaceAll(result.slice(2), other));
    await theirs.getByRole("button", { name: "Verify" }).click();
    await theirs
      .getByRole("status")
      .filter({ hasNotText: /^Valid/ })
      .filter({ hasText: /\S/ })
      .waitFor();
    await theirs.getByRole("button", { name: "Verify", disabled: false }).waitFor();
    expect(await theirs.getByRole("heading", { name: "Valid", exact: true }).count()).toBe(0);
    expect(stranger.troubles).toEqual([]);
    await stranger.close();
  });
});

test("another link that is opened in the same window brings its own source", async () => {
  const visitor = await createVisitor(browser);
  const { page } = visitor;
  await signInOn(page, tyche);
  const open = async (text: string): Promise<void> => {
    const source = `return Functions.encodeString("${text}");`;
    const draft = { source, args: [text], returnType: "string", network: "sepolia" } as const;
    await page.goto(`${tyche.url}/functions${await encodeFragment(draft)}`);
  };
  const source = page.locator(".cm-content");
  await open("first");
  await source.filter({ hasText: '"first"' }).waitFor();
  await open("second");
  await source.filter({ hasText: '"second"' }).waitFor();
  await expect.poll(() => page.getByLabel("Arguments").inputValue()).toBe("second");
  // Jumping to an anchor on the page discards nothing.
  await page.getByLabel("Arguments").fill("third");
  await page.getByRole("link", { name: "Skip to content" }).press("Enter");
  await page.waitForURL(/#main$/);
  expect(await page.getByLabel("Arguments").inputValue()).toBe("third");
  expect(visitor.troubles).toEqual([]);
  await visitor.close();
});

test("where the editor can't be loaded, the page says so, and a plain field runs sources and names the line that failed", async () => {
  const visitor = await createVisitor(browser);
  const { page } = visitor;
  await signInOn(page, tyche);
  await page.route(/\/assets\/app\/editor-[^/]*\.js$/, (route) => route.abort());
  await page.goto(`${tyche.url}/functions`);
  await page.getByRole("alert").filter({ hasText: "The editor could not be loaded." }).waitFor();
  await page.getByText("Ctrl+Enter dry-runs.", { exact: true }).waitFor();
  const field = page.getByRole("textbox", { name: "Source" });
  await field.fill("console.log(1);\n  throw new Error('<b>no such pair</b>');");
  await field.press("Control+Enter");
  const failedLine = page.getByText("Line 2: throw new Error('<b>no such pair</b>');", { exact: true });
  await failedLine.waitFor();
  await page.getByRole("textbox", { name: "Source", description: /^Line 2: throw/ }).waitFor();
  await visitor.inspect();
  await field.fill("return Functions.encodeString('ok');");
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByRole("region", { name: "Run", exact: true }).getByText("succeeded").waitFor();
  await failedLine.waitFor({ state: "detached" });
  const refused = /Failed to load resource|net::ERR_FAILED/;
  expect(visitor.troubles.filter((trouble) => !refused.test(trouble))).toEqual([]);
  await visitor.close();
});

test("no page has a finding of axe, an error, a scroll bar to the side or a request to elsewhere", async () => {
  const visitor = await createVisitor(browser);
  const { page } = visitor;
  await page.goto(`${tyche.url}/sign-in`);
  await visitor.inspect();
  await signInOn(page, tyche);
  await page.getByRole("link", { name: "default", exact: true }).click();
  await page.getByRole("heading", { name: "default", exact: true }).waitFor();
  const dapp = new URL(page.url()).pathname;
  const { url, vrfv2Hash } = await coinflip();
  await page.goto(`${tyche.url}/explorer/sepolia`);
  await page.getByRole("region", { name: "Contracts" }).getByRole("link").last().click();
  await page.getByRole("link", { name: "Contract", exact: true }).click();
  await page.getByText("matches this source").waitFor();
  const contract = new URL(page.url()).pathname;
  for (const target of [
    "/",
    dapp,
    `${dapp}/keys`,
    `${dapp}/config-vars`,
    `${dapp}/consumers`,
    `${dapp}/requests`,
    `${dapp}/dry-runs`,
    `${dapp}/triggers`,
    `${dapp}/secrets`,
    `${dapp}/webhooks`,
    `${dapp}/usage`,
    `${dapp}/settings`,
    "/presets",
    "/presets/lotto",
    "/random",
    "/functions",
    "/networks",
    "/explorer",
    "/explorer/sepolia",
    "/explorer/sepolia/block/1",
    "/explorer/search?q=link",
    "/explorer/sepolia/blocks",
    contract,
    `/explorer/sepolia/tx/${vrfv2Hash}`,
    new URL(url).pathname,
    "/docs",
    "/verifier.html",
    "/nowhere",
  ]) {
    await visitor.open(tyche.url + target);
    await visitor.inspect();
  }
  expect(visitor.troubles).toEqual([]);
  await visitor.close();
});
