import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createGuardedFetch,
  createImportCall,
  createModuleLoader,
  createSandboxPool,
} from "../../../../sandbox/index.ts";
import type { ModuleLoader, ModuleLoaderOptions, RunLimits, SandboxPool } from "../../../../sandbox/index.ts";
import { countSockets, startServer } from "../servers.ts";
import { startRegistry } from "./registry.ts";
import type { TestPackage } from "./registry.ts";

const plain = (
  name: string,
  version: string,
  files: TestPackage["files"],
  manifest: object = {},
): TestPackage => ({
  manifest: { name, version, ...manifest },
  files,
});

const registry = await startRegistry([
  plain("one", "1.0.0", { "index.js": "module.exports = 1;" }, { tags: [] }),
  plain("one", "1.2.0", { "index.js": "module.exports = 12;" }),
  plain("one", "2.0.0", { "index.js": "module.exports = 2;" }),
  { ...plain("one", "3.0.0-beta.1", { "index.js": "module.exports = 'beta';" }), tags: ["next"] },
  { ...plain("one", "2.1.0", { "index.js": "module.exports = 21;" }), tags: ["latest"] },
  plain("@scope/esm", "1.0.0", {
    "package.json": JSON.stringify({
      name: "@scope/esm",
      version: "1.0.0",
      type: "module",
      exports: { ".": "./a.js", "./sub/*": "./lib/*.js", "./data.json": "./data.json" },
      imports: { "#inner": "./lib/inner.js" },
      dependencies: { one: "^1.0.0", alias: "npm:one@2.0.0" },
    }),
    "a.js":
      "import one from 'one'; import two from 'alias'; export { inner } from '#inner'; export const sum = one + two; export default class Named {}; export const own = async () => (await import('@scope/esm/sub/x')).x;",
    "lib/inner.js": "export const inner = 'inner';",
    "lib/x.js": "export const x = 'x';",
    "data.json": '{"a":1}',
    "secret.js": "export default 'not exported'",
  }),
  plain("named", "1.0.0", {
    "index.js":
      "exports.a = 1; exports['b-c'] = 2; Object.defineProperty(exports, '__esModule', { value: true }); exports.default = 'd'; __exportStar(require('./more'), exports); function __exportStar(m, e) { for (const k in m) e[k] = m[k]; }",
    "more/index.js": "exports.more = __filename + '|' + __dirname;",
  }),
  plain(
    "sloppy",
    "1.0.0",
    {
      "main.js":
        "leaked = 5; module.exports = { leaked, self: (function () { return this === globalThis; })(), octal: 010 };",
    },
    { main: "./main" },
  ),
  plain(
    "optional",
    "1.0.0",
    {
      "index.js":
        "let found; try { found = require('absent'); } catch (error) { found = error.code; } module.exports = found;",
    },
    { peerDependencies: { absent: "*" }, peerDependenciesMeta: { absent: { optional: true } } },
  ),
  plain(
    "awaits",
    "1.0.0",
    {
      "index.mjs":
        "export const late = await new Promise((done) => setTimeout(() => done('late'), 5)); export default function f() {}",
    },
    { exports: "./index.mjs" },
  ),
  plain(
    "awaits-and-throws",
    "1.0.0",
    { "index.mjs": "await null; throw new RangeError('late');" },
    { exports: "./index.mjs" },
  ),
  plain(
    "top",
    "1.0.0",
    { "index.js": "module.exports = [require('mid'), require('one')];" },
    { dependencies: { mid: "1.0.0", one: "1.0.0" } },
  ),
  plain(
    "mid",
    "1.0.0",
    { "index.js": "module.exports = require('one');" },
    { dependencies: { one: "^1.0.0" } },
  ),
  plain("throws", "1.0.0", { "index.js": "throw new RangeError('at load');" }),
  plain("blocked", "1.0.0", {
    "index.js":
      "const dgram = require('dgram'); exports.kind = typeof dgram.createSocket; exports.go = () => dgram.createSocket('udp4'); exports.Socket = class extends dgram.Socket {}; exports.Test = class extends require('node:test') {};",
  }),
  plain("broken", "1.0.0", { "index.js": "module.exports = = 5;" }),
  plain(
    "lacks",
    "1.0.0",
    { "index.mjs": "import x from 'undeclared'; export default x;" },
    { exports: "./index.mjs" },
  ),
  plain("meta", "1.0.0", { "index.mjs": "export const url = import.meta.url;" }, { exports: "./index.mjs" }),
  plain("unicode", "1.0.0", { "index.js": "module.exports = 'é😀\u2028';" }),
  plain("large", "1.0.0", { "index.js": `module.exports = '${"x".repeat(300_000)}';` }),
  { ...plain("tampered", "1.0.0", { "index.js": "" }), dist: { integrity: `sha512-${"A".repeat(86)}==` } },
  { ...plain("weak", "1.0.0", { "index.js": "" }), dist: { integrity: "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA=" } },
  { ...plain("elsewhere", "1.0.0", { "index.js": "" }), dist: { tarball: "http://169.254.169.254/x.tgz" } },
]);

const outside = await startServer((_request, response) => response.end("export default 'outside'"));
const files = await startServer((request, response) => {
  const url = request.url ?? "/";
  const code: Record<string, readonly [type: string, text: string]> = {
    "/ok/a.js": ["text/javascript", "import b from './b.ts'; import c from '/ok/c'; export default b + c;"],
    "/ok/b.ts": ["application/typescript", "const b: number = 1; export default b as number;"],
    "/ok/c": ["text/javascript", "export default 2;"],
    "/ok/npm.js": [
      "text/javascript",
      "import one from 'npm:one@1.0.0'; import { url } from './meta.js'; export default one + url.slice(-7);",
    ],
    "/ok/meta.js": ["text/javascript", "export const url = import.meta.url;"],
    "/ok/bare.js": ["text/javascript", "import 'lodash';"],
    "/ok/file.js": ["text/javascript", "import 'file:///etc/passwd';"],
    "/ok/away.js": ["text/javascript", `import x from '${outside.origin}/x.js'; export default x;`],
    "/ok/data.json": ["application/json", '{"j":[1]}'],
    "/ok/data.js": [
      "text/javascript",
      "import a from 'data:text/javascript,export%20default%203'; export default a;",
    ],
    "/ok/deep.js": ["text/javascript", "(".repeat(1_000_000)],
    "/ok/huge.js": ["text/javascript", `"${"x".repeat(10 * 1_024 * 1_024)}"`],
  };
  if (url === "/ok/redirect.js") return response.writeHead(302, { location: `${outside.origin}/x.js` }).end();
  const found = code[url];
  if (found === undefined) return response.writeHead(404).end();
  return response.writeHead(200, { "content-type": found[0] }).end(found[1]);
});

const fetcher = createGuardedFetch({ allowHosts: [registry.host, files.host, outside.host] });
// Bundling yields to all else: on a busy machine it takes its time.
const base = { fetcher, registry: registry.url, bundleTimeoutMs: 280_000 };
const loaders: ModuleLoader[] = [];
const pools: SandboxPool[] = [];
const folders: string[] = [];
afterAll(async () => {
  for (const loader of loaders) loader.close();
  for (const pool of pools) await pool.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function makeLoader(options: Partial<ModuleLoaderOptions> = {}): ModuleLoader {
  const loader = createModuleLoader({ ...base, ...options });
  loaders.push(loader);
  return loader;
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tyche-modules-"));
  folders.push(folder);
  return folder;
}

let pool: SandboxPool;
beforeAll(async () => {
  const loader = makeLoader({ allowModules: ["npm:*", `${files.origin}/ok/`] });
  pool = createSandboxPool({ concurrency: 1, hostCalls: { import: createImportCall(loader) } });
  pools.push(pool);
  await pool.ready();
});

/** Returns the value of an expression in a source, passed through JSON, or the text of what it throws. */
async function valueOf(expression: string, limits: Partial<RunLimits> = {}): Promise<unknown> {
  const source = `const value = ${expression}; return Functions.encodeString(JSON.stringify(value ?? null));`;
  const result = await pool.run({
    source,
    limits: { maxResponseBytes: 4_096, timeoutMs: 280_000, ...limits },
  });
  if (result.ok) return JSON.parse(Buffer.from(result.bytes).toString()) as unknown;
  return `${result.error.kind}: ${result.error.message}`;
}

test("a CommonJS package has Node's namespace", async () => {
  expect(await valueOf("Object.entries(await import('npm:one'))")).toEqual([
    ["default", 21],
    ["module.exports", 21],
  ]);
});

test.each([
  ["one@1", 12],
  ["one@1.0.0", 1],
  ["one@^2.0.0", 21],
  ["one@2.0.0", 2],
  ["one@next", "beta"],
  ["one@latest", 21],
])("npm:%s is %j", async (name, expected) => {
  expect(await valueOf(`(await import('npm:${name}')).default`)).toBe(expected);
});

test("an ES package with dependencies, aliases, imports and exports", async () => {
  const names = "Object.keys(await import('npm:@scope/esm'))";
  expect(await valueOf(names)).toEqual(["default", "inner", "own", "sum"]);
  const parts =
    "await import('npm:@scope/esm').then(async (m) => [m.sum, m.inner, m.default.name, await m.own()])";
  expect(await valueOf(parts)).toEqual([14, "inner", "Named", "x"]);
  expect(await valueOf("(await import('npm:@scope/esm@1/sub/x')).x")).toBe("x");
});

test("versions are chosen from the top, whichever module is read first", async () => {
  expect(await valueOf("(await import('npm:top')).default")).toEqual([1, 1]);
});

test("a user's cache serves the next process, and where it can't be written memory does", async () => {
  const cacheDir = join(makeFolder(), "new", "tyche");
  const load = (folder: string) => makeLoader({ allowModules: ["npm:*"], cacheDir: folder }).load("npm:one");
  const first = await load(cacheDir);
  expect(first).toMatchObject({ ok: true });
  expect(statSync(cacheDir).mode & 0o777).toBe(0o700);
  const asked = registry.requests.length;
  expect(await load(cacheDir)).toEqual(first);
  expect(registry.requests).toHaveLength(asked);
  expect(await load("/dev/null/tyche")).toEqual(first);
});

test("it is a real namespace, the same one each time", async () => {
  expect(await valueOf("Object.prototype.toString.call(await import('npm:@scope/esm'))")).toBe(
    "[object Module]",
  );
  expect(await valueOf("(await import('npm:one')) === (await import('npm:one'))")).toBe(true);
});

test("CommonJS names are those that Node reads from the text, re-exports included", async () => {
  const names = "Object.keys(await import('npm:named'))";
  expect(await valueOf(names)).toEqual(["__esModule", "a", "b-c", "default", "module.exports", "more"]);
  const more = "await import('npm:named').then((m) => [m.a, m['b-c'], m.default.default, m.more])";
  expect(await valueOf(more)).toEqual([
    1,
    2,
    "d",
    "/node_modules/named/more/index.js|/node_modules/named/more",
  ]);
});

test("CommonJS runs in sloppy mode, and main needs no extension", async () => {
  expect(await valueOf("(await import('npm:sloppy')).default")).toEqual({ leaked: 5, self: true, octal: 8 });
});

test("require of an optional peer fails where it is caught", async () => {
  expect(await valueOf("(await import('npm:optional')).default")).toBe("MODULE_NOT_FOUND");
});

test("a module that awaits at its top level is waited for", async () => {
  const parts =
    "await import('npm:awaits').then((m) => [m.late, Object.keys(m), Object.prototype.toString.call(m)])";
  expect(await valueOf(parts)).toEqual(["late", ["default", "late"], "[object Module]"]);
});

test("what a module throws reaches the import", async () => {
  const caught = (name: string) =>
    valueOf(`await import('npm:${name}').catch((e) => [e instanceof RangeError, e.message])`);
  expect(await caught("throws")).toEqual([true, "at load"]);
  expect(await caught("awaits-and-throws")).toEqual([true, "late"]);
});

test("a built-in module that sources don't have loads, and fails as a blocked resource when used", async () => {
  expect(await valueOf("(await import('npm:blocked')).kind")).toBe("function");
  const text = "thrown: attempted access to blocked resource detected";
  expect(await valueOf("(await import('npm:blocked')).go()")).toBe(text);
  expect(
    await valueOf(
      "[typeof (await import('node:dgram')).createSocket, (await import('dgram')) === (await import('node:dgram'))]",
    ),
  ).toEqual(["function", true]);
});

test("text beyond ASCII, import.meta.url, JSON by attribute", async () => {
  expect(await valueOf("(await import('npm:unicode')).default")).toBe("é😀\u2028");
  expect(await valueOf("(await import('npm:meta')).url")).toBe("file:///module.js");
  expect(
    await valueOf("(await import('npm:@scope/esm/data.json', { with: { type: 'json' } })).default"),
  ).toEqual({ a: 1 });
  expect(
    await valueOf(`(await import('${files.origin}/ok/data.json', { with: { type: 'json' } })).default`),
  ).toEqual({ j: [1] });
});

test("modules by URL, relative imports, TypeScript, npm: inside", async () => {
  expect(await valueOf(`(await import('${files.origin}/ok/a.js')).default`)).toBe(3);
  expect(await valueOf(`(await import('${files.origin}/ok/npm.js')).default`)).toBe(
    "1_npm.js".replace("_npm", "/npm"),
  );
});

test("a module by URL may hold data: modules", async () => {
  expect(await valueOf(`(await import('${files.origin}/ok/data.js')).default`)).toBe(3);
});

test("data: modules need no one outside", async () => {
  const before = registry.requests.length;
  expect(
    await valueOf(
      "await import('data:text/javascript,export default 5; export const b = 6').then((m) => [m.default, m.b])",
    ),
  ).toEqual([5, 6]);
  expect(
    await valueOf("(await import('data:text/javascript;base64,ZXhwb3J0IGRlZmF1bHQgNw==')).default"),
  ).toBe(7);
  expect(
    await valueOf("(await import('data:application/json,{\"a\":1}', { with: { type: 'json' } })).default"),
  ).toEqual({ a: 1 });
  expect(await valueOf("await import('data:text/javascript,%%%').catch((e) => e.name)")).toBe("SyntaxError");
  expect(registry.requests.length).toBe(before);
});

const REFUSED: readonly (readonly [specifier: string, message: string])[] = [
  ["npm:absent-here", "npm package 'absent-here' does not exist."],
  ["npm:one@9", "Could not find npm package 'one' matching '9'."],
  ["npm:one@nope", "Could not find dist-tag 'nope' for npm package 'one'."],
  ["npm:one/x.js", "[ERR_MODULE_NOT_FOUND] Cannot find module 'npm:one@2.1.0/x.js'"],
  [
    "npm:@scope/esm/secret.js",
    "[ERR_PACKAGE_PATH_NOT_EXPORTED] Package subpath './secret.js' is not defined by \"exports\" in 'npm:@scope/esm@1.0.0/package.json'",
  ],
  [
    "npm:@scope/esm/data.json",
    'Attempted to load JSON module without specifying "type": "json" attribute in the import statement.',
  ],
  [
    "npm:tampered",
    "Failed caching npm package 'tampered@1.0.0'\n    0: Tarball checksum did not match what was provided by npm registry for tampered@1.0.0.",
  ],
  ["npm:weak", "Failed caching npm package 'weak@1.0.0'\n    0: The registry names no sha512 checksum."],
  [
    "npm:elsewhere",
    "Failed caching npm package 'elsewhere@1.0.0'\n    0: The registry names no tarball of its own.",
  ],
  [
    "npm:broken",
    'The module\'s source code could not be parsed: Unexpected "=" at npm:broken@1.0.0/index.js:1:18',
  ],
  ["npm:lacks", "[ERR_MODULE_NOT_FOUND] Cannot find package 'undeclared' imported from 'npm:lacks@1.0.0'"],
  [`${files.origin}/ok/absent.js`, `Module not found "${files.origin}/ok/absent.js".`],
  [`${files.origin}/ok/bare.js`, 'Relative import path "lodash" not prefixed with / or ./ or ../'],
  [
    `${files.origin}/ok/file.js`,
    'Relative import path "file:///etc/passwd" not prefixed with / or ./ or ../',
  ],
  [
    `${files.origin}/ok/deep.js`,
    `The module's source code could not be parsed: it is too large or too deeply nested at ${files.origin}/ok/deep.js`,
  ],
  [`${files.origin}/ok/huge.js`, `Import '${files.origin}/ok/huge.js' failed.`],
  ["node:nope", "No such built-in module: node:nope"],
  ["lodash", 'Import "lodash" not a dependency'],
];

test.each(REFUSED)("%s rejects as in Deno", async (specifier, message) => {
  const caught = await valueOf(
    `await import(${JSON.stringify(specifier)}).catch((e) => [e.name, e.code, e.message])`,
  );
  expect(caught).toEqual(["TypeError", "ERR_MODULE_NOT_FOUND", expect.stringContaining(message)]);
});

test("a specifier that is no string, options that are no object", async () => {
  expect(await valueOf("await import(Symbol()).catch((e) => e.message)")).toBe(
    "Cannot convert a Symbol value to a string",
  );
  expect(
    await valueOf("await import({ toString() { throw new Error('own') } }).catch((e) => e.message)"),
  ).toBe("own");
  expect(await valueOf("await import('npm:one', 5).catch((e) => e.message)")).toBe(
    "The second argument of import() must be an object",
  );
});

test("nothing outside the list is fetched, by a module or by a redirect", async () => {
  const before = outside.connections();
  const away = await valueOf(`await import('${files.origin}/ok/away.js').catch((e) => e.message)`);
  expect(away).toBe(`Requires import access to "${outside.host}", run again with the --allow-import flag`);
  expect(outside.connections()).toBe(before);
  const redirected = await valueOf(`await import('${files.origin}/ok/redirect.js').catch((e) => e.message)`);
  expect(redirected).toBe(
    `Requires import access to "${outside.host}", run again with the --allow-import flag`,
  );
});

test("a run has its number of imports and their size", async () => {
  const many = "await Promise.all([1, 2, 3, 4].map(() => import('npm:one')))";
  expect(await valueOf(many, { maxImports: 3 })).toBe("thrown: Exceeded maximum of 3 imports");
  expect(await valueOf("await import('npm:large')", { maxImportBytes: 200_000 })).toMatch(
    /^thrown: Import 'npm:large' failed: 30\d{4} bytes, at most 200000 are taken$/,
  );
});

test("without a list nothing may be imported, no socket opens, and the run's error says what to do", async () => {
  const closed = createSandboxPool({ concurrency: 1, hostCalls: { import: createImportCall(makeLoader()) } });
  pools.push(closed);
  const sockets = countSockets();
  const result = await closed.run({ source: "await import('npm:one')" });
  const other = await closed.run({ source: "await import('https://esm.sh/ms')" });
  sockets.restore();
  expect(sockets.opened()).toBe(0);
  expect(result).toMatchObject({
    ok: false,
    error: {
      message: 'Requires import access to "npm:one", run again with the --allow-import flag',
      detail: expect.stringContaining('the operator can allow it by adding "npm:one"') as string,
    },
  });
  expect(other).toMatchObject({
    error: { message: 'Requires import access to "esm.sh:443", run again with the --allow-import flag' },
  });
});

test("a list of versions holds for the version that a range means", async () => {
  const loader = makeLoader({ allowModules: ["npm:one@1"] });
  expect(await loader.load("npm:one@1.0.0")).toMatchObject({ ok: true });
  expect(await loader.load("npm:one")).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining("npm:one@2.1.0") as string },
  });
});

test("one download serves all who ask at once, and a failure is remembered for a moment", async () => {
  const loader = makeLoader({ allowModules: ["npm:*"] });
  const before = registry.requests.length;
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => loader.load("npm:named")));
  expect(new Set(outcomes.map((outcome) => outcome.ok && outcome.code)).size).toBe(1);
  expect(registry.requests.length - before).toBe(2);
  for (let i = 0; i < 3; i += 1) await loader.load("npm:absent-here");
  expect(registry.requests.length - before).toBe(3);
});

test("what was bundled is pinned on disk by its hash, private, and outlives the registry", async () => {
  const dataDir = makeFolder();
  const own = await startRegistry([plain("pinned", "1.0.0", { "index.js": "module.exports = 'first';" })]);
  const allowed = {
    dataDir,
    allowModules: ["npm:pinned"],
    registry: own.url,
    fetcher: createGuardedFetch({ allowHosts: [own.host] }),
  };
  const first = await makeLoader(allowed).load("npm:pinned");
  own.stop();
  expect(await makeLoader(allowed).load("npm:pinned")).toEqual(first);
  const folder = join(dataDir, "modules");
  const names = readdirSync(folder);
  expect(names.map((name) => name.replace(/^[0-9a-f]{64}/, "")).sort()).toEqual([".js", ".json"]);
  expect(names.map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  const record = JSON.parse(
    readFileSync(join(folder, names.find((name) => name.endsWith(".json")) ?? ""), "utf8"),
  ) as object;
  expect(record).toMatchObject({
    specifier: "npm:pinned",
    sources: {
      packages: [
        { name: "pinned", version: "1.0.0", integrity: expect.stringMatching(/^sha512-/) as string },
      ],
    },
  });
  expect(await makeLoader({ ...allowed, allowModules: [] }).load("npm:pinned")).toMatchObject({ ok: false });
  writeFileSync(join(folder, names.find((name) => name.endsWith(".js")) ?? ""), "export default 'changed'");
  expect(await makeLoader(allowed).load("npm:pinned")).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining("Bad response: 503") as string },
  });
});

test("an unreachable registry is named", async () => {
  const loader = makeLoader({ allowModules: ["npm:*"], registry: "http://127.0.0.1:1/" });
  expect(await loader.load("npm:one")).toMatchObject({
    failure: {
      message:
        'Failed loading http://127.0.0.1:1/one for package "one"\n    0: error sending request for url (http://127.0.0.1:1/one)',
    },
  });
});
