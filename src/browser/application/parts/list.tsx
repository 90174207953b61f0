import { Fragment, type Key, type ReactNode } from "react";
import { Scrollable } from "./parts.tsx";

/** A column of a {@link List}. */
export interface Column<Item> {
  readonly head: string;
  readonly cell: (item: Item) => ReactNode;
  /** Default: text of a few words. `long` text breaks anywhere, `number` is aligned to the right, `name` stays on one line. */
  readonly kind?: "long" | "number" | "name" | undefined;
  /** Whether its content explains itself: then the head is for screen readers only where a label would take the space. */
  readonly isPlain?: boolean;
  /** Whether only screen readers get the head, as above a column of buttons. */
  readonly hasHiddenHead?: boolean;
}

/**
 * A table with one row per item. Where it doesn't fit, each row becomes a block: its first cell as the heading, then the others, each with
 * the head of its column.
 *
 * The roles are spelled out because browsers drop those of a table whose parts are not laid out as one.
 */
export function List<Item>({
  label,
  items,
  columns,
  keyOf,
  isDense = false,
  isCompact = false,
  detailOf,
}: {
  readonly label: string;
  readonly items: readonly Item[];
  /** The first one names the item. */
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item, index: number) => Key;
  /** For many columns. */
  readonly isDense?: boolean;
  /** For short cells: a row stays a line on a phone, too. */
  readonly isCompact?: boolean;
  /** What is shown below an item, as wide as the list; nothing if it is `undefined`. */
  readonly detailOf?: (item: Item) => ReactNode | undefined;
}) {
  const classes = ["list", isDense && "dense", isCompact && "compact"].filter(Boolean).join(" ");
  return (
    <Scrollable label={label}>
      <table className={classes} role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ head, kind, hasHiddenHead = false }) => (
              <th key={head} scope="col" role="columnheader" className={kind}>
                {hasHiddenHead ? <span className="visually-hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {items.map((item, i) => {
            const detail = detailOf?.(item);
            return (
              <Fragment key={keyOf(item, i)}>
                <tr role="row">
                  {columns.map(({ head, cell, kind, isPlain = false, hasHiddenHead = false }, at) => (
                    <td
                      key={head}
                      role="cell"
                      className={[kind, isPlain && "plain"].filter(Boolean).join(" ") || undefined}
                      data-label={at === 0 || isPlain || hasHiddenHead ? undefined : head}
                    >
                      {cell(item)}
                    </td>
                  ))}
                </tr>
                {detail !== undefined && (
                  <tr role="row" className="detail">
                    <td role="cell" className="long" colSpan={columns.length}>
                      {detail}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </Scrollable>
  );
}
