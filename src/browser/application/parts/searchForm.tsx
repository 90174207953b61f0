import { useState, type FormEvent } from "react";
import { useLocation } from "wouter";
import { readSearched } from "./searched.ts";

/** Longest text to search for. */
const MAX_SEARCH_CHARACTERS = 100;

/** Longest link from which a search term is extracted. */
const MAX_LINK_CHARACTERS = 2_000;

/** The search box of the explorer. `network`: the network whose hits are preferred. */
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
        Search the explorer
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
        placeholder="Hash, block, name, label or result"
      />
      <button>Find</button>
    </form>
  );
}
