import { createRequire } from "node:module";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { signIn, type SignedIn } from "../../support/signIn.ts";

/** A wait ends as soon as its condition holds; on a busy machine that may take long. */
const PATIENCE_MS = 60_000;
const AXE_SOURCE: string = (createRequire(import.meta.url)("axe-core") as { source: string }).source;
/** Name under which the pages keep their part of a session. */
const PAGE_KEY = "tyche.pageKey";
/** A desktop screen, a phone, and the narrowest width that WCAG 2.2 (1.4.10) requires. */
const WIDTHS = [1280, 390, 320] as const;
/** Where axe looks, and with which rules, if not all. The schemes differ only in colours, which are the same at all widths. */
const LOOKS: readonly (readonly [width: number, scheme: Screen["scheme"], rules?: readonly string[]])[] = [
  [390, "light"],
  [1280, "light"],
  [1280, "dark", ["color-contrast"]],
];

export interface Screen {
  readonly width: number;
  readonly scheme: "light" | "dark";
}

export interface VisitorOptions extends Partial<Screen> {
  /** A service that the visitor has signed in to before, in a session of its own. Default: no service. */
  readonly operatorOf?: Parameters<typeof signIn>[0];
  /** A session that was opened elsewhere. Default: none. */
  readonly session?: SignedIn & { readonly url: string };
  /** What the visitor's clock shows. Default: the machine's time zone. */
  readonly timeZone?: string;
}

/** A visitor with a browser context of its own, which records everything that goes wrong on a page. */
export interface Visitor {
  readonly page: Page;
  /** What has gone wrong so far: console errors, policy violations, requests that failed or went to another host. */
  readonly troubles: readonly string[];
  /** Returns the troubles so far and clears them, for when some are expected. */
  takeTroubles(): readonly string[];
  /** Opens a page and waits until it has loaded its data. */
  open(url: string): Promise<void>;
  /**
   * Expects that axe finds nothing on the current page in both schemes, and that neither it nor a list scrolls sideways at any width.
   *
   * @param only the screen that axe looks at: a test that runs on a wide, light one and on a narrow, dark one inspects each only there.
   */
  inspect(only?: Screen): Promise<void>;
  /** Presses a button that copies a text, and returns the text. */
  copy(button: Locator): Promise<string>;
  close(): Promise<void>;
}

/** Opens a window for a new visitor. */
export async function createVisitor(
  browser: Browser,
  { width = 1280, scheme = "light", operatorOf, session, timeZone }: VisitorOptions = {},
): Promise<Visitor> {
  const opened = operatorOf === undefined ? session : { ...(await signIn(operatorOf)), url: operatorOf.url };
  const context = await browser.newContext({
    ...(opened === undefined ? {} : { storageState: storageOf(opened) }),
    viewport: { width, height: 800 },
    colorScheme: scheme,
    // Without a locale in the environment, Chromium's is "en-US@posix", which is no language tag.
    locale: "en-US",
    ...(timeZone === undefined ? {} : { timezoneId: timeZone }),
    // Colours in the middle of a transition would be measured.
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
    async inspect(only) {
      const found: string[] = [];
      for (const oneWidth of WIDTHS) {
        await page.setViewportSize({ width: oneWidth, height: 800 });
        found.push(...(await findOverflow(page, oneWidth)));
      }
      const looks = only === undefined ? LOOKS : [[only.width, only.scheme] as const];
      for (const [oneWidth, one, rules] of looks) {
        await page.setViewportSize({ width: oneWidth, height: 800 });
        await page.emulateMedia({ colorScheme: one });
        const findings = await findWithAxe(page, rules);
        found.push(...findings.map((text) => `${oneWidth} px, ${one}: ${text}`));
      }
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      expect({ url: page.url(), found }).toEqual({ url: page.url(), found: [] });
    },
    async copy(button) {
      const read = () => page.evaluate<string>("navigator.clipboard.readText()");
      // The text is copied after the press; until then, the clipboard would have what was copied before.
      await page.evaluate("navigator.clipboard.writeText('')");
      await button.click();
      await expect.poll(read).not.toBe("");
      return await read();
    },
    async close() {
      // A page polls, so a route's handler may be waiting for the answer that closing the page takes away.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    },
  };
}

/** Returns a session as a browser stores it. */
function storageOf({ cookie, pageKey, url }: NonNullable<VisitorOptions["session"]>) {
  const [name, value] = cookie.split("=") as [string, string];
  const { hostname, origin } = new URL(url);
  const scope = { domain: hostname, path: "/session", expires: -1 };
  return {
    cookies: [{ name, value, ...scope, httpOnly: true, secure: false, sameSite: "Strict" as const }],
    origins: [{ origin, localStorage: [{ name: PAGE_KEY, value: pageKey }] }],
  };
}

/** Whether the API refused user input: the page reports it, and Chromium logs it as a resource that failed to load. */
function isRefusal(url: string, status: number): boolean {
  const { pathname } = new URL(url);
  return (
    (pathname.startsWith("/api/") && [400, 404, 422].includes(status)) ||
    (/^\/session(?:\/challenge)?$/.test(pathname) && status === 403)
  );
}

function watch(context: BrowserContext, troubles: string[]): void {
  context.on("console", (message) => {
    const [, status] =
      /^Failed to load resource: the server responded with a status of (\d+)/.exec(message.text()) ?? [];
    const { url } = message.location();
    // The page of an unknown path itself has status 404.
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
  const wide = await page.evaluate<string[]>(
    `[...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)`,
  );
  return [
    ...(scrollWidth <= width ? [] : [`${scrollWidth} px wide at ${width} px`]),
    ...wide.map((label) => `${label} scrolls sideways at ${width} px`),
  ];
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

async function findWithAxe(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE_SOURCE);
  // Every rule runs; describing all elements that pass would take four fifths of the time.
  const options = { resultTypes: ["violations"], ...(rules === undefined ? {} : { runOnly: rules }) };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
