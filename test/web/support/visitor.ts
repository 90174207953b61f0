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
/** What a service answers at once, with no script: where a window stays until it is used again. */
const REST_PATH = "/healthz";
/** A window whose service takes longer is not used again. */
const REST_MS = 5_000;
/** Events of a page or its context that visitors hear. */
const HEARD = [
  "console",
  "dialog",
  "framenavigated",
  "page",
  "pageerror",
  "popup",
  "request",
  "requestfailed",
  "requestfinished",
  "response",
  "weberror",
] as const;
/** Methods of a page or its context whose changes last until it is closed. */
const LASTING = ["addInitScript", "exposeFunction", "exposeBinding", "addLocatorHandler", "newCDPSession"];
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

/** Windows that wait for their next visitor, by browser. */
const cleared = new WeakMap<Browser, Page[]>();
/** Windows with a change that only their end undoes. */
const changedForGood = new WeakSet<Page>();

/** Opens a window for a new visitor: one without cookies or storage, which an earlier visitor may have had. */
export async function createVisitor(
  browser: Browser,
  { width = 1280, scheme = "light", operatorOf, session, timeZone }: VisitorOptions = {},
): Promise<Visitor> {
  const opened = operatorOf === undefined ? session : { ...(await signIn(operatorOf)), url: operatorOf.url };
  const kept = timeZone === undefined ? cleared.get(browser)?.pop() : undefined;
  const page = kept ?? (await openWindow(browser, timeZone));
  const context = page.context();
  const origins = new Set<string>();
  page.on("framenavigated", (frame) => origins.add(originOf(frame)));
  const troubles: string[] = [];
  try {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ media: null, colorScheme: scheme });
    if (opened !== undefined) await giveSession(page, opened);
  } catch (error) {
    await context.close();
    throw error;
  }
  watch(context, troubles);
  const end = async (): Promise<void> => {
    // A page polls, so a route's handler may be waiting for the answer that closing the page takes away.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    // Playwright itself listens to "close" and "crash".
    for (const one of [page, context]) for (const event of HEARD) one.removeAllListeners(event);
    const [origin = originOf(page), other] = origins;
    const isClear =
      timeZone === undefined &&
      other === undefined &&
      !changedForGood.has(page) &&
      (await clear(page, origin));
    if (isClear) cleared.set(browser, [page, ...(cleared.get(browser) ?? [])]);
    else await context.close();
  };
  let ended: Promise<void> | undefined;
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
    // A second end would hand out the window twice.
    close: () => (ended ??= end()),
  };
}

function originOf(shown: { url(): string }): string {
  return URL.parse(shown.url())?.origin ?? "null";
}

async function openWindow(browser: Browser, timeZone: string | undefined): Promise<Page> {
  const context = await browser.newContext({
    // Without a locale in the environment, Chromium's is "en-US@posix", which is no language tag.
    locale: "en-US",
    ...(timeZone === undefined ? {} : { timezoneId: timeZone }),
    // Colours in the middle of a transition would be measured.
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  for (const owner of [page, context] as unknown as Record<string, (...args: unknown[]) => unknown>[])
    for (const name of LASTING) {
      const change = owner[name];
      owner[name] = function (...args) {
        changedForGood.add(page);
        return change!.apply(this, args);
      };
    }
  return page;
}

/**
 * Takes what a visitor left out of a window, so that the next one finds it as new but for its cache and its history. Its process stays, with the code
 * that it has compiled: two thirds of the processor time that the first page of a new window takes.
 *
 * @param origin the only one that the visitor was at.
 * @returns whether it is as new: not if its service has ended, another page is open, or the page's clock was set.
 */
async function clear(page: Page, origin: string): Promise<boolean> {
  if (page.context().pages().length > 1) return false;
  try {
    // Before the cookies: the page that is left may still be given one.
    await page.goto(origin + REST_PATH, { timeout: REST_MS });
    await page.context().clearCookies();
    return await page.evaluate<boolean>(
      `localStorage.clear(), sessionStorage.clear(), window.name = "", !("__pwClock" in globalThis)`,
    );
  } catch {
    return false;
  }
}

/** Signs a window in. */
async function giveSession(
  page: Page,
  { cookie, pageKey, url }: SignedIn & { readonly url: string },
): Promise<void> {
  const [name, value] = cookie.split("=") as [string, string];
  const { hostname, origin } = new URL(url);
  const scope = { domain: hostname, path: "/session", expires: -1 };
  await page
    .context()
    .addCookies([{ name, value, ...scope, httpOnly: true, secure: false, sameSite: "Strict" }]);
  if (page.url() !== origin + REST_PATH) await page.goto(origin + REST_PATH);
  await page.evaluate(`localStorage.setItem(${JSON.stringify(PAGE_KEY)}, ${JSON.stringify(pageKey)})`);
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
