import { renderGuide } from "../../lib/markdown.ts";
import { draw } from "./dom.ts";
import { createSearch, type SearchEntry } from "./search.ts";

/** Adds a search over all guides to the contents of one. */
export function addGuideSearch(contents: Element, list: HTMLElement): void {
  let entries: Promise<readonly SearchEntry[]> | undefined;
  const parts = createSearch("Find in all guides", list, () => {
    entries ??= readEntries();
    entries.catch(() => (entries = undefined));
    return entries;
  });
  contents.replaceChildren(...parts);
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

/** Reads the guide at a path, `/docs/{name}`, from its Markdown. */
async function readGuide(path: string): Promise<readonly HTMLElement[]> {
  const answer = await fetch(`${path}.md`);
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return renderGuide(await answer.text(), path).map(draw);
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
