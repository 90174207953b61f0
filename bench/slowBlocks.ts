/**
 * Does the service fill the blocks of a network that mines at fixed intervals, and how long does one request wait there?
 *
 * Question: on an external chain with a block every 2 seconds and 30 million gas, how long does one preset alone take, and, with hundreds in
 * flight, how much of each block's gas is ours? Everything is real and on this machine: an Anvil that knows nothing of Tyche, contracts
 * deployed by `tyche network deploy`, `tyche oracle` and `tyche start` in processes and folders of their own, and this process, which calls.
 * The preset is `range`; each answer is checked for success and for belonging to its own call, and the chain's logs for missing or duplicate
 * answers. A block counts as full when 80 % of its gas is used, or when no transaction is pending in the node's pool after it. Left out: the
 * first blocks of the load and those after its last call, which need not be full, and several confirmations.
 *
 * Run: `npm run bench:slow-blocks`, with `-- --json FILE` for JSON too, `-- --in-flight N` (2000), `-- --seconds N` (60) for the load.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createChainClient } from "../src/evm/client.ts";
import {
  deployByCommands,
  NETWORK,
  prepareParties,
  type TwoParties,
} from "../test/external/support/world.ts";
import { presetIdsOf } from "../test/support/presetEvents.ts";
import { startOracleProcess, startTycheProcess } from "../test/support/tyche.ts";
import { startIntervalAnvil } from "../test/external/support/chain.ts";
import { openRpc, type Rpc } from "./support/gas.ts";
import { runLoad, type LoadResult } from "./support/load.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";

const BLOCK_SECONDS = 2;
const BLOCK_GAS = 30_000_000;
const FULL = 0.8;
const LONE_CALLS = 10;
/** Blocks until requests of all stages are in flight. */
const FILLING_BLOCKS = 6;
const POLL_MS = 20;
const IN_FLIGHT = numberAfter("--in-flight", 2_000);
const LOAD_MS = 1_000 * numberAfter("--seconds", 60);
const CALL = { path: `/api/vrfv2/presets?network=${NETWORK}&preset=range`, body: { min: "1", max: "6" } };

/** A block mined during the load. */
interface LoadedBlock {
  readonly number: number;
  readonly usedShare: number;
  /** Pending transactions in the node's pool right after it. */
  readonly waiting: number;
}

const chain = await startIntervalAnvil({ blockSeconds: BLOCK_SECONDS, blockGas: BLOCK_GAS });
const parties = prepareParties(chain);
try {
  raiseLimits(parties, chain.wsUrl);
  await deployByCommands(parties);
  const { TYCHE_DATA_DIR, ...env } = parties.service;
  const oracle = await startOracleProcess(parties.oracle);
  const tyche = await startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env, timeoutMs: 240_000 });
  try {
    await measure({ url: tyche.url, headers: { authorization: tyche.apiKey } });
  } finally {
    await Promise.all([tyche.stop(), oracle.stop()]);
  }
} finally {
  await chain.close();
  parties.remove();
}

async function measure(service: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<void> {
  const rpc = openRpc(chain.httpUrl);
  const call = () => CALL;
  // Warms up: subscriptions, and code that runs for the first time.
  await runLoad({ ...service, inFlight: 20, durationMs: 1, call });
  process.stderr.write("measuring\n");
  const machine = readMachine();
  let calls = 0;
  const firstBlock = (await rpc.blockNumber()) + 1;
  const isEnough = async (): Promise<boolean> => calls >= LONE_CALLS;
  const lone = await runLoad({
    ...service,
    inFlight: 1,
    durationMs: 600_000,
    call: () => ((calls += 1), CALL),
    isEnough,
  });
  const pool = watchPool(rpc);
  const loadFrom = (await rpc.blockNumber()) + 1;
  let lastCallBlock = loadFrom;
  const load = await runLoad({
    ...service,
    inFlight: IN_FLIGHT,
    durationMs: LOAD_MS,
    call: () => ((lastCallBlock = pool.newest()), CALL),
  });
  pool.stop();
  process.stderr.write("measured\n");
  const all = await readBlocks(rpc, pool.waiting, { first: loadFrom, last: pool.newest() });
  const blocks = all.filter(({ number }) => number >= loadFrom + FILLING_BLOCKS && number <= lastCallBlock);
  const ends = await countEnds(firstBlock, await rpc.blockNumber());
  report({ machine, lone, load, blocks, all, ends });
}

function report(result: {
  readonly machine: ReturnType<typeof readMachine>;
  readonly lone: LoadResult;
  readonly load: LoadResult;
  /** The counted blocks, and all from the load's start to its last answer. */
  readonly blocks: readonly LoadedBlock[];
  readonly all: readonly LoadedBlock[];
  readonly ends: { readonly requests: number; readonly answers: number; readonly doubled: number };
}): void {
  const { machine, lone, load, blocks, ends } = result;
  const calls = lone.requests + load.requests;
  const full = blocks.filter(({ usedShare, waiting }) => usedShare >= FULL || waiting === 0);
  const mean = blocks.reduce((sum, { usedShare }) => sum + usedShare, 0) / blocks.length;
  const failed = lone.failed + load.failed;
  const limitMs = 2_000 * BLOCK_SECONDS + 500;
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ["one preset alone, p50", `${seconds(lone.p50Ms)} s`, `≤ ${seconds(limitMs)} s`, lone.p50Ms <= limitMs],
    [
      `blocks ≥ 80 % ours, or none waits after them`,
      `${full.length} of ${blocks.length}`,
      "all",
      full.length === blocks.length && blocks.length > 0,
    ],
    ["calls that failed", `${failed} of ${calls}`, "0", failed === 0],
    ["requests on chain, a call each", String(ends.requests), String(calls), ends.requests === calls],
    ["of them answered", String(ends.answers), String(calls), ends.answers === calls],
    ["answered twice", String(ends.doubled), "0", ends.doubled === 0],
  ];
  const table = formatTable(
    ["", "measured", "limit", ""],
    rows.map(([name, measured, limit, holds]) => [name, measured, limit, holds ? "✓" : "✗"]),
  );
  const shares = result.all
    .map(({ usedShare, waiting }) => `${Math.round(100 * usedShare)}/${waiting}`)
    .join(" ");
  const text = [
    describeMachine(machine),
    `a block each ${BLOCK_SECONDS} s, ${BLOCK_GAS / 1e6} million gas; ${IN_FLIGHT} in flight for ${LOAD_MS / 1_000} s: ${load.requestsPerSecond.toFixed(1)} presets/s, p50 ${seconds(load.p50Ms)} s, p99 ${seconds(load.p99Ms)} s`,
    `gas of the counted blocks: ${Math.round(100 * mean)} % on average; of all, each with the transactions that wait after it: ${shares}`,
    table,
    ...[lone.firstFailure, load.firstFailure].filter((failure) => failure !== undefined),
  ].join("\n");
  writeReport(parseReportTarget(process.argv.slice(2)), { text, data: result });
  if (rows.some(([, , , holds]) => !holds)) process.exitCode = 1;
}

/** Records how many transactions are pending right after each block. */
function watchPool(rpc: Rpc) {
  const waiting = new Map<number, number>();
  let newest = 0;
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const number = await rpc.blockNumber();
      if (number > newest) {
        newest = number;
        const { pending, queued } = (await rpc.call("txpool_status")) as { pending: string; queued: string };
        waiting.set(number, Number(pending) + Number(queued));
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  watch().catch((error: unknown) =>
    process.stderr.write(`the pool could not be watched: ${String(error)}\n`),
  );
  return { waiting, newest: () => newest, stop: () => void (isOver = true) };
}

async function readBlocks(
  rpc: Rpc,
  waiting: ReadonlyMap<number, number>,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<LoadedBlock[]> {
  const blocks: LoadedBlock[] = [];
  for (let number = first; number <= last; number += 1) {
    const block = (await rpc.call("eth_getBlockByNumber", `0x${number.toString(16)}`, false)) as {
      readonly gasUsed: string;
      readonly gasLimit: string;
    };
    const usedShare = Number(block.gasUsed) / Number(block.gasLimit);
    blocks.push({ number, usedShare, waiting: waiting.get(number) ?? Number.NaN });
  }
  return blocks;
}

/** Counts the presets requested in some blocks, and their answers, from the contract's own logs. */
async function countEnds(first: number, last: number) {
  const { contracts } = JSON.parse(readFileSync(parties.contractsFile, "utf8"));
  const client = createChainClient(chain.httpUrl);
  const logs = await client.getLogs({
    addresses: [contracts.presetConsumer],
    fromBlock: BigInt(first),
    toBlock: BigInt(last),
  });
  await client.close();
  const { requested, answered } = presetIdsOf(logs);
  const answers = new Set(answered).size;
  return {
    requests: requested.length,
    answers,
    doubled: answered.length - answers,
  };
}

/** Raises the limits to allow hundreds of calls by one key, and connects over WebSocket. */
function raiseLimits({ service, oracle }: TwoParties, wsUrl: string): void {
  const change = (file: string, more: object): void => {
    const config = JSON.parse(readFileSync(file, "utf8"));
    config.networks[NETWORK].rpcUrls = [wsUrl];
    writeFileSync(file, JSON.stringify({ ...config, ...more }));
  };
  change(oracle["TYCHE_CONFIG"]!, {});
  change(service["TYCHE_CONFIG"]!, {
    http: { rateLimit: 1e6, maxConcurrent: 1e5, waitTimeoutMs: 600_000, maxConnections: 1e5 },
    requests: { maxOpenPerNetwork: 1e5 },
  });
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}

function numberAfter(name: string, fallback: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}
