import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), "utf8");
const readme = read("README.md");
const architecture = read("docs/architecture.md");
const pages = ["README.md", "CHANGELOG.md", ...globSync("docs/*.md", { cwd: root.pathname })];

/** Returns the file and folder names in backticks; those under `plugins` belong to presets that a reader creates. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|sandbox|test|bench|docs)\/[^`\s]*)`/g)].map(([, path]) => path!);

test("every file that a page names or links to is there", () => {
  const missing = pages.flatMap((page) => {
    const text = read(page).replaceAll(/^```[^]*?^```$/gm, ""); // Solidity has new string[](3)
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
      ([, link]) => new URL(link!, new URL(page, root)),
    );
    const named = pathsIn(text).map((path) => new URL(path, root));
    return [...links, ...named].filter((url) => !existsSync(url)).map((url) => `${page}: ${url.pathname}`);
  });
  expect(missing).toEqual([]);
  expect(pathsIn(architecture)).toContain("src/evm/fees.ts");
});

test("every name in parentheses behind a file stands in that file", () => {
  const named = [...architecture.matchAll(/`((?:src|sandbox)\/[^`\s]+)`\**,? \(`([A-Za-z]\w+)`\)/g)];
  expect(named.length).toBeGreaterThanOrEqual(3);
  expect(named.filter(([, file, name]) => !read(file!).includes(name!)).map(([text]) => text)).toEqual([]);
});

test("every link to a heading leads to one", () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)].flatMap(([, file = "", anchor]) => {
      const target = file === "" ? read(page) : readFileSync(new URL(file, new URL(page, root)), "utf8");
      const headings = [...target.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
          .replaceAll(" ", "-"),
      );
      return headings.includes(anchor!) ? [] : [`${page}: ${file}#${anchor}`];
    }),
  );
  expect(broken).toEqual([]);
});

test("the README has at most 150 lines, and the index links every page of docs", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  const index = read("docs/README.md");
  const names = pages
    .filter((page) => !page.endsWith("README.md"))
    .map((page) => (page.startsWith("docs/") ? page.slice("docs/".length) : `../${page}`));
  expect(names.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

test("the README has the two commands, in one line each", () => {
  expect(readme).toMatch(/^npm ci && npm start\b/m);
  expect(readme).toMatch(/^npm ci && npm test\b/m);
});

test("every answer to a question about the code names a file", () => {
  const rows = architecture.split("\n").filter((line) => /^\| [A-Z].*\? \|/.test(line));
  const asked = ["how long a call waits", "429", "kill -9", "gas prices", "add a network"];
  expect(asked.filter((words) => !rows.some((row) => row.includes(words)))).toEqual([]);
  expect(rows.filter((row) => pathsIn(row).length === 0)).toEqual([]);
});

test("the map has every folder of src, and no other", () => {
  const map = readme.slice(readme.indexOf("## Map of the code"));
  const lines = map.split("\n").filter((line) => line.startsWith("src/"));
  const named = lines.flatMap((line) => line.slice("src/".length).split(/ {3,}/)[0]!.split(/ +/));
  expect(named.toSorted()).toEqual(readdirSync(new URL("src", root)).toSorted());
});
