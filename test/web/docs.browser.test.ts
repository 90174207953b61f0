import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeCall } from "../../src/browser/docs/describedCall.ts";
import { describeType, type Schema } from "../../src/browser/docs/describeType.ts";
import { SAMPLED_OPERATIONS, writeSamples, type SampledOperation } from "../../src/browser/docs/samples.ts";
import { joinService, shared, type SharedDapp } from "../support/shared.ts";
import { readOperatorToken } from "../support/signIn.ts";
import { createVisitor, type Visitor } from "./support/visitor.ts";

const run = promisify(execFile);
type Operation = Parameters<typeof describeCall>[2];

let browser: Browser;
let tyche: SharedDapp;
let paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
shared.beforeAll(async ({ browser: chromium, service }) => {
  browser = chromium;
  tyche = await joinService(service);
  ({ paths } = (await (await fetch(`${tyche.url}/openapi.json`)).json()) as { paths: typeof paths });
});

test("the page has nothing inline and nothing from elsewhere, and is for everybody", async () => {
  const page = await fetch(`${tyche.url}/docs`);
  const text = await page.text();
  expect(page.headers.get("Content-Security-Policy")).toContain("script-src 'self'");
  expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son[a-z]+=|style=|https?:/);
  for (const [, file] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
    expect([file, (await fetch(tyche.url + file!)).status]).toEqual([file, 200]);
});

test("every operation has a sample in TypeScript", () => {
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId));
  expect(SAMPLED_OPERATIONS.toSorted()).toEqual(ids.toSorted());
});

test("the samples in TypeScript compile in strict mode", async () => {
  const folder = path.join(import.meta.dirname, ".build");
  mkdirSync(folder, { recursive: true });
  try {
    for (const [route, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const { text } = writeSamples(describeCall(method, route, operation))[1]!;
        writeFileSync(path.join(folder, `${operation.operationId}.ts`), text);
      }
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "esnext",
      moduleResolution: "bundler",
      allowImportingTsExtensions: true,
      exactOptionalPropertyTypes: true,
      target: "esnext",
      types: ["node"],
      paths: { "tyche/client": ["../../../src/client/index.ts"] },
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const tsc = path.resolve("node_modules/typescript/bin/tsc");
    await expect(run(process.execPath, [tsc, "-p", folder])).resolves.toMatchObject({ stdout: "" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("every pattern of a text in the description has words", () => {
  // Examples have the schemas of presets in them.
  const raw = JSON.stringify(paths, (key, value: unknown) => {
    if (/^examples?$/.test(key)) return undefined;
    const isText = typeof value === "object" && value !== null && "pattern" in value && key !== "properties";
    return isText ? describeType(value as Schema) : value;
  });
  expect(raw).toContain("32 bytes as 0x-hex");
  expect(/text that matches [^"]*/.exec(raw)).toBeNull();
});

test.each([
  ["post", "/api/vrfv2/presets"],
  ["post", "/api/vrfv2/requestRandomNumber"],
  ["post", "/api/oracleFunctions/runFunction"],
  ["post", "/api/oracleFunctions/simulate"],
  ["get", "/api/presets"],
  ["get", "/api/explorer/search"],
  ["post", "/api/dapps"],
  ["get", "/api/dapps/{dappId}/balances"],
  ["get", "/api/requests"],
])("the samples of %s %s in curl and Python work as they are", async (method, route) => {
  const samples = writeSamples(describeCall(method, route, paths[route]![method]!));
  const operatorToken = readOperatorToken(tyche);
  const dapps = await tyche.call("GET", "/api/dapps", { headers: { authorization: operatorToken } });
  const env = {
    ...process.env,
    TYCHE_URL: tyche.url,
    TYCHE_API_KEY: tyche.apiKey,
    OPERATOR_TOKEN: operatorToken,
    DAPP_ID: dapps.data.items[0].id as string,
  };
  const textOf = (name: string): string => samples.find((one) => one.name === name)!.text;
  const { stdout } = await run("bash", ["-c", textOf("curl")], { env });
  const { data } = JSON.parse(stdout) as { readonly data: { readonly id?: string } };
  expect(data).not.toHaveProperty("code");
  // The other sample creates a dapp of the same name.
  if (route === "/api/dapps")
    await tyche.call("DELETE", `/api/dapps/${data.id!}`, {
      headers: { authorization: operatorToken, "tyche-dapp": data.id! },
    });
  await run("python3", ["-c", textOf("Python")], { env });
});

test("a quote in a body survives the shell", async () => {
  const call: SampledOperation = {
    operationId: "simulateFunction",
    method: "post",
    path: "/api/oracleFunctions/simulate",
    values: {},
    body: { source: "return Functions.encodeString('it\\'s')" },
    credential: "apiKey",
  };
  const [curl] = writeSamples(call);
  const env = { ...process.env, TYCHE_URL: tyche.url, TYCHE_API_KEY: tyche.apiKey };
  const { stdout } = await run("bash", ["-c", curl!.text], { env });
  expect(JSON.parse(stdout)).toMatchObject({ data: { parsedResult: "it's" } });
});

describe("in a browser", () => {
  let visitor: Visitor;
  beforeEach(async () => {
    visitor = await createVisitor(browser);
  });
  afterEach(() => visitor.close());

  test.each<[string, number]>([
    ["can't answer", 503],
    ["has been asked too often", 429],
  ])("a service that %s leaves a sentence, not a page that waits", async (_, status) => {
    const { page } = visitor;
    await page.route("**/openapi.json", (route) => route.fulfill({ status, json: { data: {} } }));
    await page.goto(`${tyche.url}/docs`);
    await page.getByText("The API description could not be loaded.").waitFor();
    expect(visitor.takeTroubles().filter((trouble) => !trouble.includes(String(status)))).toEqual([]);
  });

  const operation = (id: string) => visitor.page.locator(`#${id}`);
  const bodyOf = async (id: string): Promise<unknown> =>
    JSON.parse(await operation(id).getByRole("textbox", { name: "Body" }).inputValue()) as unknown;
  const contents = () => visitor.page.getByRole("navigation", { name: "Contents" });
  const topOf = async (id: string) => Math.abs((await operation(id).boundingBox())!.y);

  test("an address opens the operation that it names, whose body has its lists of values as choices", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs#runFunction`);
    const call = operation("runFunction");
    await expect.poll(() => topOf("runFunction")).toBeLessThan(50);
    await call.getByRole("combobox", { name: "network" }).selectOption("fuji");
    await call.getByRole("combobox", { name: "returnType" }).selectOption("int256");
    await expect.poll(() => bodyOf("runFunction")).toMatchObject({ network: "fuji", returnType: "int256" });
    await call.getByRole("combobox", { name: "returnType" }).selectOption("not given");
    await expect.poll(() => bodyOf("runFunction")).not.toHaveProperty("returnType");
    await visitor.inspect();
    await call.getByRole("textbox", { name: "Body" }).fill("{");
    await expect.poll(() => call.getByRole("combobox", { name: "network" }).count()).toBe(0);
    expect(visitor.troubles).toEqual([]);
  });

  test("opening a call writes its address, shows the types in words, and each error with what to do", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs`);
    await operation("runPreset").getByText("Run a preset").click();
    await page.waitForURL("**/docs#runPreset");
    const call = operation("runPreset");
    const beacon = call.locator("dt").filter({ hasText: /^beacon/ });
    await beacon.getByText('"drand", "local" or "none"').waitFor();
    await call.getByText(/^Errors: \d+$/).click();
    const missing = call.locator("dt", { hasText: "still_pending" });
    await missing.getByRole("link", { name: "still_pending" }).waitFor();
    await visitor.inspect();
    await missing.getByRole("link").click();
    await page.waitForURL("**/docs#error-still_pending");
    expect(visitor.troubles).toEqual([]);
  });

  test("a yes or no is chosen, and a line as wide as the column parts the fields", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs#runPreset`);
    const once = operation("runPreset").getByRole("combobox", { name: "once" });
    await expect
      .poll(() => once.getByRole("option").allTextContents())
      .toEqual(["not given", "true", "false"]);
    const list = operation("runPreset").locator("dl").first();
    const widthOf = async (locator: typeof list) => Math.round((await locator.boundingBox())!.width);
    expect(await widthOf(list.locator("dt", { hasText: /^once/ }))).toBe(await widthOf(list));
    expect(visitor.troubles).toEqual([]);
  });

  test("a language is chosen for the samples of all calls at once", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs#runPreset`);
    await operation("runPreset").getByRole("button", { name: "CLI" }).click();
    await operation("runPreset").getByText("npx tyche call coinflip --network sepolia").waitFor();
    await page.evaluate("location.hash = 'listRequests'");
    await operation("listRequests").getByText("npx tyche requests list --limit 20").waitFor();
    expect(await visitor.copy(operation("listRequests").getByRole("button", { name: "Copy" }))).toBe(
      "npx tyche requests list --limit 20",
    );
    expect(visitor.troubles).toEqual([]);
  });

  test("the search finds calls, fields and error codes, and leads to them", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs`);
    const field = contents().getByRole("searchbox", { name: "Find a call, field or error" });
    await field.fill("rotate webhook");
    await contents().getByRole("link", { name: "Rotate a webhook's secret" }).waitFor();
    await field.press("Enter");
    await page.waitForURL("**/docs#rotateWebhookSecret");
    await expect.poll(() => topOf("rotateWebhookSecret")).toBeLessThan(50);
    await field.fill("keyHashes");
    await contents().getByText("field of Request random numbers").waitFor();
    await visitor.inspect();
    await field.fill("rate_limited");
    await contents().getByRole("link", { name: "rate_limited" }).click();
    await page.waitForURL("**/docs#error-rate_limited");
    await field.fill("nothing like it");
    await contents().getByText("Nothing has all these words.").waitFor();
    await field.fill("");
    await contents().getByRole("link", { name: "Authorize" }).waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("the contents mark what is read; on a phone they are behind a button", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs#createDapp`);
    const current = contents().locator("[aria-current]");
    await expect.poll(() => current.allTextContents()).toEqual(["Create a dapp"]);
    await page.setViewportSize({ width: 390, height: 800 });
    const find = contents().getByRole("searchbox");
    await find.waitFor({ state: "hidden" });
    await contents().getByRole("button", { name: "Contents and search" }).click();
    await find.waitFor();
    await contents().getByRole("link", { name: "Webhooks" }).click();
    await find.waitFor({ state: "hidden" });
    await page.waitForURL("**/docs#group-Webhooks");
    await expect.poll(() => current.allTextContents()).toEqual(["Webhooks"]);
    expect(visitor.troubles).toEqual([]);
  });

  test("a call can be sent, and shows what it was answered", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs#exploreNetworks`);
    await operation("exploreNetworks").getByRole("button", { name: "Send" }).click();
    await operation("exploreNetworks").getByRole("status").getByText('"items"').waitFor();
    await page.evaluate("location.hash = 'getUsage'");
    await operation("getUsage").getByRole("button", { name: "Send" }).click();
    await operation("getUsage").getByRole("status").getByText("unauthenticated").waitFor();
    await page.getByLabel("API key of a dapp, or the operator token").fill(tyche.apiKey);
    await operation("getUsage").getByRole("button", { name: "Send" }).click();
    await operation("getUsage")
      .getByRole("status")
      .getByText(/^200 in/)
      .waitFor();
    await visitor.inspect();
    expect(visitor.takeTroubles().filter((trouble) => !trouble.includes("401"))).toEqual([]);
  });

  test("several values have a box each, and another address opens another operation", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs#runFunction`);
    await operation("runFunction").getByRole("heading", { name: "Example" }).waitFor();
    await page.evaluate("location.hash = 'createDapp'");
    const call = operation("createDapp");
    await call.getByRole("group", { name: "facilities" }).getByLabel("functions").uncheck();
    await expect.poll(() => bodyOf("createDapp")).toMatchObject({ facilities: ["presets"] });
    await visitor.inspect();
    expect(visitor.troubles).toEqual([]);
  });

  test("every guide is a page, whose links lead to the others", async () => {
    const { page } = visitor;
    await visitor.open(`${tyche.url}/docs/README`);
    await page.getByRole("link", { name: "a raffle page" }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await visitor.inspect();
    const names = ["CHANGELOG.md", ...readdirSync("docs").filter((name) => name.endsWith(".md"))];
    for (const name of names) {
      await visitor.open(`${tyche.url}/docs/${name.slice(0, -3)}`);
      const links = await page
        .locator("#docs a[href^='/docs/']")
        .evaluateAll((found) =>
          found.map((one) => (one as unknown as { readonly href: string }).href.split("#")[0]!),
        );
      for (const link of new Set(links)) expect([link, (await fetch(link)).status]).toEqual([link, 200]);
      await page.evaluate("document.querySelectorAll('code').forEach((one) => one.remove())");
      const text = await page.locator("#docs").innerText();
      expect([name, /\]\(|`|\*\*/.exec(text)?.[0]]).toEqual([name, undefined]);
    }
    expect(visitor.troubles).toEqual([]);
  });

  test("the list of guides leads to the changelog, and that to how to upgrade", async () => {
    const { page } = visitor;
    await visitor.open(`${tyche.url}/docs/README`);
    await page.locator("#docs").getByRole("link", { name: "Changelog" }).click();
    await page.waitForURL("**/docs/CHANGELOG");
    await page.locator("#docs").getByRole("link", { name: "upgrade", exact: true }).click();
    await page.waitForURL("**/docs/upgrade");
    await page.locator("#docs").getByRole("link", { name: "changelog" }).first().waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("the version on the home page leads to the changelog", async () => {
    const operator = await createVisitor(browser, { operatorOf: tyche });
    try {
      await operator.open(`${tyche.url}/`);
      await operator.page.getByRole("heading", { level: 1 }).getByRole("link").click();
      await operator.page.getByRole("heading", { level: 1, name: "Changelog" }).waitFor();
      expect(operator.troubles).toEqual([]);
    } finally {
      await operator.close();
    }
  });

  test("of a guide, code is copied and its comments are told apart", async () => {
    const { page } = visitor;
    await visitor.open(`${tyche.url}/docs/presets`);
    const command = page.locator("#docs .code").first();
    expect(await visitor.copy(command.getByRole("button", { name: "Copy" }))).toBe(
      "npx tyche preset new loot",
    );
    const comment = page.locator("#docs .code .comment").first();
    expect(await comment.textContent()).toMatch(/^\/\/ bytesArgs\[0\] is the random word/);
    expect(visitor.troubles).toEqual([]);
  });

  test("a search from a guide finds parts of all guides, and leads to them", async () => {
    const { page } = visitor;
    await visitor.open(`${tyche.url}/docs/presets`);
    const field = contents().getByRole("searchbox", { name: "Find in all guides" });
    await field.fill("scheduled backups");
    await contents().getByRole("link", { name: "Scheduled backups" }).waitFor();
    await visitor.inspect();
    await field.press("Enter");
    await page.waitForURL("**/docs/deploy#scheduled-backups");
    await page.getByRole("heading", { name: "Scheduled backups" }).waitFor();
    await page.getByRole("searchbox").fill("xylophone");
    await contents().getByText("Nothing has all these words.").waitFor();
    expect(visitor.troubles).toEqual([]);
  });

  test("says why no key could be loaded", async () => {
    const { page } = visitor;
    await page.goto(`${tyche.url}/docs`);
    const button = page.getByRole("button", { name: "Use a dapp's API key" });
    await button.click();
    await page.getByText("Sign in to the application first.").waitFor();
    const link = page.getByRole("link", { name: "Sign in to the application" });
    expect(await link.getAttribute("href")).toBe("/sign-in");
    const sections = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    await expect.poll(() => sections.allTextContents()).toEqual(["Explorer", "API"]);
    await page.route("**/session", (route) => route.fulfill({ status: 429, json: { data: {} } }));
    await button.click();
    await page.getByText("No key could be loaded: the service answered 429.").waitFor();
    await page.route("**/session", (route) => route.abort());
    await button.click();
    await page.getByText(/^No key could be loaded: (?!the service answered)/).waitFor();
    const expected = /429|ERR_FAILED/;
    expect(visitor.takeTroubles().filter((trouble) => !expected.test(trouble))).toEqual([]);
  });
});
