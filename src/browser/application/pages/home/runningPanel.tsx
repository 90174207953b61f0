import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { ExplorerNetwork, NetworkReadiness } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { groupDigits } from "../../parts/format.tsx";
import { NetworkStatus } from "../../parts/networkStatus.tsx";
import { List } from "../../parts/list.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { useExplorer, useOperator } from "../../services.tsx";

const REFRESH_MS = 2_000;

/** The networks and their oracles, one line each. */
export function RunningPanel() {
  const operator = useOperator();
  const explorer = useExplorer();
  const networks = useQuery({
    queryKey: ["networks"],
    queryFn: () => explorer.networks(),
    refetchInterval: REFRESH_MS,
  });
  const readiness = useQuery({
    queryKey: ["readiness"],
    queryFn: () => operator.readiness(),
    refetchInterval: REFRESH_MS,
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
  return (
    <>
      <NetworkStatus status={status} />
      {readiness?.ready === false && readiness.why !== undefined && (
        <span className="note">
          {" "}
          <UnknownText text={readiness.why} />
        </span>
      )}
    </>
  );
}

function oracleState({ readiness }: Row): string | undefined {
  if (readiness === undefined) return undefined;
  if (readiness.oracle === undefined) return "elsewhere";
  return readiness.oracle.caughtUp ? "caught up" : "reading the chain";
}
