/**
 * Takes the pictures of README and docs: starts a service, uses it in a browser as a visitor does, and writes `docs/images/*.png`. Review them
 * before committing. Usage: `npm run pictures`
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { startTycheProcess } from "../support/tyche.ts";
import { launchChromium } from "../web/support/chromium.ts";
import { signInOn } from "../web/support/enter.ts";

/** What the previews of links to results show. */
const PREVIEW = path.resolve(import.meta.dirname, "../../src/web/static/preview.png");
const PREVIEW_HTML = `<!doctype html><style>
body { margin: 0; height: 630px; display: grid; place-content: center; gap: 28px; justify-items: center;
  background: #fbfaf7; color: #1d2128; font: 600 64px "Open Sans", sans-serif; letter-spacing: -0.02em }
p { margin: 0; color: #5c6470; font-size: 34px; font-weight: 400; letter-spacing: 0 }
svg { width: 150px; fill: none; stroke: #0b6b5a; stroke-width: 3.5 }
</style><svg viewBox="0 0 48 48"><circle cx="24" cy="24" r="21"/><path d="M14 25l7 7 13-15"/></svg>
A result that you can check<p>Tyche · verifiable random numbers and functions</p>`;
const FOLDER = path.resolve(import.meta.dirname, "../../docs/images");
const SOURCE = `// args: the readings of several sensors
const readings = args.map(Number).sort((a, b) => a - b);
console.log("sorted", readings);
const median = readings[Math.floor(readings.length / 2)];
return Functions.encodeString("median " + median);`;

const [browser, tyche] = await Promise.all([launchChromium(), startTycheProcess()]);
try {
  mkdirSync(FOLDER, { recursive: true });
  const context = await browser.newContext({
    viewport: { width: 1200, height: 900 },
    colorScheme: "light",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const take = async (name: string): Promise<void> => {
    await page.mouse.move(0, 0);
    await page.screenshot({ path: path.join(FOLDER, `${name}.png`), animations: "disabled" });
  };
  await signInOn(page, tyche);
  await drawWinners(page);
  await take("result");
  await runFunction(page);
  await take("playground");
  await page.goto(`${tyche.url}/explorer/sepolia`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await take("explorer");
  await page.setViewportSize({ width: 1200, height: 630 });
  await page.goto("about:blank");
  await page.setContent(PREVIEW_HTML);
  await page.screenshot({ path: PREVIEW });
} finally {
  await Promise.all([browser.close(), tyche.stop()]);
}

async function drawWinners(page: Page): Promise<void> {
  await page.goto(`${tyche.url}/presets/lotto`);
  await page.getByLabel("list").fill("Ada\nBarbara\nDonald\nEdsger\nFrances\nGrace");
  await page.getByLabel("Winners").fill("3");
  await page.getByLabel("Network").selectOption({ label: "Ethereum Sepolia (local chain)" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Request", exact: true }).getByText("fulfilled").waitFor();
}

async function runFunction(page: Page): Promise<void> {
  await page.goto(`${tyche.url}/functions`);
  await page.getByRole("textbox", { name: "Source" }).and(page.locator(".cm-content")).click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(SOURCE);
  await page.keyboard.press("Escape");
  await page.getByLabel("Arguments").fill("21.4\n19.8\n20.6");
  await page.getByLabel("Return type").selectOption("string");
  await page.getByRole("button", { name: "Dry run" }).click();
  const panel = page.getByRole("region", { name: "Run", exact: true });
  await panel.getByText("succeeded").waitFor();
  await panel.scrollIntoViewIfNeeded();
}
