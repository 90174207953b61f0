import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/browser";
import { useSyncExternalStore } from "react";
import type { RoleName } from "../../client/index.ts";
import { keepPageKey, readPageKey } from "../pageKey.ts";
import { forgetDraft } from "./pages/functions/keptDraft.ts";
import { forgetForms } from "./parts/keptForm.ts";

/** Who is viewing the application. */
export type Session =
  | { readonly kind: "unknown" }
  | { readonly kind: "stranger" }
  /** The token identifies this session to the API; it is kept in memory only. */
  | { readonly kind: "operator"; readonly token: string };

let session: Session = { kind: "unknown" };
const listeners = new Set<() => void>();

/** Returns this page's session; rerenders whenever it changes. */
export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

function become(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

/**
 * Asks the service who we are: the browser's cookie and the page key of this origin open a session, and the session returns a token for the
 * API.
 *
 * @throws {Error} when the service gives neither a yes nor a no, for example while it starts or after too many attempts: ask again.
 */
export async function openSession(): Promise<void> {
  const answer = await post("/session", { pageKey: readPageKey() });
  if (answer.status === 429 || answer.status >= 500) throw new Error(`the service answered ${answer.status}`);
  const { data } = (await answer.json()) as { readonly data: { readonly token?: string | null } };
  become(typeof data.token === "string" ? { kind: "operator", token: data.token } : { kind: "stranger" });
}

/** Returns what the OpenID provider is called by which people sign in; `null` without one. */
export async function findProvider(): Promise<string | null> {
  const answer = await fetch("/session/provider");
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return ((await answer.json()) as { readonly data: { readonly title: string | null } }).data.title;
}

const PROVIDER_KEY = "tyche.provider";

/** What this window needs when the provider sends it back. */
interface AtProvider {
  readonly secret: string;
  readonly invitation?: string | undefined;
  /** Where to go on. */
  readonly next: string;
}

/** Leaves for the provider, which sends this window back. Throws an error that says why not. */
export async function leaveForProvider(kept: Omit<AtProvider, "secret">): Promise<void> {
  const answer = await post("/session/provider", {});
  if (!answer.ok) throw new Error(await reasonOf(answer));
  const { data } = (await answer.json()) as {
    readonly data: { readonly secret: string; readonly url: string };
  };
  // In no cookie, which pages on other ports of the host could set.
  sessionStorage.setItem(PROVIDER_KEY, JSON.stringify({ ...kept, secret: data.secret }));
  location.assign(data.url);
}

/** Signs in with what the provider sent this window back with; returns where to go on. Throws an error that says why not. */
export async function returnFromProvider(search: string): Promise<string> {
  const text = sessionStorage.getItem(PROVIDER_KEY);
  sessionStorage.removeItem(PROVIDER_KEY);
  if (text === null) throw new Error("This window has not begun to sign in. Begin again.");
  const { secret, invitation, next } = JSON.parse(text) as AtProvider;
  const wrong = await signIn({
    provider: { secret, search },
    ...(invitation === undefined ? {} : { invitation }),
  });
  if (wrong !== undefined) throw new Error(wrong.message);
  return next;
}

/** Why a sign-in failed. */
export interface SignInProblem {
  readonly message: string;
  /** Whether the token or the code is wrong, so that sending it again would not help. */
  readonly isRefused: boolean;
}

/** An invitation to a dapp, as its page shows it. */
export interface Invitation {
  readonly dappId: string;
  readonly dappName: string;
  readonly role: RoleName;
  /** Name of the person who invites; empty for the operator. */
  readonly invitedBy: string;
  readonly expiresAt: string;
  /** What the browser needs to make a passkey. */
  readonly options: PublicKeyCredentialCreationOptionsJSON;
}

/** Reads an invitation, and has the service ask for a passkey. Throws an error that says why there is none. */
export async function openInvitation(code: string): Promise<Invitation> {
  const { options, invitation } = (await ask({ invitation: code })) as {
    readonly options: PublicKeyCredentialCreationOptionsJSON;
    readonly invitation: Omit<Invitation, "options">;
  };
  return { ...invitation, options };
}

/** Makes a passkey and accepts an invitation with it. Returns what is wrong, if anything is. */
export async function signUp(
  code: string,
  { name, options }: { readonly name: string; readonly options: PublicKeyCredentialCreationOptionsJSON },
): Promise<SignInProblem | undefined> {
  const { startRegistration } = await import("@simplewebauthn/browser");
  const user = { ...options.user, name, displayName: name };
  const passkey = await startRegistration({ optionsJSON: { ...options, user } });
  return await signIn({ passkey, name, invitation: code });
}

/** Accepts an invitation as the person who is signed in. */
export async function acceptInvitation(code: string): Promise<void> {
  const answer = await post("/session", { pageKey: readPageKey(), invitation: code });
  if (!answer.ok) throw new Error(await reasonOf(answer));
}

/**
 * Makes another passkey for the person who is signed in, after a look at one that they have if the session isn't new. Throws an error that says
 * why there is none.
 */
export async function addPasskey(): Promise<void> {
  const { startRegistration } = await import("@simplewebauthn/browser");
  const open = () => post("/session/challenge", { pageKey: readPageKey() });
  let answer = await open();
  if (answer.status === 403) {
    const problem = await signInWithPasskey();
    if (problem !== undefined) throw new Error(problem.message);
    answer = await open();
  }
  if (!answer.ok) throw new Error(await reasonOf(answer));
  const { data } = (await answer.json()) as {
    readonly data: { readonly options: PublicKeyCredentialCreationOptionsJSON };
  };
  const passkey = await startRegistration({ optionsJSON: data.options });
  const added = await post("/session/passkeys", { pageKey: readPageKey(), passkey });
  if (!added.ok) throw new Error(await reasonOf(added));
}

/** Signs in with a passkey. Returns what is wrong, if anything is; throws if the browser gives none. */
export async function signInWithPasskey(): Promise<SignInProblem | undefined> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const { options } = (await ask({})) as { readonly options: PublicKeyCredentialRequestOptionsJSON };
  return await signIn({ passkey: await startAuthentication({ optionsJSON: options }) });
}

/** Returns what a passkey is asked for. */
async function ask(body: object): Promise<object> {
  const answer = await post("/session/challenge", body);
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return ((await answer.json()) as { readonly data: object }).data;
}

async function reasonOf(answer: Response): Promise<string> {
  const { data } = (await answer.json()) as { readonly data: { readonly err?: string } };
  return data.err ?? "The service did not answer. Try again.";
}

/**
 * Signs in with the operator token, with the code from the link that a start prints, with a passkey, or with a provider's answer. Returns what
 * is wrong, if anything is.
 */
export async function signIn(
  proof:
    | { readonly operatorToken: string }
    | { readonly code: string }
    | { readonly passkey: object; readonly name?: string; readonly invitation?: string }
    | {
        readonly provider: { readonly secret: string; readonly search: string };
        readonly invitation?: string;
      },
): Promise<SignInProblem | undefined> {
  const answer = await post("/session", proof);
  const { data } = (await answer.json()) as {
    readonly data: {
      readonly token?: string | null;
      readonly pageKey?: string;
      readonly err?: string;
      readonly code?: string;
    };
  };
  if (answer.ok && typeof data.token === "string") {
    keepPageKey(data.pageKey);
    become({ kind: "operator", token: data.token });
    return undefined;
  }
  return {
    message: data.err ?? "The service did not answer. Try again.",
    isRefused: data.code === "sign_in_refused",
  };
}

/**
 * Ends the session, both here and in the service.
 *
 * @throws {Error} when the service has not ended it: its cookie would open the next page.
 */
export async function signOut(): Promise<void> {
  const answer = await fetch("/session", { method: "DELETE", keepalive: true });
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  forgetDraft();
  forgetForms();
  keepPageKey(undefined);
  become({ kind: "stranger" });
}

/** Records that the service no longer knows a session. A late response to an earlier session doesn't affect the current one. */
export function loseSession(token: string): void {
  if (session.kind === "operator" && session.token === token) become({ kind: "stranger" });
}

function post(path: string, body: object): Promise<Response> {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}
