import { h } from "./dom.ts";
import { renderMarkdown, type LinkTarget } from "./markdown.ts";
import { createSearch, type SearchEntry } from "./search.ts";

/** Leads from one guide to another; what lies outside their folder is not served. */
const guideLink: LinkTarget = (href) => {
  if (/^(?:#|https?:)/.test(href)) return href;
  if (href.startsWith("../")) return undefined;
  return `/docs/${href.replace(/\.md(?=#|$)/, "")}`;
};

/** Reads the guide at a path, `/docs/{name}`, from its Markdown. */
export async function readGuide(path: string): Promise<readonly HTMLElement[]> {
  const answer = await fetch(`${path}.md`);
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return renderMarkdown(await answer.text(), guideLink);
}

/** Fills the side of a guide: a search over all guides, and links to the guide's parts. */
export function createGuideContents(headings: Iterable<HTMLElement>): readonly HTMLElement[] {
  const list = h(
    "ul",
    { class: "groups" },
    h("li", {}, h("a", { href: "/docs" }, "API reference")),
    h("li", {}, h("a", { href: "/docs/README" }, "All guides")),
    [...headings].map((heading) => h("li", {}, h("a", { href: `#${heading.id}` }, heading.textContent))),
  );
  let entries: Promise<readonly SearchEntry[]> | undefined;
  return createSearch("Find in all guides", list, () => {
    entries ??= readEntries();
    entries.catch(() => (entries = undefined));
    return entries;
  });
}

/** Reads the parts of all guides that their index links. */
async function readEntries(): Promise<readonly SearchEntry[]> {
  const index = await readGuide("/docs/README");
  const links = index.flatMap((block) => [
    ...block.querySelectorAll<HTMLAnchorElement>("a[href^='/docs/']:not([href*='#'])"),
  ]);
  const paths = new Set(links.map(({ pathname }) => pathname));
  return (await Promise.all([...paths].map(async (path) => splitGuide(path, await readGuide(path))))).flat();
}

/** Returns each part of a guide: a heading, and the text below it. */
function splitGuide(path: string, blocks: readonly HTMLElement[]): readonly SearchEntry[] {
  const where = blocks.find((block) => block instanceof HTMLHeadingElement)?.textContent ?? "";
  const parts: { href: string; name: string; where: string; text: string }[] = [];
  for (const block of blocks) {
    const { id, textContent } = block;
    if (block instanceof HTMLHeadingElement)
      parts.push({ href: `${path}#${id}`, name: textContent, where, text: "" });
    else if (parts.length > 0) parts.at(-1)!.text += ` ${textContent.toLowerCase()}`;
  }
  return parts;
}
