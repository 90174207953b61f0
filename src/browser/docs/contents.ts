import type { Description, ErrorRow, Operation } from "./description.ts";
import type { Schema } from "./describeType.ts";
import { h } from "./dom.ts";

/** The guides that say more about a group of calls. */
export const GUIDES: Readonly<Record<string, string>> = {
  Randomness: "presets",
  Functions: "functions",
  Requests: "verify",
  Webhooks: "webhooks",
  Secrets: "secrets",
  Triggers: "triggers",
  People: "teams",
  Catalogue: "networks",
};
/** More than a screen of results is a sign of a word that says little. */
const MAX_RESULTS = 40;
/** How far below the upper edge a part may begin and still count as the one that is read, in pixels. */
const READING_LINE = 120;

/** Returns the fragment of a group of calls. */
export function groupId(name: string): string {
  return `group-${name}`;
}

/** Fills the side of the page: a search over all calls, fields and error codes, and links to the groups and their calls. */
export function createContents(
  { tags }: Description,
  operations: readonly Operation[],
  errors: readonly ErrorRow[],
): readonly HTMLElement[] {
  const groups = tags.map(({ name }) =>
    h(
      "li",
      {},
      h("a", { href: `#${groupId(name)}` }, name),
      h(
        "ul",
        {},
        operations
          .filter((operation) => operation.tags[0] === name)
          .map(({ operationId, summary }) => h("li", {}, h("a", { href: `#${operationId}` }, summary))),
      ),
    ),
  );
  const list = h(
    "ul",
    { class: "groups" },
    h("li", {}, h("a", { href: "#authorize" }, "Authorize")),
    groups,
    h("li", {}, h("a", { href: "#errors" }, "Error codes")),
    h("li", {}, h("a", { href: "/docs/README" }, "Guides")),
  );
  const results = h("ul", { class: "results", hidden: true });
  const told = h("p", { class: "note", role: "status" });
  const field = h("input", { type: "search", id: "find", autocomplete: "off", spellcheck: "false" });
  const entries = listEntries(operations, errors);
  field.addEventListener("input", () => {
    const found = findEntries(entries, field.value);
    const isSearching = field.value.trim() !== "";
    list.hidden = isSearching;
    results.hidden = !isSearching;
    results.replaceChildren(...found.slice(0, MAX_RESULTS).map(drawEntry));
    told.textContent = isSearching ? describeCount(found.length) : "";
  });
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") results.querySelector("a")?.click();
  });
  markReading(list);
  return [h("label", { for: "find" }, "Find a call, field or error"), field, told, results, list];
}

/** What the search finds: a link, what it is called, and where that is. */
interface Entry {
  readonly href: string;
  readonly name: string;
  readonly where: string;
  /** What is searched, in lower case. */
  readonly text: string;
}

function listEntries(operations: readonly Operation[], errors: readonly ErrorRow[]): readonly Entry[] {
  const entry = (href: string, name: string, where: string, more = ""): Entry => ({
    href,
    name,
    where,
    text: `${name} ${where} ${more}`.toLowerCase(),
  });
  const calls = operations.map(({ operationId, summary, method, path, description }) =>
    entry(`#${operationId}`, summary, `${method.toUpperCase()} ${path}`, `${operationId} ${description}`),
  );
  const codes = errors.map(({ code, status, meaning }) =>
    entry(`#error-${code}`, code, `error ${status}`, meaning),
  );
  const fields = operations.flatMap((operation) =>
    [...fieldsOf(operation)].map((name) =>
      entry(`#${operation.operationId}`, name, `field of ${operation.summary}`),
    ),
  );
  return [...calls, ...codes, ...fields];
}

/** Returns the names of all parameters of an operation, and of all members of its body and answer. */
function fieldsOf({ parameters = [], requestBody, responses }: Operation): ReadonlySet<string> {
  const names = new Set(parameters.map(({ name }) => name));
  const collect = ({ properties = {}, items, anyOf = [] }: Schema): void => {
    for (const [name, member] of Object.entries(properties)) {
      names.add(name);
      collect(member);
    }
    for (const one of [...anyOf, ...(items === undefined ? [] : [items])]) collect(one);
  };
  collect(requestBody?.content["application/json"]?.schema ?? {});
  collect(responses["200"]?.content?.["application/json"]?.schema?.properties?.["data"] ?? {});
  return names;
}

/** Returns the entries that have every word; those called like one of them first. */
function findEntries(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const found = entries.filter(({ text }) => words.every((word) => text.includes(word)));
  const isNamed = ({ name }: Entry): boolean => words.some((word) => name.toLowerCase().startsWith(word));
  return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))];
}

function drawEntry({ href, name, where }: Entry): HTMLElement {
  return h("li", {}, h("a", { href }, name), h("span", { class: "note" }, ` ${where}`));
}

function describeCount(count: number): string {
  if (count === 0) return "Nothing has all these words.";
  return count > MAX_RESULTS ? `The first ${MAX_RESULTS} of ${count}.` : `${count} found.`;
}

/** Keeps the link to what is being read marked, while the page is scrolled and calls are opened. */
function markReading(list: HTMLElement): void {
  const links = [...list.querySelectorAll<HTMLAnchorElement>("a[href^='#']")];
  let isPlanned = false;
  const mark = (): void => {
    isPlanned = false;
    const read = links.findLast(
      ({ hash }) =>
        (document.getElementById(hash.slice(1))?.getBoundingClientRect().top ?? Infinity) < READING_LINE,
    );
    for (const link of links) link.ariaCurrent = link === read ? "location" : null;
  };
  const plan = (): void => {
    if (!isPlanned) requestAnimationFrame(mark);
    isPlanned = true;
  };
  addEventListener("scroll", plan, { passive: true });
  document.addEventListener("toggle", plan, { capture: true });
  plan();
}

/** Lists the parts of a guide. */
export function createGuideContents(headings: Iterable<HTMLElement>): HTMLElement {
  return h(
    "ul",
    { class: "groups" },
    h("li", {}, h("a", { href: "/docs" }, "API reference")),
    h("li", {}, h("a", { href: "/docs/README" }, "All guides")),
    [...headings].map((heading) => h("li", {}, h("a", { href: `#${heading.id}` }, heading.textContent))),
  );
}
