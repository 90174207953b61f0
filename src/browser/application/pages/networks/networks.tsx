import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { NetworkReadiness, NetworkView } from "../../../../client/index.ts";
import { Loaded, Page } from "../../page.tsx";
import { Age, Code, Copyable, groupDigits, ShortHex, units } from "../../parts/format.tsx";
import { NetworkStatus } from "../../parts/networkStatus.tsx";
import { List } from "../../parts/list.tsx";
import { Facts, Folded, Tag, UnknownText } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";
import { Faucet } from "./faucet.tsx";

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
    <Page title="Networks">
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

const LABELS: Readonly<Record<string, string>> = {
  link: "LINK token",
  vrfCoordinator: "VRF coordinator",
  functionsRouter: "Functions router",
  functionsCoordinator: "Functions coordinator",
  presetConsumer: "PresetConsumer",
  subscriptionOwner: "SubscriptionOwner",
};

function NetworkSection({
  network,
  readiness,
}: {
  readonly network: NetworkView;
  readonly readiness: NetworkReadiness | undefined;
}) {
  const { name, title, chainId, embedded, rpcUrl, explorerUrl, status, contracts, vrf, functions } = network;
  const why = network.statusDetail ?? readiness?.why;
  const { blockNumber, pendingRequests, operatorBalanceWei } = readiness ?? {};
  return (
    <section className="panel">
      <h2>
        {title} <NetworkStatus status={status} />
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
      {network.nodes !== undefined && <NodeTable nodes={network.nodes} explorerUrl={explorerUrl} />}
      <Folded summary="Contracts and keys">
        <Facts
          entries={[
            ...Object.entries(contracts).map(([contract, address]) => {
              const label = LABELS[contract] ?? contract;
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
