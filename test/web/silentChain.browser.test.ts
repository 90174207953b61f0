import type { Browser, Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import type { TycheOperator } from "../../src/client/index.ts";
import { shared } from "../support/shared.ts";
import { connectOperator } from "../support/signIn.ts";
import { silenceNode } from "../support/silence.ts";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { createVisitor } from "./support/visitor.ts";

const NETWORK = "fuji";

let browser: Browser;
let tyche: TycheProcess;
let operator: TycheOperator;
let dappId: string;
let drawn: { readonly id: string; readonly hash: string };
/** Another result, whose page nobody has opened. */
let unseenId: string;
let pages: readonly string[];
shared.beforeAll(async ({ browser: chromium }) => {
  browser = chromium;
  tyche = await startTycheProcess({ networks: [NETWORK, "sepolia"] });
  operator = connectOperator(tyche);
  dappId = (await operator.dapps())[0]!.id;
  const draw = async (label: string) => {
    const path = `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`;
    const { data } = await tyche.call("POST", path, { body: { label } });
    return { id: data.shareUrl.split("/").at(-1), hash: data.url.split("/").at(-1) };
  };
  drawn = await draw("before the silence");
  unseenId = (await draw("not seen before")).id;
  const { link } = (await operator.networks()).find(({ name }) => name === NETWORK)!.contracts;
  pages = [
    "/",
    "/networks",
    "/random",
    `/r/${drawn.id}`,
    `/dapps/${dappId}`,
    `/dapps/${dappId}/requests/${drawn.id}`,
    "/explorer",
    "/explorer/requests",
    `/explorer/${NETWORK}`,
    `/explorer/${NETWORK}/address/${link}`,
    `/explorer/${NETWORK}/block/1`,
    `/explorer/${NETWORK}/tx/${drawn.hash}`,
  ];
});
afterAll(() => tyche.stop());

/** Stops the chain's node until it is told to go on. */
const silence = () => silenceNode(tyche, NETWORK);

const noticeOn = (page: Page) => page.locator("#silence p").filter({ hasText: "Avalanche Fuji" });
const searchOn = (page: Page) => page.locator("#q");

test("every page says that its chain doesn't answer, with the newest block, keeps what it shows, and goes on by itself", async () => {
  const visitor = await createVisitor(browser, { operatorOf: tyche });
  const context = visitor.page.context();
  const open: Page[] = [];
  let goOn: (() => void) | undefined;
  try {
    for (const target of [...pages, "/explorer/sepolia"]) {
      const page = await context.newPage();
      open.push(page);
      await page.goto(tyche.url + target);
      await page.locator("main h1").waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
    }
    const elsewhere = open.pop()!;
    const ofAddress = open[pages.findIndex((target) => target.includes("/address/"))]!;
    await searchOn(ofAddress).fill("typed before");
    const headings = await Promise.all(open.map((page) => page.locator("main h1").innerText()));
    goOn = silence();
    for (const page of open) {
      await noticeOn(page)
        .and(page.getByText(/^Avalanche Fuji has not answered for .* seconds?\. Last block: \d+, .+\.$/))
        .waitFor();
    }
    expect(await noticeOn(elsewhere).count()).toBe(0);
    expect(await Promise.all(open.map((page) => page.locator("main h1").innerText()))).toEqual(headings);
    const announcer = ofAddress.locator("#announcer");
    await announcer.getByText("No answer from Avalanche Fuji (local chain)").waitFor({ state: "attached" });
    expect(await searchOn(ofAddress).inputValue()).toBe("typed before");
    await ofAddress.getByRole("link", { name: "Events", exact: true }).click();
    await ofAddress.getByRole("heading", { name: "Events" }).waitFor();
    await ofAddress.getByText("The token that pays the oracle.").waitFor();
    goOn();
    for (const page of open) await noticeOn(page).waitFor({ state: "detached" });
    await announcer.getByText("Avalanche Fuji (local chain) answers again").waitFor({ state: "attached" });
    expect(await searchOn(ofAddress).inputValue()).toBe("typed before");
    expect(await Promise.all(open.map((page) => page.locator("main h1").innerText()))).toEqual(headings);
    expect(visitor.takeTroubles().filter((text) => !/50[23]/.test(text))).toEqual([]);
  } finally {
    goOn?.();
    await visitor.close();
  }
});

test("a page that is opened while its chain doesn't answer says so, has what is known, and appears by itself", async () => {
  const visitor = await createVisitor(browser);
  const { page } = visitor;
  const latest = page.getByRole("region", { name: "Latest requests" });
  const address = (await operator.networks()).find(({ name }) => name === NETWORK)!.contracts.link;
  const goOn = silence();
  try {
    await page.goto(`${tyche.url}/explorer/${NETWORK}`);
    await noticeOn(page).waitFor();
    await page.getByText("This page needs an answer from the chain's node").waitFor();
    await latest.locator(`a[href="/r/${drawn.id}"]`).waitFor();
    await visitor.inspect();
    await page.goto(`${tyche.url}/explorer`);
    await page.getByText(/^Block \d+, chain 43113, doesn't answer$/).waitFor();
    await page.getByText(/^Block \d+, chain 11155111$/).waitFor();
    await latest.locator(`a[href="/r/${drawn.id}"]`).waitFor();
    await page.goto(`${tyche.url}/r/${drawn.id}`);
    await noticeOn(page).waitFor();
    await page.getByRole("heading", { level: 1, name: "before the silence" }).waitFor();
    const { data: late } = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`, {
      body: { label: "made meanwhile" },
      headers: { prefer: "respond-async" },
    });
    await page.goto(`${tyche.url}/r/${late.id}`);
    await noticeOn(page).waitFor();
    await page
      .getByText("If it is on a chain that doesn't answer, it waits for that. Nothing is lost.")
      .waitFor();
    await page.goto(`${tyche.url}/r/${unseenId}`);
    await page.getByText("The result stands as it was recorded.").waitFor();
    await page.goto(`${tyche.url}/explorer/${NETWORK}/block/1`);
    await page.getByRole("heading", { level: 1, name: "Block 1" }).waitFor();
    await page.goto(`${tyche.url}/explorer/${NETWORK}/address/${address}`);
    await noticeOn(page).waitFor();
    await page.getByRole("heading", { level: 1, name: "LINK token" }).waitFor();
    await page.getByText(address).waitFor();
    await searchOn(page).fill("typed meanwhile");
    goOn();
    await page.getByText("The token that pays the oracle.").waitFor();
    await noticeOn(page).waitFor({ state: "detached" });
    expect(await searchOn(page).inputValue()).toBe("typed meanwhile");
    expect(visitor.takeTroubles().filter((text) => !/50[23]/.test(text))).toEqual([]);
  } finally {
    goOn();
    await visitor.close();
  }
});

test("the operator's pages say that the network doesn't answer, and keep its block and balance", async () => {
  const visitor = await createVisitor(browser, { operatorOf: tyche });
  const { page } = visitor;
  const panel = page.locator("#networks section").filter({ hasText: "Avalanche Fuji" });
  await visitor.open(`${tyche.url}/networks`);
  await panel.getByText("Operator's balance").waitFor();
  const goOn = silence();
  try {
    await panel.locator(".tag").getByText("not answering", { exact: true }).waitFor();
    await panel.getByText("Operator's balance").waitFor();
    await panel.getByText("Block", { exact: true }).waitFor();
    await panel.getByText("the chain can't be reached").waitFor();
    await page.goto(`${tyche.url}/`);
    const row = page.locator("#running").getByText("not answering", { exact: true });
    await row.waitFor();
    await page.locator("#running").getByText("waits for the chain").waitFor();
    expect(await page.getByText(/no answer within/).count()).toBe(0);
    await visitor.inspect();
    goOn();
    await row.waitFor({ state: "detached" });
  } finally {
    goOn();
    await visitor.close();
  }
});

test("a search says what could not be searched, and finds it by itself once the chain answers", async () => {
  const visitor = await createVisitor(browser);
  const { page } = visitor;
  const goOn = silence();
  try {
    await page.goto(`${tyche.url}/explorer/search?q=${drawn.hash}`);
    await page.getByRole("heading", { level: 1, name: "Nothing found yet" }).waitFor();
    await page.getByText(/Avalanche Fuji \(local chain\) could not be searched/).waitFor();
    expect(await page.getByText("It may have a typo").count()).toBe(0);
    await visitor.inspect();
    goOn();
    await page.waitForURL(`**/explorer/${NETWORK}/tx/${drawn.hash}`);
  } finally {
    goOn();
    await visitor.close();
  }
});
