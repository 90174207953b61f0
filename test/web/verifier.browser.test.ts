import { readFile, writeFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { NetworkView } from "../../src/api/types.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

let browser: Browser;
let tyche: SharedDapp;
let hash: string;
let requestId: string;
let rpcUrl: string;
/** The operator's addresses, as `GET /api/networks` publishes them. */
let contracts: Readonly<Record<string, string>>;
let network: NetworkView;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
  const { data, headers } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: {},
  });
  requestId = headers.get("tyche-request-id")!;
  hash = data.url.split("/").at(-1)!;
  const { items } = (await tyche.call("GET", "/api/networks")).data;
  network = items.find(({ name }: { name: string }) => name === "sepolia");
  ({ rpcUrl = "", contracts } = network);
});

let visitor: Visitor;
let page: Page;
beforeEach(async () => {
  visitor = await createVisitor(browser);
  page = visitor.page;
  await page.goto(`${tyche.url}/verifier.html`);
});
afterEach(() => visitor.close());

const hashField = () => page.getByLabel("Transaction hash");
const verifyButton = () => page.getByRole("button", { name: "Verify" });
const contractsField = () => page.getByLabel("Addresses of the operator's contracts");
const valid = () => page.getByRole("heading", { name: "Valid", exact: true });

/** Fills in the form and starts the verification. */
async function verify({ tx = hash, given = JSON.stringify(contracts) } = {}): Promise<void> {
  await hashField().fill(tx);
  await page.getByLabel("RPC URL of a node").fill(rpcUrl);
  await contractsField().fill(given);
  await verifyButton().press("Enter");
}

/** Verifies with a node, and returns the file with the data read. */
async function save(): Promise<string> {
  await verify();
  await valid().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Save the chain data that was read" }).click(),
  ]);
  return await download.path();
}

test("a hash without 0x is one, and the verdict comes first: above the form, in view, with the focus", async () => {
  await verify({ tx: ` ${hash.slice(2).toUpperCase()}` });
  await valid().waitFor();
  await page.getByText(`Everything was read from the node at ${new URL(rpcUrl).host}.`).waitFor();
  await page.getByRole("heading", { name: "Flip a coin" }).waitFor();
  await page.getByText(/^(?:Heads|Tails)$/).waitFor();
  await page
    .getByText("This draw is genuine, if this is the public chain 11155111 and not one that")
    .waitFor();
  const verdict = valid().and(page.locator(":focus"));
  const top = async () => (await verdict.boundingBox())!.y;
  await expect.poll(top).toBeGreaterThanOrEqual(0);
  expect(await top()).toBeLessThan(200);
  expect((await hashField().boundingBox())!.y).toBeGreaterThan(await top());
  const bytes = page.getByText(/^Result: [01], in hex 0x0{63}[01]$/);
  await bytes.waitFor({ state: "hidden" });
  await page.getByText("Ids and bytes").click();
  await bytes.waitFor();
  await page.getByText("9 steps: all hold", { exact: true }).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("opened without a link, the page offers its service's networks, and takes node and addresses of one", async () => {
  await page.getByRole("button", { name: "Choose a network of this service" }).click();
  const choice = page.getByLabel("Network of this service").and(page.locator(":focus"));
  await choice.selectOption(network.title);
  expect(await page.getByLabel("RPC URL of a node").inputValue()).toBe(rpcUrl);
  expect(await contractsField().inputValue()).toContain("presetConsumer");
  await page.getByText(`The addresses that ${new URL(tyche.url).host} publishes, of `).waitFor();
  await visitor.inspect();
  expect(await contractsField().isVisible()).toBe(false);
  await page.getByRole("button", { name: "Show them" }).click();
  await contractsField().and(page.locator(":focus")).waitFor();
  await hashField().fill(hash);
  await verifyButton().press("Enter");
  await valid().waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a network that is chosen leaves the addresses alone that the reader has entered", async () => {
  const own = JSON.stringify({ contracts });
  await contractsField().fill(own);
  await page.getByRole("button", { name: "Choose a network of this service" }).click();
  await page.getByLabel("Network of this service").selectOption(network.title);
  expect(await page.getByLabel("RPC URL of a node").inputValue()).toBe(rpcUrl);
  expect(await contractsField().inputValue()).toBe(own);
  await contractsField().fill("");
  await page.getByRole("button", { name: "Take them from this service" }).click();
  await expect.poll(() => contractsField().inputValue()).toContain("presetConsumer");
  expect(visitor.troubles).toEqual([]);
});

test.each([
  ["of a shared result", () => `${tyche.url}/r/${requestId}`],
  ["of its transaction here", () => `${tyche.url}/explorer/sepolia/tx/${hash}`],
])(
  "the address %s leads to the transaction, on the service's node where none is named",
  async (_, address) => {
    await hashField().fill(address());
    await verifyButton().press("Enter");
    await valid().waitFor();
    expect(await hashField().inputValue()).toBe(hash);
    expect(await page.getByLabel("RPC URL of a node").inputValue()).toBe(rpcUrl);
    expect(visitor.troubles).toEqual([]);
  },
);

test("the service's networks are read once, however many links are verified", async () => {
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  for (const address of [`${tyche.url}/r/${requestId}`, `${tyche.url}/explorer/sepolia/tx/${hash}`]) {
    await hashField().fill(address);
    await verifyButton().press("Enter");
    await valid().waitFor();
    await verifyButton().and(page.locator(":not([aria-disabled])")).waitFor();
  }
  expect(asked.filter((path) => path === "/api/explorer/networks")).toHaveLength(1);
  expect(visitor.troubles).toEqual([]);
});

test.each(["/explorer/sepolia", "/docs#runPreset"])(
  "the address %s, which is no result's, gets one sentence that says what to paste",
  async (path) => {
    await verify({ tx: tyche.url + path });
    await page.getByRole("status").getByText("This address is not a result's. Paste the link to").waitFor();
    expect(visitor.troubles).toEqual([]);
  },
);

test("a bare id of a request is a result of the service that the page comes from", async () => {
  await hashField().fill(requestId);
  await verifyButton().press("Enter");
  await valid().waitFor();
  expect(await hashField().inputValue()).toBe(hash);
  expect(visitor.troubles).toEqual([]);
});

test.each([
  ["0x1234", '"0x1234" is no transaction\'s hash, which is 0x and 64 hex digits. Paste the link to'],
  ["x".repeat(101), "This is no address or hash, and a label must have 1 to 100 characters; got 101."],
  ["javascript:alert(1)", "is neither an address nor a hash, so it is taken for a draw's label."],
])("what is wrong with the result is said before a node is asked for: %s", async (tx, says) => {
  await hashField().fill(tx);
  await verifyButton().press("Enter");
  await page.getByRole("status").getByText(says).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("where no node is named, the page lists its service's networks, and says to choose one", async () => {
  await hashField().fill(hash);
  await verifyButton().press("Enter");
  await page
    .getByText("Choose the network in the list of this service's networks, enter the RPC URL of")
    .waitFor();
  const output = page.getByRole("status").first();
  expect(await output.getAttribute("data-state")).toBe("question");
  await page.getByLabel("Network of this service").selectOption(network.title);
  await expect.poll(() => output.innerText()).toBe("");
  await verifyButton().press("Enter");
  await valid().waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("where no node is named, the page takes the only network of its service", async () => {
  await page.route("**/api/explorer/networks", async (route) => {
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: { items: { name: string }[] } };
    const items = data.items.filter(({ name }) => name === "sepolia");
    await route.fulfill({ response, json: { data: { items } } });
  });
  await hashField().fill(hash);
  await verifyButton().press("Enter");
  await valid().waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("on another network than the result's, the page says which of the two is which", async () => {
  const { items } = (await tyche.call("GET", "/api/networks")).data;
  const other = items.find(({ name }: { name: string }) => name === "fuji") as NetworkView;
  await page.getByRole("button", { name: "Choose a network of this service" }).click();
  const choice = page.getByLabel("Network of this service");
  await choice.selectOption(other.title);
  const link = `${tyche.url}/r/${requestId}`;
  await hashField().fill(link);
  await verifyButton().press("Enter");
  const says = `This result is on ${network.title} (chain 11155111), and the node at "RPC URL" serves ${other.title} (chain 43113): choose ${network.title}`;
  await page.getByRole("status").getByText(says).waitFor();
  expect(await hashField().inputValue()).toBe(link);
  await visitor.inspect();
  await hashField().fill(hash);
  await verifyButton().press("Enter");
  await page
    .getByRole("status")
    .getByText(/^No transaction has this hash, and .* \(blocks 0 to \d+ of .* \(chain 43113\)\)\.$/)
    .waitFor();
  await hashField().fill(link);
  await choice.selectOption(network.title);
  await verifyButton().press("Enter");
  await valid().waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("the page leads back to its service", async () => {
  await page.getByRole("navigation").getByRole("link", { name: "Tyche" }).click();
  await page.waitForURL((url) => url.pathname !== "/verifier.html");
  expect(visitor.troubles).toEqual([]);
});

test("an explorer's address is its transaction, and a result of another service is not asked for", async () => {
  await verify({ tx: `https://scan.example.org/tx/${hash}#events` });
  await valid().waitFor();
  await verify({ tx: `https://tyche.example.org/r/${requestId}` });
  await page
    .getByText("This page can't ask https://tyche.example.org for the transaction: open the")
    .waitFor();
  await page.reload();
  await hashField().fill(`https://scan.example.org/tx/${hash}`);
  await verifyButton().press("Enter");
  await page
    .getByText("Choose the network in the list of this service's networks, enter the RPC URL of")
    .waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a verification waits for a file that is still being read", async () => {
  const file = await save();
  await page.reload();
  await page.evaluate(`{
    const { text } = Blob.prototype;
    const released = new Promise((resolve) => { globalThis.release = resolve; });
    Blob.prototype.text = async function () { await released; return text.call(this); };
  }`);
  await contractsField().fill(JSON.stringify({ chainId: 11_155_111, embedded: true, contracts }));
  await page.getByLabel("File with chain data").setInputFiles(file);
  await verifyButton().press("Enter");
  await page.getByText("Reading the chain and checking …").waitFor();
  await page.evaluate("globalThis.release()");
  await valid().waitFor();
  await page.getByText("Everything was read from the chain data; no node was asked.").waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a file of chain data brings its hash, and what was changed in it is open to read", async () => {
  const file = await save();
  await page.reload();
  await page.getByLabel("File with chain data").setInputFiles(file);
  await contractsField().fill(JSON.stringify({ chainId: 11_155_111, embedded: true, contracts }));
  await expect.poll(() => hashField().inputValue()).toBe(hash);
  await verifyButton().press("Enter");
  await valid().waitFor();
  await page.getByText("Everything was read from the chain data; no node was asked.").waitFor();
  await page.getByText(/^Of: coinflip \(source \d+\): no arguments$/).waitFor();
  await page.getByText(/^Requested 20.* UTC, result delivered 20.* UTC by 0x[0-9a-f]{40}\.$/).waitFor();
  await page.getByText("The chain is a local chain with the id 11155111").waitFor();
  const text = await readFile(file, "utf8");
  const { data } = await tyche.call("GET", "/api/requests?limit=1");
  // The log's data: 34 bytes, which are two of length and the result. A result of zeros alone is in the file elsewhere, too.
  const head = `${"22".padStart(64, "0")}0020`;
  const reported = `${head}${data.items[0].outcome.result.slice(2)}`;
  expect(text).toContain(reported);
  await writeFile(file, text.replaceAll(reported, `${head}${"deadbeef".repeat(8)}`));
  await page.reload();
  await page.getByLabel("File with chain data").setInputFiles(file);
  await expect.poll(() => page.getByLabel("Or chain data").inputValue()).toContain("deadbeef");
  await verifyButton().press("Enter");
  await page.getByRole("heading", { name: "Not valid" }).waitFor();
  await page
    .getByText(/^receipts root: 0x[0-9a-f]{64}, expected 0x/)
    .first()
    .waitFor();
  await page
    .getByText(
      /^Transactions: not as expected: receipts root; the data that were read were changed, or are another chain's\.$/,
    )
    .waitFor();
  await page.locator(".claim").getByText("Claimed, not proven:", { exact: true }).waitFor();
  expect(await page.locator(".claim .result").count()).toBe(1);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a source that gives another result in a browser is neither valid nor called wrong", async () => {
  const source =
    'const { get } = Object.getOwnPropertyDescriptor(Math, "random"); return Functions.encodeString(get ? "page" : "nodes")';
  const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source },
  });
  await verify({ tx: (data as { url: string }).url.split("/").at(-1)! });
  await page.getByRole("heading", { name: "Not confirmed", exact: true }).waitFor();
  const execution = page.locator("[data-step=execution]");
  await page.getByRole("paragraph").filter({ hasText: "`tyche verify` decides" }).waitFor();
  await page
    .getByText("read the source, and decide whether the nodes' signatures are enough for you")
    .waitFor();
  expect(await execution.getAttribute("data-outcome")).toBe("notApplicable");
  await execution.getByText(/^result of the source: 0x70616765, expected 0x6e6f646573$/).waitFor();
  const listing = page.getByRole("region", { name: "Source" });
  expect(await listing.count()).toBe(0);
  await page.getByText("The source that was run").click();
  expect(await listing.innerText()).toBe(source);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("without the operator's addresses a result is valid only if the contracts found are the operator's", async () => {
  await verify({ given: "" });
  await page
    .getByRole("heading", { name: "Valid, if these contracts are the operator's", exact: true })
    .waitFor();
  await page
    .getByRole("paragraph")
    .filter({ hasText: `presetConsumer ${contracts["presetConsumer"]!.toLowerCase()}` })
    .waitFor();
  await verify({ given: "0x" });
  await page.getByText("The addresses of the contracts must be JSON").waitFor();
  const presetConsumer = contracts["link"];
  await verify({ given: JSON.stringify({ presetConsumer, vrfCoordinator: presetConsumer }) });
  await page.getByRole("heading", { name: "Not valid", exact: true }).waitFor();
  const coordinator = `of ${contracts["vrfCoordinator"]!.toLowerCase()}, where the vrfCoordinator that was given is ${presetConsumer!.toLowerCase()}`;
  await page.getByRole("status").getByText(coordinator).waitFor();
  await page.getByText("compare the addresses with those that it publishes.").waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("Cancel ends every outstanding read, leaves the focus at the button, and one can verify again", async () => {
  const ended: string[] = [];
  page.on("requestfailed", (request) => ended.push(request.failure()?.errorText ?? ""));
  await page.route(rpcUrl, () => {});
  // On a busy machine, a read would end by itself before the page is inspected.
  await page.evaluate("AbortSignal.timeout = () => new AbortController().signal");
  const cancel = page.getByRole("button", { name: "Cancel" });
  expect(await cancel.count()).toBe(0);
  await Promise.all([page.waitForRequest(rpcUrl), verify()]);
  await visitor.inspect();
  await cancel.click();
  await page.getByRole("status").getByText("Cancelled: nothing was decided.").waitFor();
  await expect.poll(() => ended).toEqual(["net::ERR_ABORTED"]);
  await expect.poll(() => cancel.count()).toBe(0);
  await verifyButton().and(page.locator(":focus")).waitFor();
  await page.unroute(rpcUrl);
  await verifyButton().press("Enter");
  await valid().waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a verification that takes too long is stopped, and says so", async () => {
  await page.clock.install();
  await page.goto(`${tyche.url}/verifier.html#tx=${hash}&rpc=${encodeURIComponent(rpcUrl)}`);
  await expect.poll(() => hashField().inputValue()).toBe(hash);
  await page.route(rpcUrl, () => {});
  await Promise.all([page.waitForRequest(rpcUrl), verifyButton().press("Enter")]);
  await page.clock.fastForward("05:01");
  await page
    .getByText("The verification was stopped after 5 minutes. The node may be slow: try another one")
    .waitFor();
  await verifyButton().and(page.locator(":not([aria-disabled])")).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a node's error text is shortened, and has no hidden characters", async () => {
  await page.route(rpcUrl, (route) =>
    route.fulfill({
      headers: { "access-control-allow-origin": "*", "access-control-allow-headers": "*" },
      json: { jsonrpc: "2.0", id: 1, error: { code: -32000, message: `\u202E${"x".repeat(172_000)}` } },
    }),
  );
  await verify();
  const shown = await page
    .getByRole("status")
    .getByText(/x{50,} …$/)
    .innerText();
  expect(shown.length).toBeLessThan(520);
  expect(shown).not.toMatch(/\p{Cf}|U\+202E/u);
  expect(visitor.troubles).toEqual([]);
});

test("the button can be pressed only once the page's script runs, so that no press is lost", async () => {
  await page.route("**/verifier.html", async (route) => {
    const response = await route.fetch();
    const html = await response.text();
    await route.fulfill({ response, body: html.slice(0, html.lastIndexOf("<script>")) });
  });
  await page.reload();
  expect(await verifyButton().isDisabled()).toBe(true);
  await page.unroute("**/verifier.html");
  await page.reload();
  expect(await verifyButton().isDisabled()).toBe(false);
  expect(visitor.troubles).toEqual([]);
});

test("another link that is opened in the same window fills the form anew", async () => {
  await page.goto(`${tyche.url}/verifier.html#tx=${hash}&rpc=${encodeURIComponent(rpcUrl)}`);
  const other = `0x${"ab".repeat(32)}`;
  await page.goto(`${tyche.url}/verifier.html#tx=${other}&rpc=${encodeURIComponent(rpcUrl)}`);
  await expect.poll(() => hashField().inputValue()).toBe(other);
  await verifyButton().press("Enter");
  await page.getByRole("status").getByText(other).waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("a link leaves out block hashes on a network whose blocks are not Ethereum's, and only there", async () => {
  const given = encodeURIComponent(JSON.stringify(contracts));
  const fields = `tx=${hash}&rpc=${encodeURIComponent(rpcUrl)}&contracts=${given}`;
  const noBlocks = page.getByLabel("Don't recompute block hashes");
  const transactions = page.locator("[data-step=transactions]");
  await page.goto(`${tyche.url}/verifier.html#${fields}&blocks=no`);
  await expect.poll(() => noBlocks.isChecked()).toBe(true);
  await verifyButton().press("Enter");
  await valid().waitFor();
  await page.getByText("9 steps: all hold").click();
  await expect
    .poll(() => transactions.first().innerText())
    .toMatch(/: each transaction matches its hash; its block and its logs are the node's word$/);
  await visitor.inspect();
  await page.goto(`${tyche.url}/verifier.html#${fields}`);
  await expect.poll(() => noBlocks.isChecked()).toBe(false);
  await verifyButton().press("Enter");
  await page.getByText("9 steps: all hold").click();
  await transactions.filter({ hasText: "its block contains it" }).first().waitFor();
  expect(visitor.troubles).toEqual([]);
});

test("the link of a shared result fills in everything that its verification needs, and starts it", async () => {
  await page.goto(`${tyche.url}/r/${requestId}`);
  await page.getByText(/on Ethereum Sepolia \(local chain\), 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/).waitFor();
  await visitor.inspect();
  await page.getByText("This is a local chain: the operator of this service runs it").waitFor();
  await expect
    .poll(() => page.getByRole("link", { name: "The verifier" }).getAttribute("href"))
    .toContain("contracts=");
  await page.getByRole("link", { name: "The verifier" }).click();
  await page.waitForURL("**/verifier.html#*");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByText("The addresses that the link brought.").waitFor();
  await valid().waitFor();
  await page.getByText("This draw matches the operator's own chain.").waitFor();
  await page.getByText("The chain is a local chain with the id 11155111").waitFor();
  await page.getByText("on an embedded chain the proof shows").waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test.each([
  ["of its own", true, "", " --blocks"],
  ["whose blocks are not Ethereum's", false, "&blocks=no", " --no-blocks"],
])(
  "the application tells verifier and command about a network %s",
  async (_, hasEthereumBlocks, field, flag) => {
    await page.route("**/api/explorer/networks", async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { data: { items: object[] } };
      const items = answer.data.items.map((one) => ({ ...one, hasEthereumBlocks }));
      await route.fulfill({ response, json: { ...answer, data: { items } } });
    });
    await page.goto(`${tyche.url}/explorer/sepolia/tx/${hash}`);
    const link = page.getByRole("link", { name: "The verifier" });
    const rpc = encodeURIComponent(rpcUrl);
    const { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } = contracts;
    const own = { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer };
    const { chainId, localBeacon } = network;
    const { publicKey, genesisTime, period, groupHash, beaconId } = localBeacon!;
    const given = JSON.stringify({
      chainId,
      embedded: true,
      contracts: own,
      localBeacon: { publicKey, genesisTime, period, groupHash, beaconId },
    });
    await expect
      .poll(() => link.getAttribute("href"))
      .toBe(
        `/verifier.html#${new URLSearchParams(`tx=${hash}&run=now&rpc=${rpc}${field}&chain=local`).toString()}&${new URLSearchParams({ contracts: given }).toString()}`,
      );
    await page.getByText("By a command, and what to compare").click();
    await page.getByText(`--rpc-url ${rpcUrl}${flag} --contracts '${given}'`, { exact: false }).waitFor();
    expect(visitor.troubles).toEqual([]);
  },
);

test("winners are numbered, and the list below them is folded, can be searched and marks them", async () => {
  const list = Array.from({ length: 100 }, (_, i) => `entry ${i}, of ${i}`);
  const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { list, numberOfWinners: "2" },
  });
  await verify({ tx: (data as { url: string }).url.split("/").at(-1)! });
  await valid().waitFor();
  await page.getByRole("heading", { name: "Draw winners from a list", exact: true }).waitFor();
  const winners = (data as { parsedResult: string }).parsedResult.slice(9).split(/(?<=of \d+), /);
  expect(await page.getByRole("list", { name: "Result" }).getByRole("listitem").allInnerTexts()).toEqual(
    winners.map((winner) => `${winner} entry ${list.indexOf(winner) + 1}`),
  );
  await page.getByText(/^Of: lotto \(source \d+\): numberOfWinners = 2$/).waitFor();
  const folded = page.getByText("list: 100 entries", { exact: true });
  const result = page.getByRole("list", { name: "Result" });
  expect((await result.boundingBox())!.y).toBeLessThan((await folded.boundingBox())!.y);
  const entries = page.getByRole("list", { name: "list", includeHidden: true }).getByRole("listitem");
  const drawn = entries.nth(list.indexOf(winners[0]!));
  await drawn.waitFor({ state: "hidden" });
  await folded.click();
  await drawn.waitFor();
  expect(await entries.filter({ hasText: /drawn$/ }).allInnerTexts()).toEqual(
    list.filter((entry) => winners.includes(entry)).map((entry) => `${entry} drawn`),
  );
  await page.getByLabel("Find in: list").fill("ENTRY 7");
  await page.getByText("11 of 100", { exact: true }).waitFor();
  await page.getByText("Compare with the entries that were announced").click();
  const announced = page.getByLabel("Announced entries");
  await announced.fill(`${list.join("\n")}\n`);
  await page.getByText("The same entries, in this order.", { exact: true }).waitFor();
  await announced.fill(JSON.stringify(["\u202Eeve", ...list.slice(1)]));
  await page
    .getByText(
      'Not the same: entry 1 of the list is "entry 0, of 0", and of what you pasted "U+202Eeve"; only in what you pasted: "U+202Eeve"; only in the list: "entry 0, of 0".',
    )
    .waitFor();
  expect(await entries.filter({ visible: true }).first().getAttribute("value")).toBe("8");
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});
