import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { createClients } from "./apiKeys.ts";
import { RETURN_TYPES, type Draft } from "./draft.ts";
import { EditorField } from "./editorField.tsx";
import { EXAMPLES } from "./examples.ts";
import type { Model } from "./model.ts";
import { CopyButton, Field, Select, UnknownText } from "./parts.tsx";
import { describeError, dryRun, findFailure, runOnChain, type Run } from "./run.ts";
import { RunPanel } from "./runPanel.tsx";
import { encodeFragment } from "./share.ts";
import { SNIPPETS } from "./snippets.ts";

/** The playground: a source, how to run it, and what came of it. */
export function Playground({ model, shared }: { readonly model: Model; readonly shared: Draft | undefined }) {
  const clients = useMemo(() => createClients(model), [model]);
  const [draft, setDraft] = useState(() => shared ?? firstDraft(model));
  const [version, setVersion] = useState(0);
  const [dappId, setDappId] = useState(model.dapps[0]!.id);
  const [run, setRun] = useState<Run>({ kind: "none" });
  const [isRunning, setRunning] = useState(false);
  const current = useRef<AbortController>(undefined);
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));

  const start = async (steps: typeof dryRun): Promise<void> => {
    current.current?.abort();
    const { signal } = (current.current = new AbortController());
    setRunning(true);
    try {
      for await (const next of steps(await clients(dappId), draft, signal)) if (!signal.aborted) setRun(next);
    } catch (error) {
      if (!signal.aborted) setRun(describeError(error));
    } finally {
      if (!signal.aborted) setRunning(false);
    }
  };
  useEffect(() => () => current.current?.abort(), []);
  useEffect(() => announce(run), [run]);

  const bytes = new TextEncoder().encode(draft.source).length;
  const limit = model.networks.find(({ name }) => name === draft.network)?.maxSourceBytes;
  return (
    <>
      {shared !== undefined && (
        <p class="notice">
          This source came with a link. Read it before you run it: it runs with your dapp's subscription.
        </p>
      )}
      <div class="playground">
        <section class="panel" aria-label="Source">
          <div class="toolbar">
            <label for="example">Example</label>
            <Select
              id="example"
              value=""
              options={[["", "choose one"], ...EXAMPLES.map(({ title }) => [title, title] as const)]}
              onChange={(title) => {
                const example = EXAMPLES.find((one) => one.title === title);
                if (example === undefined) return;
                change(example.draft);
                setVersion((before) => before + 1);
              }}
            />
          </div>
          <EditorField
            source={draft.source}
            version={version}
            failure={useMemo(() => findFailure(run), [run])}
            onChange={(source) => change({ source })}
            onRun={() => void start(dryRun)}
          />
          <p class={limit !== undefined && bytes > limit ? "problem" : "note"}>
            {bytes.toLocaleString("en")} of {limit?.toLocaleString("en")} bytes. Ctrl+Space completes,
            Ctrl+Enter dry-runs.
          </p>
        </section>
        <section class="panel settings" aria-label="How to run it">
          <Settings model={model} draft={draft} dappId={dappId} onChange={change} onDapp={setDappId} />
          <div class="buttons">
            <button type="button" class="action" onClick={() => void start(dryRun)}>
              Dry run
            </button>
            <button
              type="button"
              disabled={isRunning && run.kind === "chain"}
              onClick={() => void start(runOnChain)}
            >
              Run on chain
            </button>
          </div>
        </section>
      </div>
      <RunPanel run={run} dappId={dappId} />
      <Elsewhere draft={draft} />
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
  // Text and list say the same but for a last line that is still empty.
  const [lines, setLines] = useState(draft.args.join("\n"));
  useEffect(() => {
    if (toArgs(lines).join("\n") !== draft.args.join("\n")) setLines(draft.args.join("\n"));
  }, [draft.args]);
  return (
    <>
      <Field id="args" label="Arguments" note="One a line.">
        <textarea
          id="args"
          class="mono"
          rows={3}
          spellcheck={false}
          value={lines}
          onInput={(event) => {
            setLines(event.currentTarget.value);
            onChange({ args: toArgs(event.currentTarget.value) });
          }}
        />
      </Field>
      <Field id="returnType" label="Return type">
        <Select
          id="returnType"
          value={draft.returnType}
          options={RETURN_TYPES.map((name) => [name, name] as const)}
          onChange={(value) =>
            onChange({ returnType: RETURN_TYPES.find((one) => one === value) ?? "string" })
          }
        />
      </Field>
      <Field id="network" label="Network">
        <Select
          id="network"
          value={draft.network}
          options={model.networks.map(({ name, title }) => [name, title] as const)}
          onChange={(network) => onChange({ network })}
        />
      </Field>
      <Field id="dapp" label="Dapp that pays">
        <Select
          id="dapp"
          value={dappId}
          options={model.dapps.map(({ id, name }) => [id, name] as const)}
          onChange={onDapp}
        />
      </Field>
    </>
  );
}

/** The same call in other places. */
function Elsewhere({ draft }: { readonly draft: Draft }) {
  const share = async (): Promise<string> => {
    const url = new URL(location.pathname + (await encodeFragment(draft)), location.origin);
    history.replaceState(null, "", url);
    return url.href;
  };
  return (
    <section class="panel" aria-label="Elsewhere">
      <h2>
        Take it with you <CopyButton text={share} what="of this source" label="Copy a link" />
      </h2>
      <p class="note">The link holds the source itself, behind the #, and no key.</p>
      {SNIPPETS.map(({ name, write }) => {
        const text = write(draft, location.origin);
        return (
          <details>
            <summary>as {name}</summary>
            <CopyButton text={text} what={name} />
            <pre class="listing" tabIndex={0} role="region" aria-label={`As ${name}`}>
              <UnknownText text={text} />
            </pre>
          </details>
        );
      })}
    </section>
  );
}

function firstDraft({ networks }: Model): Draft {
  const network = networks.find(({ name }) => name === "sepolia") ?? networks[0];
  return { ...EXAMPLES[0]!.draft, network: network?.name ?? "" };
}

/** Lines without the break after the last one; no text is no argument. */
function toArgs(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Tells people who listen to the page what those who look at it see. */
function announce(run: Run): void {
  const announcer = document.querySelector("#announcer");
  if (announcer === null || run.kind === "none") return;
  if (run.kind === "dry" && run.result !== undefined)
    announcer.textContent = run.result.success
      ? `The dry run gave ${run.result.parsedResult}`
      : `The dry run failed: ${run.result.err}`;
  if (run.kind === "chain" && run.result !== undefined)
    announcer.textContent = run.result.success
      ? `The network gave ${run.result.parsedResult}`
      : `The source failed on chain: ${run.result.err}`;
}
