import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { Link, useParams } from "wouter";
import { ApiError, type ExplorerNetwork, type RequestSummary } from "../../../../client/index.ts";
import { spelledLabel } from "../../../../domain/label.ts";
import { tallyOf } from "./batch.tsx";
import { readLatestRequests, type RequestBatch } from "./latestRequests.ts";
import {
  describeRefusal,
  Loaded,
  Page,
  type Reading,
  Refusal,
  sentence,
  type TrailEntry,
  useFailure,
  useIsLong,
} from "../../page.tsx";
import { Copyable, groupDigits } from "../../parts/format.tsx";
import { Notice, UnknownText } from "../../parts/parts.tsx";
import { listed, type ListedRequest, RequestList, whatOf } from "../../parts/requestList.tsx";
import { SearchForm } from "../../parts/searchForm.tsx";
import { AWAITED_MS, useSilent } from "../../parts/silence.tsx";
import { isRefused, refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useNetworks, useTitleOf } from "../../services.tsx";

/** A request waits for some seconds, and is to be seen then. */
const REFRESH_MS = 2_000;
/** Rows of the newest requests. */
const MAX_ROWS = 8;
/** Different things that a batch asks for, of which its row names each. */
const MAX_NAMED = 3;
/** Labels of the same thing that its row has. */
const MAX_LABELS = 3;

/** A page of the explorer below its first ones, which have the search box, too. `network`: the network that it is of. */
export function ExplorerPage({
  network,
  children,
  ...page
}: Parameters<typeof Page>[0] & { readonly network?: string }) {
  return (
    <Page chains={network === undefined ? undefined : [network]} {...page}>
      <SearchForm {...(network === undefined ? {} : { network })} />
      {children}
    </Page>
  );
}

/** How a note names requests that weren't looked up. */
export const OTHER_REQUESTS = "Further requests, of this service or not,";

/** Says how many more entries there are than a part lists. */
export function More({ count, of }: { readonly count: number | undefined; readonly of: string }) {
  if (count === undefined) return null;
  return (
    <p className="note">
      {of} that are not listed: {groupDigits(count)}.
    </p>
  );
}

/** The newest requests, of one network if it is given, a row for each batch; nothing where there are none. */
export function LatestRequests({ network }: { readonly network?: string }) {
  const explorer = useExplorer();
  const { data: batches = [] } = useQuery({
    queryKey: ["latest requests", network],
    queryFn: () => readLatestRequests((cursor) => explorer.requests({ network, cursor }), MAX_ROWS),
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  if (batches.length === 0) return null;
  return (
    <section className="panel" id="requests">
      <h2>Latest requests</h2>
      <RequestList
        label="Latest requests"
        requests={batches.map(rowOfBatch)}
        isOneNetwork={network !== undefined}
      />
      <p className="pages">
        <Link href={`/explorer/requests${network === undefined ? "" : `?network=${network}`}`}>
          All requests
        </Link>
      </p>
    </section>
  );
}

/** Returns the row of a batch. */
export function rowOfBatch({ requests, isCut }: RequestBatch): ListedRequest {
  const row = listed(requests[0]);
  if (requests.length === 1) return row;
  const answers = requests.flatMap((request) => listed(request).answer ?? []);
  // What was asked for most often comes last.
  const groups = [...Map.groupBy(requests, whatOf)].toSorted(([, a], [, b]) => a.length - b.length);
  const size = `${requests.length}${isCut ? "+" : ""}`;
  const isNamed = groups.length === 1 || (groups.length <= MAX_NAMED && !isCut);
  const named = groups.map(([what, own]) => {
    if (own.length === 1) return listed(own[0]!).name;
    const labels = [...new Set(own.flatMap((one) => spelledLabel(one) ?? []))];
    const shown = labels.length > MAX_LABELS ? [...labels.slice(0, MAX_LABELS), "…"] : labels;
    return `${groups.length === 1 ? size : own.length} × ${what}${labels.length === 0 ? "" : `: ${shown.join(", ")}`}`;
  });
  return {
    ...row,
    name: isNamed ? named.join("; ") : `${size} requests`,
    href: `/explorer/${row.network}/tx/${requests[0].transactionHash}`,
    answer:
      answers.length < requests.length
        ? undefined
        : {
            text: groups.map(([, own]) => sumUp(own)).join("; "),
            isError: answers.every(({ isError }) => isError),
          },
  };
}

/** Returns the results of some requests, counted if they are few different ones. */
function sumUp(requests: readonly RequestSummary[]): string {
  const texts = requests.flatMap((request) => listed(request).answer?.text ?? []);
  return (tallyOf(texts)?.map(([text, { length }]) => `${text}: ${length}`) ?? texts).join(", ");
}

/** Returns the breadcrumb trail for a page of a network. */
export function useTrail(network: string): readonly TrailEntry[] {
  const titleOf = useTitleOf();
  return [
    { href: "/explorer", text: "Explorer" },
    { href: `/explorer/${network}`, text: titleOf(network) },
  ];
}

/** `/explorer/{network}/…`: there is no such page of the explorer. */
export function NoExplorerPage() {
  const { network } = useParams<{ readonly network: string }>();
  const { data: networks = [] } = useNetworks();
  const trail = useTrail(network);
  const isKnown = networks.some(({ name }) => name === network);
  return (
    <ExplorerPage title="Not found" trail={trail.slice(0, isKnown ? 2 : 1)} {...(isKnown ? { network } : {})}>
      <h1>Not found</h1>
      <p className="lead">There is no page at this address.</p>
      {isKnown && <GoOn network={network} />}
    </ExplorerPage>
  );
}

/** Leads on from what there isn't. */
function GoOn({ network }: { readonly network: string }) {
  const titleOf = useTitleOf();
  return (
    <p className="pages">
      On {titleOf(network)}:<Link href={`/explorer/requests?network=${network}`}>all requests</Link>
      <Link href={`/explorer/${network}/transactions`}>all transactions</Link>
      <Link href={`/explorer/${network}/blocks`}>all blocks</Link>
    </p>
  );
}

/**
 * The page of a network that doesn't answer, until it does: why, and what is known of it all the same. Called, not rendered as a component:
 * its frame stays the same element when the data arrive, with what was typed into it.
 */
function unansweredPage({
  network: { name, title: chain, status, statusDetail },
  title = chain,
  sought,
  trail,
  children,
}: {
  readonly network: ExplorerNetwork;
  readonly title: string | undefined;
  readonly sought: string;
  readonly trail: readonly TrailEntry[];
  readonly children: ReactNode;
}) {
  return (
    <ExplorerPage title={title} network={name} trail={trail.slice(0, title === chain ? 1 : 2)}>
      <h1>{title}</h1>
      {sought !== "" && (
        <p className="subject">
          <Copyable text={sought} what="what is looked for" />
        </p>
      )}
      {children}
      {status === "serving" ? (
        <p className="lead">
          This page needs an answer from the chain's node, and appears once there is one.
        </p>
      ) : (
        <Notice>
          {chain} can't be read now: <UnknownText text={sentence(statusDetail ?? status)} /> This page appears
          by itself once there is an answer.
        </Notice>
      )}
      <GoOn network={name} />
    </ExplorerPage>
  );
}

/** Renders the data, or why the network doesn't have it, with the box to search for something else. */
export function Found<Data>({
  query,
  network,
  title,
  sought = "",
  known,
  hint,
  children,
}: {
  readonly query: Reading<Data>;
  readonly network: string;
  /** Title of the page while the network doesn't answer. Default: the network's. */
  readonly title?: string;
  /** What to search for instead, if it isn't there. */
  readonly sought?: string;
  /** Shown of it while the network doesn't answer. */
  readonly known?: ReactNode;
  /** Shown below the reason, if it isn't there. */
  readonly hint?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}) {
  const { data: networks = [] } = useNetworks();
  const trail = useTrail(network);
  const error = useFailure(query);
  const isLong = useIsLong(query.isFetching);
  const lacks = query.data === undefined;
  const isFinal = isRefused(error);
  const isAwaited = lacks && !isFinal && (isLong || error !== null);
  const isUnanswered = useSilent([network], isAwaited ? AWAITED_MS : undefined).length > 0 && !isFinal;
  const own = networks.find(({ name }) => name === network);
  // Once the node answers, it takes a moment until the page is read.
  const [wasHeld, setWasHeld] = useState(false);
  const isHeld =
    lacks &&
    (isUnanswered ||
      (error === null && isLong && own?.status !== "serving") ||
      (wasHeld && (error === null || isUnreadable(error))));
  useEffect(() => setWasHeld(isHeld), [isHeld]);
  const meanwhile =
    isHeld && own !== undefined ? (
      unansweredPage({ network: own, title, sought, trail, children: known })
    ) : error === null ? undefined : (
      <Refusal error={error} trail={trail.slice(0, own === undefined ? 1 : 2)}>
        {describeRefusal(error).isMissing && hint}
        {own === undefined && networks.length > 0 && (
          <p className="pages">
            Networks:
            {networks.map((one) => (
              <Link key={one.name} href={`/explorer/${one.name}`}>
                {one.title}
              </Link>
            ))}
          </p>
        )}
        {describeRefusal(error).isMissing && (
          <SearchForm value={sought} {...(own === undefined ? {} : { network })} />
        )}
        {own !== undefined && <GoOn network={network} />}
      </Refusal>
    );
  return (
    <Loaded query={query} isQuiet={isUnanswered} meanwhile={meanwhile}>
      {children}
    </Loaded>
  );
}

/** Whether a page could not be read because its chain could not. */
function isUnreadable(error: Error): boolean {
  return error instanceof ApiError && error.code === "chain_unavailable";
}

/** A part of a page with a query of its own, which says where it waits for the chain. */
export function FoundPart<Data>({
  query,
  network,
  children,
}: {
  readonly query: Reading<Data>;
  readonly network: string;
  readonly children: (data: Data) => ReactNode;
}) {
  const isUnanswered = useSilent([network]).length > 0;
  return (
    <Loaded
      query={query}
      isQuiet={isUnanswered}
      meanwhile={
        isUnanswered ? (
          <p className="note">
            This part needs an answer from the chain's node, and appears once there is one.
          </p>
        ) : undefined
      }
    >
      {children}
    </Loaded>
  );
}
