import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAccess, type Access } from "../../src/web/access.ts";
import { createSessions } from "../../src/web/sessions.ts";
import { TycheError } from "../../src/lib/errors.ts";

const TOKEN = "operator-token-of-these-tests-0123456789";

let server: Server;
let access: Access;
let now: number;

const start = async (): Promise<void> => {
  now = 1_000_000;
  access = await createAccess({ operatorToken: TOKEN, sessions: createSessions(() => now) });
  const app = new Koa();
  app.use(async (ctx) => {
    try {
      await access.recognize(ctx);
      if (ctx.path === "/form-token") ctx.body = access.formToken(ctx);
      else if (ctx.path === "/form") {
        access.checkForm(ctx, ctx.get("x-token"));
        ctx.body = "taken";
      } else if (ctx.path === "/sign-in")
        ctx.body = String(await access.signIn(ctx, ctx.get("x-operator-token")));
      else if (ctx.path === "/sign-in-once")
        ctx.body = String(await access.signInOnce(ctx, ctx.get("x-code")));
      else if (ctx.path === "/sign-out") {
        await access.signOut(ctx);
        ctx.body = "out";
      } else ctx.body = String(access.isAdmitted(ctx));
    } catch (error) {
      ctx.status = 403;
      ctx.body = error instanceof TycheError ? error.code : String(error);
    }
  });
  server = createServer(app.callback() as never);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
};

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly cookie: string;
}

/** A call with exactly these headers, `Host` among them. */
function call(path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (body += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode!, body, cookie: response.headers["set-cookie"]?.[0] ?? "" }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}

const signIn = async (headers: Record<string, string> = {}): Promise<string> => {
  const { body, cookie } = await call("/sign-in", { ...headers, "x-operator-token": TOKEN });
  expect(body).toBe("true");
  return cookie.split(";")[0]!;
};

afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())));

describe("without a session", () => {
  beforeEach(() => start());

  test.each([
    { host: "localhost" },
    { host: "127.0.0.1:3000" },
    { host: "[::1]:3000" },
    { host: "evil.example" },
    { host: "127.0.0.1", "CF-Connecting-IP": "1.2.3.4" },
    { host: "127.0.0.1", "X-Client-IP": "1.2.3.4" },
    { host: "127.0.0.1", "X-Forwarded-For": "127.0.0.1" },
  ])("error: nothing that a request says of itself opens it: %j", async (headers) => {
    expect((await call("/", headers as Record<string, string>)).body).toBe("false");
  });

  test("behaviour: a session is good under any name", async () => {
    const host = "tyche.example";
    const cookie = await signIn({ host });
    expect((await call("/", { host, cookie })).body).toBe("true");
    expect((await call("/", { host, cookie: `${cookie}x` })).body).toBe("false");
  });

  test("behaviour: the code of a start opens one session", async () => {
    const enter = (code: string) => call("/sign-in-once", { "x-code": code });
    expect((await enter("wrong")).body).toBe("false");
    const { body, cookie } = await enter(access.signInCode);
    expect(body).toBe("true");
    expect((await call("/", { cookie: cookie.split(";")[0]! })).body).toBe("true");
    expect(await enter(access.signInCode)).toMatchObject({ body: "false", cookie: "" });
  });
});

describe("forms", () => {
  beforeEach(() => start());
  const host = "127.0.0.1:3000";
  const formToken = async (headers: Record<string, string> = {}) =>
    (await call("/form-token", { host, ...headers })).body;

  test("default: one of our own pages is taken", async () => {
    const token = await formToken();
    const headers = {
      host,
      "x-token": token,
      origin: "http://127.0.0.1:3000",
      "sec-fetch-site": "same-origin",
    };
    expect(await call("/form", headers)).toMatchObject({ status: 200, body: "taken" });
  });

  test.each([
    { origin: "http://evil.example" },
    { origin: "http://127.0.0.1:3001" },
    { origin: "http://localhost:3000" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ])("error: from elsewhere it is refused, even with the right token: %j", async (headers) => {
    expect(
      await call("/form", { host, "x-token": await formToken(), ...(headers as Record<string, string>) }),
    ).toMatchObject({ status: 403, body: "form_refused" });
  });

  test("error: without the token, or with that of another session, it is refused", async () => {
    const cookie = await signIn();
    const own = await formToken({ cookie });
    expect((await call("/form", { host })).status).toBe(403);
    expect((await call("/form", { host, "x-token": own })).status).toBe(403);
    expect((await call("/form", { host, cookie, "x-token": await formToken() })).status).toBe(403);
    expect((await call("/form", { host, cookie, "x-token": own })).status).toBe(200);
  });
});

describe("sessions", () => {
  const host = "127.0.0.1:3000";
  beforeEach(() => start());

  test("default: the token opens one", async () => {
    expect((await call("/", { host })).body).toBe("false");
    expect((await call("/", { host, cookie: await signIn() })).body).toBe("true");
  });

  test("behaviour: the cookie is out of reach of scripts and other sites, and of plain HTTP where there is TLS", async () => {
    const { cookie } = await call("/sign-in", { host, "x-operator-token": TOKEN });
    expect(cookie).toMatch(/^tyche_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const secure = await call("/sign-in", {
      host: "tyche.example",
      origin: "https://tyche.example",
      "x-operator-token": TOKEN,
    });
    expect(secure.cookie).toMatch(/; Secure$/);
  });

  test("behaviour: it ends after twelve hours, and when one signs out", async () => {
    const [first, second] = [await signIn(), await signIn()];
    expect((await call("/sign-out", { host, cookie: first })).cookie).toContain("Max-Age=0");
    expect((await call("/", { host, cookie: first })).body).toBe("false");
    expect((await call("/", { host, cookie: second })).body).toBe("true");
    now += 12 * 60 * 60 * 1000;
    expect((await call("/", { host, cookie: second })).body).toBe("false");
  });

  test("behaviour: the hundred-and-first ends the oldest", async () => {
    const first = await signIn();
    const second = await signIn();
    for (let i = 0; i < 99; i += 1) await signIn();
    expect((await call("/", { host, cookie: first })).body).toBe("false");
    expect((await call("/", { host, cookie: second })).body).toBe("true");
  });

  test.each(["", "wrong", `${TOKEN}x`, TOKEN.slice(1)])("error: the token %j opens none", async (token) => {
    const { body, cookie } = await call("/sign-in", { host, "x-operator-token": token });
    expect({ body, cookie }).toEqual({ body: "false", cookie: "" });
  });
});
