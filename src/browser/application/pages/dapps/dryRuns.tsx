import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, Redirect, useParams } from "wouter";
import type { DryRunView } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";
import { DryRunError, DryRunResult, DryRunState } from "../../parts/dryRunParts.tsx";
import { Age } from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useTitleOf } from "../../services.tsx";

const PAGE_SIZE = 25;
const REFRESH_MS = 2_000;

/** `/dapps/{dappId}/dry-runs`: sources that ran once without creating a request. */
export function DryRuns() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  const id = location.hash.slice(1);
  // As answers of earlier versions link to one.
  if (/^dry_\w+$/.test(id)) return <Redirect to={`/dapps/${dappId}/dry-runs/${id}`} replace />;
  return (
    <DappFrame dappId={dappId} tab="dry-runs">
      {() => <RunList dappId={dappId} />}
    </DappFrame>
  );
}

function RunList({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const cursor = usePlace("cursor");
  const query = useQuery({
    queryKey: ["dryRuns", dappId, cursor],
    queryFn: () => client.dryRuns({ limit: PAGE_SIZE, cursor }),
    placeholderData: keepPreviousData,
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  return (
    <section className="panel" id="dry-runs" aria-label="Dry runs">
      <p className="note">
        Dry runs, and calls that were refused because their dry run failed. None of them became a request. The
        last 100 are kept.
      </p>
      <Loaded query={query}>
        {({ items, nextCursor }) => (
          <>
            {items.length === 0 ? (
              <p className="note">None yet.</p>
            ) : (
              <RunTable runs={items} dappId={dappId} />
            )}
            <Pages parameter="cursor" older={nextCursor} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function RunTable({ runs, dappId }: { readonly runs: readonly DryRunView[]; readonly dappId: string }) {
  const titleOf = useTitleOf();
  return (
    <List
      label="The last dry runs"
      items={runs}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Source",
          kind: "long",
          cell: ({ id, title }) => (
            <Link href={`/dapps/${dappId}/dry-runs/${id}`}>
              <code className="hex">{title === "" ? "empty" : <UnknownText text={title} />}</code>
            </Link>
          ),
        },
        { head: "State", isPlain: true, cell: (run) => <DryRunState run={run} /> },
        {
          head: "Result",
          kind: "long",
          cell: (run) => (run.success ? <DryRunResult run={run} /> : <DryRunError run={run} />),
        },
        {
          head: "Network",
          kind: "name",
          cell: ({ network }) => (network === null ? <span className="note">any</span> : titleOf(network)),
        },
        { head: "Run", cell: ({ at }) => <Age iso={at} /> },
      ]}
    />
  );
}
