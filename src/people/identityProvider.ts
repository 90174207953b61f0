import { createHash, randomBytes } from "node:crypto";
import type { Configuration } from "openid-client";
import { isLoopbackHost } from "../lib/loopback.ts";
import { TycheError } from "../lib/errors.ts";
import { remember } from "../lib/memo.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";

/** Loaded by the first who signs in with the provider. */
const load = () => import("openid-client");

/** Who somebody is at the issuer: at most 255 ASCII characters (Core 1.0, section 2). */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** The OpenID provider that the configuration names. */
export interface ProviderOptions {
  /** URL, as its metadata and tokens name it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** What people call it. */
  readonly title: string;
  /** Address at which it sends people back. */
  readonly redirectUri: string;
}

/** What a provider sent a browser back with, and the secret with which it was sent there. */
export interface ProviderAnswer {
  readonly secret: string;
  /** Query of the address that the browser was sent back to. */
  readonly search: string;
}

/** Who somebody is at a provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** What the provider calls them. */
  readonly name: string;
}

/** An OpenID provider, by which people sign in (OpenID Connect Core 1.0, authorization code flow with PKCE). */
export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

/** Creates the relying party's side. The provider's metadata are read by the first sign-in, and again after a failure. */
export function createIdentityProvider(options: ProviderOptions) {
  const { issuer, clientId, clientSecret, title, redirectUri } = options;
  const open = remember(Infinity, async (): Promise<Configuration> => {
    const client = await load();
    const url = new URL(issuer);
    // The configuration allows http on this machine only.
    const execute = isLoopbackHost(url.host) ? [client.allowInsecureRequests] : [];
    return await client.discovery(url, clientId, clientSecret, undefined, { execute });
  });
  return {
    title,
    /**
     * Returns a secret for the page to keep, and where to send the browser.
     *
     * @param origin of the page; the browser comes back to the public one, which doesn't have what another's keeps.
     * @throws {ProviderRefusedError} {@link InvalidParameterError} for another origin.
     */
    async begin(origin: string): Promise<{ readonly secret: string; readonly url: string }> {
      const { origin: own } = new URL(redirectUri);
      if (origin !== own) {
        const message = `${title} sends people back to one address: open the application at ${own}`;
        throw new InvalidParameterError([{ path: "", message }]);
      }
      return await refusing(async () => {
        const [client, configuration] = await Promise.all([load(), open()]);
        const secret = randomBytes(32).toString("base64url");
        const url = client.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: "openid profile email",
          code_challenge: await client.calculatePKCECodeChallenge(derive(secret, "verifier")),
          code_challenge_method: "S256",
          state: derive(secret, "state"),
          nonce: derive(secret, "nonce"),
        });
        return { secret, url: url.href };
      });
    },
    /**
     * Exchanges a provider's answer for who the browser's user is.
     *
     * @throws {ProviderRefusedError} also if the browser was sent there with another secret.
     */
    finish: ({ secret, search }: ProviderAnswer): Promise<Identity> =>
      refusing(async () => {
        const [client, configuration] = await Promise.all([load(), open()]);
        const tokens = await client.authorizationCodeGrant(configuration, new URL(search, redirectUri), {
          pkceCodeVerifier: derive(secret, "verifier"),
          expectedState: derive(secret, "state"),
          expectedNonce: derive(secret, "nonce"),
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        const { iss, sub: subject } = claims;
        if (!SUBJECT.test(subject)) throw new Error("its sub is not 1 to 255 visible ASCII characters");
        // Some providers name their users at this endpoint only.
        const isNamed = nameIn(claims) !== undefined;
        const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
        const more =
          isNamed || !hasMore ? {} : await client.fetchUserInfo(configuration, tokens.access_token, subject);
        return { issuer: iss, subject, name: nameIn(claims) ?? nameIn(more) ?? subject };
      }),
  };
}

function nameIn(claims: Readonly<Record<string, unknown>>): string | undefined {
  return ["name", "preferred_username", "email"]
    .map((claim) => claims[claim])
    .find((one) => typeof one === "string" && one.trim() !== "") as string | undefined;
}

/** Only the page that began knows the secret, so only there it is finished, and no table has to remember it. */
function derive(secret: string, purpose: "verifier" | "state" | "nonce"): string {
  return createHash("sha256").update(`${purpose} ${secret}`).digest("base64url");
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ProviderRefusedError(error);
  }
}

/** Says what was wrong by the messages and codes of an error and its causes; what the provider sent is in neither. */
function describe(error: unknown): string {
  const { message = String(error), code, cause } = error as Partial<Error> & { readonly code?: unknown };
  const coded = typeof code === "string" ? `${message} (${code})` : message;
  return cause instanceof Error ? `${coded}: ${describe(cause)}` : coded;
}

/** A provider's answer signs nobody in. `message` of the cause is for the log. */
export class ProviderRefusedError extends TycheError {
  constructor(why: unknown) {
    super("Signing in there did not succeed. Try again, or sign in in another way.", {
      code: "sign_in_refused",
      blame: "caller",
      cause: new Error(describe(why)),
    });
  }
}
