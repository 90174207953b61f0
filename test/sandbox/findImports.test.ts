import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { findImports } from "../../sandbox/host/child/findImports.ts";

// The child is bundled as CommonJS and loads its parser with `require`.
(globalThis as { require?: NodeJS.Require }).require = createRequire(import.meta.url);

/** Returns the body with every found keyword marked. */
function marked(body: string): string {
  let text = "";
  let end = 0;
  for (const start of findImports(body)) {
    expect(body.slice(start, start + 6)).toBe("import");
    text += `${body.slice(end, start)}IMPORT`;
    end = start + 6;
  }
  return text + body.slice(end);
}

test.each([
  ["await import('a')", "await IMPORT('a')"],
  ["import('a').then(f)", "IMPORT('a').then(f)"],
  ["return import /* x */ ('a')", "return IMPORT /* x */ ('a')"],
  [
    "const f = async () => import(`${await import('b')}`)",
    "const f = async () => IMPORT(`${await IMPORT('b')}`)",
  ],
  ["import('a', { with: { type: 'json' } })", "IMPORT('a', { with: { type: 'json' } })"],
  [
    "class A { static x = import('a'); m() { return import('b') } }",
    "class A { static x = IMPORT('a'); m() { return IMPORT('b') } }",
  ],
  ["a\nimport('b')\n/c/g", "a\nIMPORT('b')\n/c/g"],
  ["x = import.meta.url", "x = IMPORT.meta.url"],
  ["if (a) import('b'); else import('c')", "if (a) IMPORT('b'); else IMPORT('c')"],
  ["function* g() { yield import('a') }", "function* g() { yield IMPORT('a') }"],
  [
    "const { [await import('k')]: v = import('d') } = o",
    "const { [await IMPORT('k')]: v = IMPORT('d') } = o",
  ],
  ["await using x = import('a')", "await using x = IMPORT('a')"],
])("%s", (body, expected) => {
  expect(marked(body)).toBe(expected);
});

test.each([
  "'import(a)' + \"import(b)\" + `import(c)`",
  "// import(a)\n/* import(b) */",
  "/import(a)/.test(x)",
  "o.import(a); o?.import(b); o['import'](c)",
  "o = { import(x) { return x }, import: 1 }",
  "o = { get import() { return 1 }, async import2() {} }",
  "class A { import(x) {} static import(y) {} #import(z) {} }",
  "label: for (;;) break label; const important = 1; important(2)",
  "a ? `${'import(x)'}` : /[/]import(y)/",
])("nothing in %s", (body) => {
  expect(findImports(body)).toEqual([]);
});

test.each([
  "import('a'",
  "import()",
  "new import('a')",
  "import('a') = 1",
  "import x from 'y'; import('z') }",
  "import(...a)",
])("what does not parse has none: %s", (body) => {
  expect(findImports(body)).toEqual([]);
});

test("deep and long texts are no danger to the stack", () => {
  expect(findImports(`${"(".repeat(100_000)}import('a')${")".repeat(100_000)}`)).toEqual([]);
  const chain = `import('a')${" + 1".repeat(2_000)}`;
  expect(findImports(chain)).toEqual([0]);
  expect(findImports(`[${"0,".repeat(300_000)}import('a')]`)).toEqual([600_001]);
});
