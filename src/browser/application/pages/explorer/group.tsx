import { useState, type Key, type ReactNode } from "react";
import { Folded, UnknownText } from "../../parts/parts.tsx";

/** More lines are folded, too: the requests of a batch are listed above them. */
const MAX_LINES = 5;

/** Things of one kind that a transaction did: a single one as a panel, several in one panel, each folded to a line. */
export function Group<Item>({
  heading,
  items,
  keyOf,
  titleOf,
  nameOf,
  lineOf,
  children,
}: {
  /** Heading of several. */
  readonly heading: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => Key;
  readonly titleOf: (item: Item) => string;
  /** Tells several apart. Default: by their titles. */
  readonly nameOf?: (item: Item) => string | undefined;
  /** Sums an item up in a few words of unknown origin, behind its title. Default: nothing. */
  readonly lineOf?: (item: Item) => string | undefined;
  readonly children: (item: Item) => ReactNode;
}) {
  const [first, ...others] = items;
  if (first === undefined) return null;
  if (others.length === 0)
    return (
      <section className="panel">
        <h2>
          <UnknownText text={titleOf(first)} />
        </h2>
        {children(first)}
      </section>
    );
  const lines = items.map((item) => (
    <FoldedItem
      key={keyOf(item)}
      title={nameOf?.(item) ?? titleOf(item)}
      line={lineOf?.(item)}
      render={() => children(item)}
    />
  ));
  return (
    <section className="panel">
      <h2>
        {heading} <span className="count">{items.length}</span>
      </h2>
      {items.length > MAX_LINES ? <Folded summary="One by one">{lines}</Folded> : lines}
    </section>
  );
}

/** Renders what is folded once it was opened: a batch may have a hundred lists of thousands of entries. */
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
        <UnknownText text={title} />
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
