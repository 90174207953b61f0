import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { endOperatorSession, hasOperatorSession, openOperatorSession } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import type { People } from "./people.ts";
import { hashSecret, shownIdOf } from "./sessions.ts";
import type { Caller } from "./roles.ts";

/** How long a sign-in as the operator lasts. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
/** Maximum number of concurrent sessions; beyond it the oldest ends. Opening one takes the operator token, or the sign-in link of a start. */
const MAX_SESSIONS = 100;
/** Minimum length of an operator token: 32 characters can't be guessed, so attempts need no counting. */
export const MIN_TOKEN_CHARACTERS = 32;
/** `tyche_session_`, 64 hex digits that name the session, and a MAC of them that only its own pages receive. */
const SESSION_TOKEN = /^tyche_session_([0-9a-f]{64})\.([A-Za-z0-9_-]{43})$/;

/**
 * Recognizes who calls without an API key. The operator may see the keys of all dapps, and spend their subscriptions. That takes the operator
 * token (`operator-token` in the data directory) or a session in the application. The token opens a session, and so does, once, the link that
 * a start prints on its terminal. People open sessions of their own with their passkeys, see `passkeySignIn.ts` and `sessions.ts`. Where a request comes from grants
 * nothing: behind a reverse proxy strangers arrive over loopback too, and no header is reliable, since proxies send different ones or none.
 *
 * A browser keeps its session's secret in a cookie, which the API ignores. The session's pages exchange that secret and a key in their
 * own storage for an API token, which only their own origin can do, and keep the token in memory. So a page of another origin can do
 * nothing in a session: it can't read the token (no CORS), and a name that resolves to 127.0.0.1 (DNS rebinding) has no cookie. Browsers
 * send a cookie to every port of a host: a server on another port receives the cookie, but not the key.
 */
export interface OperatorAccess {
  /** A secret for a single sign-in during this process's life; 43 characters. */
  readonly signInCode: string;
  /** Opens a session if the operator token is right; returns its secret, 43 characters. */
  signIn(operatorToken: string): Promise<string | undefined>;
  /** Opens a session if {@link signInCode} has not been used yet; returns its secret. */
  signInOnce(code: string): Promise<string | undefined>;
  /** Returns the key that a session's pages keep, 43 characters. */
  pageKeyOf(secret: string): string;
  /** Returns the token by which the API recognises a session; `undefined` if no session has this secret, or the page key is wrong. */
  findToken(secret: string, pageKey: string): Promise<string | undefined>;
  signOut(secret: string): Promise<void>;
  /** Returns whose credential it is; `undefined` if it is neither the operator token nor a session's. */
  recognize(credential: string): Promise<Caller | undefined>;
}

export interface OperatorAccessOptions {
  /** At least {@link MIN_TOKEN_CHARACTERS} characters. */
  readonly operatorToken: string;
  /** 32 bytes from which session tokens are made, the same in every replica. Default: random ones. */
  readonly tokenKey?: Uint8Array;
  /** Keeps the sessions, so that they survive a restart. */
  readonly store: Store;
  /** Default: kept in this process. */
  readonly codes?: SignInCodes;
  /** The sessions of people. Default: nobody's. */
  readonly people?: Pick<People, "findCaller" | "signOut">;
  /** Default: `Date.now`. */
  readonly now?: () => number;
}

/** Creates the access check. Rejects if the codes can't be reached. */
export async function createOperatorAccess({
  operatorToken,
  tokenKey = randomBytes(32),
  store,
  codes = createSignInCodes(),
  people,
  now = Date.now,
}: OperatorAccessOptions): Promise<OperatorAccess> {
  const expected = digest(operatorToken);
  const signInCode = randomBytes(32).toString("base64url");
  await codes.add(hashSecret(signInCode));
  /** A session is stored under a hash that takes the operator token too, so that another token ends it. */
  const storedIdOf = (id: string): string => createHmac("sha256", operatorToken).update(id).digest("hex");

  const open = async (): Promise<string> => {
    const secret = randomBytes(32).toString("base64url");
    const session = { id: storedIdOf(hashSecret(secret)), endsAt: now() + SESSION_MS };
    await openOperatorSession(store, session, { now: now(), most: MAX_SESSIONS });
    return secret;
  };
  const macOf = (id: string): string => createHmac("sha256", tokenKey).update(id).digest("base64url");
  const pageKeyOf = (secret: string): string => macOf(`page ${hashSecret(secret)}`);
  const findCaller = async (id: string): Promise<Caller | undefined> =>
    (await hasOperatorSession(store.db, storedIdOf(id), now()))
      ? { id: shownIdOf(id), isOperator: true }
      : await people?.findCaller(id);

  return {
    signInCode,
    signIn: async (token) => (timingSafeEqual(digest(token.trim()), expected) ? await open() : undefined),
    signInOnce: async (code) => ((await codes.use(hashSecret(code))) ? await open() : undefined),
    pageKeyOf,
    async findToken(secret, pageKey) {
      const id = hashSecret(secret);
      const isOfPage = timingSafeEqual(digest(pageKey), digest(pageKeyOf(secret)));
      return isOfPage && (await findCaller(id)) !== undefined
        ? `tyche_session_${id}.${macOf(id)}`
        : undefined;
    },
    async signOut(secret) {
      const id = hashSecret(secret);
      await endOperatorSession(store.db, storedIdOf(id));
      await people?.signOut(id);
    },
    async recognize(credential) {
      const [, id, mac] = SESSION_TOKEN.exec(credential) ?? [];
      if (id === undefined || mac === undefined)
        return timingSafeEqual(digest(credential), expected)
          ? { id: "operator", isOperator: true }
          : undefined;
      return timingSafeEqual(digest(mac), digest(macOf(id))) ? await findCaller(id) : undefined;
    },
  };
}

/** Returns a digest, of the same length for any input, so that comparing takes constant time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** The codes of sign-in links, each for a single sign-in during the life of the process that made it: in this process, or in what replicas share. */
export interface SignInCodes {
  /** `id`: hash of the code. */
  add(id: string): Promise<void>;
  /** Consumes a code; returns whether it was valid. */
  use(id: string): Promise<boolean>;
}

/** Creates codes kept in this process. */
export function createSignInCodes(): SignInCodes {
  const codes = new Set<string>();
  return {
    async add(id) {
      codes.add(id);
    },
    use: async (id) => codes.delete(id),
  };
}
