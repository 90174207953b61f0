import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { readField, useSubmission, TextField } from "../parts/forms.tsx";
import { Time } from "../parts/format.tsx";
import { Notice, UnknownText } from "../parts/parts.tsx";
import { aRole, ROLE_TEXT } from "../parts/roleText.ts";
import { Loading, Page, sentence } from "../page.tsx";
import {
  acceptInvitation,
  openInvitation,
  signUp,
  useSession,
  type Invitation as Opened,
} from "../session.ts";
import { useMe } from "../services.tsx";
import { describePasskey, ProviderPanel } from "./signIn.tsx";

/** `/invitation#{code}`: makes its reader a member of a dapp, with a passkey of their own. The code in the fragment is never sent with the page's address. */
export function Invitation() {
  const [code] = useState(() => location.hash.slice(1));
  const session = useSession();
  const opened = useQuery({
    queryKey: ["invitation", code],
    queryFn: () => openInvitation(code),
    // Each reading asks for another passkey, and only the last one counts.
    staleTime: Infinity,
    refetchInterval: false,
    retry: false,
  });
  return (
    <Page title="Invitation">
      <h1>Invitation</h1>
      {opened.isPending && <Loading />}
      {opened.error !== null && <Notice kind="bad">{sentence(opened.error.message)}</Notice>}
      {opened.data !== undefined && (
        <>
          <Offer opened={opened.data} />
          {session.kind === "operator" ? (
            <SignedIn code={code} opened={opened.data} />
          ) : (
            <SignUp code={code} opened={opened.data} />
          )}
        </>
      )}
    </Page>
  );
}

/** What is offered, by whom and for how long. */
function Offer({ opened: { dappName, role, invitedBy, expiresAt } }: { readonly opened: Opened }) {
  return (
    <>
      <p className="lead">
        {invitedBy === "" ? "The operator" : <UnknownText text={invitedBy} />} invites you to the dapp{" "}
        <b>
          <UnknownText text={dappName} />
        </b>{" "}
        as <b>{aRole(role)}</b>.
      </p>
      <p>
        {sentence(`${aRole(role)} ${ROLE_TEXT[role]}`)} The invitation ends <Time iso={expiresAt} />.
      </p>
    </>
  );
}

/** Who is signed in with the operator token is nobody yet. */
function SignedIn(given: { readonly code: string; readonly opened: Opened }) {
  const me = useMe();
  if (me === undefined) return null;
  return me.id === null ? <SignUp {...given} /> : <Join {...given} />;
}

function SignUp({ code, opened }: { readonly code: string; readonly opened: Opened }) {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<string>();
  const { isBusy, onSubmit } = useSubmission([], async (values) => {
    const name = readField(values, "name").trim();
    const wrong = await signUp(code, { name, options: opened.options }).catch((error: unknown) => ({
      message: describePasskey(error),
    }));
    setProblem(wrong?.message);
    if (wrong === undefined) navigate(`/dapps/${opened.dappId}`);
    // The service takes one answer to each challenge.
    else await queries.invalidateQueries({ queryKey: ["invitation"] });
  });
  return (
    <>
      <section className="panel narrow">
        <p className="note">
          A passkey replaces a password: this device keeps it, and asks for your fingerprint, face or PIN when
          you sign in.
        </p>
        <form className="fields" onSubmit={onSubmit}>
          <TextField
            id="name"
            label="Your name"
            note="The other members see it."
            problem={problem}
            name="name"
            required
            maxLength={60}
            autoComplete="name"
          />
          <div>
            <button className="action" disabled={isBusy}>
              Create a passkey
            </button>
          </div>
        </form>
      </section>
      <ProviderPanel invitation={code} next={`/dapps/${opened.dappId}`} />
    </>
  );
}

function Join({ code, opened }: { readonly code: string; readonly opened: Opened }) {
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const { refusal, isBusy, onSubmit } = useSubmission([], async () => {
    await acceptInvitation(code);
    await queries.invalidateQueries();
    navigate(`/dapps/${opened.dappId}`);
  });
  return (
    <section className="panel narrow">
      {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
      <form onSubmit={onSubmit}>
        <button className="action" disabled={isBusy}>
          Accept it
        </button>
      </form>
    </section>
  );
}
