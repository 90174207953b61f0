import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { createSessions, type Sessions } from "./sessions.ts";

/** How long a sign-in lasts. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
/** Sessions at once; beyond it the oldest ends. Only who knows the operator token makes any. */
const MAX_SESSIONS = 100;
/** Least length of an operator token: 32 characters can't be guessed, so attempts need no counting. */
export const MIN_TOKEN_CHARACTERS = 32;
/** `tyche_session_`, 64 hex digits that name the session, and a MAC of them that only its own pages are told. */
const SESSION_TOKEN = /^tyche_session_([0-9a-f]{64})\.([A-Za-z0-9_-]{43})$/;

/**
 * Who may do what the operator may: see the keys of all dapps, and spend their subscriptions. Whoever has the operator token
 * (`operator-token` in the data directory), or a session in the application: one is opened by that token, or once by the link that a start
 * prints on its terminal. Where a request comes from opens nothing: behind a forwarder strangers come over loopback too, and no header tells
 * for certain, since forwarders send different ones or none.
 *
 * A browser keeps the secret of its session in a cookie, which the API doesn't heed; the session's pages get a token for the API in exchange
 * for it and for a key that their own storage keeps, from their own origin alone, and keep that in memory. So a page of another origin can do
 * nothing in a session: it can't read the token (no CORS), and a name that leads to 127.0.0.1 (DNS rebinding) has no cookie. Browsers send
 * a cookie to every port of a host: a server on another one gets it, and not the key.
 */
export interface OperatorAccess {
  /** A secret for one sign-in of this process's life; 43 characters. */
  readonly signInCode: string;
  /** Opens a session if the operator token is right; gives its secret, 43 characters. */
  signIn(operatorToken: string): Promise<string | undefined>;
  /** Opens a session if nobody used {@link signInCode} before; gives its secret. */
  signInOnce(code: string): Promise<string | undefined>;
  /** The key that the pages of a session keep, 43 characters. */
  pageKeyOf(secret: string): string;
  /** Gives the token with which the API knows a session; `undefined` where there is none of this secret, or its page key is another. */
  findToken(secret: string, pageKey: string): Promise<string | undefined>;
  signOut(secret: string): Promise<void>;
  /** Whose a credential is, as a name fit for logs and limits; `undefined` where it is neither the operator token nor a session's. */
  recognize(credential: string): Promise<string | undefined>;
}

/** Options of {@link createOperatorAccess}. */
export interface OperatorAccessOptions {
  /** At least {@link MIN_TOKEN_CHARACTERS} characters. */
  readonly operatorToken: string;
  /** 32 bytes that make the tokens of sessions; every replica has the same. Default: random ones. */
  readonly tokenKey?: Uint8Array;
  /** Default: in this process. */
  readonly sessions?: Sessions;
}

/** Creates the check. Rejects where the sessions can't be reached. */
export async function createOperatorAccess({
  operatorToken,
  tokenKey = randomBytes(32),
  sessions = createSessions(),
}: OperatorAccessOptions): Promise<OperatorAccess> {
  const expected = digest(operatorToken);
  const signInCode = randomBytes(32).toString("base64url");
  await sessions.addCode(idOf(signInCode));

  const open = async (): Promise<string> => {
    const secret = randomBytes(32).toString("base64url");
    await sessions.open(idOf(secret), { ms: SESSION_MS, most: MAX_SESSIONS });
    return secret;
  };
  const macOf = (id: string): string => createHmac("sha256", tokenKey).update(id).digest("base64url");
  const pageKeyOf = (secret: string): string => macOf(`page ${idOf(secret)}`);

  return {
    signInCode,
    signIn: async (token) => (timingSafeEqual(digest(token.trim()), expected) ? await open() : undefined),
    signInOnce: async (code) => ((await sessions.useCode(idOf(code))) ? await open() : undefined),
    pageKeyOf,
    async findToken(secret, pageKey) {
      const id = idOf(secret);
      const isOfPage = timingSafeEqual(digest(pageKey), digest(pageKeyOf(secret)));
      return isOfPage && (await sessions.has(id)) ? `tyche_session_${id}.${macOf(id)}` : undefined;
    },
    signOut: (secret) => sessions.end(idOf(secret)),
    async recognize(credential) {
      const [, id, mac] = SESSION_TOKEN.exec(credential) ?? [];
      if (id === undefined || mac === undefined)
        return timingSafeEqual(digest(credential), expected) ? "operator" : undefined;
      const isOurs = timingSafeEqual(digest(mac), digest(macOf(id))) && (await sessions.has(id));
      return isOurs ? `session_${id.slice(0, 12)}` : undefined;
    },
  };
}

/** Of one length whatever goes in, so that comparing takes the same time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** What is kept of a secret. */
function idOf(secret: string): string {
  return digest(secret).toString("hex");
}
