/**
 * Tries the API's description with foreign tools: Redocly and Spectral must find nothing by their recommended rules, and the clients that three
 * generators make of it must compile. Needs the npm registry, and some 250 MB in the temporary folder; not part of the suite for that, and
 * because the generators need TypeScript 5 beside ours.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startTycheProcess } from "../../support/tyche.ts";

const TOOLS = [
  "@redocly/cli@2.77.0",
  "@stoplight/spectral-cli@6.16.3",
  "openapi-typescript@7.13.0",
  "@hey-api/openapi-ts@0.99.0",
  "swagger-typescript-api@13.13.0",
  "typescript@5.9.3",
];
const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  module: "nodenext",
  target: "es2023",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
};
const STEPS: readonly (readonly [what: string, command: string])[] = [
  ["Redocly's recommended rules", "redocly lint openapi.json --max-problems=100 --config redocly.yaml"],
  ["Spectral's recommended rules", "spectral lint openapi.json --ruleset ruleset.json --fail-severity=hint"],
  ["openapi-typescript", "openapi-typescript openapi.json -o openapiTypescript.ts"],
  ["Hey API", "openapi-ts -i openapi.json -o heyApi -c @hey-api/client-fetch"],
  ["swagger-typescript-api", "swagger-typescript-api generate -p openapi.json -o swaggerTypescriptApi"],
  ["the clients compile", "tsc -p tsconfig.json"],
];

const folder = mkdtempSync(path.join(tmpdir(), "tyche-openapi-"));
const run = (command: string): { readonly isOk: boolean; readonly output: string } => {
  const { status, stdout, stderr } = spawnSync(command, { cwd: folder, shell: true, encoding: "utf8" });
  return { isOk: status === 0, output: `${stdout}${stderr}` };
};

try {
  const tyche = await startTycheProcess();
  const description = await (await fetch(`${tyche.url}/openapi.json`)).text();
  await tyche.stop();
  const files = {
    "package.json": "{}",
    "openapi.json": description,
    "redocly.yaml": "extends: [recommended]\ntelemetry: 'off'\n",
    "ruleset.json": JSON.stringify({ extends: [["spectral:oas", "recommended"]] }),
    "tsconfig.json": JSON.stringify({
      compilerOptions: COMPILER_OPTIONS,
      include: ["openapiTypescript.ts", "heyApi", "swaggerTypescriptApi"],
    }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const install = run(`npm install --ignore-scripts --no-audit --no-fund ${TOOLS.join(" ")}`);
  if (!install.isOk) throw new Error(install.output);
  for (const [what, command] of STEPS) {
    const beganMs = performance.now();
    const { isOk, output } = run(`npx --no-install ${command}`);
    const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
    console.log(`${isOk ? "✓" : "✗"} ${what}, ${seconds} s`);
    const warnings = /^.*\b(?:warning|You have \d+).*$/im.exec(output)?.[0];
    if (!isOk) {
      process.exitCode = 1;
      console.log(output);
    } else if (warnings !== undefined) console.log(`  ${warnings.trim()}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
