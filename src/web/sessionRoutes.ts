import type { Router } from "@koa/router";
import type { Context } from "koa";
import { SESSION_MS, type OperatorAccess } from "../dapps/operatorAccess.ts";
import { TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { originHostOf } from "../lib/loopback.ts";
import type { JsonValue } from "../lib/parseJson.ts";

/** Start of the cookie's name, which ends in the port. */
const COOKIE = "tyche_session";
/** Enough for a token and the JSON around it. */
const MAX_BODY_BYTES = 4_096;

/** Dependencies of the session routes. */
export interface SessionRoutesOptions {
  readonly access: OperatorAccess;
  readonly guard: (ctx: Context) => Promise<void>;
  readonly readJson: (ctx: Context, maxBytes: number) => Promise<JsonValue | undefined>;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/**
 * Adds `/session`, which only pages of our own origin may call. `POST` with a proof (`operatorToken`, or the `code` of the link that a
 * start prints) opens a session, identified by a cookie, and returns its API token and its `pageKey`. `POST` with that `pageKey` returns
 * the API token of the existing session, or `null`. `DELETE` ends the session.
 */
export function sessionRoutes(router: Router, { access, guard, readJson, log }: SessionRoutesOptions): void {
  router.post("/session", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const proof = readProof(await readJson(ctx, MAX_BODY_BYTES));
    if ("pageKey" in proof) {
      const secret = readCookie(ctx);
      const token = secret === undefined ? undefined : await access.findToken(secret, proof.pageKey);
      sendData(ctx, { token: token ?? null });
      return;
    }
    const secret =
      "code" in proof ? await access.signInOnce(proof.code) : await access.signIn(proof.operatorToken);
    if (secret === undefined) {
      log.warn({ address: ctx.ip }, "a sign-in was refused");
      throw new SignInRefusedError("code" in proof);
    }
    log.info({ address: ctx.ip }, "signed in");
    setCookie(ctx, `${secret}; Max-Age=${SESSION_MS / 1000}`);
    const pageKey = access.pageKeyOf(secret);
    sendData(ctx, { token: await access.findToken(secret, pageKey), pageKey });
  });
  router.delete("/session", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const secret = readCookie(ctx);
    if (secret !== undefined) await access.signOut(secret);
    setCookie(ctx, "; Max-Age=0");
    sendData(ctx, { token: null });
  });
}

type Proof =
  | { readonly operatorToken: string }
  | { readonly code: string }
  /** Empty if the page has stored none. */
  | { readonly pageKey: string };

function readProof(body: JsonValue | undefined): Proof {
  const { operatorToken, code, pageKey } = { ...(body as Readonly<Record<string, unknown>> | undefined) };
  if (typeof operatorToken === "string") return { operatorToken };
  if (typeof code === "string") return { code };
  if (operatorToken === undefined && code === undefined)
    return { pageKey: typeof pageKey === "string" ? pageKey : "" };
  throw new InvalidParameterError([{ path: "", message: "give operatorToken or code, each a string" }]);
}

function sendData(ctx: Context, data: object): void {
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "application/json; charset=utf-8");
  ctx.set("Vary", "Cookie");
  ctx.body = JSON.stringify({ data });
}

/**
 * Checks that a call came from a page of our own origin, as far as the browser tells. `SameSite` alone is not enough: pages on another port
 * of the host are "same site".
 */
function checkOrigin(ctx: Context): void {
  const site = ctx.get("Sec-Fetch-Site");
  const origin = ctx.get("Origin");
  const isOwn =
    (site === "" || site === "same-origin") &&
    (origin === "" || originHostOf(origin) === ctx.get("Host").toLowerCase());
  if (!isOwn) throw new ForeignPageError();
}

/**
 * Returns the name of the cookie. All ports of a host share their cookies, so the port tells apart the sessions of two services. A proxy in
 * front may leave it out, and there is none on the default ports.
 */
function cookieName(ctx: Context): string {
  const port = /:(\d{1,5})$/.exec(ctx.get("Host"))?.[1];
  return port === undefined ? COOKIE : `${COOKIE}_${port}`;
}

/** Returns the session's secret. Koa's `cookies.get` stores a pattern per name for good, and callers choose the port. */
function readCookie(ctx: Context): string | undefined {
  const start = `${cookieName(ctx)}=`;
  const pairs = ctx.get("Cookie").split(";");
  return pairs
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length);
}

/** Over TLS, which a proxy in front may terminate, the browser's Origin says so, and the cookie is restricted to TLS. */
function setCookie(ctx: Context, value: string): void {
  const isSecure = ctx.secure || ctx.get("Origin").startsWith("https:");
  ctx.append(
    "Set-Cookie",
    `${cookieName(ctx)}=${value}; Path=/session; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`,
  );
}

/** The proof given for a sign-in is wrong. */
export class SignInRefusedError extends TycheError {
  constructor(isByLink: boolean) {
    super(
      isByLink
        ? "This link has already been used, or comes from an earlier start. Enter the operator token."
        : "This is not the operator token.",
      { code: "sign_in_refused", blame: "caller" },
    );
  }
}

/** A page of another origin called `/session`. */
export class ForeignPageError extends TycheError {
  constructor() {
    super("the call was refused: it came from a page of another origin", {
      code: "form_refused",
      blame: "caller",
    });
  }
}
