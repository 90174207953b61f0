import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useParams } from "wouter";
import type { KeyView, NewKeyView, TycheOperator } from "../../../../client/index.ts";
import { quoteForShell } from "../../../../lib/quoteForShell.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Code, CopyButton, count } from "../../parts/format.tsx";
import { ConfirmButton, Field, FormButtons, readField, useEdit, useSubmission } from "../../parts/forms.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { Listing, Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { RevealedKey } from "../../parts/revealedKey.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useOperator } from "../../services.tsx";

/** Other people add keys too, and programs use them. */
const REFRESH_MS = 5_000;
const COMMAND = `curl -sS ${quoteForShell(`${location.origin}/api/requests`)} -H "Authorization: $TYCHE_API_KEY"`;

/** `/dapps/{dappId}/keys`: the API keys of a dapp, for its owners. */
export function Keys() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="keys">
      {() => (
        <ForRole dappId={dappId} operation="listKeys">
          <KeysPanel dappId={dappId} />
        </ForRole>
      )}
    </DappFrame>
  );
}

/** The keys, and the form that adds one: a new key is shown at once, an existing one on demand. */
function KeysPanel({ dappId }: { readonly dappId: string }) {
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
    <Loaded query={query}>
      {(keys) => (
        <>
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
                </span>{" "}
                “Reveal” shows it again.
              </Notice>
            )}
            <ul className="keys" ref={list} tabIndex={-1} aria-label="API keys">
              {keys.map((apiKey) => (
                <KeyItem
                  key={apiKey.id}
                  dappId={dappId}
                  apiKey={apiKey}
                  change={async (change) => {
                    await operator.changeKey(dappId, apiKey.id, change);
                    await refresh();
                    announce("The key is changed.");
                  }}
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
            <p className="note">
              With one in <code>TYCHE_API_KEY</code>, this lists the dapp's requests:{" "}
              <CopyButton text={COMMAND} what="curl" />
            </p>
            <Listing text={COMMAND} label="curl" />
          </section>
          <section className="panel">
            <h2>Add a key</h2>
            <KeyForm
              id="new"
              label="Add a key"
              save={async ({ name, dailyLimit }) => {
                const limit = dailyLimit === null ? {} : { dailyLimit };
                setAdded(await operator.addKey(dappId, { name, ...limit }));
                await refresh();
              }}
            />
          </section>
        </>
      )}
    </Loaded>
  );
}

function KeyItem({
  dappId,
  apiKey,
  change,
  revoke,
}: {
  readonly dappId: string;
  readonly apiKey: KeyView;
  readonly change: (change: KeyChange) => Promise<void>;
  readonly revoke: () => Promise<void>;
}) {
  const { id, name, createdAt, lastUsedAt, revokedAt, dailyLimit } = apiKey;
  const { isOpen, button, close } = useEdit();
  const title = <b>{name === "" ? "unnamed key" : <UnknownText text={name} />}</b>;
  const about = (
    <span className="note">
      <Code text={id} />, created <Age iso={createdAt} />, {lastUsedAt === null ? "never used" : "last used "}
      {lastUsedAt !== null && <Age iso={lastUsedAt} />}
      {dailyLimit !== null && `, at most ${count(dailyLimit, "request")} a day`}
    </span>
  );
  if (revokedAt !== null)
    return (
      <li className="revoked">
        <Tag kind="quiet">revoked</Tag> {title} {about}
      </li>
    );
  return (
    <li>
      {title}
      <div className="key-row">
        <RevealedKey dappId={dappId} apiKey={apiKey} />
        <button {...button}>
          Edit<span className="visually-hidden"> key {id}</span>
        </button>
        <ConfirmButton
          question="Revoke this key?"
          detail={`Calls that use ${name === "" ? id : name} will be refused at once. This can't be undone.`}
          confirm="Revoke it"
          onConfirm={revoke}
        >
          Revoke<span className="visually-hidden"> key {id}</span>
        </ConfirmButton>
      </div>
      {about}
      {isOpen && (
        <KeyForm
          id={id}
          label="Save"
          apiKey={apiKey}
          save={async (values) => {
            await change(values);
            close();
          }}
          close={close}
        />
      )}
    </li>
  );
}

type KeyChange = Required<Parameters<TycheOperator["changeKey"]>[2]>;

/** Name and limit of a new key, or of an existing one. */
function KeyForm({
  id,
  label,
  apiKey,
  save,
  close,
}: {
  /** Keeps the ids of its fields unique. */
  readonly id: string;
  readonly label: string;
  readonly apiKey?: KeyView;
  readonly save: (values: KeyChange) => Promise<void>;
  readonly close?: () => void;
}) {
  const { problems, refusal, isBusy, onSubmit } = useSubmission(
    ["name", "dailyLimit"],
    async (values, form) => {
      const limit = readField(values, "dailyLimit").trim();
      await save({
        name: readField(values, "name").trim(),
        dailyLimit: limit === "" ? null : Number(limit),
      });
      form.reset();
    },
  );
  const [wrongName, wrongLimit] = [problems.get("name"), problems.get("dailyLimit")];
  return (
    <form className={apiKey === undefined ? "fields" : "fields edit"} onSubmit={onSubmit}>
      <Field id={`name-${id}`} label="Name" note="Optional." problem={wrongName}>
        {(control) => (
          <input
            {...control}
            name="name"
            defaultValue={apiKey?.name}
            autoComplete="off"
            autoFocus={apiKey !== undefined}
          />
        )}
      </Field>
      <Field
        id={`limit-${id}`}
        label="Requests a day"
        note="Leave empty for no limit. The day begins at 00:00 UTC."
        problem={wrongLimit}
      >
        {(control) => (
          <input
            {...control}
            name="dailyLimit"
            type="number"
            min="1"
            defaultValue={apiKey?.dailyLimit ?? ""}
            inputMode="numeric"
            autoComplete="off"
          />
        )}
      </Field>
      {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
      <FormButtons label={label} isBusy={isBusy} close={close} />
    </form>
  );
}
