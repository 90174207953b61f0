import { useState } from "react";
import { UnknownText } from "./parts.tsx";

/** The shortest list that can be searched, and that is printed small. */
const LONG_FROM = 20;

/** A numbered list of what somebody gave or won. A long one can be searched: whoever took part looks for one name in it. On paper it is whole. */
export function EntryList({
  entries,
  label,
  isLarge = false,
  drawn,
  places,
}: {
  readonly entries: readonly string[];
  readonly label: string;
  readonly isLarge?: boolean;
  /** Entries to mark as drawn. */
  readonly drawn?: ReadonlySet<string> | undefined;
  /** Where entries stand in another list. */
  readonly places?: ReadonlyMap<string, string> | undefined;
}) {
  const [wanted, setWanted] = useState("");
  const isLong = entries.length >= LONG_FROM;
  const text = wanted.trim().toLowerCase();
  const isFound = (entry: string): boolean => entry.toLowerCase().includes(text);
  return (
    <>
      {isLong && (
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
        className={`${isLarge ? "big-result entries" : "given"}${isLong ? " long" : ""}`}
        aria-label={label}
        tabIndex={isLarge ? undefined : 0}
      >
        {entries.map((entry, i) => (
          <li key={i} value={i + 1} hidden={!isFound(entry)}>
            <span>
              <UnknownText text={entry} />
            </span>
            {places?.has(entry) === true && (
              <>
                {" "}
                <small className="note whole">{places.get(entry)}</small>
              </>
            )}
            {drawn?.has(entry) && (
              <>
                {" "}
                <span className="tag good">drawn</span>
              </>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}
