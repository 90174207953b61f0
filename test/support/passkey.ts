import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { encode } from "cborg";
import { request } from "undici";
import type { SignedIn } from "./signIn.ts";

/** What the service asks a passkey for, as far as an authenticator needs it. */
interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
}

/** What differs from an honest authenticator and browser. */
interface Deviations {
  /** Default: the service's. */
  readonly origin?: string;
  readonly challenge?: string;
  readonly isUserVerified?: boolean;
  readonly counter?: number;
}

/** A passkey of its own, which answers as a browser with an authenticator does (WebAuthn Level 3, section 5.8 and 6.1). */
export interface Passkey {
  register(options: Options, origin: string, deviations?: Deviations): object;
  sign(options: Options, origin: string, deviations?: Deviations): object;
}

/** Creates a passkey with a P-256 key. */
export function createPasskey(): Passkey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x, y } = publicKey.export({ format: "jwk" }) as { readonly x: string; readonly y: string };
  const id = randomBytes(32);
  let counter = 0;
  const coseKey = encode(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ]),
  );
  const dataOf = (
    { rp, rpId = rp?.id ?? "" }: Options,
    { isUserVerified = true, counter: given }: Deviations,
    isNew: boolean,
  ): Buffer => {
    counter = given ?? counter + 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flags = 0x01 | (isUserVerified ? 0x04 : 0) | (isNew ? 0x40 : 0);
    const key = isNew ? [Buffer.alloc(16), Buffer.from([0, id.length]), id, coseKey] : [];
    return Buffer.concat([createHash("sha256").update(rpId).digest(), Buffer.from([flags]), count, ...key]);
  };
  const clientData = (type: string, options: Options, origin: string, deviations: Deviations): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: deviations.challenge ?? options.challenge,
        origin: deviations.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const answerOf = (response: Readonly<Record<string, Buffer>>): object => ({
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
    response: Object.fromEntries(
      Object.entries(response).map(([name, bytes]) => [name, bytes.toString("base64url")]),
    ),
  });
  return {
    register(options, origin, deviations = {}) {
      const authData = dataOf(options, deviations, true);
      return answerOf({
        clientDataJSON: clientData("webauthn.create", options, origin, deviations),
        attestationObject: Buffer.from(encode({ fmt: "none", attStmt: {}, authData })),
      });
    },
    sign(options, origin, deviations = {}) {
      const authenticatorData = dataOf(options, deviations, false);
      const clientDataJSON = clientData("webauthn.get", options, origin, deviations);
      const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientDataJSON).digest()]);
      return answerOf({
        clientDataJSON,
        authenticatorData,
        signature: sign("sha256", signed, privateKey),
      });
    },
  };
}

/** A browser without pages: it keeps cookies, and calls `/session` as the pages do. */
export function createSessionBrowser(
  serviceUrl: string,
  origin = serviceUrl.replace("127.0.0.1", "localhost"),
) {
  const cookies = new Map<string, string>();
  let pageKey = "";
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await request(`${serviceUrl}${path}`, {
      method: "POST",
      headers: {
        host: new URL(origin).host,
        origin,
        "user-agent": "Test browser",
        "content-type": "application/json",
        cookie: [...cookies].map((pair) => pair.join("=")).join("; "),
        ...headers,
      },
      body: JSON.stringify(body),
    });
    for (const cookie of [answer.headers["set-cookie"] ?? []].flat()) {
      const [name, value] = cookie.split(";")[0]!.split("=") as [string, string];
      cookies.set(name, value);
    }
    const { data } = (await answer.body.json()) as { readonly data: Data };
    if (typeof data.pageKey === "string") pageKey = data.pageKey;
    return { status: answer.statusCode, data };
  };
  return {
    origin,
    cookies,
    post,
    /** Returns what a passkey is asked for. */
    async challenge(invitation?: string): Promise<Options> {
      const { data } = await post("/session/challenge", invitation === undefined ? {} : { invitation });
      if (data.options === undefined) throw new Error(data.err);
      return data.options;
    },
    /** Returns the API token of the session; `null` if there is none. */
    token: async (): Promise<string | null> => (await post("/session", { pageKey })).data.token ?? null,
    /** Returns what a browser keeps of the session. */
    session: (): SignedIn => ({
      cookie: [...cookies].find(([name]) => name.startsWith("tyche_session"))!.join("="),
      pageKey,
    }),
    /** Adds a passkey to the person who is signed in. */
    async addPasskey(): Promise<Passkey> {
      const asked = await post("/session/challenge", { pageKey });
      if (asked.data.options === undefined) throw new Error(asked.data.err);
      const passkey = createPasskey();
      const answer = passkey.register(asked.data.options, origin);
      const { status, data } = await post("/session/passkeys", { pageKey, passkey: answer });
      if (status !== 200) throw new Error(data.err);
      return passkey;
    },
    /** Accepts an invitation as the person who is signed in. */
    accept: (invitation: string) => post("/session", { pageKey, invitation }),
  };
}

interface Data {
  readonly invitation?: object;
  readonly options?: Options;
  readonly token?: string | null;
  readonly pageKey?: string;
  readonly code?: string;
  readonly err?: string;
}

/** A person who is signed in. */
export interface SignedInPerson {
  readonly browser: ReturnType<typeof createSessionBrowser>;
  readonly passkey: Passkey;
  readonly token: string;
}

/** Returns the code in an invitation's link. */
export function codeOf(link: string): string {
  return new URL(link).hash.slice(1);
}

/** Accepts an invitation as a new person, with a passkey of their own. */
export async function signUp(
  serviceUrl: string,
  link: string,
  name: string,
  origin?: string,
): Promise<SignedInPerson> {
  const browser = createSessionBrowser(serviceUrl, origin);
  const passkey = createPasskey();
  const invitation = codeOf(link);
  const answer = passkey.register(await browser.challenge(invitation), browser.origin);
  const { status, data } = await browser.post("/session", { invitation, name, passkey: answer });
  if (status !== 200) throw new Error(`${name} could not sign up: ${data.err}`);
  return { browser, passkey, token: data.token! };
}
