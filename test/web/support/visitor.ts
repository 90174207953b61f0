import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";

/** Waits end when what they wait for is there; on a busy machine that may take long. */
const PATIENCE_MS = 60_000;
const AXE_SOURCE: string = (createRequire(import.meta.url)("axe-core") as { source: string }).source;
/** A screen, a phone, and the narrowest width that WCAG 2.2 (1.4.10) asks for. */
const WIDTHS = [1280, 390, 320] as const;

export interface Screen {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

/** Somebody with a browser of their own, who minds everything that goes wrong on a page. */
export interface Visitor {
  readonly page: Page;
  /** What went wrong so far: errors in the console, violations of a policy, requests that failed or went to another host. */
  readonly troubles: readonly string[];
  /** Gives the troubles so far, and forgets them: where some are expected. */
  takeTroubles(): readonly string[];
  /** Opens a page and waits until what it asks for is there. */
  open(url: string): Promise<void>;
  /** Expects that axe finds nothing on the page as it is, and that it can't be scrolled sideways: in both schemes, at all widths. */
  inspect(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a window of a new visitor, who has no cookie. */
export async function createVisitor(
  browser: Browser,
  { width, scheme }: Screen = { width: 1280, scheme: "light" },
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    // Colours that change gradually are measured half-way.
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const troubles: string[] = [];
  watch(context, troubles);
  const page = await context.newPage();
  return {
    page,
    troubles,
    takeTroubles: () => troubles.splice(0),
    async open(url) {
      await page.goto(url);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
    },
    async inspect() {
      const found: string[] = [];
      for (const oneWidth of WIDTHS) {
        await page.setViewportSize({ width: oneWidth, height: 800 });
        found.push(...(await findOverflow(page, oneWidth)));
      }
      // What differs between the schemes is colours, and those are the same at all widths.
      for (const [oneWidth, one, rules] of [
        [390, "light", undefined],
        [1280, "light", undefined],
        [1280, "dark", ["color-contrast"]],
      ] as const) {
        await page.setViewportSize({ width: oneWidth, height: 800 });
        await page.emulateMedia({ colorScheme: one });
        const findings = await findWithAxe(page, rules);
        found.push(...findings.map((text) => `${oneWidth} px, ${one}: ${text}`));
      }
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      expect({ url: page.url(), found }).toEqual({ url: page.url(), found: [] });
    },
    close: () => context.close(),
  };
}

/** What the API refuses in answer to what somebody typed in: the page says so, and Chromium reports it as a resource that failed to load. */
function isRefusal(url: string, status: number): boolean {
  const { pathname } = new URL(url);
  return (
    (pathname.startsWith("/api/") && [400, 404, 422].includes(status)) ||
    (pathname === "/session" && status === 403)
  );
}

function watch(context: BrowserContext, troubles: string[]): void {
  context.on("console", (message) => {
    const [, status] =
      /^Failed to load resource: the server responded with a status of (\d+)/.exec(message.text()) ?? [];
    const { url } = message.location();
    // A page at a path that is none has a status of 404 itself.
    const isExpected =
      status !== undefined && (url === message.page()?.url() || isRefusal(url, Number(status)));
    if (["error", "warning"].includes(message.type()) && !isExpected)
      troubles.push(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => troubles.push(`uncaught: ${error.error().message}`));
  context.on("response", (response) => {
    if (response.status() < 400 || response.request().isNavigationRequest()) return;
    if (!isRefusal(response.url(), response.status()))
      troubles.push(`${response.status()} of ${response.url()}`);
  });
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^https?:$/.test(protocol) && hostname !== "127.0.0.1") troubles.push(`request to ${hostname}`);
  });
}

async function findOverflow(page: Page, width: number): Promise<string[]> {
  const scrollWidth = await page.evaluate<number>("document.documentElement.scrollWidth");
  return scrollWidth <= width ? [] : [`${scrollWidth} px wide at ${width} px`];
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

async function findWithAxe(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(AXE_SOURCE);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${JSON.stringify(rules === undefined ? {} : { runOnly: rules })})`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
