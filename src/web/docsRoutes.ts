import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Router } from "@koa/router";
import type { Context } from "koa";
import { CHANGELOG, renderGuide } from "../lib/markdown.ts";
import { element, textOf, type Markup } from "../lib/markup.ts";
import { sendStored, storeFile, typeOfFile, type StoredFile } from "../lib/storedFile.ts";
import { topOf, writeDocument } from "./document.ts";

/** The pages of the documentation: beside the sources, or above `dist` in the package. */
const GUIDES = ["../../docs/", "../../../docs/"]
  .map((place) => new URL(place, import.meta.url))
  .find((folder) => existsSync(new URL("README.md", folder)))!;

/**
 * Adds `/docs`: the page for reading and trying the API, rendered in the browser from `/openapi.json`; and the guides of this version with
 * its changelog, each as a page, `/docs/{name}`, and as its Markdown, `/docs/{name}.md`.
 */
export function docsRoutes(router: Router, guard: (ctx: Context) => Promise<void>): void {
  const addPage = (address: string, write: () => string): void => {
    let text: string | undefined;
    router.get(address, async (ctx) => {
      await guard(ctx);
      text ??= write();
      ctx.set("Cache-Control", "no-store");
      ctx.set("Content-Type", "text/html; charset=utf-8");
      ctx.body = text;
    });
  };
  addPage("/docs", writeReference);
  const addFile = (address: string, place: string): void => {
    const type = typeOfFile(place);
    if (type === undefined) return;
    const read = (): Buffer => readFileSync(new URL(place, GUIDES));
    const page = address.replace(/\.md$/, "");
    if (page !== address) addPage(page, () => writeGuide(read().toString(), page));
    let file: StoredFile | undefined;
    router.get(address, async (ctx) => {
      await guard(ctx);
      file ??= storeFile(type, read());
      ctx.set("Cache-Control", "no-cache");
      sendStored(ctx, file);
    });
  };
  for (const name of readdirSync(GUIDES, { recursive: true, encoding: "utf8" }))
    addFile(`/docs/${name}`, name);
  addFile(`${CHANGELOG}.md`, "../CHANGELOG.md");
}

/** Writes the page that the script of `/docs` fills. */
function writeReference(): string {
  const link = (href: string, text: string): Markup => element("a", { href }, text);
  return writePage("API", undefined, [
    element("h1", {}, "API"),
    element(
      "p",
      { class: "lead" },
      "Every call, with its fields, examples in several languages, and a form to try it.",
    ),
    element(
      "div",
      { id: "docs" },
      element(
        "noscript",
        {},
        element(
          "p",
          {},
          "This list of calls needs JavaScript. Without it, read ",
          link("/docs/api", "the guide to the API"),
          ", ",
          link("/llms.txt", "the list of all calls as text"),
          ", ",
          link("/openapi.json", "the OpenAPI document"),
          " or ",
          link("/docs/README", "the other guides"),
          ".",
        ),
      ),
    ),
  ]);
}

/** Writes a guide, whose parts its contents list; the script adds a search over all guides. */
function writeGuide(text: string, page: string): string {
  const blocks = renderGuide(text, page);
  const title = blocks.find(({ name }) => name === "h1");
  const parts = blocks
    .filter(({ name }) => name === "h2")
    .map((heading) => ({ href: `#${String(heading.attributes["id"])}`, text: textOf(heading) }));
  const entries = [
    { href: "/docs", text: "API reference" },
    { href: "/docs/README", text: "All guides" },
    ...parts,
  ];
  const list = element(
    "ul",
    { class: "groups" },
    entries.map((one) => element("li", {}, element("a", { href: one.href }, one.text))),
  );
  return writePage(
    title === undefined ? "Guide" : textOf(title),
    list,
    element("div", { id: "docs" }, blocks),
  );
}

function writePage(title: string, contents: Markup, content: Markup): string {
  const menu = element(
    "button",
    { id: "menu", type: "button", "aria-expanded": "false", "aria-controls": "contents" },
    "Contents and search",
  );
  const side = element(
    "nav",
    { id: "side", "aria-label": "Contents" },
    menu,
    element("div", { id: "contents" }, contents),
  );
  return writeDocument({
    title: `${title} · Tyche`,
    entry: "docs",
    body: [
      topOf({
        own: true,
        current: "/docs",
        side: element("a", { class: "side", href: "/openapi.json" }, "openapi.json"),
      }),
      element("main", { id: "main", class: "reference", tabindex: "-1" }, side, element("div", {}, content)),
    ],
  });
}
