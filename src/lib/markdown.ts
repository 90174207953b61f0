import { element, textOf, type Markup, type MarkupElement } from "./markup.ts";

/** Where a link of a page leads to; `undefined` if there is nothing to lead to. */
export type LinkTarget = (href: string) => string | undefined;

/** Where the changelog is served. Its file lies above the guides, where repositories and registries look for it. */
export const CHANGELOG = "/docs/CHANGELOG";

/** Leads from the guide at a path to others, and to the changelog; what else lies outside their folder is not served. */
function guideLinks(path: string): LinkTarget {
  const file = new URL(path === CHANGELOG ? "/CHANGELOG.md" : `${path}.md`, "file:///");
  return (href) => {
    if (/^(?:#|https?:)/.test(href)) return href;
    const { pathname, hash } = new URL(href, file);
    const page = pathname === "/CHANGELOG.md" ? CHANGELOG : pathname.replace(/\.md$/, "");
    return page.startsWith("/docs/") ? page + hash : undefined;
  };
}

/**
 * Renders a page of the documentation.
 *
 * @param path where it is served: `/docs/{name}`
 */
export function renderGuide(text: string, path: string): readonly MarkupElement[] {
  return renderMarkdown(text, guideLinks(path));
}

/** Renders the Markdown that our own pages are written in; HTML in it stays text. */
export function renderMarkdown(text: string, linkTo: LinkTarget): readonly MarkupElement[] {
  const lines = text.split("\n");
  const blocks: MarkupElement[] = [];
  while (lines.length > 0) {
    if (lines[0]!.trim() === "") lines.shift();
    else blocks.push(takeBlock(lines, linkTo));
  }
  return blocks;
}

function takeBlock(lines: string[], linkTo: LinkTarget): MarkupElement {
  const first = lines[0]!;
  const [, language] = /^```(\w*)/.exec(first) ?? [];
  if (language !== undefined) return codeBlock(takeCode(lines), language);
  const [, marks, title] = /^(#{1,4}) (.*)$/.exec(first) ?? [];
  if (marks !== undefined) {
    lines.shift();
    const content = renderInline(title!, linkTo);
    return element(`h${marks.length}`, { id: slugOf(textOf(content)) }, content);
  }
  if (first.startsWith("|")) return takeTable(lines, linkTo);
  if (LIST.test(first)) return takeList(lines, linkTo);
  return element("p", {}, renderInline(takeParagraph(lines), linkTo));
}

const LIST = /^( *)(?:[-*]|\d+\.) (.*)$/;
const BLOCK_START = /^(?:```|#{1,4} |\|| *(?:[-*]|\d+\.) )/;

function takeParagraph(lines: string[]): string {
  const taken = [lines.shift()!];
  while (lines.length > 0 && lines[0]!.trim() !== "" && !BLOCK_START.test(lines[0]!))
    taken.push(lines.shift()!);
  return taken.map((line) => line.trim()).join(" ");
}

function takeCode(lines: string[]): string {
  lines.shift();
  const end = lines.findIndex((line) => line.startsWith("```"));
  const code = lines.splice(0, end === -1 ? lines.length : end);
  lines.shift();
  return code.join("\n");
}

function takeTable(lines: string[], linkTo: LinkTarget): MarkupElement {
  const rows: string[] = [];
  while (lines[0]?.startsWith("|")) rows.push(lines.shift()!);
  const [head, , ...body] = rows.map((row) =>
    row
      .replace(/^\||\|\s*$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll(String.raw`\|`, "|")),
  );
  const row = (cells: readonly string[], tag: "th" | "td"): Markup =>
    element(
      "tr",
      {},
      cells.map((cell) => element(tag, {}, renderInline(cell, linkTo))),
    );
  // Our tables of values have no headings.
  const top = head!.some((cell) => cell !== "") ? element("thead", {}, row(head!, "th")) : undefined;
  return element(
    "div",
    { class: "wide", tabindex: "0" },
    element(
      "table",
      {},
      top,
      element(
        "tbody",
        {},
        body.map((cells) => row(cells, "td")),
      ),
    ),
  );
}

function takeList(lines: string[], linkTo: LinkTarget): MarkupElement {
  const [, indent = ""] = LIST.exec(lines[0]!)!;
  const name = /^ *\d/.test(lines[0]!) ? "ol" : "ul";
  const items: Markup[][] = [];
  for (;;) {
    const [, own, text] = LIST.exec(lines[0] ?? "") ?? [];
    if (own === undefined || own.length < indent.length)
      return element(name, {}, ...items.map((item) => element("li", {}, item)));
    if (own.length > indent.length) {
      items.at(-1)!.push(takeList(lines, linkTo));
      continue;
    }
    lines[0] = text!;
    items.push([renderInline(takeItem(lines), linkTo)]);
  }
}

/** Takes the lines of an item; those after the first are indented. */
function takeItem(lines: string[]): string {
  const taken = [lines.shift()!];
  while (lines.length > 0 && /^ +\S/.test(lines[0]!) && !LIST.test(lines[0]!)) taken.push(lines.shift()!);
  return taken.map((line) => line.trim()).join(" ");
}

const INLINE =
  /(`+)(?<code>.+?)\1(?!`)|\*\*(?<bold>.+?)\*\*|(?<image>!)?\[(?<label>(?:[^[\]]|\[[^\]]*\])*)\]\((?<href>[^)\s]+)\)/;

/** Renders code spans, bold text, links and pictures. */
export function renderInline(text: string, linkTo: LinkTarget): Markup {
  const found = INLINE.exec(text);
  if (found === null) return text;
  const rest = [text.slice(0, found.index), text.slice(found.index + found[0].length)] as const;
  return [rest[0], drawSpan(found.groups!, linkTo), renderInline(rest[1], linkTo)];
}

function drawSpan(
  { code, bold, image, label = "", href = "" }: Readonly<Record<string, string | undefined>>,
  linkTo: LinkTarget,
): Markup {
  if (code !== undefined) return element("code", {}, code);
  if (bold !== undefined) return element("b", {}, renderInline(bold, linkTo));
  const target = linkTo(href);
  if (image !== undefined)
    return target === undefined ? label : element("img", { src: target, alt: label, loading: "lazy" });
  const content = renderInline(label, linkTo);
  return target === undefined ? content : element("a", { href: target }, content);
}

/** Returns the fragment that our pages link to a heading by. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** What is coloured, by language: comments, and texts on one line. */
const C_LIKE = /(?<comment>\/\/.*|\/\*[^]*?\*\/)|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)/g;
const SHELL_LIKE = /(?<comment>(?<=^|\s)#.*)|(?<text>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')/gm;
const PATTERNS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(["go", "js", "json", "sol", "ts"].map((name) => [name, C_LIKE])),
  ...Object.fromEntries(["python", "sh", "toml", "yaml"].map((name) => [name, SHELL_LIKE])),
};

/** Creates a block of code, coloured if its language is known. */
export function codeBlock(text: string, language: string): MarkupElement {
  const code = element("code", {}, colour(text, PATTERNS[language]));
  return element("div", { class: "code" }, element("pre", { tabindex: "0" }, code));
}

function colour(text: string, pattern: RegExp | undefined): Markup {
  if (pattern === undefined) return text;
  const children: Markup[] = [];
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(pattern)) {
    const kind = groups?.["comment"] === undefined ? "text" : "comment";
    children.push(text.slice(end, index), element("span", { class: kind }, found));
    end = index + found.length;
  }
  return [...children, text.slice(end)];
}
