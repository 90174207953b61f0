import { parseList } from "../../../text/entryLists.ts";
import { countEntries } from "../../../text/sharedResult.ts";
import { EntryList } from "./entryList.tsx";
import { count } from "./format.tsx";
import { Folded, Listing, UnknownText } from "./parts.tsx";

/** Longer arguments are collapsed. */
const MAX_OPEN_CHARACTERS = 300;

/** The arguments of a source, named as the source reads them. */
export function Arguments({ args }: { readonly args: readonly string[] }) {
  return (
    <ul className="arguments">
      {args.map((arg, i) => (
        <li key={i}>
          <code>args[{i}]</code> = <Argument arg={arg} label={`args[${i}]`} />
        </li>
      ))}
    </ul>
  );
}

/** An argument; the texts of a list are listed, and a long one is folded. */
export function Argument({ arg, label }: { readonly arg: string; readonly label: string }) {
  const list = parseList(arg);
  if (list === undefined && arg.length <= MAX_OPEN_CHARACTERS)
    return (
      <code className="hex">
        <UnknownText text={arg} />
      </code>
    );
  return (
    <Folded
      summary={list === undefined ? count(arg.length, "character") : countEntries(list)}
      isOpen={arg.length <= MAX_OPEN_CHARACTERS}
    >
      {list === undefined ? <Listing text={arg} label={label} /> : <EntryList entries={list} label={label} />}
    </Folded>
  );
}
