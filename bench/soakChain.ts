/**
 * Does a long history slow an embedded chain down?
 *
 * Question: latency, throughput, memory and state on disk while presets go through one embedded chain over HTTP, 100 in
 * flight, in windows of 2,500; after each window, one preset at a time. Everything runs as with `npm start`, on a fresh
 * data directory that is removed at the end. Each answer is checked for `success`. At the end, how long a restart on that
 * history takes. Left out: the other three chains, which are idle meanwhile.
 *
 * Run: `npm run soak:chain -- --presets 20000 [--window 2500] [--in-flight 100] [--json FILE]`
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Agent, request } from "undici";

const NETWORK = "fuji";
const SINGLE_CALLS = 40;

const { values } = parseArgs({
  options: {
    presets: { type: "string", default: "20000" },
    window: { type: "string", default: "2500" },
    "in-flight": { type: "string", default: "100" },
    json: { type: "string" },
  },
});
const presets = Number(values.presets);
const window = Number(values.window);
const inFlight = Number(values["in-flight"]);

const dataDir = mkdtempSync(join(tmpdir(), "tyche-soak-"));
const chainDir = join(dataDir, "chains", NETWORK);
const services: ChildProcess[] = [];
const agent = new Agent({ connections: inFlight, pipelining: 1 });

interface Row {
  readonly presets: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly aloneP50Ms: number;
  readonly aloneP99Ms: number;
  /** Processor time of the chain's Anvil and of the service's own process per preset. */
  readonly anvilCpuMs: number;
  readonly serviceCpuMs: number;
  readonly blocks: number;
  readonly anvilMb: number;
  readonly serviceMb: number;
  readonly chainFolderMb: number;
  readonly storeMb: number;
}

try {
  const service = await start();
  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}; ${inFlight} in flight on ${NETWORK}`,
  );
  const rows: Row[] = [];
  await drive(service, 100, 10);
  for (let done = 0; done < presets; done += window) {
    const [anvilBefore, serviceBefore] = [cpuMs(anvilPid()), cpuMs(service.pid)];
    const started = performance.now();
    const latencies = await drive(service, Math.min(window, presets - done), inFlight);
    const anvilCpuMs = (cpuMs(anvilPid()) - anvilBefore) / latencies.length;
    const serviceCpuMs = (cpuMs(service.pid) - serviceBefore) / latencies.length;
    const seconds = (performance.now() - started) / 1000;
    const alone = await drive(service, SINGLE_CALLS, 1);
    rows.push({
      presets: done + latencies.length,
      perSecond: latencies.length / seconds,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      aloneP50Ms: quantile(alone, 0.5),
      aloneP99Ms: quantile(alone, 0.99),
      anvilCpuMs,
      serviceCpuMs,
      blocks: await blockNumber(service),
      anvilMb: residentMb(anvilPid()),
      serviceMb: residentMb(service.pid),
      chainFolderMb: folderMb(chainDir),
      storeMb: folderMb(dataDir) - folderMb(join(dataDir, "chains")),
    });
    print(rows.at(-1)!, rows.length === 1);
  }
  await stop(service);
  const again = await start();
  console.log(`started again in ${again.readyIn} with ${presets.toLocaleString("en")} presets behind it`);
  const [first] = await drive(again, 1, 1);
  console.log(`first preset after that: ${first!.toFixed(1)} ms`);
  await stop(again);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, undefined, 1)}\n`);
} finally {
  await agent.close();
  for (const child of services) child.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

interface Service {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  readonly readyIn: string;
  readonly exited: Promise<unknown>;
}

async function start(): Promise<Service> {
  const child = spawn(process.execPath, ["src/tyche.ts", "start"], {
    cwd: join(import.meta.dirname, ".."),
    env: { ...process.env, PORT: "0", TYCHE_DATA_DIR: dataDir, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  services.push(child);
  const exited = new Promise((resolve) => child.once("close", resolve));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  for (;;) {
    const ready = /Ready in ([\d.]+ s)[^]*?API\s+(http\S+)/.exec(output);
    if (ready !== null) {
      const apiKey = readFileSync(join(dataDir, "api-key"), "utf8").trim();
      return { url: ready[2]!, apiKey, pid: child.pid!, readyIn: ready[1]!, exited };
    }
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function stop(service: Service): Promise<void> {
  process.kill(service.pid, "SIGTERM");
  await service.exited;
}

/** Runs `count` presets, `lanes` at a time, and returns the latency of each in milliseconds. */
async function drive(service: Service, count: number, lanes: number): Promise<number[]> {
  const latencies: number[] = [];
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const started = performance.now();
      const { statusCode, body } = await request(
        `${service.url}/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`,
        {
          method: "POST",
          dispatcher: agent,
          headers: { authorization: service.apiKey, "content-type": "application/json" },
          body: "{}",
        },
      );
      const { data } = (await body.json()) as { data: { success?: boolean } };
      if (data.success !== true) throw new Error(`${statusCode} ${JSON.stringify(data)}`);
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
  return latencies;
}

async function blockNumber(service: Service): Promise<number> {
  const networks = await request(`${service.url}/api/networks`, {
    headers: { authorization: service.apiKey },
  });
  const { data } = (await networks.body.json()) as { data: { items: { name: string; rpcUrl: string }[] } };
  const { rpcUrl } = data.items.find((item) => item.name === NETWORK)!;
  const answer = await request(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }),
  });
  return Number(((await answer.body.json()) as { result: string }).result);
}

function anvilPid(): number {
  return Number.parseInt(readFileSync(join(chainDir, "anvil.pid"), "utf8"), 10);
}

/** Returns the processor time so far, in ms; /proc counts in hundredths of a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function residentMb(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

function folderMb(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    // A file that was replaced since it was listed is gone.
    if (entry.isFile())
      bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes / 2 ** 20;
}

function quantile(numbers: readonly number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

function print(row: Row, withHead: boolean): void {
  if (withHead) console.log(Object.keys(row).map(pad).join(""));
  console.log(
    Object.values(row)
      .map((value: number) =>
        pad(value.toFixed(value < 10 ? 2 : value < 1000 && !Number.isInteger(value) ? 1 : 0)),
      )
      .join(""),
  );
}

function pad(text: string): string {
  return text.padStart(14);
}
