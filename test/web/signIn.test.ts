import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  makeDataDir,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";

let tyche: TycheProcess;
let operatorToken: string;
beforeAll(async () => {
  tyche = await startTycheProcess();
  operatorToken = readFileSync(path.join(tyche.dataDir, "operator-token"), "utf8").trim();
});
afterAll(async () => {
  await tyche.stop();
});

interface Init {
  readonly method?: string;
  readonly body?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
}
const call = async (target: string, { headers, ...init }: Init = {}) => {
  const response = await fetch(`${tyche.url}${target}`, {
    redirect: "manual",
    ...init,
    headers: { accept: "text/html", ...headers },
  });
  return {
    status: response.status,
    location: response.headers.get("location"),
    cookie: response.headers.getSetCookie()[0]?.split(";")[0] ?? "",
    text: await response.text(),
  };
};
const signIn = (token: string, next = "/networks", headers: Record<string, string> = {}) =>
  call("/sign-in", { method: "POST", body: new URLSearchParams({ operatorToken: token, next }), headers });

test("default: the token is in the data directory, for its owner alone, and not in the output", () => {
  expect(operatorToken).toMatch(/^[\w-]{43}$/);
  expect(statSync(path.join(tyche.dataDir, "operator-token")).mode & 0o777).toBe(0o600);
  expect(tyche.output()).not.toContain(operatorToken);
  expect(tyche.output()).toContain(`sign in with the token in ${path.join(tyche.dataDir, "operator-token")}`);
});

test("behaviour: without a session there is the explorer, and the way to sign in", async () => {
  expect(await call("/networks")).toMatchObject({ status: 303, location: "/sign-in?next=%2Fnetworks" });
  expect((await call("/networks", { headers: { accept: "application/json" } })).status).toBe(401);
  expect((await call("/dapps", { method: "POST", body: new URLSearchParams({ name: "x" }) })).status).toBe(
    401,
  );
  const { status, text } = await call("/explorer/sepolia");
  expect(status).toBe(200);
  expect(text).toContain('href="/sign-in"');
  expect(text).not.toContain('href="/networks"');
});

test("default: the token opens the application, and signing out closes it", async () => {
  const opened = await signIn(operatorToken);
  expect(opened).toMatchObject({ status: 303, location: "/networks" });
  const headers = { cookie: opened.cookie };
  const page = await call("/networks", { headers });
  expect(page.status).toBe(200);
  const token = /name="token" value="([^"]+)"/.exec(page.text)![1]!;
  expect(
    (await call("/sign-out", { method: "POST", headers, body: new URLSearchParams({ token: "wrong" }) }))
      .status,
  ).toBe(403);
  expect((await call("/networks", { headers })).status).toBe(200);
  expect(
    (await call("/sign-out", { method: "POST", headers, body: new URLSearchParams({ token }) })).status,
  ).toBe(303);
  expect((await call("/networks", { headers })).status).toBe(303);
});

test("error: another token, and a form from elsewhere, open nothing", async () => {
  expect(await signIn("wrong")).toMatchObject({ status: 403, cookie: "" });
  expect(await signIn(operatorToken, "/", { origin: "http://evil.example" })).toMatchObject({
    status: 403,
    cookie: "",
  });
});

test("default: neither the API key nor a link that signs in is in the output of a start that no person reads", () => {
  expect(tyche.output()).not.toContain(tyche.apiKey);
  expect(tyche.output()).toContain(`API key   in ${path.join(tyche.dataDir, "api-key")}`);
  expect(tyche.output()).not.toContain("code=");
});

test("behaviour: a link with a code asks before it is used up, and one that is wrong says what to do", async () => {
  const { text, cookie } = await call("/sign-in?code=wrong");
  expect(text).toContain('name="code" value="wrong"');
  expect(cookie).toBe("");
  const body = new URLSearchParams({ code: "wrong", next: "/" });
  const refused = await call("/sign-in", { method: "POST", body });
  expect(refused).toMatchObject({ status: 403, cookie: "" });
  expect(refused.text).toContain("used before");
});

test.each([
  "//evil.example/",
  "/\\evil.example",
  "/.//evil.example",
  "/..//evil.example",
  "/x/..//evil.example",
  "/%2e//evil.example",
  "/\t/evil.example",
  "https://evil.example/",
  "javascript:alert(1)",
  "networks",
])("error: signing in doesn't lead away to %s", async (next) => {
  expect((await signIn(operatorToken, next)).location).toBe("/");
});

test.each(["", "a\nb", "\u001b[2J", "x".repeat(61)])(
  "error: the command line takes no dapp named %j",
  async (name) => {
    const { code, output } = await runTyche(["dapp", "create", name], { TYCHE_DATA_DIR: tyche.dataDir });
    expect(code).toBe(1);
    expect(output).toMatch(/name: must/);
  },
);

test("error: a token that could be guessed stops the start with one sentence", async () => {
  const dataDir = makeDataDir();
  try {
    const first = await startTycheProcess({ dataDir });
    await first.stop();
    writeFileSync(path.join(dataDir, "operator-token"), "letmein\n");
    const { code, output } = await runTyche(["start"], { PORT: "0", TYCHE_DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(output).toMatch(/operator-token must hold at least 32 characters/);
  } finally {
    removeDataDir(dataDir);
  }
});
