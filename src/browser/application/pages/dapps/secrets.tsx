import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "wouter";
import type { ExplorerNetwork, SecretView } from "../../../../client/index.ts";
import { announce } from "../../announce.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { Age, Code, Time } from "../../parts/format.tsx";
import {
  ConfirmButton,
  Field,
  FormButtons,
  HiddenText,
  readField,
  readTime,
  TimeField,
  useSubmission,
  TextField,
} from "../../parts/forms.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { List, type Column } from "../../parts/list.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { useClient, useMay, useNetworks, useTitleOf } from "../../services.tsx";

/** `/dapps/{dappId}/secrets`: what the dapp's functions read and nobody else. */
export function Secrets() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const networks = useNetworks();
  const [replaced, setReplaced] = useState<SecretView>();
  return (
    <DappFrame dappId={dappId} tab="secrets">
      {() => (
        <>
          <SecretList dappId={dappId} onReplace={setReplaced} />
          <ForRole dappId={dappId} operation="setSecret" does="set and delete secrets">
            <Loaded query={networks}>
              {(served) => (
                <SetSecret
                  key={replaced && `${replaced.network} ${replaced.name}`}
                  dappId={dappId}
                  networks={served}
                  replaced={replaced}
                  close={() => setReplaced(undefined)}
                />
              )}
            </Loaded>
          </ForRole>
        </>
      )}
    </DappFrame>
  );
}

function SecretList({
  dappId,
  onReplace,
}: {
  readonly dappId: string;
  readonly onReplace: (secret: SecretView) => void;
}) {
  const { secrets } = useClient(dappId);
  const queries = useQueryClient();
  const may = useMay(dappId);
  const titleOf = useTitleOf();
  const query = useQuery({ queryKey: ["secrets", dappId], queryFn: () => secrets.list() });
  const replace: Column<SecretView> = {
    head: "Replace",
    hasHiddenHead: true,
    cell: (secret) => (
      <button type="button" onClick={() => onReplace(secret)}>
        Replace
      </button>
    ),
  };
  const remove: Column<SecretView> = {
    head: "Delete",
    hasHiddenHead: true,
    cell: ({ name, network }) => (
      <ConfirmButton
        question={`Delete ${name}?`}
        detail="Requests that name it and have not run will fail. This can't be undone."
        confirm="Delete it"
        onConfirm={async () => {
          await secrets.delete(name, { network });
          await queries.invalidateQueries({ queryKey: ["secrets", dappId] });
          announce("The secret is deleted.");
        }}
      >
        Delete
      </ConfirmButton>
    ),
  };
  return (
    <section className="panel" id="secrets" aria-label="Secrets">
      <p className="note">
        A function that names a secret reads it as <code>secrets.NAME</code>. Values are encrypted to the
        oracle in this browser and can&apos;t be shown again. Whoever runs the oracle can read them.
      </p>
      <Loaded query={query}>
        {(items) =>
          items.length === 0 ? (
            <p className="note">None yet.</p>
          ) : (
            <List<SecretView>
              label="Secrets that are set"
              items={items}
              keyOf={({ network, name }) => `${network} ${name}`}
              columns={[
                {
                  head: "Name",
                  kind: "name",
                  cell: ({ name, outdated }) => (
                    <>
                      <Code text={name} /> {outdated && <Tag kind="bad">outdated: set it again</Tag>}
                    </>
                  ),
                },
                { head: "Network", cell: ({ network }) => titleOf(network) },
                { head: "Set", cell: ({ changedAt }) => <Age iso={changedAt} /> },
                {
                  head: "Hosts",
                  cell: ({ allowedHosts }) => <Hosts hosts={allowedHosts} />,
                },
                { head: "Expires", cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
                ...(may("setSecret") === true ? [replace] : []),
                ...(may("deleteSecret") === true ? [remove] : []),
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}

function Hosts({ hosts }: { readonly hosts: SecretView["allowedHosts"] }) {
  if (hosts === null) return <span className="note">known to the oracle</span>;
  return hosts.length === 0 ? "any" : <UnknownText text={hosts.join(", ")} />;
}

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return "never";
  return (
    <>
      {Date.parse(at) <= Date.now() && <Tag kind="bad">expired</Tag>} <Time iso={at} />
    </>
  );
}

function SetSecret({
  dappId,
  networks,
  replaced,
  close,
}: {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
  /** Whose value is set anew; what else it has stands in the form. */
  readonly replaced: SecretView | undefined;
  readonly close: () => void;
}) {
  const { secrets } = useClient(dappId);
  const queries = useQueryClient();
  const [chosen, choose] = useChosenNetwork(networks);
  const network = replaced?.network ?? chosen;
  const shown = ["name", "value", "allowedHosts", "expiresAt"];
  const { problems, refusal, isBusy, onSubmit } = useSubmission(shown, async (fields, form) => {
    const hosts = readField(fields, "allowedHosts")
      .split(/[\s,]+/)
      .filter((host) => host !== "");
    await secrets.set(readField(fields, "name").trim(), {
      network,
      value: readField(fields, "value"),
      allowedHosts: hosts.length === 0 ? undefined : hosts,
      expiresAt: readTime(fields, "expiresAt"),
    });
    form.reset();
    close();
    await queries.invalidateQueries({ queryKey: ["secrets", dappId] });
    announce("The secret is set.");
  });
  return (
    <section className="panel" id="new-secret">
      <h2>{replaced === undefined ? "Set a secret" : `Replace ${replaced.name}`}</h2>
      <form className="fields" onSubmit={onSubmit}>
        <TextField
          id="secret-name"
          label="Name"
          problem={problems.get("name")}
          name="name"
          defaultValue={replaced?.name}
          readOnly={replaced !== undefined}
          required
          maxLength={100}
          spellCheck={false}
        />
        <NetworkSelect
          networks={
            replaced === undefined ? networks : networks.filter(({ name }) => name === replaced.network)
          }
          value={network}
          onChange={choose}
        />
        <Field id="secret-value" label="Value" problem={problems.get("value")} wide>
          {(control) => <HiddenText {...control} name="value" required autoFocus={replaced !== undefined} />}
        </Field>
        <TextField
          id="secret-hosts"
          label="Hosts"
          note="Where a source with it may send requests, such as api.example.com or api.example.com:8443. Empty: anywhere."
          problem={problems.get("allowedHosts")}
          wide
          name="allowedHosts"
          defaultValue={replaced?.allowedHosts?.join(" ")}
          spellCheck={false}
        />
        <TimeField
          id="secret-expiry"
          label="Expires"
          note="In UTC. No request can read it afterwards. Empty: never."
          problem={problems.get("expiresAt")}
          name="expiresAt"
          value={replaced?.expiresAt}
        />
        {refusal !== undefined && <Notice kind="bad">{refusal}</Notice>}
        <FormButtons
          label={replaced === undefined ? "Set the secret" : "Replace it"}
          isBusy={isBusy}
          close={replaced && close}
        />
      </form>
    </section>
  );
}
