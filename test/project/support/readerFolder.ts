import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { TYCHE_ENTRY } from "../../support/tyche.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** Not npm's launcher of it, which exits with 0 whatever forge does. */
const FORGE = path.join(
  ROOT,
  `node_modules/@foundry-rs/forge-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}/bin/forge`,
);
/** The compiler that forge would download, as npm has it: asked for its version, or with the standard JSON on its input. */
const SOLC = `#!/usr/bin/env node
const solc = require("solc");
if (process.argv.includes("--version")) console.log(solc.version());
else process.stdout.write(solc.compile(require("node:fs").readFileSync(0, "utf8")));
`;

/** Creates the folder that a reader of the documentation has after installation, with `npx tyche` and `tyche/client`. */
export function makeReaderFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-docs-"));
  mkdirSync(path.join(folder, "bin"));
  // npx itself would add a second to each command, and needs the registry if the package is not installed.
  const npx = '#!/bin/sh\n[ "$1" != --no ] || shift 2\nexec "$@"\n';
  writeFileSync(path.join(folder, "bin/npx"), npx, { mode: 0o755 });
  const tyche = `#!/bin/sh\nexec "${process.execPath}" "${TYCHE_ENTRY}" "$@"\n`;
  writeFileSync(path.join(folder, "bin/tyche"), tyche, { mode: 0o755 });
  symlinkSync(path.join(ROOT, "node_modules/.bin/hardhat"), path.join(folder, "bin/hardhat"));
  symlinkSync(FORGE, path.join(folder, "bin/forge"));
  writeFileSync(path.join(folder, "bin/solc"), SOLC, { mode: 0o755 });
  symlinkSync(process.execPath, path.join(folder, "bin/node"));
  mkdirSync(path.join(folder, "node_modules"));
  const packages = {
    tyche: ".",
    hardhat: "node_modules/hardhat",
    solc: "node_modules/solc-0.8.19",
    viem: "node_modules/viem",
  };
  for (const [name, target] of Object.entries(packages))
    symlinkSync(path.join(ROOT, target), path.join(folder, "node_modules", name));
  return folder;
}

/** Returns the environment of a reader's shell in that folder. */
export function readerEnvironment(folder: string): Record<string, string> {
  return {
    HOME: folder,
    PATH: `${path.join(folder, "bin")}${path.delimiter}${process.env["PATH"] ?? ""}`,
    NO_COLOR: "1",
    FOUNDRY_SOLC: path.join(folder, "bin/solc"),
    // In place of pip, which needs the registry.
    PYTHONPATH: path.join(ROOT, "src/client/python"),
    PYTHONDONTWRITEBYTECODE: "1",
    // Many commands load the same modules, in this run and in the next.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? path.join(folder, "cache"),
  };
}
