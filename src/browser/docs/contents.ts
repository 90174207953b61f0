import type { Description, ErrorRow, Operation } from "./description.ts";
import type { Schema } from "./describeType.ts";
import { h } from "./dom.ts";
import { createSearch, type SearchEntry } from "./search.ts";

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
  const entries = listEntries(operations, errors);
  markReading(list);
  return createSearch("Find a call, field or error", list, async () => entries);
}

function listEntries(operations: readonly Operation[], errors: readonly ErrorRow[]): readonly SearchEntry[] {
  const entry = (href: string, name: string, where: string, more = ""): SearchEntry => ({
    href,
    name,
    where,
    text: more.toLowerCase(),
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
