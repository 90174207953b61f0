import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readOperatorToken, readSessionToken, signIn } from "../support/signIn.ts";
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
  tyche = await startTycheProcess({ networks: ["sepolia"] });
  operatorToken = readOperatorToken(tyche);
});
afterAll(async () => {
  await tyche.stop();
});

/** Calls `/session`; `fetch` would replace the Host header. */
const send = async (
  method: "POST" | "DELETE",
  body: object | undefined,
  headers: Record<string, string> = {},
) => {
  const response = await request(`${tyche.url}/session`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const { data } = (await response.body.json()) as { readonly data: Readonly<Record<string, unknown>> };
  return { status: response.statusCode, data, cookie: [response.headers["set-cookie"] ?? ""].flat()[0]! };
};
const callApi = async (authorization: string): Promise<number> =>
  (await tyche.call("GET", "/api/dapps", { headers: { authorization } })).status;

test("the token is in the data directory, for its owner alone, and not in the output", () => {
  expect(operatorToken).toMatch(/^[\w-]{43}$/);
  expect(statSync(path.join(tyche.dataDir, "operator-token")).mode & 0o777).toBe(0o600);
  expect(tyche.output()).not.toContain(operatorToken);
  expect(tyche.output()).toContain(`sign in with the token in ${path.join(tyche.dataDir, "operator-token")}`);
});

test("the token opens a session, whose own token the API takes, and signing out ends both", async () => {
  const opened = await send("POST", { operatorToken });
  expect(opened.status).toBe(200);
  const cookie = opened.cookie.split(";")[0]!;
  const { token, pageKey } = opened.data as { token: string; pageKey: string };
  expect(await readSessionToken(tyche.url, { cookie, pageKey })).toBe(token);
  expect(await callApi(token)).toBe(200);
  expect(await callApi(`Bearer ${token}`)).toBe(200);
  expect((await send("DELETE", undefined, { cookie })).cookie).toContain("Max-Age=0");
  expect(await readSessionToken(tyche.url, { cookie, pageKey })).toBeNull();
  expect(await callApi(token)).toBe(401);
});

test("no cookie counts for the API, and it goes to the one path that reads it", async () => {
  const opened = await send("POST", { operatorToken });
  expect(opened.cookie.replace(`_${new URL(tyche.url).port}=`, "_PORT=")).toMatch(
    /^tyche_session_PORT=[\w-]{43}; Max-Age=43200; Path=\/session; HttpOnly; SameSite=Strict$/,
  );
  const headers = { cookie: opened.cookie.split(";")[0]!, authorization: "" };
  expect((await tyche.call("GET", "/api/dapps", { headers })).status).toBe(401);
});

test("a server on another port of the host gets the cookie, and no session with it", async () => {
  const { cookie, pageKey } = await signIn(tyche);
  for (const other of ["", `${pageKey}x`, cookie.split("=")[1]!])
    expect(await readSessionToken(tyche.url, { cookie, pageKey: other })).toBeNull();
  expect(await send("POST", undefined, { cookie })).toMatchObject({ status: 200, data: { token: null } });
});

test.each([
  ["localhost:3001", "tyche_session_3001"],
  ["[::1]:3001", "tyche_session_3001"],
  ["[::1]", "tyche_session"],
  ["localhost", "tyche_session"],
])("under the host %s, the cookie is %s, and opens a session there alone", async (host, name) => {
  const { cookie, data } = await send("POST", { operatorToken }, { host });
  expect(cookie.split("=")[0]).toBe(name);
  const { token, pageKey } = data as { token: string; pageKey: string };
  const headers = { host, cookie: `other=1; ${cookie.split(";")[0]!}` };
  expect((await send("POST", { pageKey }, headers)).data).toEqual({ token });
  const elsewhere = { ...headers, host: "localhost:3002" };
  expect((await send("POST", { pageKey }, elsewhere)).data).toEqual({ token: null });
  expect((await send("DELETE", undefined, elsewhere)).cookie).toMatch(/^tyche_session_3002=; Max-Age=0;/);
  expect(await callApi(token)).toBe(200);
});

test("where there is TLS in front, the cookie is kept to it", async () => {
  const { host } = new URL(tyche.url);
  const { cookie } = await send("POST", { operatorToken }, { origin: `https://${host}` });
  expect(cookie).toMatch(/; Secure$/);
});

describe("what opens nothing", () => {
  test.each<[string, object, number]>([
    ["another token", { operatorToken: "wrong" }, 403],
    ["a code that was never given", { code: "wrong" }, 403],
    ["a number", { operatorToken: 7 }, 400],
  ])("%s", async (_, body, status) => {
    expect(await send("POST", body)).toMatchObject({ status, cookie: "", data: { success: false } });
  });

  test.each<Record<string, string>>([
    { origin: "http://evil.example" },
    { origin: "http://127.0.0.1:1" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ])("a page of another origin: %j", async (headers) => {
    const { cookie, pageKey } = await signIn(tyche);
    expect(await send("POST", { operatorToken }, headers)).toMatchObject({ status: 403, cookie: "" });
    const asked = await send("POST", undefined, { ...headers, cookie });
    const codes = /^(?:form_refused|origin_not_allowed)$/;
    expect(asked).toMatchObject({ status: 403, data: { code: expect.stringMatching(codes) } });
    expect(asked.data).not.toHaveProperty("token");
    expect((await send("DELETE", undefined, { ...headers, cookie })).status).toBe(403);
    expect(await readSessionToken(tyche.url, { cookie, pageKey })).toMatch(/^tyche_session_/);
  });

  test("a body that is no JSON, or too long", async () => {
    const post = async (type: string, body: string): Promise<number> =>
      (await fetch(`${tyche.url}/session`, { method: "POST", headers: { "content-type": type }, body }))
        .status;
    expect(await post("application/json", "{")).toBe(400);
    expect(await post("application/x-www-form-urlencoded", `operatorToken=${operatorToken}`)).toBe(415);
    expect(await post("application/json", JSON.stringify({ operatorToken: "x".repeat(10_000) }))).toBe(413);
  });
});

test("neither the API key nor a link that signs in is in the output of a start that no person reads", () => {
  expect(tyche.output()).not.toContain(tyche.apiKey);
  expect(tyche.output()).toContain(`API key   in ${path.join(tyche.dataDir, "api-key")}`);
  expect(tyche.output()).not.toContain("code=");
});

test.each(["", "a\nb", "\u001b[2J", "x".repeat(61)])(
  "the command line takes no dapp named %j",
  async (name) => {
    const { code, output } = await runTyche(["dapp", "create", name], { TYCHE_DATA_DIR: tyche.dataDir });
    expect(code).toBe(1);
    expect(output).toMatch(/name: must/);
  },
);

test("a token that could be guessed stops the start with one sentence", async () => {
  const dataDir = makeDataDir();
  try {
    const first = await startTycheProcess({ dataDir, networks: ["sepolia"] });
    await first.stop();
    writeFileSync(path.join(dataDir, "operator-token"), "letmein\n");
    const { code, output } = await runTyche(["start"], { PORT: "0", TYCHE_DATA_DIR: dataDir });
    expect(code).toBe(1);
    expect(output).toMatch(/operator-token must hold at least 32 characters/);
  } finally {
    removeDataDir(dataDir);
  }
});
