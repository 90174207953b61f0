import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRef, type FormEvent } from "react";
import { Link, Redirect, useParams, useSearchParams } from "wouter";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { isId } from "../../../../domain/idForm.ts";
import { Loaded } from "../../page.tsx";
import { Select } from "../../parts/forms.tsx";
import { Code, count } from "../../parts/format.tsx";
import { Pages, usePassed, usePlace } from "../../parts/pages.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { listed, RequestList } from "../../parts/requestList.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useNetworks, usePresets, useTitleOf } from "../../services.tsx";
import { ExplorerPage } from "./explorerFrame.tsx";

const REFRESH_MS = 5_000;
/** Longest text to filter by. */
export const MAX_TEXT_CHARACTERS = 100;

const ANY = ["", "any"] as const;
const KINDS = [
  ["preset", "presets"],
  ["random", "random numbers"],
  ["function", "functions"],
] as const;
const STATES = [
  ["waiting", "waiting"],
  ["fulfilled", "with a result"],
  ["failed", "failed"],
] as const;

/** `/explorer/{network}/requests`: leads to the list of that network's. */
export function RequestsOfNetwork() {
  const { network } = useParams<{ readonly network: string }>();
  return <Redirect to={`/explorer/requests?${new URLSearchParams({ network }).toString()}`} replace />;
}

/** `/explorer/requests`: all requests on chain, page by page. */
export function ExplorerRequests() {
  const explorer = useExplorer();
  const { data: networks = [] } = useNetworks();
  const titleOf = useTitleOf();
  const [search, setSearch] = useSearchParams();
  const presets = usePresets();
  const network = search.get("network") ?? undefined;
  const preset = search.get("preset") ?? undefined;
  const kind = KINDS.find(([name]) => name === search.get("kind"))?.[0];
  const state = STATES.find(([name]) => name === search.get("state"))?.[0];
  const text = search.get("text") ?? undefined;
  const dapp = search.get("dapp") ?? undefined;
  const cursor = usePlace("cursor");
  const passed = usePassed("cursor");
  const input = useRef<HTMLInputElement>(null);
  const chosen = Object.fromEntries(
    Object.entries({ network, kind, preset, state, text, dapp }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const choose = (name: "network" | "kind" | "preset" | "state" | "text" | "dapp", value: string): void => {
    const params = new URLSearchParams(chosen);
    // What was typed counts, whatever is chosen next.
    const typed = input.current?.value.trim() ?? "";
    if (typed === "" || isId("dapp", typed)) params.delete("text");
    else params.set("text", typed);
    // The requests for a preset are of one kind.
    if (name === "kind") params.delete("preset");
    if (name === "preset") params.delete("kind");
    if (value === "") params.delete(name);
    else params.set(name, value);
    setSearch(params);
  };
  const query = useQuery({
    queryKey: ["explorer requests", network, preset, cursor, kind, state, text, dapp],
    queryFn: () => explorer.requests({ network, kind, preset, state, text, dapp, cursor }),
    placeholderData: keepPreviousData,
    refetchInterval: refetchUnlessRefused(() => REFRESH_MS),
  });
  const first = useQuery({
    queryKey: ["explorer requests", network, preset, undefined, kind, state, text, dapp],
    queryFn: () => explorer.requests({ network, kind, preset, state, text, dapp }),
  });
  const matches = first.data?.matches;
  const before = passed === undefined ? undefined : passed * (first.data?.items.length ?? 0);
  const last = before === undefined ? undefined : before + (query.data?.items.length ?? 0);
  // Beyond the newest thousand, pages may be shorter.
  const isCounted = before !== undefined && last! > before && last! <= (matches?.count ?? 0);
  const range = isCounted ? `${before + 1} to ${last}` : undefined;
  const named: readonly (readonly [name: string, value: string | undefined])[] = [
    ["network", network && titleOf(network)],
    ["kind", KINDS.find(([name]) => name === kind)?.[1]],
    ["preset", preset && (presets.data?.find(({ name }) => name === preset)?.title ?? preset)],
    ["state", STATES.find(([name]) => name === state)?.[1]],
    ["text", text && JSON.stringify(text)],
    ["organiser", dapp],
  ];
  const filters = named.flatMap(([name, value]) => (value ? [`${name} ${value}`] : []));
  const withoutDapp = new URLSearchParams(chosen);
  withoutDapp.delete("dapp");
  const find = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get("text");
    const wanted = typeof given === "string" ? given.trim() : "";
    if (isId("dapp", wanted)) choose("dapp", wanted);
    else choose("text", wanted);
  };
  return (
    <ExplorerPage
      title="Requests"
      trail={[{ href: "/explorer", text: "Explorer" }]}
      chains={network === undefined ? "all" : [network]}
    >
      <h1>Requests</h1>
      <p className="lead">
        Presets, random numbers and functions that were requested of this service. What contracts request by
        themselves is on their own pages and on those of the coordinator and the router.
      </p>
      <form className="filter choices" key={text} onSubmit={find}>
        <span>
          <label htmlFor="text">Text</label>
          <span className="joined">
            <input
              id="text"
              name="text"
              type="search"
              ref={input}
              defaultValue={text}
              maxLength={MAX_TEXT_CHARACTERS}
              placeholder="Title, label or result"
              autoComplete="off"
            />
            <button>Filter</button>
          </span>
        </span>
        <span>
          <label htmlFor="network">Network</label>
          <Select
            id="network"
            value={network ?? ""}
            options={[ANY, ...networks.map(({ name, title }) => [name, title] as const)]}
            onChange={(value) => choose("network", value)}
          />
        </span>
        <span>
          <label htmlFor="kind">Kind</label>
          <Select
            id="kind"
            value={kind ?? ""}
            options={[ANY, ...KINDS]}
            onChange={(value) => choose("kind", value)}
          />
        </span>
        <span>
          <label htmlFor="preset">Preset</label>
          <Select
            id="preset"
            value={preset ?? ""}
            disabled={kind === "random" || kind === "function"}
            options={[
              ANY,
              ...(presets.data ?? []).map(({ name, title }) => [name, plainText(title)] as const),
            ]}
            onChange={(value) => choose("preset", value)}
          />
        </span>
        <span>
          <label htmlFor="state">State</label>
          <Select
            id="state"
            value={state ?? ""}
            options={[ANY, ...STATES]}
            onChange={(value) => choose("state", value)}
          />
        </span>
      </form>
      {filters.length > 0 && (
        <p>
          <Link href="/explorer/requests">Clear filters</Link>
        </p>
      )}
      {dapp !== undefined && (
        <p>
          Of the organiser <Code text={dapp} />: requests with a label.{" "}
          <Link href={`/explorer/requests?${withoutDapp.toString()}`}>Show those of all</Link>
        </p>
      )}
      <section className="panel" aria-label="Requests">
        {matches !== undefined && matches.count > 0 && (
          <p className="note">
            {range !== undefined && `${range} of `}
            {count(matches.count, "request")}
            {!matches.isAll && " among the newest thousand; there are older ones"}
          </p>
        )}
        <Loaded query={query}>
          {({ items, nextCursor }) => (
            <>
              {items.length === 0 ? (
                <p className="note">
                  {nextCursor === null ? "No requests here" : "None among the newest thousand"}
                  {filters.length > 0 && (
                    <>
                      {" "}
                      with <UnknownText text={filters.join(", ")} />
                    </>
                  )}
                  .
                </p>
              ) : (
                <RequestList label="List of requests" requests={items.map(listed)} hasOrganisers />
              )}
              <Pages parameter="cursor" older={nextCursor} />
            </>
          )}
        </Loaded>
      </section>
    </ExplorerPage>
  );
}
