import { useQuery, useQueryClient } from "@tanstack/react-query";
import { isUsableKey } from "../../../../domain/usableKey.ts";
import { Link, useLocation } from "wouter";
import { Loaded, Page } from "../../page.tsx";
import { Age, Code, count, groupDigits, Copyable, CopyButton } from "../../parts/format.tsx";
import { UnknownText, Folded, Notice, Listing, NetworkStatus } from "../../parts/parts.tsx";
import { isAllowed, useMay, useMe, useNetworks, useOperator } from "../../services.tsx";
import type {
  ActiveHour,
  Activity,
  DappView,
  ExplorerNetwork,
  NetworkReadiness,
} from "../../../../client/index.ts";
import { BarChart } from "../../parts/barChart.tsx";
import { List } from "../../parts/list.tsx";
import { useState } from "react";
import { describeError, Field, readField, useSubmission } from "../../parts/forms.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { PermissionFields, readPermissions } from "../../parts/permissions.tsx";
import { RevealedKey } from "../../parts/revealedKey.tsx";

const REFRESH_MS = 5_000;

/** `/`: a coin to flip, the networks, recent activity, the dapps, and the form that creates one. */
export function Home() {
  const operator = useOperator();
  const info = useQuery({ queryKey: ["info"], queryFn: () => operator.info(), staleTime: Infinity });
  const dapps = useQuery({ queryKey: ["dapps"], queryFn: () => operator.dapps() });
  const isOperator = useMe()?.isOperator === true;
  const activity = useQuery({
    enabled: isOperator,
    queryKey: ["activity"],
    queryFn: () => operator.activity(),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Home" chains="all">
      <h1>
        Tyche{" "}
        <a className="note" href="/docs/CHANGELOG" title="What this version can do">
          {info.data?.version}
        </a>
      </h1>
      <p className="lead">Verifiable random numbers and oracle functions over HTTP.</p>
      <Loaded query={dapps}>
        {(list) => (
          <>
            <StartPanel
              dapps={list}
              isFirstVisit={activity.data?.hours.every(({ requests }) => requests === 0) === true}
            />
            <RunningPanel />
            {isOperator && <Loaded query={activity}>{(data) => <ActivityPanel activity={data} />}</Loaded>}
            <h2>Dapps</h2>
            <p className="note">Each dapp has API keys and, on every network, subscriptions of its own.</p>
            <ul className="cards">
              {list.map(({ id, name, facilities, createdAt }) => (
                <li key={id} className="panel">
                  <h3>
                    <Link href={`/dapps/${id}`}>
                      <UnknownText text={name} />
                    </Link>
                  </h3>
                  <p>
                    <Code text={id} />
                  </p>
                  <p className="note">
                    {facilities.join(" and ")}; created <Age iso={createdAt} />
                  </p>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      {isOperator && <CreateDapp />}
    </Page>
  );
}

/** Draws the requests of each hour as a bar. */
function ActivityPanel({ activity: { hours, maxCounted } }: { readonly activity: Activity }) {
  const most = Math.max(...hours.map(({ requests }) => requests));
  const sumOf = (of: "requests" | "failed"): number => hours.reduce((sum, hour) => sum + hour[of], 0);
  const failed = groupDigits(sumOf("failed"));
  const isMore = hours.some(({ requests }) => requests >= maxCounted);
  const total = `${isMore ? "more than " : ""}${count(sumOf("requests"), "request")}`;
  const bars = hours.map((hour) => ({
    ...hour,
    name: hourOf(hour),
    title: `${hourOf(hour)}: ${count(hour.requests, "request")}, ${groupDigits(hour.failed)} failed`,
  }));
  return (
    <section className="panel" id="activity">
      <h2>Requests of the last 24 hours</h2>
      <BarChart bars={bars} label={`${total} in 24 hours, ${failed} failed, at most ${most} an hour`} />
      <p className="note">
        {total}, {failed} failed; at most {groupDigits(most)} an hour.
      </p>
      <Folded summary="As a table">
        <List
          label="Requests by hour"
          items={hours}
          keyOf={({ from }) => from}
          columns={[
            { head: "Hour (UTC)", cell: hourOf },
            { head: "Requests", kind: "number", cell: ({ requests }) => groupDigits(requests) },
            { head: "Failed", kind: "number", cell: ({ failed }) => groupDigits(failed) },
          ]}
        />
      </Folded>
    </section>
  );
}

function hourOf({ from }: ActiveHour): string {
  return from.slice(11, 16);
}

/** The form that creates a dapp. */
function CreateDapp() {
  const operator = useOperator();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const { problems, refusal, isBusy, onSubmit } = useSubmission(["name"], async (values) => {
    const facilities = readPermissions(values);
    try {
      const { id } = await operator.createDapp({ name: readField(values, "name").trim(), facilities });
      await queries.invalidateQueries({ queryKey: ["dapps"] });
      navigate(`/dapps/${id}`);
    } catch (error) {
      // The dapp may exist even though the response was lost: refresh the list before anyone tries again.
      void queries.invalidateQueries({ queryKey: ["dapps"] });
      throw error;
    }
  });
  return (
    <section className="panel" id="create">
      <h2>Create a dapp</h2>
      {refusal !== undefined && (
        <Notice kind="bad">
          <UnknownText text={refusal} />
        </Notice>
      )}
      <form className="fields" onSubmit={onSubmit}>
        <Field
          id="name"
          label="Name"
          note="Everybody sees it on results with a label."
          problem={problems.get("name")}
        >
          {(control) => <input {...control} name="name" required autoComplete="off" />}
        </Field>
        <PermissionFields />
        <div>
          <button className="action" disabled={isBusy}>
            Create
          </button>
        </div>
      </form>
    </section>
  );
}

/** Everything for a first call, to who may make one: a button that makes it, and key and command for a terminal. */
function StartPanel({
  dapps,
  isFirstVisit,
}: {
  readonly dapps: readonly DappView[];
  readonly isFirstVisit: boolean;
}) {
  const me = useMe();
  const dapp = dapps.find(
    ({ id, facilities }) =>
      facilities.includes("presets") &&
      me !== undefined &&
      isAllowed(me, { dappId: id, operation: "runPreset" }),
  );
  return dapp === undefined ? null : <Flip dapp={dapp} isFirstVisit={isFirstVisit} />;
}

function Flip({ dapp, isFirstVisit }: { readonly dapp: DappView; readonly isFirstVisit: boolean }) {
  const operator = useOperator();
  const client = operator.as(dapp.id);
  const [, navigate] = useLocation();
  const networks = useNetworks().data ?? [];
  const presets = useQuery({ queryKey: ["presets"], queryFn: () => operator.presets() });
  const hasKeys = useMay(dapp.id)("listKeys") === true;
  const keys = useQuery({
    enabled: hasKeys,
    queryKey: ["keys", dapp.id],
    queryFn: () => operator.keys(dapp.id),
  });
  const [network, choose] = useChosenNetwork(networks);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  if (presets.data?.some(({ name }) => name === "coinflip") === false) return null;

  const key = keys.data?.find((one) => isUsableKey(one) && one.access === "full");
  const command = `curl -sS -X POST "$TYCHE_URL/api/vrfv2/presets?preset=coinflip&network=${network}" \\
  -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' -d '{}'`;
  const flip = async (): Promise<void> => {
    setBusy(true);
    try {
      const { id } = await client.submit.preset("coinflip", {}, { network });
      navigate(`/dapps/${dapp.id}/requests/${id}`);
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
    }
  };
  return (
    <section className="panel" id="start">
      <h2>Flip a coin now</h2>
      {isFirstVisit && (
        <ol className="note">
          <li>
            A coin flip asks for a random word on chain; the oracle answers with a proof that the coordinator
            contract checks.
          </li>
          <li>
            A function turns the word into a result, which is also put on chain. The next page links to both
            transactions and verifies them.
          </li>
          <li>
            Your programs can do the same with one HTTP call, without gas, tokens or subscriptions of their
            own.
          </li>
        </ol>
      )}
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      <form
        className="flip"
        onSubmit={(event) => {
          event.preventDefault();
          void flip();
        }}
      >
        <NetworkSelect networks={networks} value={network} onChange={choose} />
        <div>
          <button className="action" disabled={isBusy}>
            Flip a coin
          </button>
        </div>
      </form>
      {key !== undefined && (
        <>
          <h3>
            API key of <UnknownText text={dapp.name} />
          </h3>
          <div className="key-row">
            <RevealedKey key={key.id} dappId={dapp.id} apiKey={key} />
          </div>
        </>
      )}
      <Folded summary="As curl">
        <p className="note">
          In a terminal with <code>TYCHE_URL</code> and <code>TYCHE_API_KEY</code> set:{" "}
          <Copyable text={`export TYCHE_URL=${location.origin}`} what="address" />
        </p>
        <Listing text={command} label="curl" />
        <CopyButton text={command} what="curl" />
      </Folded>
    </section>
  );
}

const RUNNING_REFRESH_MS = 2_000;

/** The networks and their oracles, one line each. */
function RunningPanel() {
  const operator = useOperator();
  const networks = useNetworks({ refreshMs: () => RUNNING_REFRESH_MS });
  const readiness = useQuery({
    queryKey: ["readiness"],
    queryFn: () => operator.readiness(),
    refetchInterval: RUNNING_REFRESH_MS,
  });
  return (
    <section className="panel" id="running">
      <h2>Networks</h2>
      <Loaded query={networks}>
        {(list) => (
          <List
            label="Networks"
            items={list.map((network) => ({ network, readiness: readiness.data?.networks[network.name] }))}
            keyOf={({ network }) => network.name}
            columns={[
              {
                head: "Network",
                cell: ({ network: { name, title } }) => <Link href={`/explorer/${name}`}>{title}</Link>,
              },
              { head: "Status", isPlain: true, cell: (row) => <Status {...row} /> },
              {
                head: "Block",
                kind: "number",
                cell: ({ readiness: { blockNumber } = {} }) =>
                  blockNumber !== undefined && groupDigits(blockNumber),
              },
              { head: "Oracle", cell: (row) => oracleState(row) },
              {
                head: "In progress",
                kind: "number",
                cell: ({ readiness: { pendingRequests = 0 } = {} }) => groupDigits(pendingRequests),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}

interface Row {
  readonly network: ExplorerNetwork;
  readonly readiness: NetworkReadiness | undefined;
}

function Status({ network: { status }, readiness }: Row) {
  const { ready = true, why, rpcReachable: isReached = true } = readiness ?? {};
  return (
    <>
      <NetworkStatus status={status} isReached={isReached} />
      {isReached && !ready && why !== undefined && (
        <span className="note">
          {" "}
          <UnknownText text={why} />
        </span>
      )}
    </>
  );
}

function oracleState({ readiness }: Row): string | undefined {
  if (readiness === undefined) return undefined;
  if (readiness.oracle === undefined) return "elsewhere";
  if (readiness.rpcReachable === false) return "waits for the chain";
  return readiness.oracle.caughtUp ? "caught up" : "reading the chain";
}
