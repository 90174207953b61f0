import { splitAtHidden } from "../lib/hiddenCharacters.ts";

/** What {@link html} takes: text is escaped, lists are joined, nothing stands for nothing. */
export type HtmlValue = Html | string | number | bigint | false | null | undefined | readonly HtmlValue[];

/**
 * Markup that is safe to send. A class with a private field, so that no object that came from JSON or a chain can pass for one:
 * whatever isn't made by {@link html} is text and gets escaped.
 */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Makes markup out of the literal parts of a template and escaped values. */
  static of(parts: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(parts.map((part, i) => (i === 0 ? part : render(values[i - 1]) + part)).join(""));
  }

  toString(): string {
    return this.#text;
  }
}

/** Tag of a template: `` html`<p title="${text}">${text}</p>` ``. Values may stand in content and in double-quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return Html.of(parts, values);
}

/**
 * Returns text of unknown origin with every character that would hide or reorder what follows made visible, such as the
 * bidirectional controls of "Trojan Source" (CVE-2021-42574); line breaks and tabs stay.
 */
export function showText(text: string): Html {
  const parts = splitAtHidden(text);
  return html`${parts.map((part, i) => (i % 2 === 0 ? part : html`<span class="hidden-char">${part}</span>`))}`;
}

/** The same as plain text, for places that take no markup. */
export function plainText(text: string): string {
  return splitAtHidden(text)
    .map((part, i) => (i % 2 === 0 ? part : `[${part}]`))
    .join("");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(render).join("");
  return String(value).replaceAll(/[&<>"']/g, (character) => ESCAPES[character]!);
}
