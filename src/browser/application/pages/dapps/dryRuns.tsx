import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { useParams } from "wouter";
import type { DryRunView } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { DryRunError } from "../../parts/dryRunError.tsx";
import { Age } from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { Folded, Listing, Notice, ResultText, Tag, UnknownText } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useClient, useTitleOf } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";

const PAGE_SIZE = 25;
/** All that are kept. */
const MAX_RUNS = 100;
const REFRESH_MS = 2_000;

/** `/dapps/{dappId}/dry-runs`: sources that ran once without creating a request. */
export function DryRuns() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="dry-runs">
      {() => <RunList dappId={dappId} />}
    </DappFrame>
  );
}

function RunList({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const cursor = usePlace("cursor");
  // The run that a link names, which may be any of them.
  const named = useSyncExternalStore(followFragment, () => location.hash.slice(1));
  const limit = named.startsWith("dry_") ? MAX_RUNS : PAGE_SIZE;
  const query = useQuery({
    queryKey: ["dryRuns", dappId, limit, cursor],
    queryFn: () => client.dryRuns({ limit, cursor }),
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
            {limit === MAX_RUNS && !items.some(({ id }) => id === named) && (
              <Notice>The dry run of this link is not kept any more.</Notice>
            )}
            {items.length === 0 ? <p className="note">None yet.</p> : <RunTable runs={items} named={named} />}
            <Pages parameter="cursor" older={nextCursor} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function followFragment(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}

function RunTable({ runs, named }: { readonly runs: readonly DryRunView[]; readonly named: string }) {
  const titleOf = useTitleOf();
  return (
    <List
      label="The last dry runs"
      items={runs}
      keyOf={({ id }) => id}
      isNamed={({ id }) => id === named}
      columns={[
        {
          head: "Source",
          kind: "long",
          cell: ({ title }) => (
            <code className="hex">
              <UnknownText text={title} />
            </code>
          ),
        },
        { head: "State", isPlain: true, cell: (run) => <RunState run={run} /> },
        { head: "Result", kind: "long", cell: (run) => <RunResult run={run} /> },
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

function RunState({ run: { kind, success } }: { readonly run: DryRunView }) {
  if (kind !== "dry-run") return <Tag kind="bad">refused before it was sent</Tag>;
  return success ? <Tag kind="good">dry run</Tag> : <Tag kind="bad">dry run failed</Tag>;
}

function RunResult({ run }: { readonly run: DryRunView }) {
  const { success, parsedResult, console, withheld = false } = run;
  return (
    <>
      {withheld ? (
        <span className="note">not kept: it showed a secret</span>
      ) : success ? (
        <ResultText text={parsedResult} />
      ) : (
        <DryRunError run={run} />
      )}
      {console !== "" && (
        <Folded summary="Console">
          <Listing text={console} label="Console" />
        </Folded>
      )}
    </>
  );
}
