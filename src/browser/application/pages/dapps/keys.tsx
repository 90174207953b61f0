import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useParams } from "wouter";
import type { KeyView, NewKeyView } from "../../../../client/index.ts";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { quoteForShell } from "../../../../lib/quoteForShell.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Code, CopyButton, count, Time } from "../../parts/format.tsx";
import {
  ConfirmButton,
  Field,
  FormButtons,
  readField,
  readTime,
  TimeField,
  useEdit,
  useSubmission,
  TextField,
} from "../../parts/forms.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { KeyExpiry } from "../../parts/keyExpiry.tsx";
import { Listing, Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { RevealedKey } from "../../parts/revealedKey.tsx";
import { RotateButton } from "../../parts/rotateButton.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useOperator } from "../../services.tsx";

/** Other people add keys too, and programs use them. */
const REFRESH_MS = 5_000;
const COMMAND = `curl -sS ${quoteForShell(`${location.origin}/api/requests`)} -H "Authorization: $TYCHE_API_KEY"`;

/** `/dapps/{dappId}/keys`: the API keys of a dapp, for its owners. */
export function Keys() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="keys">
      {() => (
        <ForRole dappId={dappId} operation="listKeys" does="see and change API keys">
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
  const [shown, show] = useState<NewKeyView>();
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
            {shown !== undefined && (
              <Notice>
                The new key{shown.name !== "" && " "}
                <UnknownText text={shown.name} />:{" "}
                <span className="copyable">
                  <Code text={shown.apiKey} />
                  <CopyButton key={shown.apiKey} text={shown.apiKey} what="API key" autoFocus />
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
                  rotate={async (overlapHours) => {
                    show(await operator.rotateKey(dappId, apiKey.id, { overlapHours }));
                    await refresh();
                    announce("The key has a new value.");
                  }}
                  revoke={async () => {
                    await operator.revokeKey(dappId, apiKey.id);
                    if (shown?.id === apiKey.id) show(undefined);
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
              save={async ({ dailyLimit, ...settings }) => {
                show(await operator.addKey(dappId, { ...settings, dailyLimit: dailyLimit ?? undefined }));
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
  rotate,
  revoke,
}: {
  readonly dappId: string;
  readonly apiKey: KeyView;
  readonly change: (change: Omit<KeySettings, "access">) => Promise<void>;
  readonly rotate: (overlapHours: number) => Promise<void>;
  readonly revoke: () => Promise<void>;
}) {
  const { id, name, createdAt, lastUsedAt, revokedAt, dailyLimit, requestsToday, previousUntil } = apiKey;
  const { isOpen, button, close } = useEdit();
  const title = (
    <>
      <b>{name === "" ? "unnamed key" : <UnknownText text={name} />}</b>{" "}
      {apiKey.access === "read" && <Tag kind="quiet">read only</Tag>}
    </>
  );
  const about = (
    <span className="note">
      <Code text={id} />, created <Age iso={createdAt} />, {lastUsedAt === null ? "never used" : "last used "}
      {lastUsedAt !== null && <Age iso={lastUsedAt} />}
      {dailyLimit !== null && `, used today: ${requestsToday} of ${count(dailyLimit, "request")}`}
      {previousUntil !== null && ", former value valid until "}
      {previousUntil !== null && <Time iso={previousUntil} />}
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
      {title} <KeyExpiry apiKey={apiKey} />
      <div className="key-row">
        <RevealedKey dappId={dappId} apiKey={apiKey} />
        <button {...button}>
          Edit<span className="visually-hidden"> key {id}</span>
        </button>
        <RotateButton
          what="key"
          name={name === "" ? id : plainText(name)}
          detail={`The key gets a new value. Its name, its limits and what acts with it stay. To take a leaked value out of use, choose that it ends at once.${previousUntil === null ? "" : " The former value, which is still valid, ends at once anyway."}`}
          rotate={rotate}
        >
          Rotate<span className="visually-hidden"> key {id}</span>
        </RotateButton>
        <ConfirmButton
          question="Revoke this key?"
          detail={`Calls that use ${name === "" ? id : name} will be refused at once. This can't be undone.`}
          more={<RevokeEffects dappId={dappId} apiKey={apiKey} />}
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
          save={async ({ access: _access, ...values }) => {
            await change(values);
            close();
          }}
          close={close}
        />
      )}
    </li>
  );
}

/** What else ends with a key, and what goes on. */
function RevokeEffects({
  dappId,
  apiKey: { id, lastUsedAt },
}: {
  readonly dappId: string;
  readonly apiKey: KeyView;
}) {
  const client = useClient(dappId);
  const query = useQuery({
    queryKey: ["acting", dappId],
    queryFn: async () => [...(await client.schedules.list()), ...(await client.triggers.list())],
  });
  const acting = query.data?.filter(({ keyId }) => keyId === id);
  return (
    <ul>
      <li>
        {lastUsedAt === null ? (
          "It was never used."
        ) : (
          <>
            It was last used <Age iso={lastUsedAt} />.
          </>
        )}
      </li>
      {acting?.map((one) => (
        <li key={one.id}>
          <UnknownText text={one.name} /> ({"cron" in one ? "schedule" : "log trigger"}) acts with it, and
          makes no requests until somebody saves it with another key or from these pages.
        </li>
      ))}
      {acting?.length === 0 && <li>No schedule or log trigger acts with it: all go on.</li>}
      <li>Requests in progress complete, and webhooks are still told.</li>
    </ul>
  );
}

/** What the form says of a key. */
type KeySettings = Pick<KeyView, "name" | "dailyLimit" | "access" | "expiresAt">;

/** Name, limit and expiry of a new key, or of an existing one; of a new one also what it may do. */
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
  readonly save: (values: KeySettings) => Promise<void>;
  readonly close?: () => void;
}) {
  const { problems, refusal, isBusy, onSubmit } = useSubmission(
    ["name", "dailyLimit", "access", "expiresAt"],
    async (values, form) => {
      const limit = readField(values, "dailyLimit").trim();
      await save({
        name: readField(values, "name").trim(),
        dailyLimit: limit === "" ? null : Number(limit),
        access: readField(values, "access") === "read" ? "read" : "full",
        expiresAt: readTime(values, "expiresAt") ?? null,
      });
      form.reset();
    },
  );
  const [wrongName, wrongLimit] = [problems.get("name"), problems.get("dailyLimit")];
  return (
    <form className={apiKey === undefined ? "fields" : "fields edit"} onSubmit={onSubmit}>
      <TextField
        id={`name-${id}`}
        label="Name"
        note="Optional."
        problem={wrongName}
        name="name"
        defaultValue={apiKey?.name}
        autoFocus={apiKey !== undefined}
      />
      <TextField
        id={`limit-${id}`}
        label="Requests a day"
        note="Leave empty for no limit. The day begins at 00:00 UTC."
        problem={wrongLimit}
        name="dailyLimit"
        type="number"
        min="1"
        defaultValue={apiKey?.dailyLimit ?? ""}
        inputMode="numeric"
      />
      <TimeField
        id={`expiry-${id}`}
        label="Expires"
        note="In UTC. Calls with it are refused afterwards. Empty: never."
        problem={problems.get("expiresAt")}
        name="expiresAt"
        value={apiKey?.expiresAt}
      />
      {apiKey === undefined && (
        <Field id={`access-${id}`} label="Access" problem={problems.get("access")}>
          {(control) => (
            <select {...control} name="access">
              <option value="full">full: all calls of the dapp</option>
              <option value="read">read only: GET alone, makes no requests</option>
            </select>
          )}
        </Field>
      )}
      {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
      <FormButtons label={label} isBusy={isBusy} close={close} />
    </form>
  );
}
