import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { BEACONS, RETURN_TYPES, type Draft } from "./draft.ts";
import { EditorField } from "./editorField.tsx";
import { EXAMPLES } from "./examples.ts";
import { announce } from "../../announce.ts";
import { Arguments } from "../../parts/arguments.tsx";
import { findChosenNetwork, keepChosenNetwork } from "../../parts/chosenNetwork.ts";
import { DappSelect } from "../../parts/dappSelect.tsx";
import { Field, HiddenText, readField, Select, TextField } from "../../parts/forms.tsx";
import { CopyButton, groupDigits } from "../../parts/format.tsx";
import { LabelField, readLabel } from "../../parts/labelField.tsx";
import { NetworkSelect } from "../../parts/networkSelect.tsx";
import { Facts, Listing } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";
import { keepDraft, linkOf, type OpenedDraft } from "./keptDraft.ts";
import type { Model } from "./model.ts";
import { describeFailedCall, dryRun, findFailure, runOnChain, type Run } from "./run.ts";
import { RunPanel } from "./runPanel.tsx";
import { encodeFragment } from "./share.ts";
import { SNIPPETS } from "./snippets.ts";

/** The API's problems are shown with the run. */
const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

/** The playground: a source, how to run it, and the result. */
export function Playground({
  model,
  opened,
  isNamed,
  ran = { kind: "none" },
}: {
  readonly model: Model;
  readonly opened: OpenedDraft | undefined;
  /** Whether the draft is the one that the address names; otherwise that could not be read. */
  readonly isNamed: boolean;
  /** What came of the opened draft before. Default: it was not run. */
  readonly ran?: Run | undefined;
}) {
  const operator = useOperator();
  const [draft, setDraft] = useState(() => opened?.draft ?? firstDraft(model));
  const [isShared, setShared] = useState(opened?.isShared === true);
  const [version, setVersion] = useState(0);
  const [search] = useSearchParams();
  const [chosen, setDappId] = useState(search.get("dapp"));
  const dappId = (model.dapps.find(({ id }) => id === chosen) ?? model.dapps[0])?.id;
  const [run, setRun] = useState(ran);
  const [isRunning, setRunning] = useState(false);
  const current = useRef<AbortController>(undefined);
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));

  const start = async (id: string, steps: typeof dryRun): Promise<void> => {
    current.current?.abort();
    const { signal } = (current.current = new AbortController());
    setRunning(true);
    try {
      for await (const next of steps(operator.as(id), draft, signal)) if (!signal.aborted) setRun(next);
    } catch (error) {
      if (!signal.aborted) setRun(describeFailedCall(error));
    } finally {
      if (!signal.aborted) setRunning(false);
    }
  };
  useEffect(() => () => current.current?.abort(), []);
  const dryRunButton = useRef<HTMLButtonElement>(null);
  const cancel = (): void => {
    current.current?.abort();
    setRunning(false);
    setRun({ kind: "none" });
    dryRunButton.current?.focus();
    announce("The dry run was cancelled.");
  };
  // What this run is for, and with which values, is no part of the draft, which is kept and may be shared.
  const ownForm = useRef<HTMLFormElement>(null);
  const readOwn = (): FormData => new FormData(ownForm.current!);
  const runLabelled =
    (id: string): typeof dryRun =>
    (client, call, signal) =>
      runOnChain(client, { ...call, ...readLabel(readOwn()), dappId: id }, signal);
  const dryRunWithValues: typeof dryRun = (client, call, signal) =>
    dryRun(client, { ...call, secretValues: readValues(readOwn(), call.secrets) }, signal);
  const isOnChain = isRunning && run.kind === "chain";
  useEffect(() => tell(run), [run]);
  const keep = (): void => keepDraft({ draft, isShared, link: isNamed ? linkOf(location) : "" });
  // Synchronously: the window may be left before an ordinary effect runs.
  useLayoutEffect(keep, [draft, isShared, isNamed]);

  const bytes = new TextEncoder().encode(draft.source).length;
  const limit = model.networks.find(({ name }) => name === draft.network)?.functions.maxSourceBytes;
  return (
    <>
      {isShared && dappId !== undefined && (
        <p className="notice">
          This source came from a link. Read it before you run it: it runs with your dapp's subscription.
        </p>
      )}
      <div className="playground">
        <section className="panel" aria-label="Source">
          <div className="toolbar">
            <label htmlFor="example">Example</label>
            <Select
              id="example"
              value={EXAMPLES.find((one) => one.draft.source === draft.source)?.title ?? ""}
              options={[["", "choose one"], ...EXAMPLES.map(({ title }) => [title, title] as const)]}
              onChange={(title) => {
                const example = EXAMPLES.find((one) => one.title === title);
                if (example === undefined) return;
                change({ secrets: undefined, ...example.draft });
                setShared(false);
                setVersion((before) => before + 1);
              }}
            />
          </div>
          <EditorField
            source={draft.source}
            version={version}
            failure={useMemo(() => findFailure(run), [run])}
            onChange={(source) => change({ source })}
            onRun={dappId === undefined ? undefined : () => void start(dappId, dryRunWithValues)}
          />
          <p className={limit !== undefined && bytes > limit ? "problem" : "note"}>
            {groupDigits(bytes)}
            {limit !== undefined && ` of ${groupDigits(limit)}`} bytes
          </p>
          {dappId !== undefined && (
            <div className="buttons">
              <button
                ref={dryRunButton}
                type="button"
                className="action"
                onClick={() => void start(dappId, dryRunWithValues)}
              >
                Dry run
              </button>
              <button
                type="button"
                aria-disabled={isOnChain}
                onClick={() => !isOnChain && void start(dappId, runLabelled(dappId))}
              >
                Run on chain
              </button>
            </div>
          )}
          {dappId === undefined && (
            <Facts
              entries={[
                ["Arguments", draft.args.length > 0 && <Arguments args={draft.args} />],
                ["Return type", draft.returnType],
              ]}
            />
          )}
        </section>
        <RunPanel run={run} onCancel={cancel} />
        {dappId !== undefined && (
          <>
            <section className="panel settings" aria-label="How to run it">
              <Settings model={model} draft={draft} dappId={dappId} onChange={change} onDapp={setDappId} />
              <form ref={ownForm} onSubmit={(event) => event.preventDefault()}>
                <LabelField problems={NO_PROBLEMS} />
                {draft.secrets !== undefined && <ValueFields names={draft.secrets} />}
              </form>
            </section>
            <Elsewhere draft={draft} onShare={keep} />
          </>
        )}
      </div>
    </>
  );
}

function Settings(props: {
  readonly model: Model;
  readonly draft: Draft;
  readonly dappId: string;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly onDapp: (id: string) => void;
}) {
  const { model, draft, dappId, onChange, onDapp } = props;
  // Text and list differ only in a last line that is still empty.
  const [lines, setLines] = useState(draft.args.join("\n"));
  useEffect(() => {
    if (toArgs(lines).join("\n") !== draft.args.join("\n")) setLines(draft.args.join("\n"));
  }, [draft.args]);
  // As above: a name may be followed by the space before the next one.
  const [names, setNames] = useState(draft.secrets?.join(" ") ?? "");
  useEffect(() => {
    const given = draft.secrets?.join(" ") ?? "";
    if ((toNames(names)?.join(" ") ?? "") !== given) setNames(given);
  }, [draft.secrets]);
  return (
    <>
      <Field id="args" label="Arguments" note="One per line.">
        {(control) => (
          <textarea
            {...control}
            className="mono"
            rows={3}
            spellCheck={false}
            value={lines}
            onChange={(event) => {
              setLines(event.currentTarget.value);
              onChange({ args: toArgs(event.currentTarget.value) });
            }}
          />
        )}
      </Field>
      <TextField
        id="secrets"
        label="Secrets"
        note="Names of the dapp's secrets that the source reads as secrets.NAME, separated by spaces."
        className="mono"
        spellCheck={false}
        value={names}
        onChange={(event) => {
          setNames(event.currentTarget.value);
          onChange({ secrets: toNames(event.currentTarget.value) });
        }}
      />
      <Field id="returnType" label="Return type">
        {(control) => (
          <Select
            {...control}
            value={draft.returnType}
            options={RETURN_TYPES.map((name) => [name, name] as const)}
            onChange={(value) =>
              onChange({ returnType: RETURN_TYPES.find((one) => one === value) ?? "string" })
            }
          />
        )}
      </Field>
      <Field
        id="beacon"
        label="Round of drand"
        note="Waits for a future round, and gives the source a word that follows from it as the last of bytesArgs."
      >
        {(control) => (
          <Select
            {...control}
            value={draft.beacon ?? "none"}
            options={[
              ["none", "none"],
              ["drand", "wait for a round"],
              ...(model.networks.find(({ name }) => name === draft.network)?.embedded === true
                ? [["local", "one of the local beacon, which proves nothing"] as const]
                : []),
            ]}
            onChange={(value) => onChange({ beacon: BEACONS.find((one) => one === value) })}
          />
        )}
      </Field>
      <NetworkSelect
        networks={model.networks}
        value={draft.network}
        onChange={(network) => {
          keepChosenNetwork(network);
          onChange({ network });
        }}
      />
      <DappSelect dapps={model.dapps} value={dappId} onChange={onDapp} />
    </>
  );
}

/** What dry runs read in place of the stored secrets. */
function ValueFields({ names }: { readonly names: readonly string[] }) {
  return (
    <details>
      <summary>Values for dry runs</summary>
      <p className="note">
        In place of the stored secrets, which nodes of several operators open only for requests on chain. The
        service keeps none.
      </p>
      {names.map((name, index) => (
        // By place, so that a value outlives a change of its name.
        <Field key={index} id={`value-${index}`} label={`Value of ${name}`}>
          {(control) => <HiddenText {...control} name={valueField(index)} />}
        </Field>
      ))}
    </details>
  );
}

const valueField = (index: number): string => `value ${index}`;

/** Reads what {@link ValueFields} was given; `undefined` if it is nothing. */
function readValues(
  fields: FormData,
  names: readonly string[] = [],
): Readonly<Record<string, string>> | undefined {
  const values = names
    .map((name, index) => [name, readField(fields, valueField(index))] as const)
    .filter(([, value]) => value !== "");
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

/** Other places to make the same call. */
function Elsewhere({ draft, onShare }: { readonly draft: Draft; readonly onShare: () => void }) {
  const share = async (): Promise<string> => {
    const url = new URL(location.pathname + (await encodeFragment(draft)), location.origin);
    history.replaceState(null, "", url);
    onShare();
    return url.href;
  };
  return (
    <section className="panel" aria-label="Elsewhere">
      <h2>
        Use it elsewhere <CopyButton text={share} what="of this source" label="Copy a link" />
      </h2>
      <p className="note">The link holds the source itself, after the #, and no API key.</p>
      {SNIPPETS.map(({ name, write }) => {
        const text = write(draft, location.origin);
        return (
          <details key={name}>
            <summary>as {name}</summary>
            <CopyButton text={text} what={name} />
            <Listing text={text} label={`As ${name}`} />
          </details>
        );
      })}
    </section>
  );
}

function firstDraft({ networks }: Model): Draft {
  return { ...EXAMPLES[0]!.draft, network: findChosenNetwork(networks) };
}

/** Splits a text into lines, without the line break after the last one; an empty text means no arguments. */
function toArgs(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Splits a text into names; `undefined` if there are none. */
function toNames(text: string): string[] | undefined {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  return names.length === 0 ? undefined : names;
}

/** Announces to screen readers what others see on the page. */
function tell(run: Run): void {
  if (run.kind !== "dry" && run.kind !== "chain") return;
  const { kind, result } = run;
  if (result === undefined) return;
  if (kind === "dry")
    announce(
      result.success ? `The dry run gave ${result.parsedResult}` : `The dry run failed: ${result.err}`,
    );
  else
    announce(
      result.success
        ? `The network gave ${result.parsedResult}`
        : `The source failed on chain: ${result.err}`,
    );
}
