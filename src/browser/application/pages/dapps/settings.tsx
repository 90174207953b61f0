import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useLocation, useParams } from "wouter";
import type { DappView } from "../../../../client/index.ts";
import {
  ConfirmDialog,
  Field,
  focusFirstProblem,
  readField,
  useSubmission,
  TextField,
} from "../../parts/forms.tsx";
import { ForRole, nameRoles } from "../../parts/forRole.tsx";
import { Facts, Notice, UnknownText } from "../../parts/parts.tsx";
import { PERMISSION_TEXT, PermissionFields, readPermissions } from "../../parts/permissions.tsx";
import { useMay, useMe, useOperator } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";

/** `/dapps/{dappId}/settings`: the forms that rename a dapp, set what its presets wait for and what it may use, and delete it; for viewers, what is set. */
export function Settings() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const isEditable = useMay(dappId)("updateDapp");
  return (
    <DappFrame dappId={dappId} tab="settings">
      {(dapp) =>
        isEditable === true ? (
          <>
            <Rename dapp={dapp} />
            <Beacon dapp={dapp} />
            <Permissions dapp={dapp} />
            <Delete dapp={dapp} />
          </>
        ) : (
          isEditable === false && <Present dapp={dapp} />
        )
      }
    </DappFrame>
  );
}

function Present({ dapp: { name, beacon, facilities } }: { readonly dapp: DappView }) {
  return (
    <section className="panel" aria-label="Settings">
      <Facts
        entries={[
          ["Name", <UnknownText text={name} />],
          ["Presets wait for", BEACON_TEXT[beacon ?? BY_NETWORK]],
          ["The dapp may use", facilities.map((one) => PERMISSION_TEXT[one]).join(", ")],
        ]}
      />
      <p className="note">
        Only {nameRoles("updateDapp")} can change the name and the wait, and only the operator what the dapp
        may use.
      </p>
    </section>
  );
}

function Rename({ dapp: { id, name } }: { readonly dapp: DappView }) {
  const operator = useOperator();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const { problems, refusal, isBusy, onSubmit } = useSubmission(["name"], async (values) => {
    const renamed = await operator.changeDapp(id, { name: readField(values, "name").trim() });
    queries.setQueryData(["dapp", id], renamed);
    await queries.invalidateQueries({ queryKey: ["dapps"] });
    navigate(`/dapps/${id}`);
  });
  return (
    <section className="panel">
      <h2>Rename</h2>
      <form className="fields" onSubmit={onSubmit}>
        <TextField
          id="name"
          label="Name"
          note="Everybody sees it on results with a label."
          problem={problems.get("name") ?? refusal}
          name="name"
          defaultValue={name}
          required
          spellCheck={false}
        />
        <div>
          <button className="action" disabled={isBusy}>
            Rename
          </button>
        </div>
      </form>
    </section>
  );
}

/** What the API calls the network's own choice: no choice of the dapp's. */
const BY_NETWORK = "network";
/** What presets may wait for. */
const BEACON_TEXT = {
  [BY_NETWORK]: "what the network says",
  drand: "a round of drand",
  local: "one of the local beacon, which proves nothing",
  none: "no round",
} as const;

function Beacon({ dapp: { id, beacon } }: { readonly dapp: DappView }) {
  const operator = useOperator();
  const queries = useQueryClient();
  const { refusal, isBusy, onSubmit } = useSubmission([], async (values) => {
    const chosen = (["drand", "local", "none"] as const).find((one) => one === readField(values, "beacon"));
    queries.setQueryData(["dapp", id], await operator.changeDapp(id, { beacon: chosen ?? null }));
    await queries.invalidateQueries({ queryKey: ["dapps"] });
  });
  return (
    <section className="panel">
      <h2>Round of drand</h2>
      <form className="fields" onSubmit={onSubmit}>
        <Field
          id="beacon"
          label="Presets wait for"
          problem={refusal}
          note="Where a call doesn’t say it. A result that follows from a future round of drand, too, takes some seconds more, and nobody alone can choose it."
        >
          {(control) => (
            <select {...control} name="beacon" defaultValue={beacon ?? BY_NETWORK}>
              {Object.entries(BEACON_TEXT).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div>
          <button className="action" disabled={isBusy}>
            Save
          </button>
        </div>
      </form>
    </section>
  );
}

/** Only the operator may change what a dapp may use. */
function Permissions({ dapp: { id, facilities } }: { readonly dapp: DappView }) {
  const operator = useOperator();
  const me = useMe();
  const queries = useQueryClient();
  const { refusal, isBusy, onSubmit } = useSubmission([], async (values) => {
    const changed = await operator.changeDapp(id, { facilities: readPermissions(values) });
    queries.setQueryData(["dapp", id], changed);
    await queries.invalidateQueries({ queryKey: ["dapps"] });
  });
  if (me?.isOperator !== true) return null;
  return (
    <section className="panel">
      <h2>What it may use</h2>
      {refusal !== undefined && (
        <Notice kind="bad">
          <UnknownText text={refusal} />
        </Notice>
      )}
      <form className="fields" onSubmit={onSubmit}>
        <PermissionFields given={facilities} />
        <div>
          <button className="action" disabled={isBusy}>
            Save
          </button>
        </div>
      </form>
    </section>
  );
}

function Delete({ dapp: { id, name } }: { readonly dapp: DappView }) {
  const operator = useOperator();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (readField(new FormData(form), "confirmation").trim() !== name.trim()) {
      setProblem("This is not the dapp’s name. Nothing is deleted.");
      focusFirstProblem(form);
      return;
    }
    setProblem(undefined);
    setAsked(true);
  };
  const remove = async (): Promise<void> => {
    await operator.deleteDapp(id);
    navigate("/");
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(id) });
    await queries.invalidateQueries({ queryKey: ["dapps"] });
  };
  return (
    <ForRole dappId={id} operation="deleteDapp" does="delete the dapp">
      <section className="panel" id="delete">
        <h2>Delete</h2>
        <p>This can't be undone.</p>
        <ul>
          <li>All API keys of the dapp stop working at once.</li>
          <li>Its contracts are unlinked: they can no longer request random numbers or functions.</li>
          <li>Its pages are removed, and its requests can no longer be listed.</li>
        </ul>
        <p>
          Requests in progress still complete. Shared results, usage totals and everything on chain remain.
        </p>
        <form className="fields" onSubmit={send}>
          <Field
            id="confirmation"
            label={
              <>
                Type the dapp’s name,{" "}
                <b>
                  <UnknownText text={name} />
                </b>
              </>
            }
            problem={problem}
          >
            {(control) => (
              <input {...control} name="confirmation" required autoComplete="off" spellCheck={false} />
            )}
          </Field>
          <div>
            <button className="danger">Delete this dapp</button>
          </div>
        </form>
        <ConfirmDialog
          isOpen={isAsked}
          onOpenChange={setAsked}
          question="Delete this dapp?"
          detail={
            <>
              <UnknownText text={name} /> will be deleted, and its API keys will stop working at once. This
              can't be undone.
            </>
          }
          confirm="Delete it"
          onConfirm={remove}
        />
      </section>
    </ForRole>
  );
}
