/**
 * How long does a source wait for the first import of an npm package?
 *
 * Question: packages with many files and with many dependencies, imported by a source in this sandbox and by Deno, in one run on one
 * machine with one network: the first import with an empty cache, and the next one in a new process that finds the cache. The bound:
 * our first import takes at most a second longer than Deno's. It needs the npm registry, so it also measures the state of the
 * network: the two take turns, and the median of the rounds counts. Left out: what the source does with the package.
 *
 * Run: `node bench/imports.bench.ts`
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createSandboxNetwork, createSandboxPool, DEVELOPER_NETWORK } from "../sandbox/index.ts";
import { median } from "./support/median.ts";

const PACKAGES = ["npm:ethers@5.7.2", "npm:@aws-sdk/client-dynamodb"];
const ROUNDS = 3;
/** How much longer our first import may take than Deno's, in ms. */
const ALLOWANCE_MS = 1_000;

interface Round {
  readonly firstMs: number;
  readonly nextMs: number;
  /** How the import ended. */
  readonly end: string;
}

async function timed(action: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await action();
  return performance.now() - startMs;
}

async function withFolder(measure: (folder: string) => Promise<Round>): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), "tyche-imports-"));
  try {
    return await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Source that imports a package and returns the outcome: on loading, a package may use what the nodes refuse, such as the environment. */
const importing = (specifier: string): string =>
  `await import(${JSON.stringify(specifier)}).then(() => "loaded", (error) => error.message.split("\\n")[0])`;

/** Includes Deno's start, some 50 ms, just as our time includes the start of the process that bundles. */
async function measureDeno(specifier: string): Promise<Round> {
  return withFolder(async (folder) => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      DENO_DIR: folder,
      DENO_NO_UPDATE_CHECK: "1",
      DENO_TLS_CA_STORE: "mozilla,system",
      NO_COLOR: "1",
    };
    const program = fileURLToPath(new URL("../node_modules/.bin/deno", import.meta.url));
    writeFileSync(join(folder, "main.mjs"), `console.log(${importing(specifier)})`);
    // The flags that functions-toolkit uses.
    const flags = ["run", "--quiet", "--no-prompt", "--allow-net", "main.mjs"];
    let end = "";
    const run = async (): Promise<void> => {
      const child = spawn(program, flags, { env, cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
      end = (await text(child.stdout)).trim();
    };
    return { firstMs: await timed(run), nextMs: await timed(run), end };
  });
}

async function measureOurs(specifier: string): Promise<Round> {
  return withFolder(async (dataDir) => {
    let end = "";
    const run = async (): Promise<number> => {
      const network = createSandboxNetwork({ ...DEVELOPER_NETWORK, dataDir });
      const pool = createSandboxPool({ concurrency: 1, hostCalls: network.hostCalls });
      try {
        await pool.ready();
        return await timed(async () => {
          const result = await pool.run({
            source: `return Functions.encodeString(${importing(specifier)})`,
            limits: { timeoutMs: 60_000 },
          });
          if (!result.ok) throw new Error(result.error.detail ?? result.error.message);
          end = Buffer.from(result.bytes).toString();
        });
      } finally {
        network.close();
        await pool.close();
      }
    };
    return { firstMs: await run(), nextMs: await run(), end };
  });
}

for (const specifier of PACKAGES) {
  const deno: Round[] = [];
  const ours: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    deno.push(await measureDeno(specifier));
    ours.push(await measureOurs(specifier));
  }
  const [denoMs, oursMs] = [median(deno.map((one) => one.firstMs)), median(ours.map((one) => one.firstMs))];
  const show = (rounds: readonly Round[], key: "firstMs" | "nextMs"): string =>
    rounds.map((one) => one[key].toFixed(0)).join(", ");
  process.stdout.write(
    `${specifier}\n` +
      `  first: Deno ${denoMs.toFixed(0)} ms (${show(deno, "firstMs")}), ours ${oursMs.toFixed(0)} ms (${show(ours, "firstMs")})\n` +
      `  ended: Deno "${deno[0]?.end}", ours "${ours[0]?.end}"\n` +
      `  next:  Deno (${show(deno, "nextMs")}) ms, ours (${show(ours, "nextMs")}) ms\n` +
      `  ${oursMs <= denoMs + ALLOWANCE_MS ? "within" : "NOT within"} Deno's time plus ${ALLOWANCE_MS} ms\n`,
  );
  if (oursMs > denoMs + ALLOWANCE_MS) process.exitCode = 1;
}
