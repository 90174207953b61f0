import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { ContractRequestView, ExplorerNetwork, TycheClient } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { Age, ShortHex, TransactionLink } from "../../parts/format.tsx";
import { describeError } from "../../parts/forms.tsx";
import { List } from "../../parts/list.tsx";
import { ResultText, Tag, UnknownText, type TagKind } from "../../parts/parts.tsx";
import { useClient, useNetworks, useTitleOf } from "../../services.tsx";

/**
 * Each refresh reads logs: for an embedded chain from the service's own node, otherwise from one that someone may pay
 * for.
 */
const REFRESH_MS = { embedded: 5_000, external: 60_000 };

/** Where a page begins, by network; `undefined` is the newest. */
type Cursors = ReadonlyMap<string, string | undefined>;
/** A page of requests from all networks. */
interface ContractRequestsPage {
  readonly requests: readonly PlacedRequest[];
  readonly older: Cursors;
  /** Errors, by network. */
  readonly problems: ReadonlyMap<string, string>;
}
interface PlacedRequest extends ContractRequestView {
  readonly network: string;
}

/** Lists what a dapp's own contracts requested on all networks; such requests exist only on chain, not in the API. */
export function ContractRequestsPanel({ dappId }: { readonly dappId: string }) {
  const networks = useNetworks();
  return (
    <section className="panel" id="contract-requests">
      <h2>Requests of your contracts</h2>
      <Loaded query={networks}>{(list) => <RequestList dappId={dappId} networks={list} />}</Loaded>
    </section>
  );
}

function RequestList({
  dappId,
  networks,
}: {
  readonly dappId: string;
  readonly networks: readonly ExplorerNetwork[];
}) {
  const client = useClient(dappId);
  const titleOf = useTitleOf();
  const serving = networks.filter(({ status }) => status === "serving");
  const names = serving.map(({ name }) => name);
  const query = useInfiniteQuery({
    queryKey: ["contractRequests", dappId, names],
    initialPageParam: new Map(names.map((name) => [name, undefined])),
    queryFn: ({ pageParam }) => readPage(client, pageParam),
    getNextPageParam: ({ older }: ContractRequestsPage) => (older.size === 0 ? undefined : older),
    refetchInterval: REFRESH_MS[serving.every(({ embedded }) => embedded) ? "embedded" : "external"],
  });
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const requests = pages.flatMap((page) => page.requests).toSorted(byAge);
        return (
          <>
            {requests.length === 0 ? (
              <p className="note">
                {query.hasNextPage ? "None in the newest blocks." : "None yet."} Requests that a linked
                contract makes on chain are listed here.
              </p>
            ) : (
              <RequestTable requests={requests} />
            )}
            {pages
              .flatMap((page) => [...page.problems])
              .map(([network, problem]) => (
                <p key={network} className="bad-text">
                  {titleOf(network)}: <UnknownText text={problem} />
                </p>
              ))}
            {query.hasNextPage && (
              <p>
                <button
                  type="button"
                  className="action"
                  disabled={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  Show older
                </button>
              </p>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** Reads one page from every network; an unreadable chain doesn't hide the others' requests. */
async function readPage(
  client: Pick<TycheClient, "contractRequests">,
  cursors: Cursors,
): Promise<ContractRequestsPage> {
  const requests: PlacedRequest[] = [];
  const older = new Map<string, string>();
  const problems = new Map<string, string>();
  await Promise.all(
    [...cursors].map(async ([network, before]) => {
      try {
        const page = await client.contractRequests({ network, before });
        requests.push(...page.items.map((item) => ({ ...item, network })));
        if (page.older !== null) older.set(network, page.older);
      } catch (error) {
        problems.set(network, describeError(error));
      }
    }),
  );
  return { requests, older, problems };
}

function byAge(a: PlacedRequest, b: PlacedRequest): number {
  return (b.at ?? "").localeCompare(a.at ?? "");
}

function RequestTable({ requests }: { readonly requests: readonly PlacedRequest[] }) {
  const titleOf = useTitleOf();
  return (
    <List
      label="Requests of your contracts"
      items={requests}
      keyOf={({ network, requestId }) => network + requestId}
      columns={[
        {
          head: "Request",
          cell: ({ network, requestId, kind, transactionHash }) => (
            <TransactionLink network={network} hash={transactionHash}>
              {kind === "random" ? "Random numbers" : "Function"}
              <span className="visually-hidden"> {requestId.slice(0, 10)}</span>
            </TransactionLink>
          ),
        },
        { head: "State", isPlain: true, cell: ({ state }) => <Tag kind={TAGS[state]}>{state}</Tag> },
        { head: "Result", kind: "long", cell: (request) => <Result request={request} /> },
        { head: "Network", kind: "name", cell: ({ network }) => titleOf(network) },
        {
          head: "Contract",
          cell: ({ network, consumer: { address } }) => (
            <Link href={`/explorer/${network}/address/${address}`}>
              <ShortHex text={address} />
            </Link>
          ),
        },
        { head: "Requested", cell: ({ at }) => at !== undefined && <Age iso={at} /> },
      ]}
    />
  );
}

const TAGS: Readonly<Record<ContractRequestView["state"], TagKind>> = {
  waiting: "busy",
  fulfilled: "good",
  failed: "bad",
};

function Result({ request }: { readonly request: PlacedRequest }) {
  const { network, requestId, kind, answeredBy } = request;
  return (
    <>
      <Answer request={request} />
      {answeredBy !== undefined && (
        <>
          {" "}
          <TransactionLink network={network} hash={answeredBy}>
            {kind === "random" ? "proof" : "report"}
            <span className="visually-hidden"> of {requestId.slice(0, 10)}</span>
          </TransactionLink>
        </>
      )}
    </>
  );
}

function Answer({ request }: { readonly request: ContractRequestView }) {
  const { error, waitsFor, words, numWords = 0, response, readings } = request;
  if (error !== undefined)
    return (
      <span className="bad-text">
        <UnknownText text={error} />
      </span>
    );
  if (waitsFor !== undefined) return <UnknownText text={waitsFor} />;
  if (words !== undefined) {
    const more = numWords - 1;
    return (
      <>
        <code className="hex">{words[0]}</code>
        {more > 0 && ` and ${more} more`}
      </>
    );
  }
  return <ResultText text={readings?.text ?? readings?.uint256 ?? response ?? ""} />;
}
