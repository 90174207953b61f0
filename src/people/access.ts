import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { hashOf, shownIdOf, type People } from "./people.ts";
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
 * a start prints on its terminal. People open sessions of their own with their passkeys, see `people.ts`. Where a request comes from grants
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
  /** Default: sessions kept in this process. */
  readonly sessions?: Sessions;
  /** The sessions of people. Default: nobody's. */
  readonly people?: Pick<People, "findCaller" | "signOut">;
}

/** Creates the access check. Rejects if the sessions can't be reached. */
export async function createOperatorAccess({
  operatorToken,
  tokenKey = randomBytes(32),
  sessions = createSessions(),
  people,
}: OperatorAccessOptions): Promise<OperatorAccess> {
  const expected = digest(operatorToken);
  const signInCode = randomBytes(32).toString("base64url");
  await sessions.addCode(hashOf(signInCode));

  const open = async (): Promise<string> => {
    const secret = randomBytes(32).toString("base64url");
    await sessions.open(hashOf(secret), { ms: SESSION_MS, most: MAX_SESSIONS });
    return secret;
  };
  const macOf = (id: string): string => createHmac("sha256", tokenKey).update(id).digest("base64url");
  const pageKeyOf = (secret: string): string => macOf(`page ${hashOf(secret)}`);
  const findCaller = async (id: string): Promise<Caller | undefined> =>
    (await sessions.has(id)) ? { id: shownIdOf(id), isOperator: true } : await people?.findCaller(id);

  return {
    signInCode,
    signIn: async (token) => (timingSafeEqual(digest(token.trim()), expected) ? await open() : undefined),
    signInOnce: async (code) => ((await sessions.useCode(hashOf(code))) ? await open() : undefined),
    pageKeyOf,
    async findToken(secret, pageKey) {
      const id = hashOf(secret);
      const isOfPage = timingSafeEqual(digest(pageKey), digest(pageKeyOf(secret)));
      return isOfPage && (await findCaller(id)) !== undefined
        ? `tyche_session_${id}.${macOf(id)}`
        : undefined;
    },
    async signOut(secret) {
      const id = hashOf(secret);
      await sessions.end(id);
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

/** Stores who is signed in: in this process, or for all replicas together. Ids are hashes of secrets. */
interface Sessions {
  /** Opens a session that lasts `ms` milliseconds. If that makes more than `most`, the session that ends first is removed. */
  open(id: string, session: { readonly ms: number; readonly most: number }): Promise<void>;
  has(id: string): Promise<boolean>;
  end(id: string): Promise<void>;
  /** Stores a code for a single sign-in during this process's life. */
  addCode(id: string): Promise<void>;
  /** Consumes a code; returns whether it was valid. */
  useCode(id: string): Promise<boolean>;
}

/** Creates sessions kept in this process: a restart ends them. `now`: default `Date.now`. */
export function createSessions(now: () => number = Date.now): Sessions {
  /** By id: when the session ends. In order of creation. */
  const sessions = new Map<string, number>();
  const codes = new Set<string>();
  return {
    async open(id, { ms, most }) {
      const [oldest] = sessions.keys();
      if (sessions.size >= most && oldest !== undefined) sessions.delete(oldest);
      sessions.set(id, now() + ms);
    },
    async has(id) {
      const endsAt = sessions.get(id);
      if (endsAt === undefined) return false;
      if (endsAt > now()) return true;
      sessions.delete(id);
      return false;
    },
    async end(id) {
      sessions.delete(id);
    },
    async addCode(id) {
      codes.add(id);
    },
    useCode: async (id) => codes.delete(id),
  };
}
