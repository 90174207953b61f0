import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeFragment } from "../../src/browser/application/pages/functions/share.ts";
import { DRY_RUN_WORD } from "../../src/requests/accept/dryRun.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { enter, signInOn } from "./support/enter.ts";
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
  visitor = await createVisitor(browser, { operatorOf: tyche });
  page = visitor.page;
});
afterEach(() => visitor.close());

const editor = () => page.locator(".cm-content");
const panel = () => page.getByRole("region", { name: "Run", exact: true });
/** Types an ASCII source, and waits until the page has it. */
async function write(source: string): Promise<void> {
  await editor().click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(source);
  await page.getByText(new RegExp(`^${source.length} of .* bytes$`)).waitFor();
}

test("what is edited outlives a reload and a visit to another page, until one signs out", async () => {
  await page.goto(`${tyche.url}/functions`);
  await write("return Functions.encodeString(`mine ${args[0]}`);");
  await page.getByLabel("Arguments").fill("7");
  await page.getByLabel("Return type").selectOption("string");
  await page.reload();
  await editor().filter({ hasText: "mine" }).waitFor();
  await page.getByRole("link", { name: "Presets" }).click();
  await page.getByRole("heading", { level: 1, name: "Presets" }).waitFor();
  await page.goBack();
  await editor().filter({ hasText: "mine" }).waitFor();
  expect(await page.getByLabel("Arguments").inputValue()).toBe("7");
  expect(await page.getByLabel("Return type").inputValue()).toBe("string");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("link", { name: "Sign in" }).waitFor();
  await signInOn(page, tyche);
  await page.goto(`${tyche.url}/functions`);
  await editor().filter({ hasText: "number * 2n" }).waitFor();
  // A call may be on its way while the session ends.
  expect(visitor.takeTroubles().filter((trouble) => !trouble.includes("401"))).toEqual([]);
});

test("a shared source that is edited outlives a reload, and another link still brings its own", async () => {
  const link = async (text: string): Promise<string> =>
    `${tyche.url}/functions${await encodeFragment({ source: `// ${text}`, args: [], returnType: "string", network: "sepolia" })}`;
  await page.goto(await link("theirs"));
  await editor().filter({ hasText: "theirs" }).waitFor();
  // Of another length than the link's source, so that the count of bytes tells them apart.
  await write("// edited here");
  await page.reload();
  await editor().filter({ hasText: "edited" }).waitFor();
  await page.getByText("This source came from a link.").waitFor();
  await page.goto("about:blank");
  await page.goto(await link("another"));
  await editor().filter({ hasText: "another" }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("what is typed before the editor is loaded goes on in it", async () => {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/assets\/app\/editor-[^/]*\.js$/, async (route) => {
    await promise;
    await route.continue();
  });
  await page.goto(`${tyche.url}/functions`);
  const field = page.getByRole("textbox", { name: "Source" });
  await field.fill("return 0;");
  await field.press("Home");
  await page.keyboard.type("// mi");
  release();
  await editor().filter({ hasText: "// mi" }).waitFor();
  await page.getByText("Ctrl+Space completes").waitFor();
  await page.keyboard.type("ne ");
  await editor()
    .filter({ hasText: /^\/\/ mine return 0;$/ })
    .waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a link that is cut off says so, and takes nothing away", async () => {
  await page.goto(`${tyche.url}/functions`);
  await write("// mine");
  const fragment = await encodeFragment({
    source: "// theirs",
    args: [],
    returnType: "string",
    network: "sepolia",
  });
  await page.goto(`${tyche.url}/functions${fragment.slice(0, 30)}`);
  await page.getByRole("alert").filter({ hasText: "The source in this link can't be read" }).waitFor();
  await editor().filter({ hasText: "mine" }).waitFor();
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "The source in this link can't be read" }).waitFor();
  await editor().filter({ hasText: "mine" }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a request that failed on chain is opened with its error and transactions, and the line that threw it marked", async () => {
  const client = connectOperator(tyche).as(tyche.dappId);
  const source = `// One word\nif (bytesArgs[0] !== "${DRY_RUN_WORD}") throw Error("too late");\nreturn Functions.encodeString("fine");`;
  const { id } = await client.runFunction({ network: "sepolia", source, args: ["a", "b"], beacon: "local" });
  await page.goto(`${tyche.url}/dapps/${tyche.dappId}/requests/${id}`);
  await page.getByRole("link", { name: "Open in Functions", exact: true }).click();
  await panel().getByRole("heading", { name: "On chain failed" }).waitFor();
  await panel().getByText("too late", { exact: true }).waitFor();
  await panel().locator("li.failed").getByRole("link").waitFor();
  await page.locator(".cm-line", { hasText: "too late" }).locator(".cm-lintRange-error").waitFor();
  expect(await page.getByLabel("Arguments").inputValue()).toBe("a\nb");
  expect(await page.getByLabel("Round of drand").inputValue()).toBe("local");
  expect(visitor.troubles).toEqual([]);
});

test("a request that can't be read, or has no source, says so and takes nothing away", async () => {
  const client = connectOperator(tyche).as(tyche.dappId);
  const { id } = await client.preset("coinflip", {}, { network: "sepolia" });
  await page.goto(`${tyche.url}/functions`);
  await write("// mine");
  for (const [request, problem] of [
    [id, `Request ${id} is not of a function`],
    ["req_x", "Request req_x can't be read. There is no request req_x."],
  ] as const) {
    await page.goto(`${tyche.url}/functions?dapp=${tyche.dappId}&request=${request}`);
    await page.getByRole("alert").getByText(problem).waitFor();
    await editor().filter({ hasText: "mine" }).waitFor();
  }
  expect(visitor.takeTroubles().filter((trouble) => !trouble.includes("404"))).toEqual([]);
});

test("the result stands below the source that it is of, and the settings beside both", async () => {
  await page.goto(`${tyche.url}/functions`);
  await editor().waitFor();
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel().locator(".big-result", { hasText: /^42\b/ }).waitFor();
  const boxOf = async (name: string) =>
    (await page.getByRole("region", { name, exact: true }).boundingBox())!;
  const [source, result, settings] = [
    await boxOf("Source"),
    await boxOf("Run"),
    await boxOf("How to run it"),
  ];
  expect([result.x, result.width]).toEqual([source.x, source.width]);
  expect(result.y).toBeGreaterThan(source.y + source.height);
  expect(settings.y).toBe(source.y);
  expect(settings.x).toBeGreaterThan(result.x + result.width);
  expect(visitor.troubles).toEqual([]);
});

test("a dry run can be cancelled, and leaves the focus on its button", async () => {
  await page.goto(`${tyche.url}/functions`);
  await write("for (;;);");
  // The sandbox would end it by itself some seconds later.
  await page.route("**/simulate", () => {});
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel().getByRole("button", { name: "Cancel" }).click();
  await panel().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Dry run" }).and(page.locator(":focus")).waitFor();
  await page.unroute("**/simulate");
  await write("return Functions.encodeUint256(7);");
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel().locator(".big-result", { hasText: /^7\b/ }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a source reads a secret of the dapp's by its name, and another example reads none", async () => {
  const body = JSON.stringify({ network: "sepolia", value: "s3cr3t-value" });
  const headers = { authorization: tyche.apiKey, "content-type": "application/json" };
  const stored = await fetch(`${tyche.url}/api/secrets/API_KEY`, { method: "PUT", headers, body });
  expect(stored.status).toBe(200);
  await page.goto(`${tyche.url}/functions?dapp=${tyche.dappId}`);
  await editor().waitFor();
  await page.getByLabel("Network", { exact: true }).selectOption("sepolia");
  await page.getByLabel("Example").selectOption("HTTP with an API key");
  const secrets = () => page.getByLabel("Secrets", { exact: true }).inputValue();
  await expect.poll(secrets).toBe("API_KEY");
  await write("return Functions.encodeString(String(secrets.API_KEY.length));");
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel().locator(".big-result", { hasText: /^12\b/ }).waitFor();
  await page.getByText("Values for dry runs").click();
  await page.getByLabel("Value of API_KEY").fill("another-value");
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel().locator(".big-result", { hasText: /^13\b/ }).waitFor();
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("another-value");
  await page.getByLabel("Example").selectOption("Twice a number");
  await expect.poll(secrets).toBe("");
  expect(visitor.troubles).toEqual([]);
});

test("by the keyboard, a run on chain and a verification keep the focus, and examples follow one another", async () => {
  await page.goto(`${tyche.url}/functions`);
  await editor().waitFor();
  await page.getByLabel("Example").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await editor().filter({ hasText: "httpbin.org" }).waitFor();
  await page.getByLabel("Example").selectOption("Twice a number");
  const run = page.getByRole("button", { name: "Run on chain" });
  await run.press("Enter");
  await panel().getByText("fulfilled").first().waitFor();
  await panel()
    .getByRole("listitem")
    .first()
    .getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    .waitFor();
  await run.and(page.locator(":focus")).waitFor();
  await panel().getByRole("link", { name: "The request's page" }).click();
  const verify = page.getByRole("button", { name: "Verify" });
  await verify.press("Enter");
  await page.getByRole("heading", { name: "This result matches the operator's own chain" }).waitFor();
  await page.getByRole("button", { name: "Verify again" }).and(page.locator(":focus")).waitFor();
  await page.locator("#announcer", { hasText: /^Verdict: valid\.$/ }).waitFor({ state: "attached" });
  expect(visitor.troubles).toEqual([]);
});

test("the transactions of a run lead to the explorer's pages, on a network with an explorer elsewhere too", async () => {
  await page.goto(`${tyche.url}/functions`);
  await page.route(/\/api\/requests\/req_/, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text.replaceAll(`${tyche.url}/explorer/sepolia/tx/`, "https://sepolia.etherscan.io/tx/");
    expect(body).toContain('"url":"https://sepolia.etherscan.io/tx/0x');
    await route.fulfill({ response, body });
  });
  await page.getByLabel("Network", { exact: true }).selectOption("sepolia");
  await write("return Functions.encodeUint256(7);");
  await page.getByRole("button", { name: "Run on chain" }).click();
  const link = panel().locator("li.fulfilled").getByRole("link");
  expect(await link.getAttribute("href")).toMatch(/^\/explorer\/sepolia\/tx\/0x[0-9a-f]{64}$/);
  await link.click();
  await page.getByRole("heading", { level: 1, name: "Transaction" }).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a shared source is not sent to the service while one signs in, whatever is loaded again", async () => {
  const stranger = await createVisitor(browser);
  const sent: string[] = [];
  stranger.page.on("request", (request) => sent.push(request.url()));
  const draft = { source: "// theirs", args: [], returnType: "string", network: "sepolia" } as const;
  const fragment = await encodeFragment(draft);
  await stranger.page.goto(`${tyche.url}/functions${fragment}`);
  await stranger.page.getByLabel("Operator token").waitFor();
  await stranger.page.reload();
  await stranger.page.getByRole("link", { name: "Skip to content" }).press("Enter");
  await enter(stranger.page, tyche);
  await stranger.page.locator(".cm-content", { hasText: "// theirs" }).waitFor();
  const secret = fragment.slice(4);
  expect(sent.filter((url) => url.split("#")[0]!.includes(secret))).toEqual([]);
  expect(stranger.troubles).toEqual([]);
  await stranger.close();
});

test("a source that is refused on its way to the chain is marked where it failed, with its console", async () => {
  await page.goto(`${tyche.url}/functions?dapp=${tyche.dappId}`);
  await write("console.log('so far');\nthrow new Error('no such pair');");
  await page.getByRole("button", { name: "Run on chain" }).click();
  await panel().getByText("Nothing was sent").waitFor();
  await panel().getByRole("region", { name: "Console" }).getByText("so far").waitFor();
  await panel().getByText("HTTP requests").waitFor();
  await page.locator(".cm-line", { hasText: "no such pair" }).locator(".cm-lintRange-error").waitFor();
  await visitor.inspect();
  // It is one refused call: no request that failed, and no dry run that nobody asked for.
  const client = connectOperator(tyche).as(tyche.dappId);
  const runs = (await client.dryRuns()).items.filter(({ err }) => err === "no such pair");
  expect(runs.map(({ kind }) => kind)).toEqual(["function"]);
  const failed = (await client.requests({ state: "failed" })).items;
  expect(failed.filter(({ params }) => JSON.stringify(params).includes("no such pair"))).toEqual([]);
  expect(visitor.troubles).toEqual([]);
});

test("a long result is shown as text, a short one large, and a failure's place beside its message", async () => {
  await page.goto(`${tyche.url}/functions`);
  await page.getByLabel("Return type").selectOption("string");
  await write("return Functions.encodeString('short');");
  await page.getByRole("button", { name: "Dry run" }).click();
  const sizeOf = async (text: RegExp): Promise<string> => {
    await panel().locator(".big-result", { hasText: text }).waitFor();
    return await page.evaluate<string>("getComputedStyle(document.querySelector('.big-result')).fontSize");
  };
  expect(await sizeOf(/^short/)).toBe("25.6px");
  await write("return Functions.encodeString('w'.repeat(1000));");
  await page.getByRole("button", { name: "Dry run" }).click();
  expect(await sizeOf(/^w{1000}/)).toBe("16px");
  await visitor.inspect();
  await write("await fetch('http://a.invalid').catch(() => {});\nthrow new Error('mine');");
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel()
    .getByText(/^mine \(line 2, column 7\)\n/)
    .waitFor();
  await write(
    "const { error, message } = await Functions.makeHttpRequest({ url: 'http://a.invalid' });\nthrow new Error(message);",
  );
  await page.getByRole("button", { name: "Dry run" }).click();
  await panel()
    .getByText(
      /^The name a\.invalid could not be resolved.*\nThe source's error: Bad Request \(line 2, column 7\)$/,
    )
    .waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a draft that waits for a round gets a word in the dry run, and its own on chain", async () => {
  await page.goto(`${tyche.url}/functions`);
  await write("return Functions.encodeUint256(BigInt(bytesArgs.at(-1)) % 1_000_000_000_000n);");
  await page.getByLabel("Return type").selectOption("uint256");
  await page.getByLabel("Round of drand").selectOption("local");
  const results: string[] = [];
  for (const [name, heading] of [
    ["Dry run", "Dry run succeeded"],
    ["Run on chain", "On chain fulfilled"],
  ] as const) {
    await page.getByRole("button", { name }).click();
    await panel().getByRole("heading", { name: heading }).waitFor();
    // The button to copy it follows.
    results.push(/^\d+/.exec(await panel().locator(".big-result").innerText())![0]);
  }
  const dry = BigInt(`0x${"5a".repeat(32)}`) % 1_000_000_000_000n;
  expect(results).toEqual([dry.toString(), expect.stringMatching(/^\d{1,12}$/)]);
  expect(results[1]).not.toBe(results[0]);
});
