/**
 * Builds `dist`, the contents of the npm package: every module compiled (Node doesn't strip types inside node_modules), the
 * contracts and the sandbox's child as `npm run prepare` builds them, and the assets beside the code. npm's `prepack` runs it.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildVerifierPage } from "../src/app/verifierPage.ts";
import { buildBrowser } from "../src/browser/build.ts";
import { buildChild } from "../sandbox/build/buildChild.ts";
import { partsFile } from "../sandbox/host/childParts.ts";
import { buildKernel, PACKAGED_KERNEL } from "../sandbox/build/buildKernel.ts";
import { ASSETS, MODULE_URL } from "./contents.ts";
import { writeContracts } from "./contracts.ts";
import { compileContracts } from "../src/chainlink/contracts/compile.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const DIST = path.join(ROOT, "dist");

/** Relative imports in declarations, which the compiler leaves unchanged. */
const DECLARED_IMPORT = /(from |import\()"(\.{1,2}\/[^"]+)\.ts"/g;

rmSync(DIST, { recursive: true, force: true });
await compileContracts();
execFileSync(path.join(ROOT, "node_modules/.bin/tsc"), ["-p", "tsconfig.pack.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
for (const name of readdirSync(DIST, { recursive: true, encoding: "utf8" })) {
  const file = path.join(DIST, name);
  if (name.endsWith(".d.ts"))
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(DECLARED_IMPORT, '$1"$2.js"'));
  else if (name.endsWith(".js"))
    writeFileSync(
      file,
      readFileSync(file, "utf8").replaceAll(MODULE_URL, 'new URL("$1.js", import.meta.url)'),
    );
}
for (const name of ASSETS)
  cpSync(path.join(ROOT, name), path.join(DIST, name), {
    recursive: true,
    filter: (source) => !/(?<!\.d)\.ts$/.test(source),
  });
writeContracts(DIST);
mkdirSync(path.join(DIST, "sandbox"), { recursive: true });
const child = await buildChild();
cpSync(child, path.join(DIST, "sandbox/child.cjs"));
cpSync(partsFile(child), path.join(DIST, "sandbox/child.parts"));
cpSync(buildKernel(), path.join(DIST, "sandbox", PACKAGED_KERNEL));
cpSync(await buildBrowser(), path.join(DIST, "browser"), { recursive: true });
writeFileSync(path.join(DIST, "verifier.html"), await buildVerifierPage());
const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
writeFileSync(path.join(DIST, "package.json"), JSON.stringify({ type: "module", version }));
