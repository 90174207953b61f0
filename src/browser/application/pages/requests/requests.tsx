import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearchParams } from "wouter";
import type { RequestKind, RequestState, RequestView } from "../../../../client/index.ts";
import { DRY_RUN_KINDS, isEnded, REQUEST_KINDS, REQUEST_STATES } from "../../../../domain/vocabulary.ts";
import { Loaded } from "../../page.tsx";
import { DryRunError } from "../../parts/dryRunParts.tsx";
import { Age, useNow } from "../../parts/format.tsx";
import { Pages, usePlace } from "../../parts/pages.tsx";
import { Notice, UnknownText } from "../../parts/parts.tsx";
import { Select } from "../../parts/forms.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { RequestTable } from "../../parts/requestTable.tsx";
import { useClient, useNetworks, useTitleOf } from "../../services.tsx";
import { DappFrame } from "../../parts/dappFrame.tsx";

const PAGE_SIZE = 25;
const BUSY_MS = 500;
const QUIET_MS = 2_000;
const REFUSED_MS = 5_000;
/** How long a refused call is pointed out. */
const SHOWN_MS = 86_400_000;

/** `/dapps/{dappId}/requests`: a list of requests that updates itself. */
export function Requests() {
  const { dappId } = useParams<{ readonly dappId: string }>();
  return (
    <DappFrame dappId={dappId} tab="requests">
      {() => <RequestList dappId={dappId} />}
    </DappFrame>
  );
}

function RequestList({ dappId }: { readonly dappId: string }) {
  const client = useClient(dappId);
  const titleOf = useTitleOf();
  const { data: networks = [], isPending: areNetworksPending } = useNetworks();
  const [search, setSearch] = useSearchParams();
  const chosen = (name: string, known: readonly string[]): string | undefined =>
    known.find((one) => one === search.get(name));
  const names = networks.map(({ name }) => name);
  const cursor = usePlace("cursor");
  const filter = {
    state: chosen("state", REQUEST_STATES) as RequestState | undefined,
    kind: chosen("kind", REQUEST_KINDS) as RequestKind | undefined,
    network: chosen("network", names),
  };
  const query = useQuery({
    queryKey: ["requests", dappId, filter, cursor],
    queryFn: () => client.requests({ limit: PAGE_SIZE, ...filter, cursor }),
    placeholderData: keepPreviousData,
    // Until the networks are known, it is unknown whether the address names one of them.
    enabled: !(areNetworksPending && search.has("network")),
    refetchInterval: refetchUnlessRefused<{ readonly items: readonly RequestView[] }>((data) =>
      data?.items.every(({ state }) => isEnded(state)) === false ? BUSY_MS : QUIET_MS,
    ),
  });
  const choose = (name: string, value: string): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete("cursor");
      if (value === "") next.delete(name);
      else next.set(name, value);
      return next;
    });
  const filterPart = (
    name: keyof typeof filter,
    label: string,
    values: readonly string[],
    textOf = (value: string): string => value,
  ) => (
    <span>
      <label htmlFor={name}>{label}</label>{" "}
      <Select
        id={name}
        value={filter[name] ?? ""}
        options={[["", "any"], ...values.map((value) => [value, textOf(value)] as const)]}
        onChange={(value) => choose(name, value)}
      />
    </span>
  );
  const ignored = Object.entries(filter)
    .filter(([name, value]) => value === undefined && search.has(name))
    .filter(([name]) => name !== "network" || !areNetworksPending)
    .map(([name]) => `${name} ${search.get(name)}`);
  return (
    <>
      {ignored.length > 0 && (
        <Notice kind="bad">
          <UnknownText
            text={`There is no ${ignored.join(", no ")}; requests are listed without that filter.`}
          />
        </Notice>
      )}
      <form className="filter" onSubmit={(event) => event.preventDefault()}>
        {filterPart("state", "State", REQUEST_STATES)}
        {filterPart("kind", "Kind", REQUEST_KINDS)}
        {filterPart("network", "Network", names, titleOf)}
      </form>
      {cursor === undefined && (filter.state ?? "failed") === "failed" && (
        <RefusedCall dappId={dappId} kind={filter.kind} network={filter.network} />
      )}
      <section className="panel" id="requests" aria-label="Requests">
        <Loaded query={query}>
          {({ items, nextCursor }) => (
            <>
              {items.length === 0 ? (
                <p className="note">No requests here.</p>
              ) : (
                <RequestTable requests={items} dappId={dappId} />
              )}
              <p className="note">
                Requests that your own contracts make on chain are not listed here;{" "}
                <Link href={`/dapps/${dappId}/consumers`}>Consumers</Link> shows which of them are waiting,
                and why.
              </p>
              <Pages parameter="cursor" older={nextCursor} />
            </>
          )}
        </Loaded>
      </section>
    </>
  );
}

/** The last call of a day that was refused as its dry run failed: it has no request to be listed. */
function RefusedCall({
  dappId,
  kind: only,
  network,
}: {
  readonly dappId: string;
  readonly kind: RequestKind | undefined;
  readonly network: string | undefined;
}) {
  const client = useClient(dappId);
  const { data: run } = useQuery({
    queryKey: ["refusedCall", dappId, only, network],
    queryFn: async () => {
      const kinds = DRY_RUN_KINDS.filter((kind) => kind !== "dry-run" && kind === (only ?? kind));
      const pages = await Promise.all(kinds.map((kind) => client.dryRuns({ limit: 1, kind, network })));
      const runs = pages.flatMap(({ items }) => items);
      return runs.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0] ?? null;
    },
    refetchInterval: refetchUnlessRefused(() => REFUSED_MS),
  });
  const now = useNow();
  if (!run || Date.parse(run.at) < now - SHOWN_MS) return null;
  return (
    <p className="notice">
      A call was refused <Age iso={run.at} />, and made no request, because its dry run failed:{" "}
      <DryRunError run={run} />. <Link href={`/dapps/${dappId}/dry-runs/${run.id}`}>See its dry run</Link>.
    </p>
  );
}
