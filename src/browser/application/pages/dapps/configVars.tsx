import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useParams } from "wouter";
import type { ExplorerNetwork, NetworkConfigView } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { findChosenNetwork } from "../../parts/chosenNetwork.ts";
import { Copyable, CopyButton } from "../../parts/format.tsx";
import { describeMissingSubscription } from "../../parts/missingSubscription.ts";
import { Facts, Folded, Listing } from "../../parts/parts.tsx";
import { useNetworks, useOperator } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";

/** Subscriptions are created shortly after the dapp, on networks that are serving. */
const MISSING_MS = 1_000;
/** What has not been created after as many readings is waiting for something, such as LINK. */
const SOON_READINGS = 30;
const WAITING_MS = 10_000;

/**
 * `/dapps/{dappId}/config-vars`: the values that a consumer contract is built with, by network.
 */
export function ConfigVars() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="config">
      {() => <Networks dappId={dappId} />}
    </DappFrame>
  );
}

function Networks({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const networks = useNetworks().data;
  const statusOf = (network: string): ExplorerNetwork["status"] | undefined =>
    networks?.find(({ name }) => name === network)?.status;
  const query = useQuery({
    queryKey: ["configVars", dappId],
    queryFn: () => operator.configVars(dappId),
    refetchInterval: ({ state: { data = [], dataUpdateCount } }) => {
      const missing = data.filter(({ vrfSubscriptionId }) => vrfSubscriptionId === undefined);
      if (missing.length === 0) return false;
      const isDueSoon = missing.some(({ network }) => statusOf(network) === "serving");
      return isDueSoon && dataUpdateCount < SOON_READINGS ? MISSING_MS : WAITING_MS;
    },
  });
  return (
    <div id="networks">
      <p className="lead">The values that your contracts and deployment scripts use, network by network.</p>
      <Loaded query={query}>
        {(list) => {
          const first = findChosenNetwork(list.map(({ network }) => ({ name: network })));
          return list.map((vars) => (
            <section className="panel" key={vars.network}>
              <Folded summary={<b>{vars.title}</b>} isOpen={vars.network === first}>
                <NetworkPart vars={vars} status={statusOf(vars.network)} />
              </Folded>
            </section>
          ));
        }}
      </Loaded>
    </div>
  );
}

function NetworkPart({
  vars,
  status,
}: {
  readonly vars: NetworkConfigView;
  readonly status: ExplorerNetwork["status"] | undefined;
}) {
  const { network, contracts, env, sampleContract } = vars;
  const known = (text: string | number | undefined, what: string): ReactNode =>
    text !== undefined && <Copyable text={String(text)} what={what} />;
  const made = (text: string | undefined, what: string): ReactNode =>
    text === undefined ? (
      <span className="note">{describeMissingSubscription({ isCreated: false, status })}</span>
    ) : (
      known(text, what)
    );
  return (
    <>
      <p>
        <CopyButton text={env} what={`config vars of ${network}`} label="Copy all" />
      </p>
      <Facts
        entries={[
          ["VRF subscription id", made(vars.vrfSubscriptionId, "VRF subscription id")],
          ["Functions subscription id", made(vars.functionsSubscriptionId, "Functions subscription id")],
          ["VRF coordinator", known(contracts.vrfCoordinator, "VRF coordinator")],
          ["Key hash", known(vars.keyHash, "key hash")],
          ["Functions router", known(contracts.functionsRouter, "Functions router")],
          ["DON id", known(vars.donId, "DON id")],
          ["Chain id", known(vars.chainId, "chain id")],
          ["LINK token", known(contracts.link, "LINK token")],
          ["RPC URL", known(vars.rpcUrl, "RPC URL")],
        ]}
      />
      {sampleContract !== undefined && (
        <Folded summary="Sample contract">
          <p className="note">
            A consumer with this dapp's values. Deploy it with your own tools, then link its address under
            Consumers. <CopyButton text={sampleContract} what={`sample contract of ${network}`} />
          </p>
          <Listing text={sampleContract} label="Sample contract" />
        </Folded>
      )}
      <Folded summary="As environment variables">
        <Listing text={env} label="Environment variables" />
      </Folded>
    </>
  );
}
