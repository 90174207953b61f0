/** A column's name as code spells it: `createdAt` for `created_at`. */
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** A row whose columns are named as code spells them. */
export type Stored<Row> = { readonly [Column in keyof Row & string as Camel<Column>]: Row[Column] };

/** Returns a row with its columns named as code spells them. */
export function fromRow<Row extends object>(row: Row): Stored<Row> {
  return rename(row, (name) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  ) as Stored<Row>;
}

/** Returns the row, with its columns named as in the database, of what {@link fromRow} returns for it. */
export function toRow<Row extends object>(stored: Stored<Row>): Row {
  return rename(stored, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)) as Row;
}

function rename(values: object, nameOf: (name: string) => string): object {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [nameOf(name), value]));
}
