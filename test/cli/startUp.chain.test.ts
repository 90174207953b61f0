import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Packages that every command may load: each is small. */
const PACKAGES = ["commander", "ipaddr.js", "picocolors"];

/** The package that checks a service's answer. */
const CHECKER = "typebox";

/** Folders of ours that hold the engine; types may come from anywhere. */
const ENGINE = /^(?:sandbox|src\/(?:app|chainlink|config|evm|explorer|http|oracle|store|verify|vrf|web))\//;

const folder = mkdtempSync(path.join(tmpdir(), "tyche-modules-"));
const list = path.join(folder, "modules");
/** Writes the URL of every module that the process loads. */
const RECORDER = `import { registerHooks } from "node:module";
  import { writeFileSync } from "node:fs";
  const urls = new Set();
  registerHooks({ resolve(specifier, context, next) {
    const found = next(specifier, context);
    urls.add(found.url);
    return found;
  } });
  process.on("exit", () => writeFileSync(${JSON.stringify(list)}, [...urls].join("\\n")));`;

const ROOT = new URL("../../", import.meta.url).href;
const ENTRY = path.resolve(import.meta.dirname, "../../src/tyche.ts");
let service: ReturnType<typeof createServer>;
let url: string;

beforeAll(async () => {
  service = createServer((request, response) => {
    const data = request.method === "POST" ? { id: "req_1" } : { items: [], nextCursor: null, linked: [] };
    response.end(JSON.stringify({ data }));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command, and returns the packages that it loaded, and the files of the engine. */
async function loadedBy(args: readonly string[]) {
  const recorder = `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`;
  const env = { ...process.env, TYCHE_API_KEY: "tyche_key", TYCHE_URL: url };
  await promisify(execFile)(process.execPath, [recorder, ENTRY, ...args], { env });
  const urls = readFileSync(list, "utf8").split("\n");
  const packages = urls.flatMap((one) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(one)?.[1] ?? []);
  const files = urls.filter((one) => one.startsWith(ROOT)).map((one) => one.slice(ROOT.length));
  const engine = files.filter((file) => ENGINE.test(file));
  return { packages: [...new Set(packages)].toSorted(), engine };
}

test.each([
  { args: ["--version"] },
  { args: ["--help"] },
  { args: ["start", "--help"] },
  { args: ["completion", "bash"] },
])("tyche $args loads nothing of the engine", async ({ args }) => {
  expect(await loadedBy(args)).toEqual({ packages: PACKAGES, engine: [] });
});

test.each([
  { args: ["call", "coinflip", "--async"] },
  { args: ["requests", "list"] },
  { args: ["consumer", "list"] },
])("tyche $args, which calls a service, loads no more than what checks its answer", async ({ args }) => {
  expect(await loadedBy(args)).toEqual({ packages: [...PACKAGES, CHECKER], engine: [] });
});

test("a command runs for a user who may not read the working directory, as with runuser in /root", async () => {
  const closed = mkdtempSync(path.join(tmpdir(), "tyche-closed-"));
  try {
    const chmod = ["sh", "-c", 'chmod 0 .; exec "$0" "$@"', process.execPath, ENTRY, "--version"];
    // Root may read a folder of mode 0 by rights that it gives up here.
    const isRoot = process.getuid!() === 0;
    const rights = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
    const [command, ...args] = [...rights, ...chmod] as [string, ...string[]];
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: closed });
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^\d+\.\d+/), stderr: "" });
  } finally {
    rmSync(closed, { recursive: true });
  }
});
