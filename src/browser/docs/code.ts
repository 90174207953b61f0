import { h, type Child } from "./dom.ts";

/** What is coloured, by language: comments, and texts on one line. */
const C_LIKE = /(?<comment>\/\/.*|\/\*[^]*?\*\/)|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)/g;
const SHELL_LIKE = /(?<comment>(?<=^|\s)#.*)|(?<text>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')/gm;
const PATTERNS: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(["go", "js", "json", "sol", "ts"].map((name) => [name, C_LIKE])),
  ...Object.fromEntries(["python", "sh", "toml", "yaml"].map((name) => [name, SHELL_LIKE])),
};

/** Draws code, coloured if its language is known, with a button that copies it. */
export function drawCode(text: string, language: string): HTMLElement {
  const shown = h("pre", { tabindex: "0" }, h("code", {}, colour(text, PATTERNS[language])));
  return h(
    "div",
    { class: "code" },
    copyButton(() => text),
    shown,
  );
}

function colour(text: string, pattern: RegExp | undefined): Child {
  if (pattern === undefined) return text;
  const children: Child[] = [];
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(pattern)) {
    const kind = groups?.["comment"] === undefined ? "text" : "comment";
    children.push(text.slice(end, index), h("span", { class: kind }, found));
    end = index + found.length;
  }
  return [...children, text.slice(end)];
}

/** Creates a button that copies a text, and says so. */
export function copyButton(read: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(read()).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Not copied"),
    );
  });
  return button;
}
