import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Link, Redirect, useSearchParams } from "wouter";
import { focusFirstProblem, readField, TextField } from "../parts/forms.tsx";
import { Notice } from "../parts/parts.tsx";
import { Page, sentence } from "../page.tsx";
import {
  findProvider,
  leaveForProvider,
  returnFromProvider,
  signIn,
  signInWithPasskey,
  useSession,
} from "../session.ts";

/** `/sign-in`: with the operator token, or with the link that a start prints. */
export function SignIn() {
  const [search] = useSearchParams();
  const session = useSession();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [isLinkRefused, setLinkRefused] = useState(false);
  const code = isLinkRefused ? null : search.get("code");
  // The fragment at the time the page was opened: the skip link changes it.
  const [fragment] = useState(() => location.hash);
  const next = ownPath((search.get("next") ?? "/") + fragment);
  if (session.kind === "unknown") return null;
  if (session.kind === "operator") return <Redirect to={next} replace />;

  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    setBusy(true);
    const operatorToken = readField(new FormData(form), "operatorToken");
    const wrong = await signIn(code === null ? { operatorToken } : { code }).catch(() => ({
      message: "The service can't be reached. Try again.",
      isRefused: false,
    }));
    setBusy(false);
    setProblem(wrong?.message);
    if (code !== null && wrong?.isRefused === true) setLinkRefused(true);
    if (wrong !== undefined) focusFirstProblem(form);
  };
  return (
    <Page title="Sign in">
      <h1>Sign in</h1>
      {code === null && (
        <p className="lead">
          Tyche makes verifiable random numbers and runs oracle functions over HTTP, and puts every result on
          chain. Without an account you can look at results in the <Link href="/explorer">explorer</Link> and
          read <a href="/docs">how to call the API</a>.
        </p>
      )}
      <p className="lead">
        {code === null ? (
          <>
            Open the link that the service printed when it started, or enter the operator token. It is in the
            file <code>operator-token</code> of the data directory (<code>.tyche</code> by default), unless
            the operator keeps it elsewhere. This sign-in ends after twelve hours.
          </>
        ) : (
          "This link was printed when the service started. It works once."
        )}
      </p>
      <section className="panel narrow">
        {code !== null && problem !== undefined && <Notice kind="bad">{problem}</Notice>}
        <form className="fields" onSubmit={(event) => void send(event)}>
          {code === null && (
            <TextField
              id="operator-token"
              label="Operator token"
              problem={problem}
              wide
              name="operatorToken"
              type="password"
              required
              autoComplete="current-password"
              spellCheck={false}
            />
          )}
          <div>
            <button className="action" disabled={isBusy}>
              Sign in
            </button>
          </div>
        </form>
      </section>
      {code === null && <PasskeyPanel />}
      {code === null && <ProviderPanel next={next} />}
    </Page>
  );
}

/** The way in for people who have accepted an invitation. */
function PasskeyPanel() {
  const [problem, setProblem] = useState<string>();
  const send = async (): Promise<void> => {
    const wrong = await signInWithPasskey().catch((error: unknown) => ({ message: describePasskey(error) }));
    setProblem(wrong?.message);
  };
  return (
    <section className="panel narrow" id="passkey">
      <h2>With a passkey</h2>
      <p className="note">If you have accepted an invitation to a dapp.</p>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <button type="button" onClick={() => void send()}>
        Use a passkey
      </button>
    </section>
  );
}

/** `/sign-in/provider`: where the OpenID provider sends the browser back to. */
export function ProviderReturn() {
  const [search] = useState(() => location.search);
  const session = useSession();
  const { data: next, error } = useQuery({
    // The answer to whether there is a session must not come after that there is.
    enabled: session.kind !== "unknown",
    queryKey: ["provider", search],
    // The provider's answer counts once.
    queryFn: () => returnFromProvider(search),
    staleTime: Infinity,
    refetchInterval: false,
    retry: false,
  });
  if (next !== undefined) return <Redirect to={ownPath(next)} replace />;
  if (error === null) return null;
  return (
    <Page title="Sign in">
      <h1>Sign in</h1>
      <Notice kind="bad">{sentence(error.message)}</Notice>
      <p>
        <Link href="/sign-in">Sign in</Link>
      </p>
    </Page>
  );
}

/** The way in by the OpenID provider that the operator has chosen; nothing without one. */
export function ProviderPanel(kept: Parameters<typeof leaveForProvider>[0]) {
  const { data: title } = useQuery({ queryKey: ["provider"], queryFn: findProvider, staleTime: Infinity });
  const [problem, setProblem] = useState<string>();
  if (title === undefined || title === null) return null;
  const send = (): Promise<void> =>
    leaveForProvider(kept).catch((error: unknown) => setProblem(sentence((error as Error).message)));
  return (
    <section className="panel narrow" id="provider">
      <h2>With {title}</h2>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <button type="button" onClick={() => void send()}>
        Sign in with {title}
      </button>
    </section>
  );
}

/** Says why the browser gave no passkey, or why the service didn't ask for one. */
export function describePasskey(error: unknown): string {
  const { name, message } = error as Error;
  if (name === "NotAllowedError") return "The browser gave no passkey. Try again.";
  return sentence(message);
}

/** Returns a path of this application from untrusted text; `/` for anything else. */
export function ownPath(text: string): string {
  const url = text.startsWith("/") ? URL.parse(text, location.origin) : null;
  if (url?.origin !== location.origin) return "/";
  const path = url.pathname + url.search + url.hash;
  return URL.parse(path, location.origin)?.href === location.origin + path ? path : "/";
}
