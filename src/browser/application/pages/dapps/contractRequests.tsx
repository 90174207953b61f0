import { useInfiniteQuery } from "@tanstack/react-query";
import type { ExplorerNetwork, TycheClient } from "../../../../client/index.ts";
import { Loaded } from "../../page.tsx";
import { type ContractRequest, ContractRequestTable } from "../../parts/contractRequestTable.tsx";
import { describeError } from "../../parts/forms.tsx";
import { UnknownText } from "../../parts/parts.tsx";
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
  readonly requests: readonly ContractRequest[];
  readonly older: Cursors;
  /** Errors, by network. */
  readonly problems: ReadonlyMap<string, string>;
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
              <ContractRequestTable label="Requests of your contracts" requests={requests} />
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
  const requests: ContractRequest[] = [];
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

function byAge(a: ContractRequest, b: ContractRequest): number {
  return (b.at ?? "").localeCompare(a.at ?? "");
}
