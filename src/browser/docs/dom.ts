import type { MarkupElement } from "../../lib/markup.ts";

/** What an element is made of: text as it is, elements, or nothing. */
export type Child = Node | string | undefined | MarkupElement | readonly Child[];

/** Creates an element with attributes, of which `undefined` and `false` are left out, and its content. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: MarkupElement["attributes"] = {},
  ...content: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  append(element, content);
  return element;
}

function append(element: Element, content: Child): void {
  if (content === undefined) return;
  if (typeof content === "string" || content instanceof Node) element.append(content);
  else if ("name" in content) element.append(draw(content));
  else for (const one of content) append(element, one);
}

/** Draws what the server would write as HTML. */
export function draw({ name, attributes, content }: MarkupElement): HTMLElement {
  return h(name as "div", attributes, ...content);
}
