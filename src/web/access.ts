import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context } from "koa";
import { TycheError } from "../lib/errors.ts";
import type { Viewer } from "./layout.ts";
import { createSessions, type Sessions } from "./sessions.ts";

/** How long a sign-in lasts. */
const SESSION_MS = 12 * 60 * 60 * 1000;
/** Sessions at once; beyond it the oldest ends. Only who knows the token makes any. */
const MAX_SESSIONS = 100;
const COOKIE = "tyche_session";
/** Least length of an operator token: 32 characters can't be guessed, so attempts need no counting. */
export const MIN_TOKEN_CHARACTERS = 32;

/**
 * Who may use the application, which shows keys and spends subscriptions: whoever has a session. One is opened by the operator token
 * (`operator-token` in the data directory), or once by the link that a start prints on its terminal. Where a request comes from opens
 * nothing: behind a forwarder strangers come over loopback too, and no header tells for certain, since forwarders send different ones or
 * none.
 *
 * Against what a foreign page could do in the operator's browser:
 * - DNS rebinding (a foreign name that leads to 127.0.0.1): the cookie belongs to another host, so there is no session.
 * - Forged forms: what changes something, or reveals a key, takes a POST with a token that only our own pages hold, from our own
 *   origin as Origin and Sec-Fetch-Site say. `SameSite` alone would not do: pages on another port of the host are "same site".
 * - Framing and reading across origins: refused by the headers that every answer has (frame-ancestors, CORP, no CORS).
 */
export interface Access {
  /** Finds the session of a request, which the other members then go by; a second time does nothing. Without it there is none. */
  recognize(ctx: Context): Promise<void>;
  viewerOf(ctx: Context): Viewer;
  /** Whether the application is open to this request. */
  isAdmitted(ctx: Context): boolean;
  /** The token that forms of this viewer must carry. */
  formToken(ctx: Context): string;
  /** Checks that a POST was sent from one of our own pages; throws {@link FormRefusedError}. `token` is the form's. */
  checkForm(ctx: Context, token: string): void;
  /** Checks that a POST came from a page of our own origin, as far as the browser says: for the sign-in, which has no token yet. */
  checkOrigin(ctx: Context): void;
  /** Opens a session if the operator token is right; says whether it was. */
  signIn(ctx: Context, operatorToken: string): Promise<boolean>;
  /** Opens a session if nobody used {@link signInCode} before; says whether it did. */
  signInOnce(ctx: Context, code: string): Promise<boolean>;
  /** A secret for one sign-in of this process's life; 43 characters. */
  readonly signInCode: string;
  signOut(ctx: Context): Promise<void>;
}

/** Options of {@link createAccess}. */
export interface AccessOptions {
  /** At least {@link MIN_TOKEN_CHARACTERS} characters. */
  readonly operatorToken: string;
  /** 32 bytes that make the tokens of forms; every replica has the same. Default: random ones. */
  readonly formKey?: Uint8Array;
  /** Default: in this process. */
  readonly sessions?: Sessions;
}

/** Creates the check. Rejects where the sessions can't be reached. */
export async function createAccess({
  operatorToken,
  formKey = randomBytes(32),
  sessions = createSessions(),
}: AccessOptions): Promise<Access> {
  const expected = digest(operatorToken);
  const signInCode = randomBytes(32).toString("base64url");
  await sessions.addCode(idOf(signInCode));
  /** Session of each request; `undefined` where it has none. */
  const recognized = new WeakMap<Context, string | undefined>();

  const sessionOf = (ctx: Context): string | undefined => recognized.get(ctx);
  const openSession = async (ctx: Context): Promise<void> => {
    const cookie = randomBytes(32).toString("base64url");
    await sessions.open(idOf(cookie), { ms: SESSION_MS, most: MAX_SESSIONS });
    setCookie(ctx, `${cookie}; Max-Age=${SESSION_MS / 1000}`);
  };
  const formToken = (ctx: Context): string =>
    createHmac("sha256", formKey)
      .update(sessionOf(ctx) ?? "none")
      .digest("base64url");
  const checkOrigin = (ctx: Context): void => {
    const site = ctx.get("Sec-Fetch-Site");
    const origin = ctx.get("Origin");
    const isOwn =
      (site === "" || site === "same-origin") &&
      (origin === "" || hostOf(origin) === ctx.get("Host").toLowerCase());
    if (!isOwn) throw new FormRefusedError("it came from a page of another origin");
  };

  return {
    async recognize(ctx) {
      if (recognized.has(ctx)) return;
      const cookie = ctx.cookies.get(COOKIE);
      const id = cookie === undefined ? undefined : idOf(cookie);
      recognized.set(ctx, id !== undefined && (await sessions.has(id)) ? id : undefined);
    },
    viewerOf(ctx) {
      const hasSession = sessionOf(ctx) !== undefined;
      return {
        isAdmitted: hasSession,
        ...(hasSession ? { signOutToken: formToken(ctx) } : {}),
      };
    },
    isAdmitted: (ctx) => sessionOf(ctx) !== undefined,
    formToken,
    checkForm(ctx, token) {
      checkOrigin(ctx);
      if (!timingSafeEqual(digest(token), digest(formToken(ctx)))) {
        throw new FormRefusedError("its token is not of this session; load the page again and repeat");
      }
    },
    checkOrigin,
    async signIn(ctx, token) {
      if (!timingSafeEqual(digest(token.trim()), expected)) return false;
      await openSession(ctx);
      return true;
    },
    signInCode,
    async signInOnce(ctx, code) {
      if (!(await sessions.useCode(idOf(code)))) return false;
      await openSession(ctx);
      return true;
    },
    async signOut(ctx) {
      const id = sessionOf(ctx);
      if (id !== undefined) await sessions.end(id);
      setCookie(ctx, "; Max-Age=0");
    },
  };
}

/** Host and port of an origin; empty for `null` and anything that is none. */
function hostOf(origin: string): string {
  const url = URL.parse(origin);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? url.host : "";
}

/** Over TLS (which a proxy in front ends) the browser's Origin says so, and the cookie is kept to it. */
function setCookie(ctx: Context, value: string): void {
  const isSecure = ctx.secure || ctx.get("Origin").startsWith("https:");
  ctx.append(
    "Set-Cookie",
    `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`,
  );
}

/** Of one length whatever goes in, so that comparing takes the same time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** What is kept of a secret. */
function idOf(secret: string): string {
  return digest(secret).toString("hex");
}

/** A form that wasn't sent from one of our own pages. */
export class FormRefusedError extends TycheError {
  constructor(reason: string) {
    super(`the form was refused: ${reason}`, { code: "form_refused", blame: "caller" });
  }
}
