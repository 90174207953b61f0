/**
 * Renders `/docs`: every call of the API with its fields, samples and a form to try it, a search over them, and the table of errors. To
 * `/docs/{name}`, a guide that the server has written, it adds a search over all guides.
 */
import { readPageKey } from "../pageKey.ts";
import { addCopyButtons } from "./code.ts";
import { createContents, groupId, GUIDES } from "./contents.ts";
import { createAuthorization } from "./credential.ts";
import {
  operationsOf,
  readDescription,
  splitIntroduction,
  type Description,
  type ErrorRow,
} from "./description.ts";
import "./docs.css";
import { draw, h, type Child } from "./dom.ts";
import { addGuideSearch } from "./guides.ts";
import { renderInline, renderMarkdown, type LinkTarget } from "../../lib/markdown.ts";
import { createOperationView, type ViewContext } from "./operationView.ts";

const host = document.querySelector("#docs")!;
const contents = document.querySelector("#contents")!;
const menu = document.querySelector<HTMLButtonElement>("#menu")!;

const sameLink: LinkTarget = (href) => href;

document.body.classList.toggle("signed-in", readPageKey() !== "");
menu.addEventListener("click", () => showMenu(contents.className === ""));
contents.addEventListener("click", ({ target }) => {
  const link = (target as Element).closest<HTMLAnchorElement>("a[href^='#']");
  if (link === null) return;
  showMenu(false);
  // The address may be this one already, or that of what was scrolled away.
  goTo(link.hash);
});
addEventListener("hashchange", () => goTo(location.hash));
const guideParts = contents.querySelector("ul");
if (guideParts === null) await showReference();
else addGuideSearch(contents, guideParts);
addCopyButtons(host);

/** Shows the contents on a narrow screen, where they would lie above the page; on a wide one they are always there. */
function showMenu(isShown: boolean): void {
  contents.className = isShown ? "shown" : "";
  menu.ariaExpanded = String(isShown);
}

async function showReference(): Promise<void> {
  host.replaceChildren(h("p", { class: "note loading" }, "Loading …"));
  let description: Description;
  try {
    description = await readDescription();
  } catch {
    host.replaceChildren("The API description could not be loaded. Reload the page.");
    return;
  }
  const { introduction, errors } = splitIntroduction(description);
  const operations = operationsOf(description);
  const authorization = createAuthorization();
  const context: ViewContext = { authorization, errors, language: "curl" };
  const groups = description.tags.map(({ name, description: text }) =>
    h(
      "section",
      { class: "group" },
      h("h2", { id: groupId(name) }, name),
      h(
        "p",
        {},
        renderInline(text, sameLink),
        GUIDES[name] === undefined ? undefined : [" ", h("a", { href: `/docs/${GUIDES[name]}` }, "Guide")],
      ),
      operations.filter(({ tags }) => tags[0] === name).map((one) => createOperationView(one, context)),
    ),
  );
  host.replaceChildren(
    ...renderMarkdown(introduction, sameLink).map(draw),
    authorization.element,
    ...groups,
    drawErrors(errors),
  );
  contents.append(...createContents(description, operations, errors));
  goTo(location.hash);
}

/** Opens what a fragment names, and scrolls to it. */
function goTo(hash: string): void {
  const named = document.getElementById(decodeURIComponent(hash.slice(1)));
  if (hash === "" || named === null) return;
  const scroll = (): void => named.scrollIntoView();
  if (named instanceof HTMLDetailsElement && !named.open) {
    // Its content is made when it opens; before, there may be too little below it to scroll to it.
    named.addEventListener("toggle", scroll, { once: true });
    named.open = true;
  }
  scroll();
}

function drawErrors(errors: readonly ErrorRow[]): HTMLElement {
  const row = ({ code, status, meaning, remedy }: ErrorRow): Child =>
    h(
      "tr",
      { id: `error-${code}` },
      h("th", { scope: "row" }, h("code", {}, code)),
      [status, meaning, remedy].map((cell) => h("td", {}, renderInline(cell, sameLink))),
    );
  return h(
    "section",
    { id: "errors", class: "panel" },
    h("h2", {}, "Error codes"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Errors" },
      h(
        "table",
        { class: "list" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Code", "Status", "Meaning", "What to do"].map((title) => h("th", { scope: "col" }, title)),
          ),
        ),
        h("tbody", {}, errors.map(row)),
      ),
    ),
  );
}
