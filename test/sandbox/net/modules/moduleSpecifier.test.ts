import { expect, test } from "vitest";
import { createModuleAllowList } from "../../../../sandbox/host/net/modules/allowList.ts";
import { SandboxOptionError } from "../../../../sandbox/host/sandboxError.ts";
import { parseModuleSpecifier } from "../../../../sandbox/host/net/modules/moduleSpecifier.ts";

test.each([
  ["npm:ms", { name: "ms", range: "", subpath: "." }],
  ["npm:/ms", { name: "ms", range: "", subpath: "." }],
  ["npm:ms@2.1.3", { name: "ms", range: "2.1.3", subpath: "." }],
  ["npm:ms@^2/index.js", { name: "ms", range: "^2", subpath: "./index.js" }],
  ["npm:ms/", { name: "ms", range: "", subpath: "." }],
  ["npm:ms@next", { name: "ms", range: "next", subpath: "." }],
  ["npm:@noble/hashes@1.4.0/sha256", { name: "@noble/hashes", range: "1.4.0", subpath: "./sha256" }],
])("%s", (specifier, expected) => {
  expect(parseModuleSpecifier(specifier)).toEqual({ kind: "npm", ...expected });
});

test("built-in modules with and without prefix, https and data", () => {
  expect(parseModuleSpecifier("node:crypto")).toEqual({ kind: "node", name: "crypto" });
  expect(parseModuleSpecifier("crypto")).toEqual({ kind: "node", name: "crypto" });
  expect(parseModuleSpecifier("https://a.example/x.js")).toMatchObject({ kind: "url" });
  expect(parseModuleSpecifier("data:text/javascript,1")).toMatchObject({ kind: "data" });
});

// Deno 2.9.6's messages for the same specifiers.
test.each([
  ["lodash", 'Import "lodash" not a dependency'],
  ["", 'Import "" not a dependency'],
  ["./x.js", 'Module not found "file:///tmp/x.js".'],
  ["/etc/passwd", 'Module not found "file:///etc/passwd".'],
  ["file:///etc/passwd", 'Module not found "file:///etc/passwd".'],
  ["node:nope", "No such built-in module: node:nope"],
  [
    "jsr:@std/assert@1",
    "JSR package manifest for '@std/assert' failed to load. Import 'https://jsr.io/@std/assert/meta.json' failed.",
  ],
  ["blob:null/1", 'Module not found "blob:null/1".'],
  ["https://", "invalid URL: empty host"],
  ["npm:", "Invalid package specifier 'npm:'\n    0: Did not contain a package name"],
  ["npm:@a", "Invalid package specifier 'npm:@a'\n    0: Did not contain a valid package name"],
  ["npm:a b", "Invalid package specifier 'npm:a b'\n    0: Did not contain a valid package name"],
  ["npm:../x", "Invalid package specifier 'npm:../x'\n    0: Did not contain a valid package name"],
  [
    "npm:a@1.x || 2",
    "Invalid package specifier 'npm:a@1.x || 2'\n    0: Invalid specifier version requirement",
  ],
])("%j", (specifier, message) => {
  expect(() => parseModuleSpecifier(specifier)).toThrow(message);
});

test("an unknown scheme lists the known ones", () => {
  expect(() => parseModuleSpecifier("foo:bar")).toThrow(
    'Unsupported scheme "foo" for module "foo:bar". Supported schemes:\n - "blob"\n - "data"\n - "file"\n - "http"\n - "https"\n - "jsr"\n - "npm"',
  );
});

const refuses = (entries: readonly string[], name: string, version?: string) => {
  const list = createModuleAllowList(entries);
  try {
    list.assertPackage(name);
    if (version !== undefined) list.assertVersion(name, version);
    return false;
  } catch {
    return true;
  }
};

test("the allow-list names packages, scopes and versions", () => {
  expect(refuses([], "ms")).toBe(true);
  expect(refuses(["npm:*"], "ms", "1.0.0")).toBe(false);
  expect(refuses(["npm:ms"], "ms", "9.9.9")).toBe(false);
  expect(refuses(["npm:ms"], "msx")).toBe(true);
  expect(refuses(["npm:@noble/*"], "@noble/curves")).toBe(false);
  expect(refuses(["npm:@noble/*"], "@noblex/curves")).toBe(true);
  expect(refuses(["npm:@noble/hashes@^1"], "@noble/hashes", "1.4.0")).toBe(false);
  expect(refuses(["npm:@noble/hashes@^1"], "@noble/hashes", "2.0.0")).toBe(true);
});

test("the allow-list admits URLs below a prefix, and nothing that only starts alike", () => {
  const list = createModuleAllowList(["https://a.example/x/"]);
  const refused = (url: string) => {
    try {
      list.assertUrl(new URL(url));
      return false;
    } catch {
      return true;
    }
  };
  expect(refused("https://a.example/x/y.js")).toBe(false);
  const others = [
    "https://a.example/y.js",
    "https://a.example/x/../y.js",
    "http://a.example/x/y.js",
    "https://a.example.evil/x/y.js",
  ];
  expect(others.filter((url) => !refused(url))).toEqual([]);
  expect(refused("https://a.example:8443/x/y.js")).toBe(true);
});

test("what is not on the list says what the operator can add", () => {
  const list = createModuleAllowList([]);
  expect(() => list.assertUrl(new URL("https://a.example/x.js"))).toThrow(
    'Requires import access to "a.example:443", run again with the --allow-import flag',
  );
  expect(() => list.assertPackage("ms")).toThrow('Requires import access to "npm:ms"');
});

test("a package that isn't admitted is refused before its version is read", () => {
  const specifier = `npm:a@${Array.from({ length: 12_000 }, (_, at) => at).join("||")}`;
  const list = createModuleAllowList(["npm:ms"]);
  const beganMs = process.cpuUsage();
  expect(() => parseModuleSpecifier(specifier, (name) => list.assertPackage(name))).toThrow(
    'Requires import access to "npm:a"',
  );
  // Reading that version would take 3.5 s.
  expect(process.cpuUsage(beganMs).user / 1_000).toBeLessThan(500);
});

test("a version requirement of more than 256 characters is none", () => {
  const range = Array.from({ length: 64 }, (_, at) => at + 10).join("||");
  expect(parseModuleSpecifier(`npm:ms@${range}`)).toMatchObject({ range });
  expect(() => parseModuleSpecifier(`npm:ms@${range}||9`)).toThrow("Invalid specifier version requirement");
});

test.each([
  "ethers",
  "npm:",
  "npm:a b",
  "npm:@noble",
  "npm:ethers@",
  "npm:ethers@latest",
  "npm:ethers@nonsense",
  "npm:a/*",
  "jsr:@std/assert",
  "esm.sh",
  "https:esm.sh",
  "https://",
  "https://*.esm.sh/",
  "https://user@esm.sh/",
  "https://esm.sh/#x",
  "file:///etc/",
  "",
])("the entry %j of the allow-list is refused by name, with the form it should have", (entry) => {
  let refusal: unknown;
  try {
    createModuleAllowList(["npm:ms", entry]);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(SandboxOptionError);
  expect(refusal).toMatchObject({
    code: "invalid_option",
    message: expect.stringContaining(
      `${JSON.stringify(entry)} can't be used: an entry is a package (npm:ethers, `,
    ),
  });
});
