import type { Router } from "@koa/router";
import type { Context } from "koa";
import { messageOf, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { originHostOf } from "../lib/loopback.ts";
import { isObject } from "../lib/isObject.ts";
import type { JsonValue } from "../lib/parseJson.ts";
import { SESSION_MS, type OperatorAccess } from "../people/access.ts";
import { CHALLENGE_MS, PasskeyRefusedError, relyingPartyOf } from "../people/passkeys.ts";
import { hashOf, IDLE_MS, type Ceremony, type People } from "../people/people.ts";

/** Start of the cookies' names, which end in the port. */
const COOKIE = "tyche_session";
const CHALLENGE_COOKIE = "tyche_challenge";
/** Enough for what a browser says of a passkey. */
const MAX_BODY_BYTES = 8_192;

/** Dependencies of the session routes. */
export interface SessionRoutesOptions {
  readonly access: OperatorAccess;
  readonly people: People;
  /** Address that the configuration says browsers reach the service at. */
  readonly publicUrl: string | undefined;
  readonly guard: (ctx: Context) => Promise<void>;
  readonly readJson: (ctx: Context, maxBytes: number) => Promise<JsonValue | undefined>;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/**
 * Adds `/session`, which only pages of our own origin may call. `POST` with a proof (`operatorToken`, the `code` of the link that a start
 * prints, or a `passkey`) opens a session, identified by a cookie, and returns its API token and its `pageKey`; with an `invitation` too, a
 * new passkey opens one for a new person. `POST` with that `pageKey` returns the API token of the existing session, or `null`; an
 * `invitation` is then accepted by the person whose session it is. `DELETE` ends the session. `POST /session/challenge` returns what a
 * passkey is asked for; a cookie ties the answer to this browser.
 */
export function sessionRoutes(router: Router, options: SessionRoutesOptions): void {
  const { access, people, publicUrl, guard, readJson, log } = options;
  const ceremonyOf = (ctx: Context): Ceremony => ({
    party: relyingPartyOf(ctx.get("Origin"), publicUrl),
    challenge: readCookie(ctx, CHALLENGE_COOKIE) ?? "",
    browser: ctx.get("User-Agent"),
  });
  /** Returns the secret of a new session; `undefined` if the proof is wrong. */
  const open = async (ctx: Context, proof: Exclude<Proof, { pageKey: string }>) => {
    if ("operatorToken" in proof) return await access.signIn(proof.operatorToken);
    if ("code" in proof) return await access.signInOnce(proof.code);
    const { passkey: answer, invitation: code, name } = proof;
    return code === undefined
      ? await people.signIn(answer, ceremonyOf(ctx))
      : await people.signUp({ code, name, answer }, ceremonyOf(ctx));
  };

  router.post("/session/challenge", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const { invitation } = readMembers(await readJson(ctx, MAX_BODY_BYTES));
    const code = typeof invitation === "string" ? invitation : undefined;
    const { secret, data } = await people.challenge(relyingPartyOf(ctx.get("Origin"), publicUrl), code);
    setCookie(ctx, CHALLENGE_COOKIE, `${secret}; Max-Age=${CHALLENGE_MS / 1000}`);
    sendData(ctx, data);
  });
  router.post("/session", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const proof = readProof(await readJson(ctx, MAX_BODY_BYTES));
    if ("pageKey" in proof) {
      const secret = readCookie(ctx);
      const token = secret === undefined ? undefined : await access.findToken(secret, proof.pageKey);
      if (secret !== undefined && token !== undefined) {
        if (proof.invitation !== undefined) await people.accept(proof.invitation, hashOf(secret));
        const isPerson = (await people.findCaller(hashOf(secret))) !== undefined;
        if (isPerson) setCookie(ctx, COOKIE, `${secret}; Max-Age=${IDLE_MS / 1000}`);
      }
      sendData(ctx, { token: token ?? null });
      return;
    }
    const refuse = (error: TycheError, reason: string): never => {
      log.warn({ address: ctx.ip, reason }, "a sign-in was refused");
      throw error;
    };
    const secret = await open(ctx, proof).catch((error: unknown) => {
      if (error instanceof PasskeyRefusedError) return refuse(error, messageOf(error.cause));
      throw error;
    });
    if (secret === undefined) return refuse(new SignInRefusedError("code" in proof), "wrong token or code");
    log.info({ address: ctx.ip }, "signed in");
    setCookie(ctx, COOKIE, `${secret}; Max-Age=${("passkey" in proof ? IDLE_MS : SESSION_MS) / 1000}`);
    const pageKey = access.pageKeyOf(secret);
    sendData(ctx, { token: await access.findToken(secret, pageKey), pageKey });
  });
  router.delete("/session", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const secret = readCookie(ctx);
    if (secret !== undefined) await access.signOut(secret);
    setCookie(ctx, COOKIE, "; Max-Age=0");
    sendData(ctx, { token: null });
  });
}

type Proof =
  | { readonly operatorToken: string }
  | { readonly code: string }
  | { readonly passkey: object; readonly invitation: string | undefined; readonly name: string }
  /** Empty if the page has stored none. */
  | { readonly pageKey: string; readonly invitation: string | undefined };

function readProof(body: JsonValue | undefined): Proof {
  const { operatorToken, code, passkey, pageKey, name, invitation: given } = readMembers(body);
  const invitation = typeof given === "string" ? given : undefined;
  if (typeof operatorToken === "string") return { operatorToken };
  if (typeof code === "string") return { code };
  if (isObject(passkey)) return { passkey, invitation, name: typeof name === "string" ? name : "" };
  if (operatorToken === undefined && code === undefined && passkey === undefined)
    return { pageKey: typeof pageKey === "string" ? pageKey : "", invitation };
  throw new InvalidParameterError([
    { path: "", message: "give operatorToken or code, each a string, or a passkey's answer" },
  ]);
}

function readMembers(body: JsonValue | undefined): Readonly<Record<string, unknown>> {
  return { ...(body as Readonly<Record<string, unknown>> | undefined) };
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
 * Returns the name of a cookie. All ports of a host share their cookies, so the port tells apart the sessions of two services. A proxy in
 * front may leave it out, and there is none on the default ports.
 */
function cookieName(ctx: Context, cookie: string): string {
  const port = /:(\d{1,5})$/.exec(ctx.get("Host"))?.[1];
  return port === undefined ? cookie : `${cookie}_${port}`;
}

/** Returns a secret from a cookie. Koa's `cookies.get` stores a pattern per name for good, and callers choose the port. */
function readCookie(ctx: Context, cookie = COOKIE): string | undefined {
  const start = `${cookieName(ctx, cookie)}=`;
  const pairs = ctx.get("Cookie").split(";");
  return pairs
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(start))
    ?.slice(start.length);
}

/** Over TLS, which a proxy in front may terminate, the browser's Origin says so, and the cookie is restricted to TLS. */
function setCookie(ctx: Context, cookie: string, value: string): void {
  const isSecure = ctx.secure || ctx.get("Origin").startsWith("https:");
  ctx.append(
    "Set-Cookie",
    `${cookieName(ctx, cookie)}=${value}; Path=/session; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`,
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
