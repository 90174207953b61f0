import { useState } from "react";
import { FindField, isFoundBy } from "./findField.tsx";
import { UnknownText } from "./parts.tsx";

/** The shortest list that can be searched, that scrolls unless it is large, and that is printed small. */
const LONG_FROM = 20;
/** Longest entry that fits a narrow column on paper, in characters. */
const MAX_NARROW = 24;

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
  const isWide = entries.some(({ length }) => length > MAX_NARROW);
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
        className={`${isLarge ? "big-result entries" : "given"}${isLong ? " long" : ""}${isWide ? " wide" : ""}`}
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
