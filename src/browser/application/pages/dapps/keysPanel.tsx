import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState, type FormEvent } from "react";
import type { KeyView, NewKeyView } from "../../../../client/index.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { Age, Code, CopyButton } from "../../parts/format.tsx";
import {
  ConfirmButton,
  describeError,
  Field,
  focusFirstProblem,
  MAX_NAME_CHARACTERS,
  problemAttributes,
  problemsOf,
  readField,
} from "../../parts/forms.tsx";
import { Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { RevealedKey } from "../../parts/revealedKey.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useOperator } from "../../services.tsx";

/** Other people add keys too, and programs use them. */
const REFRESH_MS = 5_000;

/** The API keys of a dapp, and the form that adds one: a new key is shown once, an old one when it is asked for. */
export function KeysPanel({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ["keys", dappId],
    queryFn: () => operator.keys(dappId),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  const list = useRef<HTMLUListElement>(null);
  const [added, setAdded] = useState<NewKeyView>();
  const refresh = () => queries.invalidateQueries({ queryKey: ["keys", dappId] });
  return (
    <section className="panel" id="keys">
      <h2>API keys</h2>
      <p className="note">
        Send one in the <code>Authorization</code> header of every call.
      </p>
      {added !== undefined && (
        <Notice>
          The new key{added.name !== "" && " "}
          <UnknownText text={added.name} />:{" "}
          <span className="copyable">
            <Code text={added.apiKey} />
            <CopyButton key={added.id} text={added.apiKey} what="API key" autoFocus />
          </span>
        </Notice>
      )}
      <Loaded query={query}>
        {(keys) => (
          <ul className="keys" ref={list} tabIndex={-1} aria-label="API keys">
            {keys.map((apiKey) => (
              <KeyItem
                key={apiKey.id}
                dappId={dappId}
                apiKey={apiKey}
                revoke={async () => {
                  await operator.revokeKey(dappId, apiKey.id);
                  if (added?.id === apiKey.id) setAdded(undefined);
                  await refresh();
                  announce("The key is revoked.");
                  // The button that had the focus is gone.
                  requestAnimationFrame(() => list.current?.focus());
                }}
              />
            ))}
          </ul>
        )}
      </Loaded>
      <AddKey
        add={async (name) => {
          setAdded(await operator.addKey(dappId, name));
          await refresh();
        }}
      />
    </section>
  );
}

function KeyItem({
  dappId,
  apiKey,
  revoke,
}: {
  readonly dappId: string;
  readonly apiKey: KeyView;
  readonly revoke: () => Promise<void>;
}) {
  const { id, name, createdAt, lastUsedAt, revokedAt } = apiKey;
  const about = (
    <span className="note">
      <Code text={id} />, created <Age iso={createdAt} />, {lastUsedAt === null ? "never used" : "last used "}
      {lastUsedAt !== null && <Age iso={lastUsedAt} />}
    </span>
  );
  if (revokedAt !== null)
    return (
      <li className="revoked">
        <Tag kind="quiet">revoked</Tag>{" "}
        <b>
          <UnknownText text={name} />
        </b>{" "}
        {about}
      </li>
    );
  return (
    <li>
      {name !== "" && (
        <b>
          <UnknownText text={name} />
        </b>
      )}
      <div className="key-row">
        <RevealedKey dappId={dappId} apiKey={apiKey} />
        <ConfirmButton
          question="Revoke this key?"
          detail="Calls that use it will be refused at once. This can't be undone."
          confirm="Revoke it"
          onConfirm={revoke}
        >
          Revoke<span className="visually-hidden"> key {id}</span>
        </ConfirmButton>
      </div>
      {about}
    </li>
  );
}

function AddKey({ add }: { readonly add: (name: string) => Promise<void> }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    setProblem(undefined);
    setBusy(true);
    try {
      await add(readField(new FormData(form), "name").trim());
      form.reset();
    } catch (error) {
      setProblem(problemsOf(error).get("name") ?? describeError(error));
      focusFirstProblem(form);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="fields" onSubmit={(event) => void send(event)}>
      <Field id="key-name" label="Name of a new key" note="May be empty." problem={problem}>
        <input
          id="key-name"
          name="name"
          maxLength={MAX_NAME_CHARACTERS}
          autoComplete="off"
          {...problemAttributes("key-name", problem)}
        />
      </Field>
      <div>
        <button disabled={isBusy}>Add a key</button>
      </div>
    </form>
  );
}
