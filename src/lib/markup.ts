import { plainText } from "./hiddenCharacters.ts";

/** What a page is made of: text as it is, elements, or nothing. The server writes it as HTML, a browser draws it. */
export type Markup = string | undefined | MarkupElement | readonly Markup[];

/** An element of HTML, before it is written or drawn. */
export interface MarkupElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly content: readonly Markup[];
}

/** Those that are `undefined` or `false` are left out. */
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Elements that have no content, and no end tag. */
const VOID = new Set(["img", "link", "meta"]);

/** Creates an element with attributes and content. */
export function element(
  name: string,
  attributes: Attributes = {},
  ...content: readonly Markup[]
): MarkupElement {
  return { name, attributes, content };
}

/** Writes markup as HTML. Its texts may be of unknown origin: they end no element or attribute, and reorder nothing. */
export function toHtml(markup: Markup): string {
  if (markup === undefined) return "";
  if (typeof markup === "string") return escape(markup);
  if (!("name" in markup)) return markup.map(toHtml).join("");
  const { name, attributes, content } = markup;
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([key, value]) => ` ${key}="${value === true ? "" : escape(String(value))}"`);
  const start = `<${name}${written.join("")}>`;
  return VOID.has(name) ? start : `${start}${toHtml(content)}</${name}>`;
}

/** Returns the text of markup, without its elements. */
export function textOf(markup: Markup): string {
  if (markup === undefined || typeof markup === "string") return markup ?? "";
  return "name" in markup ? textOf(markup.content) : markup.map(textOf).join("");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escape(text: string): string {
  return plainText(text).replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}
