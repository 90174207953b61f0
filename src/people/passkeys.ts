import { isIP } from "node:net";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { messageOf, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { StoredPasskey } from "../store/people.ts";

/** Loaded by the first who uses a passkey: a service whose operator signs in with the token never needs it. */
const load = () => import("@simplewebauthn/server");

/** EdDSA, ES256, RS256 (COSE): what authenticators have. */
const ALGORITHMS = [-8, -7, -257];
/** How long a browser waits for its user; as long as the challenge counts. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** The pages' address, to which a passkey is bound. */
export interface RelyingParty {
  /** Host name. */
  readonly id: string;
  readonly origin: string;
}

/**
 * Returns whom passkeys are for.
 *
 * @param origin of the page, which has been checked to be one of ours.
 * @param publicUrl of the configuration.
 * @throws {InvalidParameterError} for an address for which browsers make no passkeys, or another than the public one.
 */
export function relyingPartyOf(origin: string, publicUrl: string | undefined): RelyingParty {
  const url = URL.parse(origin);
  const refuse = (message: string) => new InvalidParameterError([{ path: "", message }]);
  if (publicUrl !== undefined && url?.origin !== publicUrl)
    throw refuse(`passkeys belong to one address: open the application at ${publicUrl}`);
  if (url === null) throw refuse("passkeys need the Origin header that browsers send");
  if (isIP(url.hostname.replace(/^\[(.*)\]$/, "$1")) !== 0)
    throw refuse(
      `passkeys need a host name, not an IP address: open the application at ${localNameOf(url.origin)} if it runs on this machine, or set TYCHE_PUBLIC_URL to its name`,
    );
  return { id: url.hostname, origin: url.origin };
}

/** Returns a URL with `localhost` in place of a loopback address, for which there are no passkeys. */
export function localNameOf(url: string): string {
  return url.replace(/^(https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=:|$)/, "$1localhost");
}

/** The part of a passkey that its authenticator decides. */
export type NewPasskey = Pick<StoredPasskey, "id" | "public_key" | "counter">;

/** Returns what a browser needs to make a passkey on a device that has none of the person's `own`. The page fills in a new person's name. */
export async function offerRegistration(
  party: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  { name = "", own }: { readonly name: string | undefined; readonly own: readonly string[] },
): Promise<object> {
  const { generateRegistrationOptions } = await load();
  return await generateRegistrationOptions({
    rpName: "Tyche",
    rpID: party.id,
    userName: name,
    userDisplayName: name,
    excludeCredentials: own.map((id) => ({ id })),
    challenge,
    timeout: CHALLENGE_MS,
    attestationType: "none",
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** Returns what a browser needs to sign in with any passkey that its user has for this service. */
export async function offerAuthentication(
  party: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
): Promise<object> {
  const { generateAuthenticationOptions } = await load();
  return await generateAuthenticationOptions({
    rpID: party.id,
    challenge,
    timeout: CHALLENGE_MS,
    userVerification: "required",
  });
}

/** What an answer to a challenge is checked against. */
export interface Expected {
  readonly party: RelyingParty;
  /** base64url. */
  readonly challenge: string;
}

/**
 * Checks a browser's answer to {@link offerRegistration}, which may be anything.
 *
 * @throws {PasskeyRefusedError}
 */
export async function verifyNewPasskey(answer: object, { party, challenge }: Expected): Promise<NewPasskey> {
  const { verifyRegistrationResponse } = await load();
  const { registrationInfo } = await refusing(() =>
    verifyRegistrationResponse({
      response: answer as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  );
  if (registrationInfo === undefined) throw new PasskeyRefusedError("its signature is wrong");
  const { id, publicKey, counter } = registrationInfo.credential;
  return { id, public_key: publicKey, counter };
}

/**
 * Checks a browser's answer to {@link offerAuthentication}, which may be anything.
 *
 * @returns the authenticator's counter, higher than the stored one unless it doesn't count.
 * @throws {PasskeyRefusedError}
 */
export async function verifyPasskey(
  answer: object,
  passkey: StoredPasskey,
  { party, challenge }: Expected,
): Promise<number> {
  const { verifyAuthenticationResponse } = await load();
  const { verified, authenticationInfo } = await refusing(() =>
    verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: passkey.counter,
      },
    }),
  );
  if (!verified) throw new PasskeyRefusedError("its signature is wrong");
  return authenticationInfo.newCounter;
}

/** The library says what is wrong by throwing, as it does for what it can't read. */
async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new PasskeyRefusedError(messageOf(error));
  }
}

/** A passkey's answer doesn't sign anyone in. `message` of the cause is for the log. */
export class PasskeyRefusedError extends TycheError {
  constructor(why: string) {
    super("The passkey was not accepted. Try again, or sign in in another way.", {
      code: "sign_in_refused",
      blame: "caller",
      cause: new Error(why),
    });
  }
}
