/**
 * A newcomer's journey: an empty folder, the package, a first result, verified by the command and in a browser, and a preset of their own.
 * Runs on the Node that runs the tests, where the steps of docs/deploy.md install the package, and on the oldest Node that it supports, where npm
 * does in an empty folder; each prints how long its steps took. Needs the npm registry.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../web/support/chromium.ts";
import { createVisitor } from "../web/support/visitor.ts";
import { findBlocks } from "./support/pages.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const MAX_MEGABYTES = 255;
const OLDEST_NODE = "24.21.0";

const folder = mkdtempSync(path.join(tmpdir(), "tyche-journey-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let archive: string;
beforeAll(() => {
  archive = pack();
});

/**
 * Returns a newcomer's environment: of the variables for the tests' own npm and Node, it keeps only the package source, its cache and
 * proxies, and trusted certificates.
 */
function createEnvironment(nodeFolder: string): NodeJS.ProcessEnv {
  const own =
    /^(npm_(?!config_(cache|registry|.*proxy)$)|NODE_(?!EXTRA_CA_CERTS)|VITEST|TYCHE_|INIT_CWD|CI$)/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
  return { ...env, PATH: `${nodeFolder}${path.delimiter}${process.env["PATH"]}` };
}

/** Packs a copy of the checkout: packing writes `dist`, which other tests read. */
function pack(): string {
  const copy = path.join(folder, "checkout");
  const left = new Set(["node_modules", ".git", ".tyche", "dist", "coverage"]);
  mkdirSync(copy);
  for (const name of readdirSync(ROOT))
    if (!left.has(name)) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
  symlinkSync(path.join(ROOT, "node_modules"), path.join(copy, "node_modules"));
  runNpm(["pack", "--pack-destination", folder], copy, createEnvironment(path.dirname(process.execPath)));
  return path.join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".tgz"))!,
  );
}

/** npm as the tests were started with it, so that it can reach the registry. */
const { npm_node_execpath: node, npm_execpath: npm = "npm" } = process.env;
const runNpm = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): string =>
  node === undefined ? run(npm, args, cwd, env) : run(node, [npm, ...args], cwd, env);

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): string {
  return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Installs a version of Node from the npm registry; returns the folder of its executable. */
function installNode(version: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const env = createEnvironment(path.dirname(process.execPath));
  const home = mkdtempSync(path.join(folder, "node-"));
  runNpm(["install", "--no-audit", "--no-fund", "--prefer-offline", `${name}@${version}`], home, env);
  return path.join(home, "node_modules", name, "bin");
}

test.each([
  ["publint", ["run", "--strict"]],
  ["attw", ["--profile", "esm-only", "--no-color"]],
])("%s finds nothing wrong with the package", (tool, flags) => {
  const command = path.join(ROOT, "node_modules/.bin", tool);
  expect(spawnSync(command, [...flags, archive], { encoding: "utf8" })).toMatchObject({ status: 0 });
});

const OWN_NODE = (): string => path.dirname(process.execPath);

/** An installed package: the folder that its commands run in, and the command that starts the service. */
interface Installed {
  readonly home: string;
  readonly start: readonly string[];
}

test.for([
  ["the Node of the tests, by the steps of docs/deploy.md,", OWN_NODE, installBySteps],
  [`Node ${OLDEST_NODE}`, () => installNode(OLDEST_NODE), installByNpm],
] as const)(
  "on %s the package installs, starts, and gives a verified result",
  async ([name, findNode, install]) => {
    const env = createEnvironment(findNode());
    const times: string[] = [];
    let began = performance.now();
    const took = (what: string): void => {
      times.push(`${what} ${((performance.now() - began) / 1000).toFixed(1)} s`);
      began = performance.now();
    };

    const { home, start } = install(env);
    const tyche = (...args: readonly string[]): string =>
      run(path.join(home, "node_modules/.bin/tyche"), args, home, env).trim();
    took("installed");
    // A compiler reads the same declarations whatever Node has installed them.
    if (findNode === OWN_NODE) checkTypes(home, env);
    const megabytes = Number(run("du", ["-sm", "node_modules"], home, env).split("\t")[0]);
    expect(megabytes).toBeLessThan(MAX_MEGABYTES);
    tyche("preset", "new", "pick");
    began = performance.now();
    await startService(home, env, start);
    took("ready");
    const result = JSON.parse(tyche("call", "coinflip", "--json")) as Record<string, string>;
    const verified = JSON.parse(tyche("verify", "sepolia", result["vrfv2Hash"]!, "--json")) as object;
    expect([result, verified]).toMatchObject([{ success: true }, { valid: true }]);
    took("first result, verified by the command");
    await verifyInBrowser(result["url"]!);
    took("verified in a browser");
    console.log(`${name}: ${times.join(", ")}; ${megabytes} MB on disk`);

    // A preset in the folder is served beside the built-in ones, and so is one added while the service runs.
    tyche("preset", "new", "later");
    const served = (): readonly string[] =>
      [...tyche("client", "generate").matchAll(/^ {2}(\w+):/gm)].map(([, preset]) => preset!);
    await expect.poll(served).toEqual(expect.arrayContaining(["coinflip", "later", "pick"]));
  },
);

/** Installs the package in an empty folder. */
function installByNpm(env: NodeJS.ProcessEnv): Installed {
  const home = mkdtempSync(path.join(folder, "empty-"));
  runNpm(["install", "--no-audit", "--no-fund", "--prefer-offline", archive], home, env);
  return { home, start: [path.join(home, "node_modules/.bin/tyche"), "start"] };
}

/** Follows the steps of docs/deploy.md on a machine of its own: its folders are below one, and users and services are systemd's part. */
function installBySteps(env: NodeJS.ProcessEnv): Installed {
  const machine = mkdtempSync(path.join(folder, "machine-"));
  cpSync(archive, path.join(machine, path.basename(archive)));
  const here = (text: string): string =>
    text
      .replaceAll(/(?<=[\s=])\/(?=(?:etc|opt|var)\/)/g, `${machine}/`)
      .replaceAll("/usr/bin/node", process.execPath);
  const page = "docs/deploy.md";
  const [container, unit, oracle] = findBlocks(page, readFileSync(path.join(ROOT, page), "utf8"))
    .filter(({ info }) => info === "skip: test/project/journey.slow.test.ts")
    .map(({ text }) => here(text));
  mkdirSync(path.join(machine, "etc/systemd/system"), { recursive: true });
  const steps = (text: string): string =>
    run("bash", ["-euc", `apt-get() { :; }; useradd() { :; }; systemctl() { :; }\n${text}`], machine, env);
  steps(unit!);
  steps(oracle!);
  steps(container!);
  expect(readdirSync(machine)).toEqual(
    expect.arrayContaining(["Dockerfile", "compose.yaml", "compose.public.yaml", "deploy"]),
  );
  const read = (name: string): string =>
    here(readFileSync(path.join(machine, "etc/systemd/system", name), "utf8"));
  expect(read("tyche-oracle.service")).toContain(`TYCHE_DATA_DIR=${machine}/var/lib/tyche-oracle`);
  const [, command] = /^ExecStart=(.*)$/m.exec(read("tyche.service"))!;
  return { home: path.join(machine, "opt/tyche"), start: command!.split(" ") };
}

/** Compiles a browser's program on `tyche/client` and `tyche/verify`, with every declaration checked and no types of Node. */
function checkTypes(home: string, env: NodeJS.ProcessEnv): void {
  writeFileSync(
    path.join(home, "roll.mts"),
    `import { createClient } from "tyche/client";
import { verifyTransaction } from "tyche/verify";
const { parsedResult } = await createClient({ baseUrl: "/", apiKey: "" }).preset("range", { min: 1, max: 6 });
console.log(parsedResult.length, verifyTransaction.length);\n`,
  );
  const lib = "es2024,dom,dom.iterable";
  const flags = [
    "--noEmit",
    "--strict",
    "--target",
    "es2024",
    "--lib",
    lib,
    "--module",
    "nodenext",
    "--types",
    "",
  ];
  run(path.join(ROOT, "node_modules/.bin/tsc"), [...flags, "roll.mts"], home, env);
}

/** Starts the service on a free port, which commands in that folder find. It ends with the test. */
async function startService(
  home: string,
  env: NodeJS.ProcessEnv,
  [command, ...args]: readonly string[],
): Promise<void> {
  const service = spawn(command!, [...args, "--port", "0"], {
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => service.once("exit", resolve));
  onTestFinished(async () => {
    service.kill("SIGTERM");
    expect(await ended).toBe(0);
  });
  let output = "";
  return new Promise((resolve, reject) => {
    service.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
      if (output.includes("Ready in")) resolve();
    });
    void ended.then((code) => reject(new Error(`the service ended with ${code}:\n${output}`)));
  });
}

/** Follows the link from the result's own page to the verifier. */
async function verifyInBrowser(resultUrl: string): Promise<void> {
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const visitor = await createVisitor(browser);
  await visitor.open(resultUrl);
  await visitor.page.getByRole("link", { name: "The verifier" }).click();
  await visitor.page.getByRole("heading", { name: "Valid", exact: true }).waitFor();
  expect(visitor.troubles).toEqual([]);
}
