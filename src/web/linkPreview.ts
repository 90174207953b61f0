import { plainText } from "../lib/hiddenCharacters.ts";
import { describeRequest, describeShared } from "../lib/sharedText.ts";
import type { Service } from "../requests/service.ts";

/** About what the previews of messengers show; a result may have 24 KB. */
const MAX_CHARACTERS = 200;

/** What a page's head says to programs that preview links to it. */
export interface LinkPreview {
  /** As HTML. */
  readonly title: string;
  readonly tags: string;
  /** What the page itself says with JavaScript alone. */
  readonly summary: string;
}

type Shared = Awaited<ReturnType<Service["getShared"]>>;

/** Creates the preview of a link to a shared result: Open Graph tags with its purpose, its extent and the result, or what it waits for. */
export function createLinkPreview(shared: Shared): LinkPreview {
  const { heading, subject, said, url } = "outcome" in shared ? ended(shared) : open(shared);
  const title = toHtml(heading);
  const description = toHtml([...subject, said].join(": "));
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
    summary: `<h1>${title}</h1><p>${description}</p>`,
    tags: `${lines.join("")}\n<meta name="description" content="${description}">`,
  };
}

function ended(shared: Extract<Shared, { readonly outcome: unknown }>) {
  const { result, ...named } = describeShared(shared);
  const { success, shareUrl } = shared.outcome;
  return { ...named, said: success ? result : `failed: ${result}`, url: shareUrl };
}

function open(shared: Exclude<Shared, { readonly outcome: unknown }>) {
  return { ...describeRequest(shared), said: shared.why, url: shared.shareUrl };
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Writes text of unknown origin as the content of an element or an attribute, cut and without characters that reorder others. */
function toHtml(text: string): string {
  const characters = Array.from(text.slice(0, 4 * MAX_CHARACTERS));
  const cut =
    characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join("")}…` : text;
  return plainText(cut).replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}
