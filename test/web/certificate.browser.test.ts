import type { Browser, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeQrCode } from "../../src/lib/qrCode.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const HOSTILE = `</title><script>alert(1)</script> \u202Egnp.exe`;

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

const draw = async (preset: string, body: object) =>
  (await tyche.call("POST", `/api/vrfv2/presets?network=sepolia&preset=${preset}`, { body })).data;
const lead = () => page.locator(".lead");

test("says what was drawn from how many, for what, when and on which chain, and leads here from paper", async () => {
  const label = `raffle <b>${tyche.dappId.slice(-6)}</b>`;
  const { id, value } = await draw("lotto", {
    numberOfWinners: "2",
    list: ["ann", HOSTILE, "cy", "dee"],
    label,
  });
  const address = `${tyche.url}/r/${id}`;
  await page.goto(address);
  await page.getByRole("heading", { level: 1, name: label, exact: true }).waitFor();
  await page
    .getByText(/^Draw winners from a list: 2 of 4 entries, on Ethereum Sepolia \(local chain\), 20/)
    .waitFor();
  expect(await lead().innerText()).toMatch(/, 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  expect(await page.getByRole("list", { name: "Result" }).getByRole("listitem").count()).toBe(value.length);
  await page.getByText("4 entries", { exact: true }).click();
  await page.locator(".given .hidden-char", { hasText: "U+202E" }).waitFor();
  expect(await page.locator("#application").textContent()).not.toContain("\u202E");
  const dark = encodeQrCode(address)!.flat().filter(Boolean).length;
  const path = await page.getByRole("img", { name: "QR code of this page's address" }).innerHTML();
  expect(path.match(/h1v1h-1z/g)).toHaveLength(dark);
  await visitor.inspect();
  expect(visitor.troubles).toEqual([]);

  const pdf = await page.pdf({ format: "A4" });
  expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
  await page.emulateMedia({ media: "print" });
  await page.getByText(`This result: ${address}.`).waitFor();
  expect(await page.getByRole("button").count()).toBe(0);
});

test("without a label, a draw has its preset's title; without a list, it says nothing of entries", async () => {
  const { id } = await draw("coinflip", {});
  await page.goto(`${tyche.url}/r/${id}`);
  await page.getByRole("heading", { level: 1, name: "Flip a coin", exact: true }).waitFor();
  await page.getByText(/^on Ethereum Sepolia \(local chain\), 20/).waitFor();
  expect(await page.title()).toBe("Flip a coin · Tyche");
  expect(visitor.troubles).toEqual([]);
});
