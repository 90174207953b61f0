import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { ExplorerNetwork, SubscriptionBalances } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { Time, units } from "../../parts/format.tsx";
import { describeMissingSubscription } from "../../parts/missingSubscription.ts";
import { List } from "../../parts/list.tsx";
import { expiresSoon, KeyExpiry } from "../../parts/keyExpiry.tsx";
import { Facts, Notice, UnknownText } from "../../parts/parts.tsx";
import { PERMISSION_TEXT } from "../../parts/permissions.tsx";
import { RequestTable } from "../../parts/requestTable.tsx";
import { useClient, useMay, useNetworks, useOperator } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { isEnded } from "../../../../domain/vocabulary.ts";

const RECENT_REQUESTS = 8;
const BUSY_MS = 500;
const QUIET_MS = 5_000;

/** `/dapps/{dappId}`: a dapp's details, its subscription balances, its latest requests. */
export function Dapp() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const may = useMay(dappId);
  return (
    <DappFrame dappId={dappId} tab="overview">
      {({ facilities, createdAt }) => (
        <>
          <section className="panel" aria-label="About">
            <Facts
              entries={[
                ["The dapp may use", facilities.map((one) => PERMISSION_TEXT[one]).join(", ")],
                ["Created", <Time iso={createdAt} />],
                [
                  "Try",
                  may("runPreset") === true && (
                    <>
                      {facilities.includes("presets") ? (
                        <Link href={`/presets?dapp=${dappId}`}>run a preset from here</Link>
                      ) : (
                        <Link href={`/functions?dapp=${dappId}`}>run a function from here</Link>
                      )}
                      {may("listKeys") === true && (
                        <>
                          , or call the <a href="/docs">API</a> with one of its{" "}
                          <Link href={`/dapps/${dappId}/keys`}>keys</Link>
                        </>
                      )}
                    </>
                  ),
                ],
              ]}
            />
          </section>
          {may("listKeys") === true && <ExpiringKeys dappId={dappId} />}
          <Balances dappId={dappId} />
          <Recent dappId={dappId} />
        </>
      )}
    </DappFrame>
  );
}

/** Says which keys are about to expire, or have expired. */
function ExpiringKeys({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const keys = useQuery({ queryKey: ["keys", dappId], queryFn: () => operator.keys(dappId) });
  const expiring = keys.data?.filter(expiresSoon) ?? [];
  if (expiring.length === 0) return null;
  return (
    <Notice>
      {expiring.map((apiKey) => (
        <p key={apiKey.id}>
          The API key <UnknownText text={apiKey.name === "" ? apiKey.id : apiKey.name} />:{" "}
          <KeyExpiry apiKey={apiKey} />
        </p>
      ))}
      <Link href={`/dapps/${dappId}/keys`}>Let it expire later, or add another</Link>
    </Notice>
  );
}

function Balances({ dappId }: { readonly dappId: string }) {
  const operator = useOperator();
  const networks = useNetworks().data ?? [];
  const query = useQuery({
    queryKey: ["balances", dappId],
    queryFn: () => operator.balances(dappId),
    refetchInterval: QUIET_MS,
  });
  // Tells networks that can't be read from those where nothing has been created.
  const vars = useQuery({
    queryKey: ["configVars", dappId],
    queryFn: () => operator.configVars(dappId),
    enabled: query.data !== undefined && query.data.length < networks.length,
    refetchInterval: QUIET_MS,
  });
  const isCreated = (name: string): boolean | undefined =>
    vars.isPending
      ? undefined
      : vars.data?.some((one) => one.network === name && one.vrfSubscriptionId !== undefined) === true;
  return (
    <section className="panel" id="balances">
      <h2>Subscriptions</h2>
      <Loaded query={query}>
        {(balances) => (
          <List
            label="Balances"
            items={networks.map((network) => ({
              network,
              balances: balances.find((one) => one.network === network.name),
              isCreated: isCreated(network.name),
            }))}
            keyOf={({ network }) => network.name}
            columns={[
              { head: "Network", cell: ({ network }) => network.title },
              { head: "For random numbers", kind: "number", cell: (held) => <HeldForRandomness {...held} /> },
              {
                head: "For functions",
                kind: "number",
                cell: ({ balances: one }) => one !== undefined && units(one.functionsJuels, "LINK"),
              },
            ]}
          />
        )}
      </Loaded>
      <p className="note">The service tops them up automatically.</p>
    </section>
  );
}

/** What the subscription for random numbers holds, or why there is none. */
function HeldForRandomness({
  network: {
    coin,
    vrf: { nativePayment },
    status,
  },
  balances,
  isCreated,
}: {
  readonly network: ExplorerNetwork;
  readonly balances: SubscriptionBalances | undefined;
  /** Whether the subscriptions exist; absent while that is being read. */
  readonly isCreated: boolean | undefined;
}) {
  if (balances === undefined)
    return (
      <span className="note">
        {isCreated === undefined ? "…" : describeMissingSubscription({ isCreated, status })}
      </span>
    );
  const { vrfJuels, vrfWei } = balances;
  const hasCoin = nativePayment || vrfWei !== "0";
  return units(vrfJuels, "LINK") + (hasCoin ? ` and ${units(vrfWei, coin)}` : "");
}

function Recent({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const query = useQuery({
    queryKey: ["requests", dappId, "recent"],
    queryFn: () => client.requests({ limit: RECENT_REQUESTS }),
    refetchInterval: ({ state: { data } }) =>
      data?.items.every(({ state }) => isEnded(state)) === false ? BUSY_MS : QUIET_MS,
  });
  return (
    <section className="panel" id="recent">
      <h2>Latest requests</h2>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="note">None yet.</p>
          ) : (
            <>
              <RequestTable requests={items} dappId={dappId} />
              <p>
                <Link href={`/dapps/${dappId}/requests`}>All requests</Link>
              </p>
            </>
          )
        }
      </Loaded>
    </section>
  );
}
