import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { NetworkReadiness, NetworkView } from "../../../../client/index.ts";
import { Loaded, Page } from "../../page.tsx";
import {
  Age,
  Code,
  Copyable,
  groupDigits,
  ShortHex,
  units,
  CopyButton,
  TransactionLink,
} from "../../parts/format.tsx";
import { AddToWallet } from "../../parts/addToWallet.tsx";
import { CONTRACT_NAMES } from "../../parts/contractNames.ts";
import { List } from "../../parts/list.tsx";
import { Facts, Folded, Tag, UnknownText, Notice, NetworkStatus } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";
import { useState } from "react";
import { readField, useSubmission, TextField } from "../../parts/forms.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";

const REFRESH_MS = 2_000;

/** `/networks`: the state of each network, and where your own tools reach it. */
export function Networks() {
  const operator = useOperator();
  const networks = useQuery({
    queryKey: ["networks", "with nodes"],
    queryFn: () => operator.networks(),
    refetchInterval: REFRESH_MS,
  });
  const readiness = useQuery({
    queryKey: ["readiness"],
    queryFn: () => operator.readiness(),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Networks" chains="all">
      <h1>Networks</h1>
      <p className="lead">Contracts, oracle and status of each network served here.</p>
      <Loaded query={networks}>
        {(list) => (
          <>
            <Faucet networks={list.filter(({ embedded }) => embedded)} />
            <div id="networks">
              {list.map((network) => (
                <NetworkSection
                  key={network.name}
                  network={network}
                  readiness={readiness.data?.networks[network.name]}
                />
              ))}
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function NetworkSection({
  network,
  readiness,
}: {
  readonly network: NetworkView;
  readonly readiness: NetworkReadiness | undefined;
}) {
  const { name, title, chainId, embedded, rpcUrl, explorerUrl, status, contracts, vrf, functions } = network;
  const { blockNumber, pendingRequests, operatorBalanceWei, rpcReachable } = readiness ?? {};
  const why = network.statusDetail ?? readiness?.why;
  return (
    <section className="panel">
      <h2>
        {title} <NetworkStatus status={status} isReached={rpcReachable} />
      </h2>
      <Facts
        entries={[
          ["Why", why !== undefined && <UnknownText text={why} />],
          ["Name", <Code text={name} />],
          ["Chain id", String(chainId)],
          ["RPC URL", rpcUrl !== undefined && <Copyable text={rpcUrl} what="RPC URL" />],
          [
            "Chain",
            embedded ? (
              <>
                embedded (<Link href={`/explorer/${name}`}>open in the explorer</Link>)
              </>
            ) : (
              <a href={explorerUrl} rel="noreferrer">
                open its explorer
              </a>
            ),
          ],
          ["Block", blockNumber !== undefined && groupDigits(blockNumber)],
          ["Requests in progress", pendingRequests !== undefined && String(pendingRequests)],
          ["Operator's balance", operatorBalanceWei !== undefined && units(operatorBalanceWei, network.coin)],
          ["Confirmations", `${vrf.minConfirmations} to ${vrf.maxConfirmations}`],
          ["Maximum result size", `${groupDigits(functions.maxResponseBytes)} bytes`],
        ]}
      />
      <AddToWallet network={network} />
      {network.nodes !== undefined && <NodeTable nodes={network.nodes} explorerUrl={explorerUrl} />}
      <Folded summary="Contracts and keys">
        <Facts
          entries={[
            ...Object.entries(contracts).map(([contract, address]) => {
              const label = CONTRACT_NAMES[contract] ?? contract;
              return [label, <Copyable text={address} what={label} />] as const;
            }),
            ...vrf.keyHashes.map(
              (keyHash) => ["Key hash", <Copyable text={keyHash} what="key hash" />] as const,
            ),
            ["DON id", <Copyable text={functions.donId} what="DON id" />],
          ]}
        />
      </Folded>
    </section>
  );
}

/** The nodes of several operators; each node's facts are what the other nodes report about it. */
function NodeTable({
  nodes,
  explorerUrl,
}: {
  readonly nodes: NonNullable<NetworkView["nodes"]>;
  readonly explorerUrl: string;
}) {
  return (
    <>
      <h3>Oracle nodes</h3>
      <List
        label="Oracle nodes"
        items={nodes}
        keyOf={({ signer }) => signer}
        columns={[
          {
            head: "Node",
            cell: ({ url }) => (
              <code className="hex">
                <UnknownText text={url} />
              </code>
            ),
          },
          { head: "Signer", kind: "long", cell: ({ signer }) => <Copyable text={signer} what="signer" /> },
          { head: "State", cell: (node) => <NodeState node={node} /> },
          {
            head: "Last seen",
            cell: ({ lastSeen }) => (lastSeen === undefined ? "not yet" : <Age iso={lastSeen} />),
          },
          {
            head: "Agreed",
            cell: ({ agreementRate: rate }) =>
              rate === undefined ? "no answers yet" : `${(100 * rate).toFixed(1)} %`,
          },
          {
            head: "Last transmission",
            cell: ({ lastTransmission: hash }) =>
              hash === undefined ? (
                "none yet"
              ) : (
                <a href={`${explorerUrl}/tx/${hash}`}>
                  <ShortHex text={hash} />
                </a>
              ),
          },
        ]}
      />
    </>
  );
}

function NodeState({
  node: { answers, accusers },
}: {
  readonly node: NonNullable<NetworkView["nodes"]>[number];
}) {
  return (
    <>
      {answers ? <Tag kind="good">answers</Tag> : <Tag kind="bad">does not answer</Tag>}
      {accusers > 0 && (
        <>
          {" "}
          <Tag kind="bad">contradicted itself</Tag>
        </>
      )}
    </>
  );
}

/** Sends coin and LINK to an address; renders nothing if no chain is embedded. */
function Faucet({ networks }: { readonly networks: readonly NetworkView[] }) {
  const operator = useOperator();
  const accounts = useQuery({
    queryKey: ["fundedAccounts"],
    queryFn: () => operator.fundedAccounts(),
    staleTime: Infinity,
  });
  const [network, choose] = useChosenNetwork(networks);
  const [given, setGiven] = useState<{
    readonly network: string;
    readonly coin: string;
    readonly link: string;
  }>();
  const { problems, refusal, isBusy, onSubmit } = useSubmission(["address"], async (values) => {
    setGiven(undefined);
    const address = readField(values, "address").trim();
    const { transactionHashes } = await operator.faucet({ network, address });
    const [coin = "", link = ""] = transactionHashes;
    setGiven({ network, coin, link });
  });
  if (networks.length === 0) return null;
  return (
    <section className="panel" id="faucet">
      <h2>Faucet</h2>
      {given !== undefined && (
        <Notice>
          Sent 10 coins in transaction <TransactionLink network={given.network} hash={given.coin} /> and 100
          LINK in transaction <TransactionLink network={given.network} hash={given.link} />.
        </Notice>
      )}
      {refusal !== undefined && (
        <Notice kind="bad">
          <UnknownText text={refusal} />
        </Notice>
      )}
      <p className="note">Sends 10 coins and 100 LINK, which cost nothing on an embedded chain.</p>
      <form className="fields" onSubmit={onSubmit}>
        <TextField
          id="address"
          label="Address"
          problem={problems.get("address")}
          wide
          name="address"
          required
          placeholder="0x…"
          spellCheck={false}
          className="mono"
        />
        <NetworkSelect networks={networks} value={network} onChange={choose} />
        <div>
          <button className="action" disabled={isBusy}>
            Send
          </button>
        </div>
      </form>
      {accounts.data !== undefined && (
        <Folded summary={`${accounts.data.length} funded accounts`}>
          <p className="note">
            Each holds 10,000 coins on every embedded network from its first block, as in Anvil and Hardhat.{" "}
            <b>Everybody knows their keys:</b> never use them where coins have value.
          </p>
          <List
            label="Funded accounts"
            items={accounts.data}
            keyOf={({ address }) => address}
            columns={[
              {
                head: "Address",
                cell: ({ address }) => (
                  <>
                    <Link href={`/explorer/search?q=${address}`}>
                      <Code text={address} />
                    </Link>{" "}
                    <CopyButton text={address} what={`address ${address}`} />
                  </>
                ),
              },
              {
                head: "Secret key",
                kind: "long",
                cell: ({ address, secretKey }) => (
                  <>
                    <Code text={secretKey} />{" "}
                    <CopyButton text={secretKey} what={`secret key of ${address}`} />
                  </>
                ),
              },
            ]}
          />
        </Folded>
      )}
    </section>
  );
}
