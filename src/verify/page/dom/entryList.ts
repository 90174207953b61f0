import { showHidden } from "../showForeignText.ts";
import { element } from "./elements.ts";

/** The shortest list that can be searched. */
const LONG_FROM = 20;

/** Creates a numbered list of what somebody gave or won, with a field that finds entries of a long one. */
export function createEntryList(
  entries: readonly string[],
  /** `drawn`: entries to mark. */
  { label, drawn }: { readonly label: string; readonly drawn?: ReadonlySet<string> | undefined },
): HTMLElement[] {
  const list = element("ol");
  list.className = "entries";
  list.ariaLabel = label;
  const items = entries.map((entry, i) => {
    const item = element("li", showHidden(entry)) as HTMLLIElement;
    // Those that are found keep their numbers.
    item.value = i + 1;
    if (drawn?.has(entry)) item.append(" ", element("strong", "drawn"));
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
