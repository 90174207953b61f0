import { useState, type Key, type ReactNode } from "react";
import { UnknownText } from "../../parts/parts.tsx";

/** Things of one kind that a transaction did: a single one as a panel, several in one panel, each folded to a line. */
export function Group<Item>({
  heading,
  title,
  items,
  keyOf,
  lineOf,
  children,
}: {
  /** Heading of several. */
  readonly heading: string;
  /** Heading of one. */
  readonly title: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => Key;
  /** Sums an item up in a few words of unknown origin, behind its title. Default: nothing. */
  readonly lineOf?: (item: Item) => string;
  readonly children: (item: Item) => ReactNode;
}) {
  const [first, ...others] = items;
  if (first === undefined) return null;
  return (
    <section className="panel">
      {others.length === 0 ? (
        <>
          <h2>{title}</h2>
          {children(first)}
        </>
      ) : (
        <>
          <h2>
            {heading} <span className="count">{items.length}</span>
          </h2>
          {items.map((item) => (
            <FoldedItem key={keyOf(item)} title={title} line={lineOf?.(item)} render={() => children(item)} />
          ))}
        </>
      )}
    </section>
  );
}

/** Renders what is folded once it was opened. */
function FoldedItem({
  title,
  line,
  render,
}: {
  readonly title: string;
  readonly line: string | undefined;
  readonly render: () => ReactNode;
}) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details className="item" onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>
        {title}
        {line !== undefined && (
          <>
            {" "}
            <span className="note">
              <UnknownText text={line} />
            </span>
          </>
        )}
      </summary>
      {wasOpened && render()}
    </details>
  );
}
