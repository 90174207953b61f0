import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { ExplorerNetwork, NetworkReadiness } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { groupDigits } from "../../parts/format.tsx";
import { NetworkStatus } from "../../parts/networkStatus.tsx";
import { Scrollable, UnknownText } from "../../parts/parts.tsx";
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
      <h2>What is running</h2>
      <Loaded query={networks}>
        {(list) => (
          <Scrollable label="Networks">
            <table className="list stacked">
              <thead>
                <tr>
                  <th>Network</th>
                  <th>Status</th>
                  <th className="number">Block</th>
                  <th>Oracle</th>
                  <th className="number">In progress</th>
                </tr>
              </thead>
              <tbody>
                {list.map((network) => (
                  <Row
                    key={network.name}
                    network={network}
                    readiness={readiness.data?.networks[network.name]}
                  />
                ))}
              </tbody>
            </table>
          </Scrollable>
        )}
      </Loaded>
    </section>
  );
}

function Row({
  network: { name, title, status },
  readiness,
}: {
  readonly network: ExplorerNetwork;
  readonly readiness: NetworkReadiness | undefined;
}) {
  const { ready, why, blockNumber, pendingRequests, oracle } = readiness ?? {};
  const state = oracle === undefined ? "elsewhere" : oracle.caughtUp ? "caught up" : "reading the chain";
  return (
    <tr>
      <td>
        <Link href={`/explorer/${name}`}>{title}</Link>
      </td>
      <td>
        <NetworkStatus status={status} />
        {ready !== true && why !== undefined && (
          <span className="note">
            {" "}
            <UnknownText text={why} />
          </span>
        )}
      </td>
      <td className="number" data-label="Block">
        {blockNumber !== undefined && groupDigits(blockNumber)}
      </td>
      <td data-label="Oracle">{readiness !== undefined && state}</td>
      <td className="number" data-label="In progress">
        {groupDigits(pendingRequests ?? 0)}
      </td>
    </tr>
  );
}
