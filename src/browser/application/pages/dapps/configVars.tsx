import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useParams } from "wouter";
import type { NetworkConfigView } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { Copyable, CopyButton } from "../../parts/format.tsx";
import { Facts, Folded, Listing } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { KeysPanel } from "./keysPanel.tsx";

/** Subscriptions are created shortly after the dapp. */
const MISSING_MS = 1_000;

/**
 * `/dapps/{dappId}/config-vars`: API keys and, by network, the values that a consumer contract is built with.
 */
export function ConfigVars() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="config">
      {() => (
        <>
          <KeysPanel dappId={dappId} />
          <Networks dappId={dappId} />
        </>
      )}
    </DappFrame>
  );
}

function Networks({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const query = useQuery({
    queryKey: ["configVars", dappId],
    queryFn: () => operator.configVars(dappId),
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ vrfSubscriptionId }) => vrfSubscriptionId === undefined) === true ? MISSING_MS : false,
  });
  return (
    <div id="networks">
      <Loaded query={query}>
        {(list) => list.map((vars) => <NetworkPart key={vars.network} vars={vars} />)}
      </Loaded>
    </div>
  );
}

function NetworkPart({ vars }: { readonly vars: NetworkConfigView }) {
  const { network, title, contracts, env, sampleContract } = vars;
  const known = (text: string | number | undefined, what: string): ReactNode =>
    text !== undefined && <Copyable text={String(text)} what={what} />;
  const made = (text: string | undefined, what: string): ReactNode =>
    text === undefined ? <span className="note">created within a second</span> : known(text, what);
  return (
    <section className="panel">
      <h2>
        {title} <CopyButton text={env} what={`config vars of ${network}`} label="Copy all" />
      </h2>
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
    </section>
  );
}
