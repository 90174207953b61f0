import { useState, type CSSProperties } from "react";
import { FindField, isFoundBy } from "./findField.tsx";
import { UnknownText } from "./parts.tsx";

/** The shortest list that can be searched, that scrolls unless it is large, and that is printed small. */
const LONG_FROM = 20;
/** So many of a list's entries are no longer than its columns on paper are made for: one of another kind doesn't make all of them wide. */
const FITTING = 0.9;

/** Whether a list is so long that it is folded, and can be searched. */
export function isLongList({ length }: readonly unknown[]): boolean {
  return length >= LONG_FROM;
}

/** A numbered list of what somebody gave or won. A long one can be searched: whoever took part looks for one name in it. On paper it is whole. */
export function EntryList({
  entries,
  label,
  id,
  isLarge = false,
  drawn,
  places,
}: {
  readonly entries: readonly string[];
  readonly label: string;
  /** What links to the list name it by. */
  readonly id?: string | undefined;
  readonly isLarge?: boolean;
  /** Entries to mark as drawn. */
  readonly drawn?: ReadonlySet<string> | undefined;
  /** Where entries stand in another list. */
  readonly places?: ReadonlyMap<string, string> | undefined;
}) {
  const [wanted, setWanted] = useState("");
  const isLong = isLongList(entries);
  const isFound = isFoundBy(wanted);
  return (
    <>
      {isLong && (
        <FindField
          label={label}
          placeholder="Find"
          wanted={wanted}
          onWanted={setWanted}
          found={entries.filter(isFound).length}
          all={entries.length}
        />
      )}
      <ol
        id={id}
        className={`${isLarge ? "big-result entries" : "given"}${isLong ? " long" : ""}`}
        style={columnsFor(entries)}
        aria-label={label}
        tabIndex={isLong && !isLarge ? 0 : undefined}
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

/** Tells the style sheet how many characters a column has room for on paper. */
function columnsFor(entries: readonly string[]): CSSProperties {
  const lengths = entries.map(({ length }) => length).toSorted((a, b) => a - b);
  return { "--characters": lengths[Math.floor(FITTING * lengths.length)] } as CSSProperties;
}
