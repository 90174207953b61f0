import type { UseQueryResult } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { useLocation } from "wouter";
import { readSearched } from "./searched.ts";
import { describeRefusal, Loaded, Refusal, type TrailEntry } from "../../page.tsx";
import { useNetworks, useTitleOf } from "../../services.tsx";

/** Longest text to search for. */
const MAX_SEARCH_CHARACTERS = 100;

/** Longest link from which a search term is extracted. */
const MAX_LINK_CHARACTERS = 2_000;

/** The search box. `network`: the network whose hits are preferred. */
export function SearchForm({ network, value = "" }: { readonly network?: string; readonly value?: string }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(value.slice(0, MAX_SEARCH_CHARACTERS));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const query = new URLSearchParams({
      q: readSearched(text),
      ...(network === undefined ? {} : { network }),
    });
    navigate(`/explorer/search?${query.toString()}`);
  };
  return (
    <form className="search" role="search" onSubmit={send}>
      <label className="visually-hidden" htmlFor="q">
        Transaction, block, address, name of a contract, preset or network, request id, part of a label, or
        organiser
      </label>
      <input
        id="q"
        name="q"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        required
        maxLength={MAX_LINK_CHARACTERS}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        placeholder="Hash, block, name or label"
      />
      <button>Find</button>
    </form>
  );
}

/** Returns the breadcrumb trail for a page of a network. */
export function useTrail(network: string): readonly TrailEntry[] {
  const titleOf = useTitleOf();
  return [
    { href: "/explorer", text: "Explorer" },
    { href: `/explorer/${network}`, text: titleOf(network) },
  ];
}

/** Renders the data, or why the network doesn't have it, with the box to search for something else. */
export function Found<Data>({
  query,
  network,
  hint,
  children,
}: {
  readonly query: UseQueryResult<Data>;
  readonly network: string;
  /** Shown below the reason. */
  readonly hint?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}) {
  const { data: networks = [] } = useNetworks();
  const trail = useTrail(network);
  if (query.data !== undefined || query.error === null) return <Loaded query={query}>{children}</Loaded>;
  const isKnown = networks.some(({ name }) => name === network);
  return (
    <Refusal error={query.error} trail={trail.slice(0, isKnown ? 2 : 1)}>
      {hint}
      {describeRefusal(query.error).isMissing && <SearchForm {...(isKnown ? { network } : {})} />}
    </Refusal>
  );
}
