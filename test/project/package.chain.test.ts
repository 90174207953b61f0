import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ASSETS, MODULE_URL } from "../../pack/contents.ts";
import { writeContracts } from "../../pack/contracts.ts";
import { loadArtifacts } from "../../src/chainlink/contracts/artifacts.ts";
import { readCompilationUnits } from "../../src/chainlink/contracts/compilerInput.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
  exports: Record<string, string | { types: string; default?: string }>;
  bin: Record<string, string>;
  files: string[];
};

const filesOf = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
/**
 * Compiled and run on the user's machine. The guest, the child and the verifier's page become a single file each, and the browser's part is bundled.
 */
const sources = [...filesOf("src"), ...filesOf("sandbox")].filter(
  (file) =>
    file.endsWith(".ts") && !/^(sandbox\/(guest|host\/child)|src\/verify\/page|src\/browser)\//.test(file),
);

let packed: readonly string[];
/** The package's files outside `dist`, by the command that creates it, without the build: other tests check the contents of dist. */
beforeAll(() => {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const { files } = (JSON.parse(String(output)) as { files: { path: string }[] }[])[0]!;
  packed = files.map(({ path }) => path).filter((file) => !file.startsWith("dist/"));
});

test("the package holds the compiled code, the command, the pages and what they name, and no source, test or tool", () => {
  const pages = /^(docs\/|src\/client\/python\/tyche\/\w+\.(py|typed)$)/;
  expect(packed.filter((file) => !pages.test(file)).toSorted()).toEqual([
    "CHANGELOG.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "bin/preinstall.js",
    "bin/supportedNode.js",
    "bin/tyche.js",
    "compose.public.yaml",
    "compose.yaml",
    "deploy/.env.example",
    "deploy/alerts.yml",
    "deploy/dashboard.json",
    "deploy/kubernetes/base/kustomization.yaml",
    "deploy/kubernetes/base/tyche.yaml",
    "deploy/kubernetes/embedded/backup.yaml",
    "deploy/kubernetes/embedded/kustomization.yaml",
    "deploy/kubernetes/ingress/ingress.yaml",
    "deploy/kubernetes/ingress/kustomization.yaml",
    "deploy/kubernetes/public/disruption.yaml",
    "deploy/kubernetes/public/kustomization.yaml",
    "deploy/kubernetes/public/oracle.yaml",
    "deploy/oracle.example.json",
    "deploy/service.example.json",
    "deploy/tyche-backup.service",
    "deploy/tyche-backup.timer",
    "deploy/tyche-oracle.service",
    "deploy/tyche.service",
    "foundry/Tyche.sol",
    "package.json",
    "sandbox/README.md",
    "src/client/python/pyproject.toml",
  ]);
});

test("what the package's pages link to is in the package", () => {
  const links = packed
    .filter((file) => file.endsWith(".md"))
    .flatMap((page) =>
      [...readFileSync(path.join(ROOT, page), "utf8").matchAll(/\]\(([\w./-]+\.\w+)(?:#[^)]*)?\)/g)].map(
        ([, link]) => path.join(path.dirname(page), link!),
      ),
    );
  expect(links.length).toBeGreaterThan(100);
  // Who contributes has a checkout.
  expect([...new Set(links)].filter((link) => !packed.includes(link))).toEqual(["CONTRIBUTING.md"]);
});

test("every export is compiled from a source that is there", () => {
  const targets = Object.values(manifest.exports).flatMap((one) =>
    typeof one === "string" ? [one] : Object.values(one),
  );
  const missing = targets
    .map((target) => target.replace("./dist/", "./").replace(/(\.d)?\.(js|ts)$/, ""))
    .filter((file) => ![".ts", ".d.ts", ""].some((ending) => existsSync(path.join(ROOT, file + ending))));
  expect(missing).toEqual([]);
});

test("what the code imports is installed with the package", () => {
  // The compilers run when the package is built.
  const builders = /contracts\/(compile|solcWorker|compilerInput)\.ts$/;
  const strangers = sources
    .filter((file) => !builders.test(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(ROOT, file), "utf8");
      const names = [...text.matchAll(/^(?:import|export) (?!type )[^;]*? from "([^".][^"]*)";/gm)].map(
        ([, name]) => name!,
      );
      return names.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)![0]).map((name) => `${file}: ${name}`);
    })
    .filter((entry) => {
      const name = entry.split(": ")[1]!;
      return !isBuiltin(name) && !(name in manifest.dependencies);
    });
  expect(strangers).toEqual([]);
});

test("every file that a module names is in the package", () => {
  const named = sources.flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), "utf8");
    return [...text.matchAll(/new URL\("([^"]+\.ts)", import\.meta\.url\)/g)].map(([whole]) => whole);
  });
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((whole) => !new RegExp(MODULE_URL.source).test(whole))).toEqual([]);
  const others = [...filesOf("src"), ...filesOf("plugins")].filter(
    (file) =>
      !/\.(ts|sol|md)$/.test(file) &&
      !file.startsWith("src/verify/page/") &&
      !file.startsWith("src/browser/") &&
      // A package of its own, for another registry.
      !file.startsWith("src/client/python/") &&
      !ASSETS.some((asset) => file === asset || file.startsWith(`${asset}/`)),
  );
  expect(others).toEqual([]);
});

test("in a checkout a program imports every entry point by its name", () => {
  const names = Object.entries(manifest.exports).flatMap(([name, entry]) =>
    typeof entry === "string" || entry.default === undefined ? [] : [path.posix.join("tyche", name)],
  );
  expect(names).toEqual(["tyche", "tyche/client", "tyche/hardhat", "tyche/sandbox", "tyche/verify"]);
  const program = `for (const name of ${JSON.stringify(names)}) console.log(Object.keys(await import(name)).length > 0)`;
  // `npm ci` has written the modules they resolve to (`prepare`).
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(output.trim().split("\n")).toEqual(names.map(() => "true"));
});

test("in a checkout the client needs no Node that strips types", () => {
  const program = `console.log(typeof (await import("tyche/client")).createClient)`;
  const flags = ["--no-strip-types", "--input-type=module", "-e", program];
  expect(execFileSync(process.execPath, flags, { cwd: ROOT, encoding: "utf8" })).toBe("function\n");
});

test("the package knows the contracts and their sources where nothing else is installed", () => {
  const dist = mkdtempSync(path.join(tmpdir(), "tyche-dist-"));
  onTestFinished(() => rmSync(dist, { recursive: true, force: true }));
  const code = /^(chainlink|chainlink\/contracts|lib)(\/[A-Za-z]+\.ts)?$/;
  const source = path.join(ROOT, "src");
  cpSync(source, path.join(dist, "src"), {
    recursive: true,
    filter: (file) => file === source || code.test(path.relative(source, file)),
  });
  writeContracts(dist);
  const program = `
    const { loadArtifacts } = await import("./src/chainlink/contracts/artifacts.ts");
    const { readCompilationUnits } = await import("./src/chainlink/contracts/compilerInput.ts");
    console.log(JSON.stringify([loadArtifacts(), readCompilationUnits()]));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: dist,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(JSON.parse(output)).toEqual([loadArtifacts(), readCompilationUnits()]);
});
