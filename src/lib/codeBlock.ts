import { element, type Markup, type MarkupElement } from "./markup.ts";

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
