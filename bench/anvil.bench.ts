/**
 * How fast is the whole service on an embedded chain, and what does it cost?
 *
 * Question: presets, functions and random numbers over HTTP, at 1, 50 and 200 in flight: latency, requests per second, gas per request and processor
 * time of each process; and the same preset by the naive path of four transactions per request, in the same run.
 *
 * Everything is real and on this machine: the service as `npm start` runs it (four chains, one of them measured, its oracle, its sandbox, its
 * journal), the naive path's server with its own Anvil, oracle and sandbox, and this process, which makes the calls. They all share the cores.
 * Presets: nDice, ten dice of 20 faces. Functions: a source of one line, one argument. Random numbers: one word. Each answer is checked for success
 * and for belonging to its own call.
 *
 * With one call at a time, a slow machine's noise exceeds the difference: so at the end, both services take turns of some seconds, and the ratio is
 * the median over the turns. Each kind is measured on chains of its own, because an Anvil slows down as its state grows; the last row of presets
 * shows by how much. A load on the service ends after some seconds, or when the chain has grown by nearly as many blocks as Anvil keeps receipts for.
 * Gas is the sum of all receipts of those blocks, divided by the requests; the naive path adds up its own receipts. Left out: the start, the first
 * calls (until all code is warm), and networks with fixed block intervals, where the interval dominates.
 *
 * Run: `npm run bench:anvil`, with `-- --json FILE` for JSON too, `-- --json` for JSON alone, `-- --quick` for a short run.
 */
import { fileURLToPath } from "node:url";
import { loadPreset } from "../src/presets/loadPreset.ts";
import { startTycheProcess, type TycheProcess } from "../test/support/tyche.ts";
import type { NaiveResult } from "./naive/naivePath.ts";
import {
  noGasUse,
  openRpc,
  readGasUse,
  totalGas,
  type GasContracts,
  type GasUse,
  type Rpc,
} from "./support/gas.ts";
import { runLoad, type LoadCall, type LoadResult } from "./support/load.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { startNaiveService } from "./support/naiveService.ts";
import { readCpuTimes, subtractCpuTimes, type CpuTimes } from "./support/processes.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";
import { describeTurns, takeTurns, type Turn } from "./support/turns.ts";

const isQuick = process.argv.includes("--quick");
const IN_FLIGHT = [1, 50, 200] as const;
const DURATION_MS = isQuick ? 1_000 : 10_000;
/** Code on a slow machine takes some seconds to warm up; until then a single call takes twice as long. */
const WARM_UP_MS = isQuick ? 500 : 10_000;
const WARM_UP_IN_FLIGHT = 20;
/** Anvil keeps the transactions of 1,000 blocks; the rest is a reserve for those in flight. */
const MAX_BLOCKS = 800;
const TURNS = isQuick ? { count: 2, durationMs: 500 } : { count: 15, durationMs: 3_000 };
const NETWORK = "sepolia";
const CHAIN_ID = 11155111;
const DICE = { numFaces: "20", numDice: "10" };

/** One service under load. */
interface Peer {
  /** Whether its answers include the gas of their transactions. */
  readonly tellsGas: boolean;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  readonly rpc: Rpc;
  readonly contracts: GasContracts;
}

/** One row of the results. */
interface Row extends LoadResult {
  readonly kind: string;
  readonly gas: GasUse;
  readonly gasPerRequest: number;
  /** Milliseconds of processor time per request. */
  readonly cpuMsPerRequest: CpuTimes & { readonly caller: number };
}

const KINDS: Readonly<Record<string, (index: number) => LoadCall>> = {
  preset: () => ({ path: `/api/vrfv2/presets?network=${NETWORK}&preset=nDice`, body: DICE }),
  function: (index) => ({
    path: "/api/oracleFunctions/runFunction",
    body: {
      network: NETWORK,
      source: "return Functions.encodeUint256(BigInt(args[0]) * 2n)",
      args: [String(index)],
      returnType: "uint256",
    },
  }),
  random: () => ({ path: `/api/vrfv2/requestRandomNumber?network=${NETWORK}`, body: { numWords: "1" } }),
};

const machine = readMachine();
const rows: Row[] = [];
for (const [kind, call] of Object.entries(KINDS)) await measureKind(kind, call);
await measureNaive();
const turns = await measureAlone();

writeReport(parseReportTarget(process.argv.slice(2)), {
  text: describe(),
  data: {
    question: "the whole service over HTTP on an embedded chain",
    machine,
    quick: isQuick,
    rows,
    turns,
  },
});
if (rows.some(({ failed }) => failed > 0)) process.exitCode = 1;

/** Measures one kind of call on a freshly started service. */
async function measureKind(kind: string, call: (index: number) => LoadCall): Promise<void> {
  const tyche = await startTycheProcess();
  try {
    const peer = await servicePeer(tyche);
    if (rows.length === 0) await checkOnce(tyche);
    await warmUp(peer, call);
    for (const inFlight of IN_FLIGHT) await measure(peer, kind, inFlight, call);
    if (kind !== "preset") return;
    const before = rows.reduce((sum, { requests }) => sum + requests, 0);
    await measure(peer, `preset, after ${before}`, 1, call);
  } finally {
    await tyche.stop();
  }
}

async function servicePeer(tyche: TycheProcess): Promise<Peer> {
  const { url, apiKey, pid } = tyche;
  const { data } = await tyche.call("GET", "/api/networks");
  const { rpcUrl, contracts } = data.items.find((one: { name: string }) => one.name === NETWORK);
  return { tellsGas: false, url, headers: { authorization: apiKey }, pid, rpc: openRpc(rpcUrl), contracts };
}

async function naiveCall(): Promise<() => LoadCall> {
  const { source } = await loadPreset(fileURLToPath(new URL("../plugins", import.meta.url)), "nDice");
  return () => ({ path: "/", body: { source, args: [DICE.numFaces, DICE.numDice] } });
}

/** Measures the same preset on the naive path. */
async function measureNaive(): Promise<void> {
  const naive = await startNaiveService();
  try {
    const peer: Peer = { ...naive, tellsGas: true, headers: {}, rpc: openRpc(naive.rpcUrl) };
    const call = await naiveCall();
    await warmUp(peer, call);
    for (const inFlight of IN_FLIGHT) await measure(peer, "preset, naive path", inFlight, call);
  } finally {
    await naive.stop();
  }
}

/** Measures one call at a time on the service and on the naive path, which take turns. */
async function measureAlone(): Promise<readonly Turn[]> {
  const tyche = await startTycheProcess();
  const naive = await startNaiveService();
  try {
    const service = { url: tyche.url, headers: { authorization: tyche.apiKey }, call: KINDS.preset! };
    const peers = { service, naive: { url: naive.url, headers: {}, call: await naiveCall() } };
    for (const { call, ...peer } of Object.values(peers)) await warmUp(peer, call);
    return await takeTurns(peers, TURNS);
  } finally {
    await Promise.all([tyche.stop(), naive.stop()]);
  }
}

async function warmUp(
  { url, headers }: Pick<Peer, "url" | "headers">,
  call: (index: number) => LoadCall,
): Promise<void> {
  await runLoad({ url, headers, call, inFlight: WARM_UP_IN_FLIGHT, durationMs: WARM_UP_MS });
}

/** Adds one row: a load with a constant number of calls in flight. */
async function measure(
  peer: Peer,
  kind: string,
  inFlight: number,
  call: (index: number) => LoadCall,
): Promise<void> {
  process.stderr.write(`${kind}, ${inFlight} in flight …\n`);
  const { url, headers, rpc, tellsGas } = peer;
  const firstBlock = (await rpc.blockNumber()) + 1;
  const told = noGasUse(0);
  const cpuBefore = readCpuTimes(peer.pid, CHAIN_ID);
  const callerBefore = process.cpuUsage();
  const load = await runLoad({
    url,
    headers,
    call,
    inFlight,
    durationMs: DURATION_MS,
    ...(tellsGas
      ? { onAnswer: (data) => addGas(told, (data as NaiveResult).gas) }
      : { isEnough: async () => (await rpc.blockNumber()) - firstBlock > MAX_BLOCKS }),
  });
  const cpu = subtractCpuTimes(readCpuTimes(peer.pid, CHAIN_ID), cpuBefore);
  const { user, system } = process.cpuUsage(callerBefore);
  const lastBlock = await rpc.blockNumber();
  const gas = tellsGas
    ? { ...told, blocks: lastBlock - firstBlock + 1 }
    : await readGasUse(rpc, firstBlock, lastBlock, peer.contracts);
  const each = (value: number): number => value / load.requests;
  rows.push({
    kind,
    ...load,
    gas,
    gasPerRequest: Math.round(each(totalGas(gas))),
    cpuMsPerRequest: {
      service: each(cpu.service),
      anvil: each(cpu.anvil),
      otherAnvils: each(cpu.otherAnvils),
      sandbox: each(cpu.sandbox),
      caller: each((user + system) / 1000),
    },
  });
}

/** Adds the gas of one naive request: two transactions for the requests, one for the word, one for the report. */
function addGas({ request, words, report }: GasUse, gas: NaiveResult["gas"]): void {
  request.count += 2;
  request.gas += gas.request;
  words.count += 1;
  words.gas += gas.words;
  report.count += 1;
  report.gas += gas.report;
}

/** Makes one request of each kind and checks its answer. */
async function checkOnce(tyche: TycheProcess): Promise<void> {
  const ask = async (kind: string) => {
    const { path, body } = KINDS[kind]!(21);
    const { status, data } = await tyche.call("POST", path, { body });
    if (status !== 200 || data.success !== true)
      throw new Error(`${kind}: ${status} ${JSON.stringify(data)}`);
    return data;
  };
  const dice = JSON.parse((await ask("preset")).parsedResult) as number[];
  if (dice.length !== 10 || dice.some((die) => !(die >= 1 && die <= 20)))
    throw new Error(`no dice: ${dice.join()}`);
  const { parsedResult } = await ask("function");
  if (parsedResult !== "42") throw new Error(`twice 21 is not ${parsedResult}`);
  const { randomNumber } = await ask("random");
  if (!/^\d{60,78}$/.test(randomNumber[0])) throw new Error(`no random word: ${randomNumber}`);
}

function describe(): string {
  const fixed = (value: number, digits: number): string => value.toFixed(digits);
  const perTransaction = (count: number, requests: number): string =>
    count === 0 ? "–" : fixed(requests / count, 1);
  const failures = rows.filter(({ failed }) => failed > 0);
  return [
    describeMachine(machine),
    `One chain of four under load (${NETWORK}); each load ${DURATION_MS / 1000} s or ${MAX_BLOCKS} blocks, after ${WARM_UP_MS / 1000} s of warming up.`,
    "",
    "Latency in ms; gas of all transactions by requests; how many requests share a transaction that asks, that brings words, that reports:",
    "",
    formatTable(
      ["", "in flight", "requests", "failed", "p50", "p99", "requests/s", "gas", "asking", "words", "report"],
      rows.map((row) => [
        row.kind,
        String(row.inFlight),
        String(row.requests),
        String(row.failed),
        fixed(row.p50Ms, 1),
        fixed(row.p99Ms, 1),
        fixed(row.requestsPerSecond, 0),
        String(row.gasPerRequest),
        perTransaction(row.gas.request.count, row.requests),
        perTransaction(row.gas.words.count, row.requests),
        perTransaction(row.gas.report.count, row.requests),
      ]),
    ),
    "",
    "Processor time for one request, in ms; `cores`: what all of them kept busy together:",
    "",
    formatTable(
      ["", "in flight", "service", "Anvil", "other Anvils", "sandbox", "the caller", "cores"],
      rows.map(({ kind, inFlight, cpuMsPerRequest: cpu, requests, seconds }) => [
        kind,
        String(inFlight),
        ...[cpu.service, cpu.anvil, cpu.otherAnvils, cpu.sandbox, cpu.caller].map((ms) => fixed(ms, 2)),
        fixed((Object.values(cpu).reduce((sum, ms) => sum + ms, 0) * requests) / (seconds * 1000), 2),
      ]),
    ),
    "",
    describeTurns(turns, TURNS.durationMs),
    "",
    "The naive path spares itself the dry run, the journal, the authentication and the watching of the chain, and it asks for the word through",
    "the same lean contract. Nothing on chain holds it to the word that it was given.",
    ...failures.map(
      ({ kind, inFlight, firstFailure }) => `FAILED: ${kind}, ${inFlight} in flight: ${firstFailure}`,
    ),
  ].join("\n");
}
