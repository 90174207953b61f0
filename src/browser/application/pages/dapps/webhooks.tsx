import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import type { NewWebhookView, WebhookAttempt, WebhookView } from "../../../../client/index.ts";
import { indentJson } from "../../parts/indentJson.ts";
import { TOLD_EVENTS, type ToldEvent } from "../../../../domain/vocabulary.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Code, Copyable, CopyButton, count, Time } from "../../parts/format.tsx";
import {
  ConfirmButton,
  describeError,
  Field,
  FormButtons,
  problemAttributes,
  problemsOf,
  readField,
  Select,
  useEdit,
  useSubmission,
  TextField,
} from "../../parts/forms.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { List } from "../../parts/list.tsx";
import { RotateButton } from "../../parts/rotateButton.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { Facts, Listing, Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useMay } from "../../services.tsx";

const REFRESH_MS = 2_000;
/** Attempts on a page. */
const ATTEMPTS = 20;

/** `/dapps/{dappId}/webhooks`: where the dapp's server is told the ends of requests, and what came of it. */
export function Webhooks() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="webhooks">
      {() => <WebhookPanel dappId={dappId} />}
    </DappFrame>
  );
}

function WebhookPanel({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ["webhooks", dappId],
    queryFn: () => client.webhooks.list(),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  const [shown, setShown] = useState<NewWebhookView>();
  const refresh = () => queries.invalidateQueries({ queryKey: ["webhooks", dappId] });
  return (
    <>
      <section className="panel" id="webhooks" aria-label="Webhooks">
        <p className="note">
          Your server is told, by a signed POST, when a request ends, or when a reorg reopens it; when a
          trigger makes no request (trigger.skipped), and when a reorg removes the log of one
          (trigger.reverted).
        </p>
        {query.data?.length === 0 && <p className="note">None yet.</p>}
        {shown !== undefined && (
          <>
            <Credential webhook={shown} />
            <p className="note">
              <Link href={`/dapps/${dappId}/webhooks/${shown.id}`}>Send it a test event</Link> on its page.
            </p>
          </>
        )}
      </section>
      <Loaded query={query}>
        {(webhooks) => (
          <>
            {webhooks.length > 0 && (
              <section className="panel">
                <List
                  label="Where events are sent"
                  items={webhooks}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      head: "URL",
                      kind: "long",
                      cell: ({ id, url }) => (
                        <Link href={`/dapps/${dappId}/webhooks/${id}`}>
                          <UnknownText text={url} />
                        </Link>
                      ),
                    },
                    { head: "State", isPlain: true, cell: (webhook) => <WebhookState webhook={webhook} /> },
                    {
                      head: "Note",
                      kind: "long",
                      cell: ({ description }) => <UnknownText text={description} />,
                    },
                    {
                      head: "Last success",
                      cell: ({ lastSuccessAt }) =>
                        lastSuccessAt === null ? "none yet" : <Age iso={lastSuccessAt} />,
                    },
                    { head: "Pending", kind: "number", cell: ({ pending }) => pending },
                    { head: "Failed", kind: "number", cell: ({ failed }) => failed },
                  ]}
                />
              </section>
            )}
          </>
        )}
      </Loaded>
      <ForRole dappId={dappId} operation="createWebhook" does="add and change webhooks">
        <section className="panel" id="new-webhook">
          <h2>New webhook</h2>
          <WebhookForm
            save={async (params, signature) => {
              setShown(await client.webhooks.create({ ...params, signature }));
              await refresh();
            }}
          />
        </section>
      </ForRole>
    </>
  );
}

/** `/dapps/{dappId}/webhooks/{id}`: a webhook, what can be done with it, and its attempts. */
export function Webhook() {
  const { dappId, id } = useParams<{ readonly dappId: string; readonly id: string }>();
  const { webhooks } = useClient(dappId);
  const query = useQuery({
    queryKey: ["webhooks", dappId, id],
    queryFn: () => webhooks.get(id),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <DappFrame dappId={dappId} tab="webhooks" title={id}>
      {() => <Loaded query={query}>{(webhook) => <WebhookPart dappId={dappId} webhook={webhook} />}</Loaded>}
    </DappFrame>
  );
}

function WebhookPart({ dappId, webhook }: { readonly dappId: string; readonly webhook: WebhookView }) {
  const { webhooks } = useClient(dappId);
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const may = useMay(dappId);
  const [shown, setShown] = useState<NewWebhookView>();
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ["webhooks", dappId] });
    await queries.invalidateQueries({ queryKey: ["attempts", dappId] });
  };
  const [problem, setProblem] = useState<string>();
  /** What the last button did. */
  const [done, setDone] = useState<string>();
  const { id, url, description, pausedAt, createdAt } = webhook;
  /** Does what a button is for. `work` returns what to say then. */
  const act = async (work: () => Promise<string>): Promise<void> => {
    setProblem(undefined);
    setDone(undefined);
    try {
      const said = await work();
      await refresh();
      setDone(said);
      announce(said);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const { isOpen, button, close } = useEdit();
  const isPaused = pausedAt !== null;
  const when = isPaused ? "once the webhook is resumed" : "now";
  const [testType, setTestType] = useState<ToldEvent>("webhook.test");
  const sendTest = async () => {
    await webhooks.test(id, { type: testType });
    return testType === "webhook.test"
      ? "A test event is sent."
      : `A sample of ${testType}, marked as a test, is sent.`;
  };
  const togglePause = async () => {
    await webhooks.change(id, { paused: !isPaused });
    return isPaused ? "The webhook is resumed." : "The webhook is paused.";
  };
  const replayAll = async () => {
    const { replayed } = await webhooks.replay(id, { since: createdAt });
    if (replayed === 0) return "No event is undelivered.";
    return `${count(replayed, "event")} ${replayed === 1 ? "is" : "are"} sent again ${when}.`;
  };
  const replayOne = async (eventId: string) => {
    await webhooks.replay(id, { eventId });
    return `The event is sent again ${when}.`;
  };
  return (
    <section className="panel" aria-label={`Webhook ${url}`}>
      <h2>
        <UnknownText text={url} />
      </h2>
      <p>
        <WebhookState webhook={webhook} /> <UnknownText text={description} />
      </p>
      <WebhookFacts webhook={webhook} />
      {shown !== undefined && <Credential webhook={shown} />}
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      {may("changeWebhook") === true && (
        <div className="buttons">
          <span className="joined">
            <select
              aria-label="Test event"
              value={testType}
              onChange={({ currentTarget }) => setTestType(currentTarget.value as ToldEvent)}
            >
              {TOLD_EVENTS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
            <button type="button" onClick={() => void act(sendTest)}>
              Send test
            </button>
          </span>
          <button type="button" onClick={() => void act(togglePause)}>
            {isPaused ? "Resume" : "Pause"}
          </button>
          <button {...button}>Edit</button>
          <button type="button" onClick={() => void act(replayAll)}>
            Send undelivered again
          </button>
          <RotateButton
            what="secret"
            detail={`Until the present secret ends, messages are signed with both.${webhook.previousSecretUntil === null ? "" : " The former secret, which signs until now, too, ends at once."}`}
            rotate={async (overlapHours) => {
              setShown(await webhooks.rotate(id, { overlapHours }));
              await refresh();
            }}
          >
            Rotate the secret
          </RotateButton>
          <ConfirmButton
            question="Delete this webhook?"
            detail="What is still to be delivered is not. This can't be undone."
            confirm="Delete it"
            onConfirm={async () => {
              await webhooks.delete(id);
              navigate(`/dapps/${dappId}/webhooks`);
              queries.removeQueries({ queryKey: ["webhooks", dappId, id] });
              await refresh();
            }}
          >
            Delete
          </ConfirmButton>
        </div>
      )}
      {done !== undefined && <p className="notice">{done}</p>}
      {isOpen && (
        <WebhookForm
          webhook={webhook}
          save={async (params) => {
            await webhooks.change(id, params);
            close();
            await refresh();
            announce("The webhook is changed.");
          }}
          close={close}
        />
      )}
      <Attempts
        dappId={dappId}
        webhookId={id}
        isPaused={isPaused}
        replay={may("replayWebhook") === true ? (eventId) => act(() => replayOne(eventId)) : undefined}
      />
    </section>
  );
}

function WebhookFacts({ webhook }: { readonly webhook: WebhookView }) {
  const { id, events, createdAt, failingSince, lastSuccessAt, previousSecretUntil, pending, failed } =
    webhook;
  return (
    <Facts
      entries={[
        ["Last success", lastSuccessAt === null ? "none yet" : <Age iso={lastSuccessAt} />],
        ["Failing since", failingSince !== null && <Age iso={failingSince} />],
        ["Undelivered", `${count(pending, "event")} pending, ${failed} failed`],
        ["Told", events.join(", ")],
        ["Signature", SIGNATURES[webhook.signature]],
        [
          "Former secret",
          previousSecretUntil !== null && (
            <>
              signs, too, until <Time iso={previousSecretUntil} />
            </>
          ),
        ],
        ["Created", <Age iso={createdAt} />],
        ["Id", <Copyable text={id} what="webhook id" />],
      ]}
    />
  );
}

const SIGNATURES = {
  hmac: "v1,{base64}: HMAC-SHA256 of {webhook-id}.{webhook-timestamp}.{body} with the secret.",
  ed25519: "v1a,{base64}: ed25519 of {webhook-id}.{webhook-timestamp}.{body} with a key of its own.",
};

const PAUSES = {
  owner: "paused",
  gone: "paused: it answered 410",
  failing: "paused: it failed for five days",
};

function WebhookState({ webhook: { pausedWhy, failingSince } }: { readonly webhook: WebhookView }) {
  if (pausedWhy !== null)
    return <Tag kind={pausedWhy === "owner" ? "quiet" : "bad"}>{PAUSES[pausedWhy]}</Tag>;
  return failingSince === null ? <Tag kind="good">active</Tag> : <Tag kind="bad">failing</Tag>;
}

function Attempts({
  dappId,
  webhookId,
  isPaused,
  replay,
}: {
  readonly dappId: string;
  readonly webhookId: string;
  readonly isPaused: boolean;
  /** Sends an event again; absent for those who may not. */
  readonly replay: ((eventId: string) => Promise<void>) | undefined;
}) {
  const { webhooks } = useClient(dappId);
  const [search, setSearch] = useSearchParams();
  const state = STATES.find((one) => one === search.get("state"));
  const type = TOLD_EVENTS.find((one) => one === search.get("type"));
  const eventId = search.get("event") ?? undefined;
  const cursor = usePlace("cursor");
  const query = useQuery({
    queryKey: ["attempts", dappId, webhookId, state, type, eventId, cursor],
    queryFn: () => webhooks.attempts(webhookId, { limit: ATTEMPTS, state, type, eventId, cursor }),
    refetchInterval: cursor === undefined && refetchUnlessRefused(() => REFRESH_MS),
  });
  const choose = (name: string, value: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete("cursor");
      if (value === "") next.delete(name);
      else next.set(name, value);
      return next;
    });
  const [shownId, setShownId] = useState<string>();
  const problem = problemsOf(query.error).get("eventId");
  const again = (eventId: string) => (
    <button type="button" onClick={() => void replay?.(eventId)}>
      Send again<span className="visually-hidden"> {eventId}</span>
    </button>
  );
  return (
    <>
      <h3>Attempts</h3>
      <div className="filter">
        <Field id="attempt-state" label="State">
          {(control) => (
            <Select
              {...control}
              value={state ?? ""}
              options={[["", "all"], ...STATES.map((one) => [one, one] as const)]}
              onChange={(value) => choose("state", value)}
            />
          )}
        </Field>
        <Field id="attempt-type" label="Event">
          {(control) => (
            <Select
              {...control}
              value={type ?? ""}
              options={[["", "all"], ...TOLD_EVENTS.map((one) => [one, one] as const)]}
              onChange={(value) => choose("type", value)}
            />
          )}
        </Field>
        <TextField
          id="attempt-event"
          label="Event id"
          problem={problem}
          key={eventId}
          defaultValue={eventId}
          placeholder="evt_…"
          spellCheck={false}
          onBlur={({ target }) => choose("event", target.value.trim())}
          onKeyDown={({ key, currentTarget }) => {
            if (key === "Enter") choose("event", currentTarget.value.trim());
          }}
        />
      </div>
      {problem === undefined && (
        <Loaded query={query}>
          {({ items, nextCursor }) =>
            items.length === 0 ? (
              <p className="note">
                {(state ?? type ?? eventId) === undefined ? "No attempts yet." : "No such attempts."}
              </p>
            ) : (
              <>
                <List
                  label="The last attempts"
                  items={items}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      head: "Event",
                      kind: "long",
                      cell: (attempt) => (
                        <>
                          {attempt.type} <Code text={attempt.eventId} />{" "}
                          <span className="note">attempt {attempt.number}</span>{" "}
                          {eventId === undefined && !(attempt.success && attempt.number === 1) && (
                            <button
                              type="button"
                              className="copy"
                              onClick={() => setSearch({ event: attempt.eventId })}
                            >
                              Its attempts<span className="visually-hidden"> of {attempt.eventId}</span>
                            </button>
                          )}{" "}
                          <button
                            type="button"
                            className="copy"
                            aria-expanded={attempt.id === shownId}
                            onClick={() => setShownId(attempt.id === shownId ? undefined : attempt.id)}
                          >
                            Message
                          </button>
                        </>
                      ),
                    },
                    {
                      head: "Outcome",
                      isPlain: true,
                      cell: (attempt) => <Outcome attempt={attempt} />,
                    },
                    {
                      head: "About",
                      kind: "long",
                      cell: ({ subject }) => subject !== null && <Subject dappId={dappId} id={subject} />,
                    },
                    { head: "Sent", cell: ({ at }) => <Age iso={at} /> },
                    {
                      head: "Next attempt",
                      cell: ({ nextAttemptAt }) =>
                        !isPaused && nextAttemptAt !== null && <Time iso={nextAttemptAt} />,
                    },
                    {
                      head: "Send again",
                      hasHiddenHead: true,
                      // Attempts are kept longer than the event, whose type is `null` then.
                      cell: (attempt) =>
                        replay !== undefined &&
                        attempt.type !== null &&
                        isLastOf(items, attempt) &&
                        again(attempt.eventId),
                    },
                  ]}
                  detailOf={({ id }) =>
                    id === shownId ? <Sent dappId={dappId} webhookId={webhookId} id={id} /> : undefined
                  }
                />
                <Pages parameter="cursor" older={nextCursor} />
              </>
            )
          }
        </Loaded>
      )}
    </>
  );
}

const STATES = ["delivered", "failed"] as const;

/** The message of an attempt as it was sent, and what was answered. */
function Sent({
  dappId,
  webhookId,
  id,
}: {
  readonly dappId: string;
  readonly webhookId: string;
  readonly id: string;
}) {
  const { webhooks } = useClient(dappId);
  const query = useQuery({
    queryKey: ["attempt", dappId, webhookId, id],
    queryFn: () => webhooks.attempt(webhookId, id),
  });
  return (
    <Loaded query={query}>
      {({ headers, body, answer, answerHeaders, status }) => (
        <>
          <h4>Message</h4>
          <Listing label="Headers" text={lines({ ...headers, "webhook-signature": "not kept" })} />
          {body === null ? (
            <p className="note">The event is no longer stored.</p>
          ) : (
            <>
              <Listing label="Body" text={indentJson(body) ?? body} />
              <p className="note">
                Indented here; it is signed as it was sent.{" "}
                <CopyButton text={body} what="body as it was sent" />
              </p>
            </>
          )}
          {status !== null && (
            <>
              <h4>Answer: {status}</h4>
              {answerHeaders !== null && Object.keys(answerHeaders).length > 0 && (
                <Listing label="Headers of the answer" text={lines(answerHeaders)} />
              )}
              {answer === "" ? (
                <p className="note">It has no body.</p>
              ) : (
                <Listing label="Answer" text={answer} />
              )}
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

function lines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

/** Whether an attempt is the newest of its event. @param items newest first. */
function isLastOf(items: readonly WebhookAttempt[], { id, eventId }: WebhookAttempt): boolean {
  return items.find((one) => one.eventId === eventId)?.id === id;
}

/** What an event is about: a request, a schedule or a log trigger. */
function Subject({ dappId, id }: { readonly dappId: string; readonly id: string }) {
  return <Link href={`/dapps/${dappId}/${id.startsWith("req") ? "requests" : "triggers"}/${id}`}>{id}</Link>;
}

function Outcome({ attempt }: { readonly attempt: WebhookAttempt }) {
  const { success, status, error, durationMs, eventState } = attempt;
  return (
    <>
      <Tag kind={success ? "good" : "bad"}>{status ?? "no answer"}</Tag> {`${durationMs}\u00a0ms`}
      {error !== null && (
        <span className="bad-text">
          {" "}
          <UnknownText text={error} />
        </span>
      )}
      {!success && eventState === "delivered" && <span className="note"> delivered by a later attempt</span>}
    </>
  );
}

/** What verifies a webhook's messages, and how. */
function Credential({ webhook: { id, secret, publicKey } }: { readonly webhook: NewWebhookView }) {
  const text = secret ?? publicKey ?? "";
  const name = secret === null ? "public key" : "secret";
  return (
    <Notice>
      <p>
        The {name}
        {secret === null ? "" : ", which is not shown again"}:{" "}
        <span className="copyable">
          <Code text={text} />
          <CopyButton key={secret ?? id} text={text} what={`webhook ${name}`} autoFocus />
        </span>
      </p>
      <p>
        Check each message as it came:{" "}
        <code>await verifyWebhook(body, headers, {secret === null ? "publicKey" : "secret"})</code> of{" "}
        <code>tyche/client</code>
        {secret === null ? "" : ", or any library of Standard Webhooks"}.
      </p>
    </Notice>
  );
}

const EVENTS: Readonly<Record<WebhookView["events"][number], string>> = {
  "request.fulfilled": "a request has its result",
  "request.failed": "a request ended without one",
  "request.reopened": "a reorg took an end back",
  "trigger.skipped": "a schedule or log trigger made no request",
  "trigger.reverted": "a reorg removed the log of a request",
};

/** Where a webhook sends what: a new one, or one that there is. */
function WebhookForm({
  webhook,
  save,
  close,
}: {
  readonly webhook?: WebhookView;
  readonly save: (
    params: Pick<WebhookView, "url" | "events" | "description">,
    signature: WebhookView["signature"],
  ) => Promise<void>;
  readonly close?: () => void;
}) {
  const of = webhook?.id ?? "new";
  const { problems, refusal, isBusy, onSubmit } = useSubmission(
    ["url", "events", "description", "signature"],
    async (values, form) => {
      const events = values.getAll("events") as WebhookView["events"];
      if (events.length === 0) return new Map([["events", "Choose at least one event."]]);
      await save(
        {
          url: readField(values, "url").trim(),
          events,
          description: readField(values, "description").trim(),
        },
        readField(values, "signature") as WebhookView["signature"],
      );
      if (webhook === undefined) form.reset();
      return undefined;
    },
  );
  const problem = problems.get("events");
  return (
    <form className={webhook === undefined ? "fields" : "fields edit"} onSubmit={onSubmit}>
      <TextField
        id={`url-${of}`}
        label="URL"
        note="https, on a public host."
        problem={problems.get("url")}
        wide
        name="url"
        defaultValue={webhook?.url}
        inputMode="url"
        autoFocus={webhook !== undefined}
      />
      <fieldset>
        <legend>Events that it is told</legend>
        {Object.entries(EVENTS).map(([type, text], i) => (
          <label key={type} className="check">
            <input
              type="checkbox"
              name="events"
              value={type}
              defaultChecked={webhook?.events.some((one) => one === type) ?? true}
              {...problemAttributes(`events-${of}`, i === 0 ? problem : undefined)}
            />{" "}
            <code>{type}</code>: {text}
          </label>
        ))}
        {problem !== undefined && (
          <p className="problem" id={`events-${of}-problem`}>
            {problem}
          </p>
        )}
      </fieldset>
      <TextField
        id={`note-${of}`}
        label="Note"
        note="Optional."
        problem={problems.get("description")}
        wide
        name="description"
        defaultValue={webhook?.description}
      />
      {webhook === undefined && (
        <Field id="webhook-signature" label="Signature" problem={problems.get("signature")} wide>
          {(control) => (
            <select {...control} name="signature">
              <option value="hmac">HMAC-SHA256 with a secret that your server keeps (v1)</option>
              <option value="ed25519">ed25519: your server needs a public key only (v1a)</option>
            </select>
          )}
        </Field>
      )}
      {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
      <FormButtons label={webhook === undefined ? "Add a webhook" : "Save"} isBusy={isBusy} close={close} />
    </form>
  );
}
