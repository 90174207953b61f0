import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { Loaded, Page } from "../../page.tsx";
import { Age, Code } from "../../parts/format.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";
import { ActivityPanel } from "./activityPanel.tsx";
import { CreateDapp } from "./createDapp.tsx";
import { RunningPanel } from "./runningPanel.tsx";
import { StartPanel } from "./startPanel.tsx";

const REFRESH_MS = 5_000;

/** `/`: a coin to flip, the networks, recent activity, the dapps, and the form that creates one. */
export function Home() {
  const operator = useOperator();
  const info = useQuery({ queryKey: ["info"], queryFn: () => operator.info(), staleTime: Infinity });
  const dapps = useQuery({ queryKey: ["dapps"], queryFn: () => operator.dapps() });
  const activity = useQuery({
    queryKey: ["activity"],
    queryFn: () => operator.activity(),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title="Home">
      <h1>
        Tyche <span className="note">{info.data?.version}</span>
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
            <Loaded query={activity}>{(data) => <ActivityPanel activity={data} />}</Loaded>
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
      <CreateDapp />
    </Page>
  );
}
