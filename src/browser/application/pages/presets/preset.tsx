import { type ReactNode, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import type { DappView, ExplorerNetwork, PresetView } from "../../../../client/index.ts";
import { Loaded, NotFound, Page } from "../../page.tsx";
import { DappSelect, WithDapps } from "../../parts/dappSelect.tsx";
import { Field, readField, useSubmission, TextField } from "../../parts/forms.tsx";
import { LatestResults } from "../../parts/latestResults.tsx";
import { useKeptForm } from "../../parts/keptForm.ts";
import { List } from "../../parts/list.tsx";
import { nameRoles } from "../../parts/forRole.tsx";
import { LABEL_NAMES, LabelField, readLabel } from "../../parts/labelField.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { Facts, Listing, Notice, UnknownText } from "../../parts/parts.tsx";
import { type AnyPresets, useNetworks, useOperator, usePresets } from "../../services.tsx";
import { useSession } from "../../session.ts";
import { Parameter } from "../../parts/presetParameter.tsx";
import { createFields, readParams } from "../../parts/presetFields.ts";

/** A request's own parameters, which no preset can have. */
const CONFIRMATIONS = "confirmations";
const BEACON = "beacon";
const BEACON_CHOICES = ["drand", "local", "none"] as const;
const PUBLIC_TRAIL = [{ href: "/explorer", text: "Explorer" }] as const;
const TRAIL = [{ href: "/presets", text: "Presets" }] as const;

/** `/presets/{name}`: what a preset does and, for those who are signed in, a form that runs it, built from the schema of its parameters. */
export function Preset() {
  const { name } = useParams<{ readonly name: string }>();
  const presets = usePresets();
  return (
    <Loaded query={presets}>
      {(list) => {
        const preset = list.find((one) => one.name === name);
        if (preset !== undefined) return <PresetPage key={name} preset={preset} />;
        return (
          <NotFound>
            There is no preset <UnknownText text={name} />; see <Link href="/presets">the list</Link>.
          </NotFound>
        );
      }}
    </Loaded>
  );
}

function PresetPage({ preset }: { readonly preset: PresetView }) {
  const session = useSession();
  const isStranger = session.kind === "stranger";
  return (
    <Page title={plainText(preset.title)} trail={isStranger ? PUBLIC_TRAIL : TRAIL} chains="all">
      <h1>
        <UnknownText text={preset.title} />
      </h1>
      <p className="lead">
        <UnknownText text={preset.description} />
      </p>
      {session.kind === "operator" && <RunPart preset={preset} />}
      {isStranger && (
        <Parameters preset={preset}>
          <p>
            <Link href={`/sign-in?next=${encodeURIComponent(`/presets/${preset.name}`)}`}>Sign in</Link> to
            run it, or call it by the <a href="/docs">API</a>.
          </p>
        </Parameters>
      )}
      <LatestResults of={{ preset: preset.name }} all="All results of this preset" />
      <Examples preset={preset} />
      <section className="panel">
        <h2>Source</h2>
        <p className="note">The oracle runs it on the random word; anybody can run it again.</p>
        <Listing text={preset.source} label="Source" />
      </section>
    </Page>
  );
}

function RunPart({ preset }: { readonly preset: PresetView }) {
  const networks = useNetworks();
  return (
    <WithDapps
      facility="presets"
      operation="runPreset"
      otherwise={() => (
        <Parameters preset={preset}>
          <p className="note">Only {nameRoles("runPreset")} of a dapp can run it.</p>
        </Parameters>
      )}
    >
      {(dapps, wanted) => (
        <section className="panel">
          <h2>Run it</h2>
          <Loaded query={networks}>
            {(list) => <PresetForm preset={preset} dapps={dapps} wanted={wanted} networks={list} />}
          </Loaded>
        </section>
      )}
    </WithDapps>
  );
}

/** What may be known of the form without running it, and then who runs it. */
function Parameters({ preset, children }: { readonly preset: PresetView; readonly children: ReactNode }) {
  const fields = createFields(preset);
  return (
    <section className="panel">
      <h2>Parameters</h2>
      {fields.length === 0 ? (
        <p className="note">It has none.</p>
      ) : (
        <Facts
          entries={fields.map(({ name, title, description }) => [
            <>
              <UnknownText text={title ?? name} />{" "}
              <code>
                <UnknownText text={name} />
              </code>
            </>,
            <UnknownText key={name} text={description} />,
          ])}
        />
      )}
      {children}
    </section>
  );
}

function PresetForm({
  preset,
  dapps,
  wanted,
  networks,
}: {
  readonly preset: PresetView;
  readonly dapps: readonly DappView[];
  readonly wanted: string;
  readonly networks: readonly ExplorerNetwork[];
}) {
  const operator = useOperator();
  const [, navigate] = useLocation();
  const [dappId, setDappId] = useState(wanted);
  const [network, choose] = useChosenNetwork(networks);
  const fields = createFields(preset);
  const kept = useKeptForm(`preset ${preset.name}`);

  const shown = [CONFIRMATIONS, BEACON, ...LABEL_NAMES, ...fields.map((one) => one.name)];
  const { problems, refusal, isBusy, onSubmit } = useSubmission(shown, async (values) => {
    const typed = readField(values, CONFIRMATIONS).trim();
    if (!/^[0-9]*$/.test(typed))
      return new Map([[CONFIRMATIONS, `must be a whole number in decimal; got ${typed}`]]);
    const params = readParams(preset, (name) => readField(values, `param.${name}`));
    const client = operator.as<AnyPresets>(dappId);
    // Parameters that its source refuses are mended here.
    const confirmations = typed === "" ? undefined : Number(typed);
    const beacon = BEACON_CHOICES.find((one) => one === readField(values, BEACON));
    const options = { network, confirmations, beacon, ...readLabel(values), dryRunsFirst: true };
    const { id } = await client.submit.preset(preset.name, params, options);
    navigate(`/dapps/${dappId}/requests/${id}`);
  });
  return (
    <>
      {refusal !== undefined && (
        <Notice kind="bad">
          <UnknownText text={refusal} />
        </Notice>
      )}
      <form className="fields" ref={kept} onSubmit={onSubmit}>
        {fields.map((field) => (
          <Parameter key={field.name} field={field} problem={problems.get(field.name)} />
        ))}
        <NetworkSelect networks={networks} value={network} onChange={choose} />
        <TextField
          id={CONFIRMATIONS}
          label="Confirmations"
          problem={problems.get(CONFIRMATIONS)}
          note="Blocks before the word is drawn. Leave empty for the network's minimum."
          name={CONFIRMATIONS}
          inputMode="numeric"
        />
        <Field
          id={BEACON}
          label="Round of drand"
          problem={problems.get(BEACON)}
          note="Waits for a future round that the result follows from, too: then nobody alone can choose it."
        >
          {(control) => (
            <select {...control} name={BEACON} defaultValue="">
              <option value="">as the dapp or the network says</option>
              <option value="drand">wait for a round</option>
              {networks.find(({ name }) => name === network)?.embedded === true && (
                <option value="local">one of the local beacon, which proves nothing</option>
              )}
              <option value="none">none</option>
            </select>
          )}
        </Field>
        <LabelField problems={problems} />
        <DappSelect dapps={dapps} value={dappId} onChange={setDappId} />
        <div>
          <button className="action" disabled={isBusy}>
            Run
          </button>
        </div>
      </form>
    </>
  );
}

/** Longest example to show, in characters of parameters and result. */
const MAX_EXAMPLE_CHARACTERS = 400;
const MAX_EXAMPLES = 6;

function Examples({ preset: { examples } }: { readonly preset: PresetView }) {
  const shown = examples
    .filter(
      ({ params, parsedResult }) =>
        JSON.stringify(params).length + parsedResult.length < MAX_EXAMPLE_CHARACTERS,
    )
    .slice(0, MAX_EXAMPLES);
  if (shown.length === 0) return null;
  return (
    <section className="panel">
      <h2>Examples</h2>
      <p className="note">Results for these parameters, each with one fixed random word.</p>
      <List
        label="Examples"
        items={shown}
        keyOf={(_, i) => i}
        columns={[
          {
            head: "Parameters",
            kind: "long",
            cell: ({ params }) => (
              <code className="hex">
                <UnknownText text={JSON.stringify(params)} />
              </code>
            ),
          },
          { head: "Result", kind: "long", cell: ({ parsedResult }) => <UnknownText text={parsedResult} /> },
        ]}
      />
    </section>
  );
}
