import { useState } from "react";
import { useLocation } from "wouter";
import type { DappView, ExplorerNetwork, Hex } from "../../../../client/index.ts";
import { Loaded, Page } from "../../page.tsx";
import { DappSelect, WithDapps } from "../../parts/dappSelect.tsx";
import { problemAttributes, readField, useSubmission, TextField } from "../../parts/forms.tsx";
import { LatestResults } from "../../parts/latestResults.tsx";
import { useKeptForm } from "../../parts/keptForm.ts";
import { nameRoles } from "../../parts/forRole.tsx";
import { LABEL_NAMES, LabelField, readLabel } from "../../parts/labelField.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { Notice, UnknownText } from "../../parts/parts.tsx";
import { useNetworks, useOperator } from "../../services.tsx";

/** Maximum number of VRF keys whose words can be joined. */
const MAX_JOINED_KEYS = 4;
const COUNTS: readonly string[] = ["numWords", "confirmations"];
const FIELDS: readonly string[] = [...COUNTS, ...LABEL_NAMES, "keyHash", "keyHashes"];

/** `/random`: a form for random numbers. */
export function Random() {
  const networks = useNetworks();
  return (
    <Page title="Random numbers" trail={[{ href: "/presets", text: "Presets" }]} chains="all">
      <h1>Random numbers</h1>
      <p className="lead">Words of 256 bits, each with a VRF proof that the coordinator contract checks.</p>
      <WithDapps
        facility="presets"
        operation="requestRandomNumber"
        otherwise={() => (
          <p className="note">Only {nameRoles("requestRandomNumber")} of a dapp can request them.</p>
        )}
      >
        {(dapps, wanted) => (
          <section className="panel">
            <h2>Request random numbers</h2>
            <Loaded query={networks}>
              {(list) => <RandomForm dapps={dapps} wanted={wanted} networks={list} />}
            </Loaded>
          </section>
        )}
      </WithDapps>
      <LatestResults of={{ kind: "random" }} all="All random numbers" />
    </Page>
  );
}

function RandomForm({
  dapps,
  wanted,
  networks,
}: {
  readonly dapps: readonly DappView[];
  readonly wanted: string;
  readonly networks: readonly ExplorerNetwork[];
}) {
  const operator = useOperator();
  const [, navigate] = useLocation();
  const [dappId, setDappId] = useState(wanted);
  const [name, setName] = useChosenNetwork(networks);
  const kept = useKeptForm("random");
  const vrf = networks.find((one) => one.name === name)?.vrf;

  const { problems, refusal, isBusy, onSubmit } = useSubmission(FIELDS, async (values) => {
    const wrong = findProblems(values);
    if (wrong.size > 0) return wrong;
    const keyHashes = values.getAll("keyHash") as Hex[];
    const count = (field: string): number | undefined => {
      const text = readField(values, field).trim();
      return text === "" ? undefined : Number(text);
    };
    const { id } = await operator.as(dappId).submit.random({
      network: name,
      numWords: count("numWords"),
      confirmations: count("confirmations"),
      ...readLabel(values),
      ...(keyHashes.length > 1 ? { keyHashes } : { keyHash: keyHashes[0] }),
    });
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
        <NetworkSelect networks={networks} value={name} onChange={setName} />
        <TextField
          id="numWords"
          label="How many"
          problem={problems.get("numWords")}
          note={`At most ${vrf?.maxWords ?? 1}.`}
          name="numWords"
          inputMode="numeric"
          defaultValue="1"
          required
        />
        <TextField
          id="confirmations"
          label="Confirmations"
          problem={problems.get("confirmations")}
          note={`Blocks before the words are drawn: ${vrf?.minConfirmations ?? 1} to ${vrf?.maxConfirmations ?? 200}. Leave empty for the minimum.`}
          name="confirmations"
          inputMode="numeric"
        />
        {vrf !== undefined && (
          <KeyHashes
            key={name}
            keyHashes={vrf.keyHashes}
            problem={problems.get("keyHash") ?? problems.get("keyHashes")}
          />
        )}
        <LabelField problems={problems} />
        <DappSelect dapps={dapps} value={dappId} onChange={setDappId} />
        <div>
          <button className="action" disabled={isBusy}>
            Request
          </button>
        </div>
      </form>
    </>
  );
}

/**
 * Finds input that the API would not see as it was typed: `Number` also accepts `0x3`, and anything that isn't a
 * number becomes null.
 */
function findProblems(values: FormData): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const field of COUNTS) {
    const text = readField(values, field).trim();
    if (!/^[0-9]*$/.test(text)) problems.set(field, `must be a whole number in decimal; got ${text}`);
  }
  if (!values.has("keyHash")) problems.set("keyHash", "Choose at least one key.");
  return problems;
}

/** Selects one VRF key, or several whose words are joined; shows no choice if there is only one. */
function KeyHashes({
  keyHashes,
  problem,
}: {
  readonly keyHashes: readonly Hex[];
  readonly problem: string | undefined;
}) {
  const [chosen, choose] = useState<readonly Hex[]>(keyHashes.slice(0, 1));
  const reason = problem !== undefined && (
    <p className="problem" id="keyHash-problem">
      <UnknownText text={problem} />
    </p>
  );
  if (keyHashes.length < 2)
    return (
      <>
        <input type="hidden" name="keyHash" value={keyHashes[0]} />
        {reason}
      </>
    );
  const toggle = (one: Hex, isOn: boolean): void =>
    choose((before) => (isOn ? [...before, one] : before.filter((other) => other !== one)));
  return (
    <fieldset>
      <legend>VRF keys</legend>
      {keyHashes.map((one, i) => (
        <label key={one} className="check">
          <input
            type="checkbox"
            name="keyHash"
            value={one}
            checked={chosen.includes(one)}
            disabled={!chosen.includes(one) && chosen.length === MAX_JOINED_KEYS}
            onChange={(event) => toggle(one, event.currentTarget.checked)}
            {...problemAttributes("keyHash", i === 0 ? problem : undefined)}
          />{" "}
          <code className="hex">{one}</code>
        </label>
      ))}
      <p className="note">
        With several, the numbers are a hash of all their words: one honest operator among them is enough.
      </p>
      {reason}
    </fieldset>
  );
}
