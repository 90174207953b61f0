import { useState } from "react";
import { UnknownText } from "./parts.tsx";

/** The shortest list that can be searched. */
const SEARCHED_FROM = 20;

/** A numbered list of what somebody gave or won. A long one can be searched: whoever took part looks for one name in it. On paper it is whole. */
export function EntryList({
  entries,
  label,
  isLarge = false,
}: {
  readonly entries: readonly string[];
  readonly label: string;
  readonly isLarge?: boolean;
}) {
  const [wanted, setWanted] = useState("");
  const text = wanted.trim().toLowerCase();
  const isFound = (entry: string): boolean => entry.toLowerCase().includes(text);
  return (
    <>
      {entries.length >= SEARCHED_FROM && (
        <p className="on-screen">
          <input
            type="search"
            aria-label={`Find in: ${label}`}
            placeholder="Find"
            autoComplete="off"
            value={wanted}
            onChange={({ currentTarget }) => setWanted(currentTarget.value)}
          />{" "}
          <span className="note" role="status">
            {text !== "" && `${entries.filter(isFound).length} of ${entries.length}`}
          </span>
        </p>
      )}
      <ol
        className={isLarge ? "big-result entries" : "given"}
        aria-label={label}
        tabIndex={isLarge ? undefined : 0}
      >
        {entries.map((entry, i) => (
          <li key={i} value={i + 1} hidden={!isFound(entry)}>
            <UnknownText text={entry} />
          </li>
        ))}
      </ol>
    </>
  );
}
