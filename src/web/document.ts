import { element, toHtml, type Markup } from "../lib/markup.ts";
import { SECTIONS } from "../domain/sections.ts";
import { getEntry } from "./bundle.ts";

/** Writes a page that loads one of the applications in `src/browser`. */
export function writeDocument({
  title,
  entry,
  tags,
  body,
}: {
  readonly title: string;
  /** Name of the application. */
  readonly entry: string;
  /** More of the head. */
  readonly tags?: Markup;
  readonly body: Markup;
}): string {
  const { script, styles, preloads } = getEntry(entry);
  // A page's own styles come last, so that they can override the shared ones.
  const links = [
    ...["/assets/style.css", ...styles].map((href) => element("link", { rel: "stylesheet", href })),
    ...preloads.map((href) => element("link", { rel: "modulepreload", href })),
  ];
  const head = [
    element("meta", { charset: "utf-8" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, title),
    element("link", { rel: "icon", href: "/assets/icon.svg", type: "image/svg+xml" }),
    ...links,
    element("script", { type: "module", src: script }),
    tags,
  ];
  const page = element("html", { lang: "en" }, element("head", {}, head), element("body", {}, body));
  return `<!doctype html>\n${toHtml(page)}\n`;
}

/**
 * Creates the top of a page, with links to the application's sections.
 *
 * @param options.own whether with those for who is signed in, which the page's script shows
 * @param options.current the address of the page that is shown, if it is linked
 */
export function topOf({
  own,
  current,
  side,
}: {
  readonly own: boolean;
  readonly current?: string;
  readonly side?: Markup;
}): Markup {
  const links = [
    ...SECTIONS.filter(({ isPublic }) => isPublic || own),
    { href: "/docs", text: "API", isPublic: true },
  ];
  const nav = links.map(({ href, text, isPublic }) =>
    element(
      "a",
      {
        href,
        class: isPublic ? undefined : "own",
        "aria-current": href === current ? "page" : undefined,
      },
      text,
    ),
  );
  return [
    element("a", { class: "skip", href: "#main" }, "Skip to content"),
    element(
      "header",
      { class: "top" },
      element(
        "div",
        { class: "bar" },
        element("a", { class: "brand", href: own ? "/" : "/explorer" }, "Tyche"),
        element("nav", { "aria-label": "Main" }, nav),
        side,
      ),
    ),
  ];
}
