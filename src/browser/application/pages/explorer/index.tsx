import { Link, Redirect, useSearchParams } from "wouter";
import { isId } from "../../../../domain/idForm.ts";
import { cut } from "../../../../lib/cut.ts";
import { spellingOf, spelledLabel } from "../../../../domain/label.ts";
import { Loaded, Page } from "../../page.tsx";
import { useNetworks, useExplorer, useShortTitleOf, useTitleOf } from "../../services.tsx";
import { LatestRequests, rowOfBatch } from "./explorerFrame.tsx";
import { SearchForm } from "../../parts/searchForm.tsx";
import { MAX_TEXT_CHARACTERS } from "./requests.tsx";
import { useQueries, useQuery } from "@tanstack/react-query";
import type {
  ExplorerNetwork,
  RequestSummary,
  SearchHit,
  SearchResult,
  TransactionSummary,
} from "../../../../client/index.ts";
import { Age, BlockLink, Code, count, groupDigits, PartyLink, TransactionLink } from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { RequestList, whatOf } from "../../parts/requestList.tsx";
import { isSilent } from "../../parts/silence.tsx";
import { Status, WHAT } from "../../parts/transactionTable.tsx";
import { refetchUnlessRefused, searchWhileSilent } from "../../refetch.ts";

const REFRESH_MS = 5_000;
const MAX_LATEST = 15;

/** `/explorer`: the networks, and what happens on them. */
export function ExplorerIndex() {
  const networks = useNetworks();
  return (
    <Page title="Explorer" chains="all">
      <h1>Explorer</h1>
      <p className="lead">
        Activity on the chains served here: requests, proofs, results and every other transaction.
      </p>
      <SearchForm />
      <Loaded query={networks}>{(list) => <Chains networks={list} />}</Loaded>
    </Page>
  );
}

/** The networks, with what is new on all of them, as it comes. */
function Chains({ networks }: { readonly networks: readonly ExplorerNetwork[] }) {
  const explorer = useExplorer();
  const overviews = useQueries({
    queries: networks.map(({ name }) => ({
      queryKey: ["overview", name],
      queryFn: () => explorer.overview(name),
      refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
    })),
  });
  const rows = overviews
    .flatMap(({ data }) => data?.transactions.map((one) => ({ ...one, network: data.network })) ?? [])
    .toSorted((a, b) => b.at.localeCompare(a.at));
  return (
    <>
      <ul className="cards networks">
        {networks.map((network) => (
          <li key={network.name} className="panel">
            <h2>
              <Link href={`/explorer/${network.name}`}>{network.title}</Link>
            </h2>
            <p className="note">{stateOf(network)}</p>
          </li>
        ))}
      </ul>
      <LatestRequests />
      <LatestTransactions rows={rows.slice(0, MAX_LATEST)} networks={networks} />
    </>
  );
}

/** Says in a line where a network is, and why it can't be read. */
function stateOf(network: ExplorerNetwork): string {
  const { chainId, status, statusDetail, head } = network;
  const trouble = status === "serving" ? isSilent(network) && "doesn't answer" : (statusDetail ?? status);
  return [head && `Block ${groupDigits(head.number)}`, `chain ${chainId}`, trouble]
    .filter(Boolean)
    .join(", ");
}

interface Row extends TransactionSummary {
  readonly network: string;
}

function LatestTransactions({
  rows,
  networks,
}: {
  readonly rows: readonly Row[];
  readonly networks: readonly ExplorerNetwork[];
}) {
  const titleOf = useShortTitleOf();
  return (
    <section className="panel" id="latest">
      <h2>Latest transactions</h2>
      {rows.length === 0 ? (
        <p className="note loading">Reading the chains…</p>
      ) : (
        <List
          label="Latest transactions"
          items={rows}
          keyOf={({ hash }) => hash}
          columns={[
            {
              head: "Transaction",
              cell: ({ hash, network }) => <TransactionLink network={network} hash={hash} />,
            },
            { head: "Status", isPlain: true, cell: (one) => <Status transaction={one} /> },
            { ...WHAT, kind: "long" },
            { head: "From", cell: ({ from, network }) => <PartyLink network={network} party={from} /> },
            {
              head: "Block",
              cell: ({ blockNumber, network }) => <BlockLink network={network} number={blockNumber} />,
            },
            { head: "Network", kind: "name", isPlain: true, cell: ({ network }) => titleOf(network) },
            { head: "Time", isPlain: true, cell: ({ at }) => <Age iso={at} /> },
          ]}
        />
      )}
      <p className="pages">
        All transactions on
        {networks.map(({ name }) => (
          <Link key={name} href={`/explorer/${name}/transactions`}>
            {titleOf(name)}
          </Link>
        ))}
      </p>
    </section>
  );
}

/** Maximum number of hits that the service lists. */
const MAX_HITS = 50;
const TRAIL = [{ href: "/explorer", text: "Explorer" }] as const;

/** `/explorer/search?q=`: redirects to a single hit, or lists several. */
export function Search() {
  const [search] = useSearchParams();
  const text = (search.get("q") ?? "").trim();
  const network = search.get("network") ?? undefined;
  const before = search.get("before") ?? undefined;
  const explorer = useExplorer();
  const query = useQuery({
    queryKey: ["search", text, network, before],
    queryFn: () => explorer.search(text, network, { before }),
    enabled: text !== "",
    refetchInterval: searchWhileSilent,
  });
  if (text === "") return <Redirect to="/explorer" replace />;
  return (
    <Loaded query={query}>{(result) => <Result result={result} network={network} text={text} />}</Loaded>
  );
}

function Result({
  result: { hits, paths, takenFor, reason, silent, older, matches },
  network,
  text,
}: {
  readonly result: SearchResult;
  readonly network: string | undefined;
  readonly text: string;
}) {
  const titleOf = useTitleOf();
  const { data: networks = [] } = useNetworks();
  const form = <SearchForm key={text} value={text} {...(network === undefined ? {} : { network })} />;
  const goOn = older.map((from) => (
    <p key={from.network} className="note">
      Not searched yet for the label: {titleOf(from.network)},{" "}
      {from.before.includes(".") ? "the rest of block" : "the blocks below"} {from.before.split(".")[0]}
      {from.before.includes(".") && " and older ones"}.{" "}
      <Link href={`/explorer/search?${new URLSearchParams({ q: text, ...from }).toString()}`}>
        Search older blocks
      </Link>
    </p>
  ));
  const found = paths.map((path, i) => ({ path, hit: hits[i] }));
  // What is called so comes before the requests that have it somewhere.
  const groups = [...Map.groupBy(found, nounOf)].toSorted(
    ([a], [b]) => Number(a === "request") - Number(b === "request"),
  );
  const countFound = ([noun, own]: (typeof groups)[number]): string => {
    if (noun !== "request" || matches === undefined) return countHits(own.length, noun);
    return `${matches.isAll ? "" : "at least "}${count(Math.max(own.length, matches.count), noun)}`;
  };
  const requests = groups.find(([noun]) => noun === "request")?.[1].length ?? 0;
  const isCut = hits.length === MAX_HITS || requests < (matches?.count ?? 0);
  const isPartial = isCut || silent.length > 0 || older.length > 0 || matches?.isAll === false;
  // Where not all blocks are searched, another request may have the label.
  if (paths.length === 1 && older.length === 0) return <Redirect to={paths[0]!} replace />;
  const chains = silent.length === 0 ? undefined : "all";
  const title = silent.length === 0 ? "Nothing found" : "Nothing found yet";
  if (paths.length === 0)
    return (
      <Page title={title} trail={TRAIL} chains={chains}>
        <h1>{title}</h1>
        <p className="lead">
          <UnknownText text={reason ?? ""} />
        </p>
        {silent.length > 0 && <p>This page searches again by itself.</p>}
        {takenFor.length > 0 && silent.length === 0 && (
          <p>
            It may have a typo, be on a network that isn't served here, or be gone with old data of its chain.
          </p>
        )}
        {goOn}
        {form}
        {matches?.isAll === false && (
          <p>
            Only the newest thousand requests were looked through:{" "}
            <Link href={listOf(text)}>look through older ones</Link>
          </p>
        )}
        <p className="pages">
          Go on with
          <Link href="/explorer/requests">all requests</Link>
          {networks.map(({ name, title }) => (
            <Link key={name} href={`/explorer/${name}`}>
              {title}
            </Link>
          ))}
        </p>
        <h2>What can be searched for</h2>
        <ul>
          <li>
            a transaction or block: its hash, or the first 8 digits of it or more, also as lists shorten it
            (0x12345678…abcdef); a block by its number
          </li>
          <li>
            an address, or the first 8 digits of it or more; part of the name of a contract, preset or network
          </li>
          <li>a request: its id or the beginning of it, or any part of its label, title or result</li>
          <li>
            an organiser: the id of their application (dapp_…), for the requests with their labels; names of
            applications are not on chain
          </li>
        </ul>
      </Page>
    );
  return (
    <Page title="Search" trail={TRAIL} chains={chains}>
      <h1>Search</h1>
      {form}
      <p className="lead">
        Found {groups.map(countFound).join(", ")}.{isPartial && ` Searched for ${takenFor.join(", or ")}.`}
      </p>
      <section className="panel" aria-label="Found">
        {groups.map(([noun, own]) => (
          <section key={noun}>
            <h2>{countFound([noun, own])}</h2>
            <Hits found={own} />
          </section>
        ))}
        {silent.length > 0 && (
          <p className="note">
            {silent.join(", ")} could not be searched, so there may be more results. This page searches again
            by itself.
          </p>
        )}
        {goOn}
        {requests > 0 && (
          <p className="note">
            {isCut && `${requests} are shown. `}
            <Link href={listOf(text)}>All requests with this text</Link>
          </p>
        )}
      </section>
    </Page>
  );
}

/** A page that was found, and what it was found by, if that is more than its name. */
interface FoundPage {
  readonly path: string;
  readonly hit: SearchHit | undefined;
}

/** What was found of a kind: the service's own results as in other lists, those of a transaction without labels in one row. */
function Hits({ found }: { readonly found: readonly FoundPage[] }) {
  const titleOf = useTitleOf();
  const known = found.flatMap((one) => requestIn(one) ?? []);
  const batches = Map.groupBy(known, ({ id, network, label, transactionHash }) =>
    label === undefined ? `${network} ${transactionHash}` : id,
  );
  const rows = [...batches.values()].map(([first, ...others]) =>
    rowOfBatch({ requests: [first!, ...others], isCut: false }),
  );
  const others = found.filter((one) => requestIn(one) === undefined);
  const networks = Map.groupBy(others, ({ hit }) => hit?.network);
  return (
    <>
      {rows.length > 0 && <RequestList label="Requests found" requests={rows} />}
      {networks.size > 1 && others.length > MAX_UNGROUPED ? (
        [...networks].map(([network = "", own]) => (
          <section key={network}>
            <h3>{titleOf(network)}</h3>
            <HitList found={own} />
          </section>
        ))
      ) : (
        <HitList found={others} />
      )}
    </>
  );
}

/** Longer lists of what is on several networks have a heading for each. */
const MAX_UNGROUPED = 8;

function HitList({ found }: { readonly found: readonly FoundPage[] }) {
  return (
    <ul className="hits">
      {found.map(({ path, hit }) => (
        <li key={path}>
          <Link href={path}>{hit === undefined ? <Named path={path} /> : <Hit hit={hit} />}</Link>{" "}
          {hit !== undefined && <HitNote hit={hit} />}
        </li>
      ))}
    </ul>
  );
}

/** Returns the service's own request with a result that a hit is; `undefined` for anything else. */
function requestIn({ path, hit }: FoundPage): RequestSummary | undefined {
  if (hit === undefined || !("at" in hit)) return undefined;
  const { network, requestId, transactionHash, at, label, givenLabel, title, result } = hit;
  if (requestId === undefined || at === undefined || result === undefined) return undefined;
  return {
    id: path.split("/").at(-1)!,
    network,
    requestId,
    // Only random numbers have no title.
    kind: hit.kind === "label" ? "random" : hit.kind,
    at,
    state: "fulfilled",
    result,
    transactionHash,
    ...(label === undefined ? {} : { label }),
    ...spellingOf({ givenLabel }),
    ...(title === undefined ? {} : { title }),
  };
}

/** Names what a hit is, in the singular. */
function nounOf({ path, hit }: FoundPage): string {
  if (hit === undefined)
    return path.startsWith("/presets/") ? "preset" : path.startsWith("/r/") ? "request" : "network";
  return (
    { label: "request", random: "request", function: "request", preset: "request" }[hit.kind as string] ??
    hit.kind
  );
}

function countHits(n: number, noun: string): string {
  return noun === "address" && n !== 1 ? `${n} addresses` : count(n, noun);
}

/** What is found by its name, at `/presets/{name}` or `/explorer/{network}`. */
function Named({ path }: { readonly path: string }) {
  const titleOf = useTitleOf();
  const name = path.split("/").at(-1)!;
  return path.startsWith("/presets/") ? <>Preset {name}</> : <>Network {titleOf(name)}</>;
}

/** Where and when a hit was; of a label that another service gave, for whom. */
function HitNote({ hit }: { readonly hit: SearchHit }) {
  const titleOf = useTitleOf();
  return (
    <span className="note">
      on {titleOf(hit.network)}
      {"at" in hit && hit.at !== undefined && (
        <>
          , <Age iso={hit.at} />
        </>
      )}
      {hit.kind === "label" && hit.at === undefined && (
        <>
          , of <Code text={hit.dapp} />
        </>
      )}
    </span>
  );
}

function Hit({ hit }: { readonly hit: SearchHit }) {
  switch (hit.kind) {
    case "transaction":
      return (
        <>
          Transaction <Code text={hit.transactionHash} />
        </>
      );
    case "block":
      return <>Block {hit.number}</>;
    case "address":
      return (
        <>
          <UnknownText text={hit.party.name ?? "Address"} /> <Code text={hit.party.address} />
        </>
      );
    case "label":
      return <NamedRequest hit={hit} />;
    default:
      if (hit.at !== undefined) return <NamedRequest hit={{ ...hit, title: whatOf(hit) }} />;
      return (
        <>
          {{ random: "VRF request", function: "Function request", preset: "Preset" }[hit.kind]},{" "}
          {hit.isAnswered ? "answered by" : "not answered yet, made by"} <Code text={hit.transactionHash} />
        </>
      );
  }
}

/** One of the service's own requests: what it is for, what it is, and its result. */
function NamedRequest({
  hit: { title, result, ...given },
}: {
  readonly hit: {
    readonly label?: string;
    readonly givenLabel?: string;
    readonly title?: string;
    readonly result?: string;
  };
}) {
  const label = spelledLabel(given);
  return (
    <>
      <UnknownText
        text={label === undefined ? (title ?? "Request") : title === undefined ? label : `${label}: ${title}`}
      />
      {result !== undefined && (
        <>
          , <UnknownText text={cut(result, 80)} />
        </>
      )}
    </>
  );
}

/** Returns the address of the list of requests with a text, or of a dapp. */
const listOf = (text: string): string => {
  const wanted = isId("dapp", text) ? { dapp: text } : { text: text.slice(0, MAX_TEXT_CHARACTERS) };
  return `/explorer/requests?${new URLSearchParams(wanted).toString()}`;
};
