import type { Router } from "@koa/router";
import type { Context } from "koa";
import { messageOf, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { originHostOf } from "../lib/loopback.ts";
import { isObject } from "../lib/isObject.ts";
import type { JsonValue } from "../lib/parseJson.ts";
import { SESSION_MS, type OperatorAccess } from "../people/access.ts";
import { CHALLENGE_MS, PasskeyRefusedError, relyingPartyOf } from "../people/passkeys.ts";
import {
  ProviderRefusedError,
  type IdentityProvider,
  type ProviderAnswer,
} from "../people/identityProvider.ts";
import type { Ceremony } from "../people/passkeySignIn.ts";
import type { People } from "../people/people.ts";
import { hashSecret, IDLE_MS, shownIdOf } from "../people/sessions.ts";

/** Start of the cookies' names, which end in the port. */
const COOKIE = "tyche_session";
const CHALLENGE_COOKIE = "tyche_challenge";
/** Enough for what a browser says of a passkey. */
const MAX_BODY_BYTES = 8_192;

/** Dependencies of the session routes. */
export interface SessionRoutesOptions {
  readonly access: OperatorAccess;
  readonly people: People;
  /** By which people sign in besides passkeys; absent without one. */
  readonly identityProvider: IdentityProvider | undefined;
  /** Address that the configuration says browsers reach the service at. */
  readonly publicUrl: string | undefined;
  readonly guard: (ctx: Context) => Promise<void>;
  readonly readJson: (ctx: Context, maxBytes: number) => Promise<JsonValue | undefined>;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/**
 * Adds `/session`, which only pages of our own origin may call. `POST` with a proof (`operatorToken`, the `code` of the link that a start
 * prints, a `passkey`, or a `provider`'s answer) opens a session, identified by a cookie, and returns its API token and its `pageKey`; with
 * an `invitation` too, a new passkey or a provider's answer opens one for a new person. `POST` with that `pageKey` returns the API token of
 * the existing session, or `null`; an `invitation` is then accepted by the person whose session it is. `DELETE` ends the session. `POST /session/challenge` returns what a
 * passkey is asked for; a cookie ties the answer to this browser. With a `pageKey`, it asks for another passkey of the person who is signed in,
 * which `POST /session/passkeys` adds. `GET /session/provider` says what the OpenID provider is called, `null` without one; `POST` returns
 * where to send the browser, and a secret that its page keeps: with what the provider sent it back with, that is a proof, too.
 */
export function sessionRoutes(router: Router, options: SessionRoutesOptions): void {
  const { access, people, identityProvider, publicUrl, guard, readJson, log } = options;
  const ceremonyOf = (ctx: Context): Ceremony => ({
    party: relyingPartyOf(ctx.get("Origin"), publicUrl),
    challenge: readCookie(ctx, CHALLENGE_COOKIE) ?? "",
    browser: ctx.get("User-Agent"),
  });
  /** Returns the secret of this browser's session and its token for the API; `undefined` if it has none, or the page key is wrong. */
  const findSession = async (ctx: Context, pageKey: string) => {
    const secret = readCookie(ctx);
    const token = secret === undefined ? undefined : await access.findToken(secret, pageKey);
    return secret === undefined || token === undefined
      ? undefined
      : { secret, token, id: hashSecret(secret) };
  };
  /** Returns the secret of a new session; `undefined` if the proof is wrong. */
  const open = async (ctx: Context, proof: Exclude<Proof, { pageKey: string }>) => {
    if ("operatorToken" in proof || "code" in proof) {
      const secret =
        "code" in proof ? await access.signInOnce(proof.code) : await access.signIn(proof.operatorToken);
      if (secret !== undefined) {
        const subject = shownIdOf(hashSecret(secret));
        await people.audit({ actor: "operator", actor_name: "", dapp_id: null, action: "signIn", subject });
      }
      return secret;
    }
    if ("provider" in proof) {
      if (identityProvider === undefined) throw new NoProviderError();
      const identity = await identityProvider.finish(proof.provider);
      return await people.signInAs(identity, { code: proof.invitation, browser: ctx.get("User-Agent") });
    }
    const { passkey: answer, invitation: code, name } = proof;
    return code === undefined
      ? await people.signIn(answer, ceremonyOf(ctx))
      : await people.signUp({ code, name, answer }, ceremonyOf(ctx));
  };

  /** Says in the log why a sign-in was refused, which its caller isn't told. */
  const logRefusal =
    (ctx: Context) =>
    (error: unknown): never => {
      if (error instanceof PasskeyRefusedError || error instanceof ProviderRefusedError)
        log.warn({ address: ctx.ip, reason: messageOf(error.cause) }, "a sign-in was refused");
      throw error;
    };

  router.post("/session/challenge", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const { invitation, pageKey } = readMembers(await readJson(ctx, MAX_BODY_BYTES));
    const code = typeof invitation === "string" ? invitation : undefined;
    const sessionId = typeof pageKey === "string" ? ((await findSession(ctx, pageKey))?.id ?? "") : undefined;
    const party = relyingPartyOf(ctx.get("Origin"), publicUrl);
    const { secret, data } = await people.challenge(party, { code, sessionId });
    setCookie(ctx, CHALLENGE_COOKIE, `${secret}; Max-Age=${CHALLENGE_MS / 1000}`);
    sendData(ctx, data);
  });
  router.post("/session", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const proof = readProof(await readJson(ctx, MAX_BODY_BYTES));
    if ("pageKey" in proof) {
      const session = await findSession(ctx, proof.pageKey);
      if (session !== undefined) {
        if (proof.invitation !== undefined) await people.accept(proof.invitation, session.id);
        const isPerson = (await people.findCaller(session.id)) !== undefined;
        if (isPerson) setCookie(ctx, COOKIE, `${session.secret}; Max-Age=${IDLE_MS / 1000}`);
      }
      sendData(ctx, { token: session?.token ?? null });
      return;
    }
    const secret = await open(ctx, proof).catch(logRefusal(ctx));
    if (secret === undefined) {
      log.warn({ address: ctx.ip, reason: "wrong token or code" }, "a sign-in was refused");
      throw new TycheError(
        "code" in proof
          ? "This link has already been used, or comes from an earlier start. Enter the operator token."
          : "This is not the operator token.",
        { code: "sign_in_refused", blame: "caller" },
      );
    }
    log.info({ address: ctx.ip }, "signed in");
    const lastsMs = "operatorToken" in proof || "code" in proof ? SESSION_MS : IDLE_MS;
    setCookie(ctx, COOKIE, `${secret}; Max-Age=${lastsMs / 1000}`);
    const pageKey = access.pageKeyOf(secret);
    sendData(ctx, { token: await access.findToken(secret, pageKey), pageKey });
  });
  router.post("/session/passkeys", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    const { passkey, pageKey } = readMembers(await readJson(ctx, MAX_BODY_BYTES));
    const session = typeof pageKey === "string" ? await findSession(ctx, pageKey) : undefined;
    const answer = isObject(passkey) ? passkey : {};
    await people.addPasskey({ answer, sessionId: session?.id ?? "" }, ceremonyOf(ctx)).catch(logRefusal(ctx));
    sendData(ctx, {});
  });
  router.get("/session/provider", async (ctx) => {
    await guard(ctx);
    sendData(ctx, { title: identityProvider?.title ?? null });
  });
  router.post("/session/provider", async (ctx) => {
    await guard(ctx);
    checkOrigin(ctx);
    if (identityProvider === undefined) throw new NoProviderError();
    sendData(ctx, await identityProvider.begin(ctx.get("Origin")).catch(logRefusal(ctx)));
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
  | { readonly provider: ProviderAnswer; readonly invitation: string | undefined }
  /** Empty if the page has stored none. */
  | { readonly pageKey: string; readonly invitation: string | undefined };

function readProof(body: JsonValue | undefined): Proof {
  const { operatorToken, code, passkey, provider, pageKey, name, invitation: given } = readMembers(body);
  const invitation = typeof given === "string" ? given : undefined;
  if (typeof operatorToken === "string") return { operatorToken };
  if (typeof code === "string") return { code };
  if (isObject(passkey)) return { passkey, invitation, name: typeof name === "string" ? name : "" };
  if (isObject(provider)) {
    const { secret, search } = provider;
    if (typeof secret === "string" && typeof search === "string")
      return { provider: { secret, search }, invitation };
  }
  if ([operatorToken, code, passkey, provider].every((proof) => proof === undefined))
    return { pageKey: typeof pageKey === "string" ? pageKey : "", invitation };
  throw new InvalidParameterError([
    {
      path: "",
      message:
        "give operatorToken or code, each a string, a passkey's answer, or a provider's: its secret and search",
    },
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
  if (!isOwn)
    throw new TycheError("the call was refused: it came from a page of another origin", {
      code: "form_refused",
      blame: "caller",
    });
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

/** The configuration names no OpenID provider. */
export class NoProviderError extends TycheError {
  constructor() {
    super("this service has no OpenID provider", { code: "not_found", blame: "caller" });
  }
}
