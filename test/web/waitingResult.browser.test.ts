import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { TIMED_OUT } from "../../src/text/failure.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { runCli } from "../cli/runCli.ts";
import { clockModule } from "../support/clock.ts";
import { DEAD_RELAY, ownDrandChain, pathOf, signOwnRound } from "../support/drandRelay.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";
import { createVisitor } from "./support/visitor.ts";

/** Far more than the test takes until it moves the clock to where the round is late. */
const DUE_SECONDS = 1_200;
const PERIOD_SECONDS = 3_600;
/** Its next round is due then, and none before. */
const CHAIN = ownDrandChain({
  period: PERIOD_SECONDS,
  genesisTime: Math.floor(Date.now() / 1_000) + DUE_SECONDS - 10 * PERIOD_SECONDS,
});
/** Enough that the list can be searched. */
const ENTRIES = Array.from({ length: 25 }, (_, i) => `guest ${i + 1}`);

let browser: Browser;
let url: string;
let call: SharedDapp["call"];
let service: SharedDapp;
shared.beforeAll(async ({ browser: chromium, service: running }) => {
  browser = chromium;
  service = await joinService(running);
  ({ url, call } = service);
});

/** Starts a service that learns no round until it is handed in, and whose clock a signal moves to where rounds are late. */
async function startWithoutRelays() {
  const dataDir = makeDataDir();
  const beacon = { chain: CHAIN, relays: [DEAD_RELAY] };
  writeFileSync(
    path.join(dataDir, "tyche.json"),
    JSON.stringify({ networks: { sepolia: { embedded: true, beacon } } }),
  );
  const clock = clockModule((DUE_SECONDS + 120) * 1_000, "SIGUSR2");
  const tyche = await startTycheProcess({ dataDir, env: { NODE_OPTIONS: `--import=${clock}` } });
  onTestFinished(async () => {
    await tyche.stop();
    removeDataDir(dataDir);
  });
  return tyche;
}

test("the page of a draw that waits for its round says for what and until when, that it is late, and then the result", async () => {
  const tyche = await startWithoutRelays();
  const visitor = await createVisitor(browser, { timeZone: "Europe/Zurich" });
  onTestFinished(() => visitor.close());
  const { page } = visitor;
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  const { status, data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { numberOfWinners: 1, list: ENTRIES, beacon: "drand", label: "before the draw" },
    headers: { prefer: "respond-async" },
  });
  expect(status).toBe(202);
  const { round, time } = data.params.beacon;
  const due = `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;

  expect((await page.goto(data.shareUrl))!.status()).toBe(200);
  const visitorOfUtc = await createVisitor(browser, { timeZone: "UTC" });
  onTestFinished(() => visitorOfUtc.close());
  const utc = visitorOfUtc.page;
  await utc.goto(data.shareUrl);
  await page.getByRole("heading", { level: 1, name: "before the draw", exact: true }).waitFor();
  await page
    .getByText("Draw winners from a list: 25 entries, on Ethereum Sepolia (local chain)", {
      exact: true,
    })
    .waitFor();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByText("Waiting", { exact: true }).waitFor();
  await result.getByText(new RegExp(`^Waiting for round ${round} of .*, due at ${due}\\.$`)).waitFor();
  await page.getByText(data.dappId).waitFor();
  await result
    .getByText(/The service waits for it for about 24 hours, until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC;/)
    .waitFor();
  for (const [beforeMs, words] of [
    [3_900_000, "in 1 hour 5 minutes"],
    [42_000, "in 42 seconds"],
    [-60_000, "1 minute ago"],
  ] as const) {
    for (const one of [page, utc]) await one.clock.setFixedTime(Date.parse(time) - beforeMs);
    const local = ": \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d .+ on your clock";
    await result.getByText(new RegExp(`^Due ${words}${beforeMs > 0 ? local : ""}\\.$`)).waitFor();
    await utc.getByText(`Due ${words}.`, { exact: true }).waitFor();
  }
  await page.clock.setFixedTime(Date.parse(time) + 5_000);
  await result
    .getByText(
      new RegExp(`^Due 5 seconds ago\\. Round ${round} of .* is fetched, then the result is computed\\.$`),
    )
    .waitFor();
  await result.getByText(/^No other round is ever taken in its place\. The service waits for it/).waitFor();
  expect(await result.getByText("tyche beacon").count()).toBe(0);
  await page.clock.setFixedTime(Date.parse(time) + 60_000);
  await result.getByText("For operators", { exact: true }).click();
  await result.getByText(`tyche beacon ${round} SIGNATURE`, { exact: true }).waitFor();
  const about = page.getByRole("region", { name: "About" });
  await about.getByText("25 entries", { exact: true }).waitFor();
  const find = about.getByRole("searchbox");
  await find.fill("guest 25");
  await about.getByText("1 of 25", { exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe("Waiting: before the draw · Tyche");
  await visitor.inspect();

  const verified = await runCli(["verify", data.shareUrl, "--quiet"], "", { TYCHE_DATA_DIR: tyche.dataDir });
  expect(verified).toMatchObject({ code: 1, stdout: "" });
  expect(verified.stderr).toMatch(
    new RegExp(`^error: no result yet: waiting for round ${round} of .*; verify again once there is one\n$`),
  );
  const verifier = await createVisitor(browser);
  onTestFinished(() => verifier.close());
  await verifier.page.goto(`${tyche.url}/verifier.html`);
  await verifier.page.getByLabel("Transaction hash").fill(data.shareUrl);
  await verifier.page.getByRole("button", { name: "Verify" }).press("Enter");
  await verifier.page.getByRole("heading", { name: "No result yet", exact: true }).waitFor();
  await verifier.page
    .getByText(new RegExp(`^Waiting for round ${round} of .*, due at ${time}\\.$`))
    .waitFor();
  await verifier.inspect();

  for (const text of [data.id, "before the draw"])
    await expect
      .poll(async () => (await tyche.call("GET", `/api/explorer/search?q=${text}`)).data.paths)
      .toEqual([`/r/${data.id}`]);

  const stateOf = async () => (await tyche.call("GET", `/api/requests/${data.id}`)).data;
  await expect.poll(async () => (await stateOf()).state, { timeout: 60_000 }).toBe("randomness");
  const { transactionHash } = (await stateOf()).timeline.find((one: object) => "transactionHash" in one);
  const other = await visitor.page.context().newPage();
  const requested = about.getByRole("term").filter({ hasText: "Requested in" }).locator("xpath=..");
  const path = `/explorer/sepolia/tx/${transactionHash}`;
  await requested.locator(`a[href="${path}"]`).waitFor();
  await requested.getByText(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/).waitFor();
  await other.goto(`${tyche.url}${path}`);
  const run = other.locator("[data-preset-run]");
  await other
    .getByText(new RegExp(`^No result yet: waiting for round ${round} of .*, due at ${due}$`))
    .waitFor({ timeout: 60_000 });
  expect(await other.getByText("Why it waits", { exact: true }).count()).toBe(0);
  await run.getByText("not answered yet", { exact: true }).waitFor();
  const named = other.getByRole("heading", { level: 2, name: "Draw winners from a list: before the draw" });
  expect(await named.getByRole("link").getAttribute("href")).toBe(`/r/${data.id}`);
  const banner = other.getByText(new RegExp(`^No result yet: waiting for round ${round} of `));
  await banner.locator("xpath=..").getByText("Due 1 minute ago.", { exact: true }).waitFor();
  const { answeredBy } = (
    await tyche.call("GET", `/api/explorer/networks/sepolia/transactions/${transactionHash}`)
  ).data.randomRequests[0];
  await other.goto(`${tyche.url}/explorer/sepolia/tx/${answeredBy}`);
  await other
    .getByRole("heading", { name: "Transaction: random words for Draw winners from a list" })
    .waitFor();
  await banner.waitFor();
  expect(await other.getByText("Verify without us").count()).toBe(0);
  await other.close();
  const asked = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source: "return new Uint8Array(1)", beacon: "drand" },
    headers: { prefer: "respond-async" },
  });
  const open = await visitor.page.context().newPage();
  await open.goto(asked.data.shareUrl);
  await open
    .getByText(/^On chain: no report from the oracle yet; one may arrive until 20\d\d-.* UTC\.$/)
    .waitFor();
  await open.close();
  // By its label, the chain itself says so, in the first sentence.
  await verifier.page.getByLabel("Transaction hash").fill("before the draw");
  await verifier.page.getByRole("button", { name: "Verify" }).press("Enter");
  await verifier.page
    .locator("output > h2:first-child + p")
    .getByText(`There is no report on chain yet: it waits for round ${round}, due at`)
    .waitFor();
  process.kill(tyche.pid, "SIGUSR2");
  await result
    .getByText(
      new RegExp(
        `^Its result is late: round ${round} of .*, which was due at ${due}, has not been received yet\\.$`,
      ),
    )
    .waitFor();

  await expect.poll(async () => (await stateOf()).why, { timeout: 200_000 }).toMatch(/^no relay has/);
  await find.focus();
  const answer = await fetch(`${tyche.url}/beacon${pathOf(CHAIN, BigInt(round))}`, {
    method: "PUT",
    body: JSON.stringify({ signature: toHexText(signOwnRound(BigInt(round))).slice(2) }),
  });
  expect(answer.status).toBe(200);
  await result
    .getByRole("list", { name: "Result" })
    .getByText(/^guest \d+$/)
    .waitFor();
  expect(await result.getByText("Waiting").count()).toBe(0);
  await page.getByRole("heading", { level: 1, name: "before the draw", exact: true }).waitFor();
  const terms = await about.getByRole("term").allInnerTexts();
  expect(terms.filter((term) => term.endsWith(" in"))).toEqual(["Requested in", "Proof in", "Result in"]);
  await page
    .locator("#how")
    .getByText(
      new RegExp(`^It also depends on round ${round} of .*, which the operator published after the inputs`),
    )
    .waitFor();
  expect(await find.inputValue()).toBe("guest 25");
  expect(await about.locator("input:focus").count()).toBe(1);
  expect(refused).toEqual([]);
  expect(visitor.troubles).toEqual([]);
});

test("of a request that failed before it was on chain, the page has its id and when it was made, and the command says who to ask", async () => {
  const visitor = await createVisitor(browser);
  onTestFinished(() => visitor.close());
  const { page } = visitor;
  const asked = await call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source: "throw new Error('private words')" },
    headers: { prefer: "respond-async" },
  });
  expect(asked.status).toBe(202);
  await page.goto(`${url}/r/${asked.data.id}`);
  const result = page.getByRole("region", { name: "Result" });
  const heading = "A request that failed before it was on chain";
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe(`${heading} · Tyche`);
  expect(await page.getByText(/failed before it was on chain/i).count()).toBe(1);
  await result
    .getByText(/there is no result, and there will be none\. What it asked for is not public\.$/)
    .waitFor();
  await result.getByText(/ask whoever gave you this address/).waitFor();
  await result.getByText(asked.data.id, { exact: true }).waitFor();
  await result.getByText(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/).waitFor();
  const signIn = result.getByRole("link", { name: "sign in", exact: true });
  expect(await signIn.getAttribute("href")).toBe(`/sign-in?next=%2Fr%2F${asked.data.id}`);
  expect(await page.getByRole("img", { name: "QR code of this page's address" }).count()).toBe(0);
  const verified = await runCli(["verify", `${url}/r/${asked.data.id}`]);
  expect(verified).toMatchObject({
    code: 1,
    stderr: "error: no result: it failed before it was on chain; ask whoever made it\n",
  });
  expect(await page.getByText("private words").count()).toBe(0);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("who may see a request that failed before it was on chain reads why and what it wrote, and gets to the line, to a draft of it and to the code", async () => {
  const source =
    "// Reads a price\nconsole.log('asking for', args[0]);\nif (args.length > 0) throw new Error('private words');\nreturn";
  const { data } = await call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source, args: ["eth"] },
    headers: { prefer: "respond-async" },
  });
  const visitor = await createVisitor(browser, { operatorOf: service });
  onTestFinished(() => visitor.close());
  const { page } = visitor;
  await page.goto(`${url}/r/${data.id}`);
  await page.getByRole("heading", { level: 1, name: "Function: Reads a price", exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe("Failed: Function: Reads a price · Tyche");
  await page.getByText("failed before it was on chain", { exact: true }).waitFor();
  const result = page.getByRole("region", { name: "Result" });
  const reason = "The dry run of the source failed: private words (line 3, column 28).";
  const code = page.getByRole("link", { name: "What to do", exact: true });
  await result.getByRole("alert").getByText(reason).waitFor();
  await result.getByText("Correct the source in line 3 or its arguments, and run it again:").waitFor();
  expect(await code.getAttribute("href")).toBe("/docs#error-function_failed");
  expect(await result.getByText(/ask whoever gave you this address/).count()).toBe(0);
  await visitor.inspect({ width: 1280, scheme: "light" });
  await result.getByRole("link", { name: "Open the request", exact: true }).click();
  await page.waitForURL(`**/dapps/${service.dappId}/requests/${data.id}`);
  await page.getByRole("alert").getByText(reason).waitFor();
  await page
    .getByRole("heading", { level: 2, name: /^Function: Reads a price, on Ethereum Sepolia/ })
    .waitFor();
  const listing = page.getByRole("region", { name: "Source", exact: true });
  expect((await listing.locator("mark").innerText()).trim()).toBe(
    "if (args.length > 0) throw new Error('private words');",
  );
  const dryRun = page.getByRole("region", { name: "Dry run", exact: true });
  expect(await dryRun.getByRole("region", { name: "Console" }).innerText()).toBe("asking for eth\n");
  expect(await dryRun.getByText(/^[\d.]+ ms$/).count()).toBe(1);
  await dryRun.getByText("The service ran the source before it sent anything, and sent nothing.").waitFor();
  await visitor.inspect({ width: 1280, scheme: "light" });
  const open = page.getByRole("link", { name: "Open in Functions", exact: true });
  await open.click();
  const run = page.getByRole("region", { name: "Run", exact: true });
  await run.getByRole("heading", { name: "Dry run failed" }).waitFor();
  await run.getByText("private words (line 3, column 28)", { exact: true }).waitFor();
  expect(await run.getByRole("region", { name: "Console" }).innerText()).toBe("asking for eth\n");
  const marked = page.locator(".cm-line").filter({ has: page.locator(".cm-lintRange-error") });
  await marked.getByText("private words").waitFor();
  await expect.poll(() => page.getByLabel("Arguments").inputValue()).toBe("eth");
  expect(await page.getByLabel("Dapp").inputValue()).toBe(service.dappId);
  expect(await page.getByText("This source came from a link.").count()).toBe(0);
  await visitor.inspect();
  await page.reload();
  await marked.getByText("private words").waitFor();
  // What is edited outlives a reload, without the error that it may not have any more.
  await page.getByLabel("Arguments").fill("");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("// edited");
  await page.getByText(/^9 of .* bytes$/).waitFor();
  await page.reload();
  await page.locator(".cm-content").getByText("edited").waitFor();
  expect(await run.count()).toBe(0);
  expect(visitor.troubles).toEqual([]);
});

test("an id of no request is not found, and what was meant can be searched for", async () => {
  const visitor = await createVisitor(browser);
  onTestFinished(() => visitor.close());
  for (const id of ["req_x", "req_X"]) {
    expect((await visitor.page.goto(`${url}/r/${id}`))!.status()).toBe(404);
    await visitor.page.getByRole("heading", { level: 1, name: "Not found", exact: true }).waitFor();
  }
  await visitor.inspect();
  await visitor.page.getByRole("link", { name: "all requests", exact: true }).click();
  await visitor.page.waitForURL("**/explorer/requests");
  await visitor.page.goBack();
  await visitor.page.getByLabel("Search the explorer").fill("req_x");
  await visitor.page.getByRole("button", { name: "Find" }).click();
  await visitor.page.waitForURL("**/explorer/search?q=req_x");
});

test("a contract's function that timed out is said to have no result, and to wait for none", async () => {
  const visitor = await createVisitor(browser);
  onTestFinished(() => visitor.close());
  const { page } = visitor;
  const { data } = await call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source: "return Functions.encodeString('fine')" },
  });
  const { requestedIn } = (await call("GET", `/api/explorer/results/${data.id}`)).data;
  await page.route(`**/transactions/${requestedIn}`, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    const functionRequests = json.data.functionRequests.map((one: object) => ({
      ...one,
      answer: undefined,
      answeredBy: undefined,
      isTimedOut: true,
    }));
    await route.fulfill({ response, json: { data: { ...json.data, functionRequests, requests: [] } } });
  });
  await page.goto(`${url}/explorer/sepolia/tx/${requestedIn}`);
  await page.getByText(`No result: ${TIMED_OUT}`, { exact: true }).waitFor();
  expect(await page.getByText("No result yet").count()).toBe(0);
  expect(await page.getByRole("term").filter({ hasText: "Why it waits" }).count()).toBe(0);
  expect(visitor.troubles).toEqual([]);
});
