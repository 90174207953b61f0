import type { Browser, Page } from "playwright-core";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toHex } from "viem";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { EVENT_TOPICS } from "../../src/chainlink/events.ts";
import { encodeResults } from "../../src/chainlink/presetReport.ts";
import { QUICKNET_HASH } from "../../src/domain/vocabulary.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { deliverWords } from "../support/delivery.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { startVerifyWorld } from "../verify/support/world.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const LABEL = "stranger 2026-12-24";

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
});
afterEach(() => visitor.close());

/**
 * Starts another node of the chain, and returns its URL: the operator's own is not asked. `refuses` says of a search for labels up to a
 * block, and from one, whether it answers with an error.
 */
async function startOtherNode(
  rpcUrl: string,
  refuses: (toBlock: number, fromBlock: number) => boolean = () => false,
  change: (foundLogs: string) => string = (foundLogs) => foundLogs,
): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" };
      if (request.method !== "POST") return void response.writeHead(204, headers).end();
      const body = Buffer.concat(chunks);
      const { id, method, params } = JSON.parse(String(body)) as {
        id: number;
        method: string;
        params: readonly { topics?: readonly unknown[]; fromBlock?: string; toBlock?: string }[];
      };
      const [filter] = params;
      const isSearch = method === "eth_getLogs" && filter!.topics?.[0] === EVENT_TOPICS.Labelled;
      if (isSearch && refuses(Number(filter!.toBlock), Number(filter!.fromBlock)))
        return void response
          .writeHead(200, headers)
          .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_000, message: "too many blocks" } }));
      void fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
        .then(async (answer) => {
          const text = await answer.text();
          response.writeHead(200, headers).end(isSearch ? change(text) : text);
        })
        // The chain may end while a page that is closed already asks.
        .catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a stranger with a result's page and the URL of another node sees that it is the only draw with the label, and verifies it", async () => {
  const body = { list: ["ann", "bob", "cy"], label: LABEL, once: true, beacon: "local" };
  const { data: drawn } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body,
  });
  const { items } = (await tyche.call("GET", "/api/networks")).data;
  const { rpcUrl } = items.find(({ name }: { name: string }) => name === "sepolia");
  const otherNode = await startOtherNode(rpcUrl);

  await page.goto(`${tyche.url}/explorer`);
  // Its newest transaction: a service that has just started creates subscriptions on all networks meanwhile.
  await page.locator(`#latest a[href$="${new URL(drawn.url).pathname}"]`).waitFor();
  await page.goto(drawn.shareUrl.replace(new URL(drawn.shareUrl).origin, tyche.url));
  await page.getByRole("heading", { name: LABEL, exact: true }).waitFor();
  await page
    .getByRole("list")
    .filter({ hasText: /^(?:(?:ann|bob|cy)(?: drawn)?){3}$/ })
    .waitFor();
  await page
    .getByText(/^the local beacon's round \d+, of .*: the service signs it itself, so it proves nothing$/)
    .waitFor();
  await page.getByRole("link", { name: "The verifier" }).click();
  await page.waitForURL("**/verifier.html#*");
  await page.getByRole("heading", { name: "Valid", exact: true }).waitFor();
  await page.getByLabel("RPC URL of a node").fill(otherNode);
  await page.getByRole("button", { name: "Verify" }).press("Enter");
  await page.getByRole("heading", { name: "Valid", exact: true }).waitFor();
  await page.getByText(`Everything was read from the node at ${new URL(otherNode).host}.`).waitFor();
  const said = page
    .getByText(JSON.stringify(LABEL), { exact: false })
    .filter({ hasText: "the dapp's first request with this label, and the only one that the node lists" });
  await said.first().waitFor();
  await page.getByText(/^Of: lotto \(source \d+\)/).waitFor();

  // With the page alone, and the label as it was announced.
  await page.goto(`${tyche.url}/verifier.html`);
  await page.getByLabel("Transaction hash").fill(LABEL.toUpperCase());
  await page.getByLabel("RPC URL of a node").fill(otherNode);
  await page.getByRole("button", { name: "Verify" }).press("Enter");
  await page
    .getByText("paste the addresses of the operator's contracts, or take them from this service.")
    .waitFor();
  await page.getByRole("button", { name: "Take them from this service (compare them)" }).click();
  await expect
    .poll(() => page.getByLabel("Addresses of the operator's contracts").inputValue())
    .toContain("presetConsumer");
  await page.getByRole("button", { name: "Verify" }).press("Enter");
  await page.getByRole("heading", { name: "Valid", exact: true }).waitFor();
  await said.first().waitFor();

  // A label may be the hash of what was announced, and looks like a transaction's.
  const announced = createHash("sha256").update("the rules of the raffle").digest("hex");
  const { data: other } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", {
    body: { label: announced, once: true },
  });
  await page.getByLabel("Transaction hash").fill(announced);
  await page.getByRole("button", { name: "Verify" }).press("Enter");
  await page.getByText(`"${announced}" of`).waitFor();
  await page.getByText("Ids and bytes").click();
  await page.getByText(`preset ${other.requestId}`).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("of several draws with a label, a stranger chooses one, and sees how many there are; of none, that there is none", async () => {
  const label = "stranger, again and again";
  const draw = () =>
    tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=coinflip", { body: { label } });
  const { data: first } = await draw();
  await draw();
  const { items } = (await tyche.call("GET", "/api/networks")).data;
  const network = items.find(({ name }: { name: string }) => name === "sepolia");
  await page.goto(`${tyche.url}/verifier.html`);
  const find = async (text: string, refuses?: (toBlock: number) => boolean) => {
    await page.getByLabel("Transaction hash").fill(text);
    await page.getByLabel("RPC URL of a node").fill(await startOtherNode(network.rpcUrl, refuses));
    await page.getByLabel("Addresses of the operator's contracts").fill(JSON.stringify(network));
    await page.getByRole("button", { name: "Verify", exact: true }).press("Enter");
  };
  await find("stranger's own");
  await page.getByText(`No request has the label "stranger's own"`).waitFor();
  await find(label);
  await page.getByText(`2 transactions have requests with the label ${JSON.stringify(label)}`).waitFor();
  const hits = page.getByRole("listitem").filter({
    hasText: new RegExp(`Flip a coin: (?:Heads|Tails) \\(20.* UTC, of ${tyche.dappId}\\)$`),
  });
  await expect.poll(() => hits.count()).toBe(2);
  await page.getByRole("button", { name: /^Verify 2 of 2: 0x/ }).click();
  await page
    .getByRole("heading", { name: "Valid: only request 2 of 2 with this label", exact: true })
    .waitFor();
  await page.getByText(/^2 draws bear this label, .*; this is the second, the other is in 0x/).waitFor();
  await page.getByText(/: request 2 of 2 with this label, the others: /).waitFor();
  await page.getByText(/block hashes show that none is left out in 0 to \d+/).waitFor();

  // Where a node refuses a part of the chain, the page says which part it searched, goes on in another one, and adds the two up.
  const hash = first.url.split("/").pop();
  const { data: found } = await tyche.call("GET", `/api/verify?network=sepolia&tx=${hash}`);
  const own = Number(found.requests[0].label.draws[0].blockNumber);
  let isBusy = false;
  const searchFirst = async (): Promise<void> => {
    isBusy = true;
    await find(hash, (toBlock) => isBusy && toBlock > own);
    await page.getByText(`of those in blocks 0 to ${own}, no other has this label (`).waitFor();
    isBusy = false;
  };
  const goOn = () => page.getByRole("button", { name: new RegExp(`^Search blocks ${own + 1} to`) }).click();
  await searchFirst();
  await goOn();
  await page
    .getByText(
      new RegExp(
        `: request 1 of 2 with this label, the others: 0x[0-9a-f]{64} \\(blocks 0 to \\d+; block hashes show that none is left out in 0 to ${own}\\)`,
      ),
    )
    .waitFor();
  // Of another node, it isn't known what the first part holds.
  await searchFirst();
  await page.getByLabel("RPC URL of a node").fill(await startOtherNode(network.rpcUrl));
  await goOn();
  await page
    .getByText(
      new RegExp(
        `of those in blocks ${own + 1} to \\d+ and ${own}, request 1 of 2 with this label, the others: 0x`,
      ),
    )
    .waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a link with a label and the block of the deployment: the search begins where the contract has code, and says so", async () => {
  // Its node keeps the state of all blocks, which an embedded chain doesn't.
  const world = await startVerifyWorld();
  onTestFinished(() => world.close());
  const { presetConsumer } = world.contracts;
  const label = "stranger, since the deployment";
  // Without a proof, no block hash shows that none is left out before it: the search alone decides.
  await world.submit({
    presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }],
    labels: [{ index: 0n, item: 0n, dapp: "dapp_a", text: label }],
  });
  const hasCode = async (block: bigint) =>
    (await world.client.request("eth_getCode", [presetConsumer, toHex(block)])) !== "0x";
  let codeFrom = 1n;
  while (!(await hasCode(codeFrom))) codeFrom += 1n;
  const searched: bigint[] = [];
  const rpc = await startOtherNode(world.rpcUrl, (_to, from) => {
    searched.push(BigInt(from));
    return false;
  });
  // As an operator publishes it: another of its contracts was deployed later.
  const deploymentBlock = Number(codeFrom) + 1;
  const { chainId } = world;
  const contracts = JSON.stringify({ chainId, contracts: world.contracts, deploymentBlock });
  const open = async (tx: string) => {
    await page.goto(`${tyche.url}/verifier.html#${new URLSearchParams({ tx, rpc, contracts }).toString()}`);
    // The second link leads to the same document, which fills its form anew.
    await expect.poll(() => page.getByLabel("Transaction hash").inputValue()).toBe(tx);
    await page.getByRole("button", { name: "Verify", exact: true }).press("Enter");
  };
  await open(label);
  await page
    .getByText(
      new RegExp(
        `"${label}" of dapp_a: of those that the node lists, no other has this label \\(blocks ${codeFrom} to \\d+; before, the contract had no code, says the node;`,
      ),
    )
    .waitFor();
  await open("stranger, never drawn");
  await page
    .getByText(
      new RegExp(
        `No request has the label "stranger, never drawn" \\(blocks ${codeFrom} to \\d+ of the chain \\d+\\)`,
      ),
    )
    .waitFor();
  expect(new Set(searched)).toEqual(new Set([codeFrom]));
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a node that names another draw than one with the label is not believed", async () => {
  const world = await startVerifyWorld();
  onTestFinished(() => world.close());
  // Of the same length, so that the log can be decoded.
  const [drawn, wanted] = ["stranger, drawn once", "stranger, never drew"] as const;
  const { transactionHash } = await world.submit({
    presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }] }],
    labels: [{ index: 0n, item: 0n, dapp: "dapp_a", text: drawn }],
  });
  const hexOf = (text: string) => Buffer.from(text).toString("hex");
  const rpc = await startOtherNode(world.rpcUrl, undefined, (text) =>
    text.replaceAll(hexOf(drawn), hexOf(wanted)),
  );
  const contracts = JSON.stringify({ chainId: world.chainId, contracts: world.contracts });
  await page.goto(
    `${tyche.url}/verifier.html#${new URLSearchParams({ tx: wanted, rpc, contracts }).toString()}`,
  );
  await page.getByRole("button", { name: "Verify", exact: true }).press("Enter");
  await page
    .getByText(`The node names ${transactionHash}, whose requests don't have this label. Ask another node.`)
    .waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("of draws in one batch, that with the label is shown alone, and the others with the transaction", async () => {
  const world = await startVerifyWorld();
  onTestFinished(() => world.close());
  const label = "stranger, one of three";
  const items = Array.from({ length: 3 }, () => ({ sourceId: world.echoId }));
  const submit = () =>
    world.submit({
      presets: [{ dapp: world.dapp, items }],
      labels: [{ index: 0n, item: 1n, dapp: "dapp_a", text: label }],
    });
  const asked = await submit();
  const contracts = JSON.stringify({ chainId: world.chainId, contracts: world.contracts });
  const fields = { tx: label, rpc: await startOtherNode(world.rpcUrl), contracts };
  await page.goto(`${tyche.url}/verifier.html#${new URLSearchParams(fields).toString()}`);
  const verify = page.getByRole("button", { name: "Verify", exact: true });
  await verify.press("Enter");
  await page.getByText("2 more requests of the transaction without this label left out").waitFor();
  await page.getByText(`"${label}" of dapp_a: `).waitFor();
  expect(await page.getByText("Ids and bytes").count()).toBe(1);
  await visitor.inspect();
  // The transaction that the page has filled in stands for the same request; one that is named anew, for all of its requests.
  await verify.press("Enter");
  await page.getByText(`"${label}" of dapp_a: `).waitFor();
  await page.getByLabel("Transaction hash").fill(asked.transactionHash);
  await verify.press("Enter");
  const several = page.getByRole("heading", { name: "The 3 results" });
  await several.waitFor();
  await page.getByRole("button", { name: "Verify this one alone" }).last().click();
  await several.waitFor({ state: "detached" });
  await page.getByText("Ids and bytes").waitFor();
  // Chosen among several, it is alone, too.
  await submit();
  await page.getByLabel("Transaction hash").fill(label);
  await verify.press("Enter");
  await page.getByRole("button", { name: /^Verify 2 of 2: 0x/ }).click();
  await page.getByText("2 more requests of the transaction without this label left out").waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});

test("a draw that failed has no result, and the page says so and why", async () => {
  const world = await startVerifyWorld();
  onTestFinished(() => world.close());
  // Its round was known when it was mined.
  const beacon = { round: 1n, chainHash: QUICKNET_HASH };
  const asked = await world.submit({
    presets: [{ dapp: world.dapp, items: [{ sourceId: world.echoId }], beacon }],
    labels: [{ index: 0n, item: 0n, dapp: "dapp_a", text: "stranger, failed" }],
  });
  await deliverWords(world, asked);
  const refused = { ok: false, bytes: Buffer.from("no \u202Eround") };
  const { transactionHash: tx } = await world.report(asked, {
    packed: toHexText(encodeResults([refused, refused])),
  });
  const rpc = await startOtherNode(world.rpcUrl);
  const contracts = JSON.stringify({ chainId: world.chainId, contracts: world.contracts });
  await page.goto(`${tyche.url}/verifier.html#${new URLSearchParams({ tx, rpc, contracts }).toString()}`);
  await page.getByRole("button", { name: "Verify", exact: true }).press("Enter");
  await page
    .getByRole("heading", { name: "The draw failed, and there is no result (valid)", exact: true })
    .waitFor();
  await page.getByText("Error: no U+202Eround", { exact: true }).waitFor();
  await page.getByText(/ UTC, error delivered 20.* UTC by 0x[0-9a-f]{40}\.$/).waitFor();
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);
});
