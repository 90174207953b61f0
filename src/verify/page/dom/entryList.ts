import { describeDifference, parseEntries } from "../../../text/entryLists.ts";
import { showHidden } from "../showForeignText.ts";
import { element, fold } from "./elements.ts";

/** The shortest list that can be searched. */
const LONG_FROM = 20;

/** Creates a numbered list of what somebody gave or won, with a field that finds entries of a long one. */
export function createEntryList(
  entries: readonly string[],
  {
    label,
    drawn,
    places,
  }: {
    readonly label: string;
    /** Entries to mark. */
    readonly drawn?: ReadonlySet<string> | undefined;
    /** Where entries stand in another list. */
    readonly places?: ReadonlyMap<string, string> | undefined;
  },
): HTMLElement[] {
  const list = element("ol");
  list.className = "entries";
  list.ariaLabel = label;
  const items = entries.map((entry, i) => {
    const item = element("li", showHidden(entry)) as HTMLLIElement;
    // Those that are found keep their numbers.
    item.value = i + 1;
    if (drawn?.has(entry)) item.append(" ", element("strong", "drawn"));
    const place = places?.get(entry);
    if (place !== undefined) item.append(" ", element("small", place));
    return item;
  });
  list.append(...items);
  if (entries.length < LONG_FROM) return [list];
  // It scrolls, also by the keyboard.
  list.tabIndex = 0;
  list.classList.add("long");
  const search = document.createElement("input");
  Object.assign(search, { type: "search", placeholder: "Find", autocomplete: "off" });
  search.ariaLabel = `Find in: ${label}`;
  const count = element("span");
  count.role = "status";
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    for (const [i, item] of items.entries()) item.hidden = !entries[i]!.toLowerCase().includes(wanted);
    const found = items.filter(({ hidden }) => !hidden).length;
    count.textContent = wanted === "" ? "" : `${found} of ${entries.length}`;
  });
  const finder = element("div");
  finder.className = "finder";
  finder.append(search, count);
  return [finder, list];
}

/** Creates a field for the entries that were announced, which says whether a list has these. */
export function createComparison(list: readonly string[]): HTMLElement {
  const announced = document.createElement("textarea");
  Object.assign(announced, { spellcheck: false, autocomplete: "off" });
  announced.ariaLabel = "Announced entries";
  announced.placeholder = "Paste them: one to a line, or a JSON array of texts";
  const said = element("p");
  said.role = "status";
  announced.addEventListener("input", () => {
    const expected = parseEntries(announced.value);
    const difference = describeDifference(list, { expected, from: "what you pasted" });
    const words =
      difference === undefined ? "The same entries, in this order" : `Not the same: ${difference}`;
    said.textContent = announced.value.trim() === "" ? "" : `${showHidden(words)}.`;
  });
  return fold("Compare with the entries that were announced", announced, said);
}
