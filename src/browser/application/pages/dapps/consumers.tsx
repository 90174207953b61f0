import { useQuery } from "@tanstack/react-query";

import { Link, useLocation, useParams } from "wouter";
import type { ExplorerNetwork, LinkedConsumer } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { Age, Code, TransactionLink } from "../../parts/format.tsx";
import { ConfirmButton, readField, useSubmission, TextField } from "../../parts/forms.tsx";
import { ForRole } from "../../parts/forRole.tsx";
import { List, type Column } from "../../parts/list.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { Tag } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useMay, useNetworks, useTitleOf } from "../../services.tsx";
import { ContractRequestsPanel } from "./contractRequests.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";

const REFRESH_MS = 5_000;

/** `/dapps/{dappId}/consumers`: the linked contracts, and the controls that link and unlink one. */
export function Consumers() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="consumers">
      {() => (
        <>
          <LinkPanel dappId={dappId} />
          <LinkedPanel dappId={dappId} />
          <ContractRequestsPanel dappId={dappId} />
        </>
      )}
    </DappFrame>
  );
}

function LinkPanel({ dappId }: { readonly dappId: string }) {
  const networks = useNetworks();
  return (
    <ForRole
      dappId={dappId}
      operation="addConsumer"
      does="link and unlink contracts that ask for random numbers or run functions on this dapp's subscriptions"
    >
      <section className="panel">
        <h2>Link a consumer</h2>
        <p className="note">
          A consumer is a contract of yours that asks for random numbers or runs functions on this dapp's
          subscriptions. Deploy it with the ids of{" "}
          <Link href={`/dapps/${dappId}/config-vars`}>Fetch Config Vars</Link>, then link it here.
        </p>
        <Loaded query={networks}>{(list) => <LinkForm dappId={dappId} networks={list} />}</Loaded>
      </section>
    </ForRole>
  );
}

function LinkForm({
  dappId,
  networks,
}: {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
}) {
  const client = useClient(dappId);
  const [, navigate] = useLocation();
  const [network, choose] = useChosenNetwork(networks);
  const { problems, refusal, isBusy, onSubmit } = useSubmission(["consumer"], async (values) => {
    const consumer = readField(values, "consumer").trim();
    const { id } = await client.submit.addConsumer({ dappId, network, consumer });
    navigate(`/dapps/${dappId}/requests/${id}`);
  });
  return (
    <form className="fields" onSubmit={onSubmit}>
      <TextField
        id="consumer"
        label="Contract address"
        problem={problems.get("consumer") ?? refusal}
        wide
        name="consumer"
        required
        spellCheck={false}
        placeholder="0x…"
        className="mono"
      />
      <NetworkSelect networks={networks} value={network} onChange={choose} />
      <div>
        <button className="action" disabled={isBusy}>
          Link
        </button>
      </div>
    </form>
  );
}

function LinkedPanel({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const query = useQuery({
    queryKey: ["consumers", dappId],
    queryFn: () => client.consumers(),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <Loaded query={query}>
      {({ linked }) => (
        <section className="panel" id="linked">
          <h2>Linked consumers</h2>
          {linked.length === 0 ? (
            <p className="note">None yet.</p>
          ) : (
            <LinkedTable linked={linked} dappId={dappId} />
          )}
        </section>
      )}
    </Loaded>
  );
}

function LinkedTable({
  linked,
  dappId,
}: {
  readonly linked: readonly LinkedConsumer[];
  readonly dappId: string;
}) {
  const client = useClient(dappId);
  const may = useMay(dappId);
  const titleOf = useTitleOf();
  const [, navigate] = useLocation();
  const unlink: Column<LinkedConsumer> = {
    head: "Unlink",
    hasHiddenHead: true,
    cell: ({ network, address }) => (
      <ConfirmButton
        question="Unlink this contract?"
        detail="Its requests will be refused. You can link it again later."
        confirm="Unlink it"
        onConfirm={async () => {
          const { id } = await client.submit.removeConsumer({ network, consumer: address });
          navigate(`/dapps/${dappId}/requests/${id}`);
        }}
      >
        Unlink
        <span className="visually-hidden">
          {" "}
          {address} on {titleOf(network)}
        </span>
      </ConfirmButton>
    ),
  };
  return (
    <List
      label="Linked consumers"
      items={linked}
      keyOf={({ network, address }) => network + address}
      columns={[
        {
          head: "Contract",
          kind: "long",
          cell: ({ network, address }) => (
            <Link href={`/explorer/${network}/address/${address}`}>
              <Code text={address} />
            </Link>
          ),
        },
        { head: "Network", kind: "name", cell: ({ network }) => titleOf(network) },
        { head: "On the chain", cell: ({ onChain }) => <LinkState onChain={onChain} /> },
        { head: "Linked", cell: ({ linkedAt }) => linkedAt !== undefined && <Age iso={linkedAt} /> },
        {
          head: "Transaction",
          cell: ({ network, transactionHash }) =>
            transactionHash !== undefined && <TransactionLink network={network} hash={transactionHash} />,
        },
        ...(may("removeConsumer") === true ? [unlink] : []),
      ]}
    />
  );
}

/** State of a linked contract on chain. */
function LinkState({ onChain }: Pick<LinkedConsumer, "onChain">) {
  if (onChain === null) return <span className="note">unknown: the network doesn't answer</span>;
  const { vrf, functions } = onChain;
  if (vrf && functions) return <Tag kind="good">linked</Tag>;
  return (
    <span className="bad-text">
      {vrf
        ? "random numbers only: link it again"
        : functions
          ? "functions only: link it again"
          : "not linked: the chain no longer has it, link it again"}
    </span>
  );
}
