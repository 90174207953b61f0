import { cut } from "../lib/cut.ts";
import { element, type Markup } from "../lib/markup.ts";
import { describePage, nameChain } from "../text/sharedResult.ts";
import { readableTimes } from "../lib/time.ts";
import type { Service } from "../requests/service.ts";
import { COMMON_PICTURE, createResultPicture, type KnownNetwork } from "./resultPicture.ts";

/** About what the previews of messengers show; a result may have 24 KB. */
const MAX_CHARACTERS = 200;

type Shared = Awaited<ReturnType<Service["getShared"]>>;

/** Beginning of a random number: all of several would have no room. */
const MAX_NUMBER = 12;

/**
 * Creates the preview of a link to a shared result: Open Graph tags with its purpose, its extent and the result, or what it waits for, on which
 * network and when, and a picture: its own or, of a result that can't be drawn, the common one that says that there is a result.
 *
 * @param known the network that it is on, if it is still served
 */
export function createLinkPreview(shared: Shared, known: KnownNetwork): Markup {
  const { title, subject, said } = describePage(shared);
  const { success, shareUrl } = "outcome" in shared ? shared.outcome : { ...shared, success: false };
  const shown = describeDrawn(shared, said);
  const place = describePlace(shared, known);
  const text = [...subject, shown].join(": ").replaceAll(/\s+/g, " ");
  const description = `${shorten(text, MAX_CHARACTERS - place.length)}${place}`;
  const picture = createResultPicture(shared, known);
  const hasPicture = success || picture !== undefined;
  const properties = {
    "og:type": "website",
    "og:site_name": "Tyche",
    "og:title": shorten(title),
    "og:description": description,
    "og:url": shareUrl,
    ...(hasPicture && {
      "og:image": new URL(picture?.path ?? COMMON_PICTURE, shareUrl).href,
      "og:image:alt": picture?.words ?? "A result that you can check",
      "og:image:width": "1200",
      "og:image:height": "630",
    }),
  };
  return [
    ...Object.entries(properties).map(([property, content]) => element("meta", { property, content })),
    element("meta", { name: "twitter:card", content: hasPicture ? "summary_large_image" : "summary" }),
    element("meta", { name: "description", content: description }),
  ];
}

/** Says what was drawn, or what there is in place of a result. */
function describeDrawn(shared: Shared, said: string): string {
  if (!("outcome" in shared)) return readableTimes(said);
  if (!("randomNumber" in shared.outcome)) return said;
  const words = shared.outcome.randomNumber.map((word) => cut(word, MAX_NUMBER));
  return `${words.join(", ")} (each from 0 to 2^256 − 1)`;
}

/** Says on which network a result or request is, and when the result was stored. */
function describePlace(shared: Shared, known: KnownNetwork): string {
  if (shared.network === undefined) return "";
  const on = ` – on ${nameChain(shared.network, known)}`;
  return "outcome" in shared ? `${on}, ${shared.updatedAt.slice(0, 10)}` : on;
}

/** Cuts a text at a whole character. */
function shorten(text: string, maxCharacters = MAX_CHARACTERS): string {
  const characters = Array.from(text.slice(0, 4 * maxCharacters));
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join("")}…` : text;
}
