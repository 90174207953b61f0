import { plainText } from "../lib/hiddenCharacters.ts";
import { describeShared } from "../lib/sharedWords.ts";
import type { Service } from "../requests/service.ts";

/** About what the previews of messengers show; a result may have 24 KB. */
const MAX_CHARACTERS = 200;

/** What a page's head says to programs that preview links to it. */
export interface LinkPreview {
  /** As HTML. */
  readonly title: string;
  readonly tags: string;
}

type SharedResult = Extract<Awaited<ReturnType<Service["getShared"]>>, { readonly outcome: unknown }>;

/** Creates the preview of a link to a shared result: Open Graph tags with its purpose, its extent and the result. */
export function createLinkPreview(shared: SharedResult): LinkPreview {
  const { heading, subject, result } = describeShared(shared);
  const title = toHtml(heading);
  const ended = shared.outcome.success ? result : `failed: ${result}`;
  const description = toHtml([...subject, ended].join(": "));
  const url = shared.outcome.shareUrl;
  const tags = {
    "og:type": "website",
    "og:site_name": "Tyche",
    "og:title": title,
    "og:description": description,
    "og:url": toHtml(url),
    "og:image": toHtml(new URL("/assets/preview.png", url).href),
    "og:image:width": "1200",
    "og:image:height": "630",
    "twitter:card": "summary_large_image",
  };
  const lines = Object.entries(tags).map(
    ([name, content]) => `\n<meta property="${name}" content="${content}">`,
  );
  return {
    title: `${title} · Tyche`,
    tags: `${lines.join("")}\n<meta name="description" content="${description}">`,
  };
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Writes text of unknown origin as the content of an element or an attribute, cut and without characters that reorder others. */
function toHtml(text: string): string {
  const characters = Array.from(text.slice(0, 4 * MAX_CHARACTERS));
  const cut =
    characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…` : text;
  return plainText(cut).replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}
