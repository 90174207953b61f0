/**
 * What a user goes through, from an empty folder to a verified result of a preset of one's own: packs, installs, starts, calls, verifies.
 * Prints how long each step took and what it left on disk; ends with exit code 1 where something is not as it should be.
 *
 * `node pack/journey.ts` needs the npm registry. The Node that runs it, 24 or 26, is the one that it tries.
 */
import { execFileSync, spawn, type ExecFileSyncOptions } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = path.resolve(import.meta.dirname, "..");
const MAX_MEGABYTES = 250;
const MAX_START_SECONDS = 30;
const OWN_PRESET_LIMIT_MS = 30_000;

const folder = mkdtempSync(path.join(tmpdir(), "tyche-journey-"));
const env = {
  ...process.env,
  PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"] ?? ""}`,
};
const run = (command: string, args: readonly string[], options: ExecFileSyncOptions = {}): string =>
  String(execFileSync(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"], ...options }));
const tyche = (...args: readonly string[]): string =>
  run(path.join(folder, "node_modules/.bin/tyche"), args).trim();

function timed<Result>(what: string, work: () => Result): Result {
  const began = performance.now();
  const result = work();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}

function assert(holds: boolean, what: string): void {
  console.log(`${holds ? "ok    " : "FAILED"} ${what}`);
  if (!holds) process.exitCode = 1;
}

console.log(`Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`);
timed("npm pack", () => run("npm", ["pack", "--pack-destination", folder], { cwd: ROOT }));
const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"))!;
timed("npm install", () => run("npm", ["install", "--no-audit", "--no-fund", `./${archive}`]));
const megabytes = Number(run("du", ["-sm", "node_modules"]).split("\t")[0]);
assert(megabytes < MAX_MEGABYTES, `${megabytes} MB on disk, less than ${MAX_MEGABYTES}`);

tyche("preset", "new", "pick");
const began = performance.now();
const service = spawn(path.join(folder, "node_modules/.bin/tyche"), ["start", "--port", "0"], {
  cwd: folder,
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  await new Promise<void>((resolve, reject) => {
    let output = "";
    service.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
      if (output.includes("Ready in")) resolve();
    });
    service.once("exit", (code) => reject(new Error(`the service ended with ${code}:\n${output}`)));
  });
  const result = JSON.parse(tyche("call", "coinflip", "--json")) as { success: boolean; vrfv2Hash: string };
  const verified = JSON.parse(tyche("verify", "sepolia", result.vrfv2Hash, "--json")) as { valid: boolean };
  const seconds = (performance.now() - began) / 1000;
  assert(result.success && verified.valid, "the first result is verified");
  assert(seconds < MAX_START_SECONDS, `${seconds.toFixed(1)} s from the start to the verified result`);
  assert(
    /\S/.test(tyche("call", "pick", ...pickParams())),
    "a preset of plugins/ is served beside the others",
  );
  tyche("preset", "new", "later");
  const deadline = Date.now() + OWN_PRESET_LIMIT_MS;
  const isServed = (): boolean => /^ {2}later:/m.test(tyche("client", "generate"));
  while (!isServed() && Date.now() < deadline) await sleep(200);
  assert(isServed(), "one that comes later is served without a restart");
} finally {
  service.removeAllListeners("exit");
  const ended = new Promise((resolve) => service.once("exit", resolve));
  service.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

/** Parameters of the first example of the preset that `tyche preset new` writes. */
function pickParams(): string[] {
  const [preset] = JSON.parse(tyche("preset", "list", "--json")) as {
    parameters: { properties: Record<string, { type?: string; default?: unknown }> };
  }[];
  return Object.entries(preset?.parameters.properties ?? {}).flatMap(([name, { type, default: fallback }]) =>
    fallback === undefined ? [`${name}=${type === "array" ? '["a","b"]' : "1"}`] : [],
  );
}
