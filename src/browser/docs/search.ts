import { h } from "./dom.ts";

/** More than a screen of results is a sign of a word that says little. */
const MAX_RESULTS = 40;

/** What a search finds: a link, what it is called, and where that is. */
export interface SearchEntry {
  readonly href: string;
  readonly name: string;
  readonly where: string;
  /** What is searched besides, in lower case. */
  readonly text: string;
}

/** Creates a search field, whose results take the place of `list` while it has words. `read` is asked at each input. */
export function createSearch(
  label: string,
  list: HTMLElement,
  read: () => Promise<readonly SearchEntry[]>,
): readonly HTMLElement[] {
  const results = h("ul", { class: "results", hidden: true });
  const told = h("p", { class: "note", role: "status" });
  const field = h("input", { type: "search", id: "find", autocomplete: "off", spellcheck: "false" });
  const show = (entries: readonly SearchEntry[]): void => {
    const found = findEntries(entries, field.value);
    const isSearching = field.value.trim() !== "";
    list.hidden = isSearching;
    results.hidden = !isSearching;
    results.replaceChildren(...found.slice(0, MAX_RESULTS).map(drawEntry));
    told.textContent = isSearching ? describeCount(found.length) : "";
  };
  field.addEventListener("input", () => {
    read().then(show, () => (told.textContent = "The search could not be loaded. Type again to retry."));
  });
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") results.querySelector("a")?.click();
  });
  return [h("label", { for: "find" }, label), field, told, results, list];
}

/** Returns the entries that have every word; those called like one of them first. */
function findEntries(entries: readonly SearchEntry[], query: string): readonly SearchEntry[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const hasAll = ({ name, where, text }: SearchEntry): boolean => {
    const all = `${name} ${where} `.toLowerCase() + text;
    return words.every((word) => all.includes(word));
  };
  const found = entries.filter(hasAll);
  const isNamed = ({ name }: SearchEntry): boolean =>
    words.some((word) => name.toLowerCase().startsWith(word));
  return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))];
}

function drawEntry({ href, name, where }: SearchEntry): HTMLElement {
  return h("li", {}, h("a", { href }, name), h("span", { class: "note" }, ` ${where}`));
}

function describeCount(count: number): string {
  if (count === 0) return "Nothing has all these words.";
  return count > MAX_RESULTS ? `The first ${MAX_RESULTS} of ${count}.` : `${count} found.`;
}
