import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { deriveWords } from "../../src/chainlink/fulfilmentWords.ts";
import { wordsOfBatch } from "../../src/chainlink/presetBatch.ts";
import type { EvidenceRecord } from "../../src/oracle/node/evidence.ts";
import { startTycheProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { prepareOperators, startLiar, startNode, type SeveralOperators } from "./support/nodes.ts";
import { endorseTwice } from "./support/nodeFaults.ts";
import {
  firstToDeliver,
  PRESET_STEPS,
  VRF_OPERATOR,
  watchPresetStep,
  withoutProofs,
  withWrongProofs,
} from "./support/presetFaults.ts";
import { readPresets, type PresetOnChain } from "./support/presetsOnChain.ts";
import { NETWORK } from "./support/world.ts";

/** Lies about sources with this text. */
const LIAR = 3;
/** Is killed and started again. */
const VICTIM = 1;
const MARKER = "a liar's preset";
const PATIENCE_MS = 240_000;
/** What depends on whose turn it is, or on how fast a node is, is tried again and again. */
const WAIT = { timeout: PATIENCE_MS };

let chain: StrangersChain;
let operators: SeveralOperators;
let tyche: TycheProcess;
let vrf: OracleChild;
const nodes: OracleChild[] = [];

const SOURCES: Readonly<Record<string, string>> = {
  "pure-lied": `return Functions.encodeUint256(BigInt(bytesArgs[0]) % 100n); // ${MARKER}`,
  // It uses the time, so nodes commit to what they see; it is the same for all of them all the same.
  "impure-lied": `return Functions.encodeUint256(BigInt(bytesArgs[0]) % 100n + 0n * BigInt(Date.now())); // ${MARKER}`,
};

beforeAll(async () => {
  chain = await startIntervalAnvil({ blockSeconds: 1 });
  operators = await prepareOperators(chain, 4);
  for (const [name, source] of Object.entries(SOURCES)) {
    const folder = path.join(operators.folder, "plugins", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, "source.js"), source);
    const examples = [{ params: {}, word: `0x${"00".repeat(31)}07`, parsedResult: "7" }];
    const preset = { name, title: name, description: "For a test.", returnType: "uint256", args: [] };
    const parameters = { type: "object", properties: {} };
    writeFileSync(path.join(folder, "preset.json"), JSON.stringify({ ...preset, parameters, examples }));
  }
  await operators.deploy();
  const { TYCHE_DATA_DIR, ...env } = operators.service;
  for (const [index, node] of operators.nodes.entries())
    nodes.push(await (index === LIAR ? startLiar(node, MARKER) : startNode(node)));
  vrf = await startNode(operators.vrf);
  tyche = await startTycheProcess({
    dataDir: TYCHE_DATA_DIR!,
    cwd: operators.folder,
    env,
    timeoutMs: PATIENCE_MS,
  });
}, 600_000);
afterAll(async () => {
  await Promise.all([tyche, vrf, ...nodes].map((one) => one?.stop("SIGKILL")));
  await chain?.close();
  await operators?.remove();
});

/** A batch of one preset with its result. */
interface Answer extends PresetOnChain {
  readonly result: string;
}

/** Calls a preset, which must succeed, and returns what the chain shows of its batch. */
async function call(preset: string): Promise<Answer> {
  const { data } = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=${preset}`, {
    body: {},
  });
  expect(data).toMatchObject({ success: true });
  const batches = await readPresets(operators, chain);
  const batch = batches.find(({ requestIds }) => requestIds.includes(data.requestId as string))!;
  return { ...batch, result: data.parsedResult as string };
}

/** Returns what a preset of `SOURCES` gives for its word. */
function expectedOf({ word, requestIds }: Answer): string {
  const [seed] = deriveWords(word!.outputSeed, 1);
  const [first] = wordsOfBatch(seed!, requestIds.length);
  return String(first! % 100n);
}

/** Blocks from a preset's request to its report. */
const blocksOf = ({ request, reports }: Answer): bigint => reports[0]!.blockNumber - request.blockNumber;

/** Calls a preset until it is a node's turn to deliver it first; returns in how many blocks that was answered. */
async function blocksWithFirst(node: number): Promise<bigint> {
  for (;;) {
    const answer = await call("coinflip");
    if (firstToDeliver(answer, nodes.length) === node) return blocksOf(answer);
  }
}

async function endAfter<Result>(
  end: () => Promise<unknown> | void,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    await end();
  }
}

/** Returns the evidence that a node holds against others. */
const evidenceOf = async (index: number): Promise<readonly EvidenceRecord[]> =>
  ((await (await fetch(`${nodes[index]!.url}/evidence`)).json()) as { evidence: EvidenceRecord[] }).evidence;

afterEach(() => operators.proxy.setRule(undefined));

test("proof and report come in one transaction, in the block after the request", async () => {
  await expect
    .poll(async () => {
      const { request, word, reports } = await call("coinflip");
      return [word!.blockNumber - request.blockNumber, word!.transactionHash === reports[0]!.transactionHash];
    }, WAIT)
    .toEqual([1n, true]);
});

test.each(["pure-lied", "impure-lied"])(
  "with one node that forges its result, %s gets the result of its word",
  async (preset) => {
    for (let i = 0; i < 4; i += 1) {
      const answer = await call(preset);
      expect(answer.result).toBe(expectedOf(answer));
    }
  },
);

test("where a node is down whose turn it is, the next one delivers two blocks later", async () => {
  await nodes[VICTIM]!.stop("SIGKILL");
  await endAfter(
    async () => (nodes[VICTIM] = await startNode(operators.nodes[VICTIM]!)),
    () => expect.poll(() => blocksWithFirst(VICTIM), WAIT).toBe(3n),
  );
});

test("where a node signs but sends nothing, the next one delivers two blocks later", async () => {
  const address = operators.transmitterOf(VICTIM);
  await chain.call("anvil_setBalance", [address, "0x0"]);
  await endAfter(
    () => chain.call("anvil_setBalance", [address, "0x8ac7230489e80000"]),
    () => expect.poll(() => blocksWithFirst(VICTIM), WAIT).toBe(3n),
  );
});

test("what others send beside the right proof changes nothing", async () => {
  operators.proxy.setRule(withWrongProofs);
  await expect
    .poll(async () => {
      const { word, reports } = await call("coinflip");
      return word!.transactionHash === reports[0]!.transactionHash;
    }, WAIT)
    .toBe(true);
});

test("where no proof reaches the nodes, the VRF operator delivers the word, and the report follows alone", async () => {
  operators.proxy.setRule(withoutProofs);
  const { request, word, reports } = await call("coinflip");
  expect(word!.blockNumber - request.blockNumber).toBeGreaterThan(2n);
  expect(reports[0]!.blockNumber).toBeGreaterThan(word!.blockNumber);
});

test("a VRF operator that is killed once its proof has reached the nodes is not needed any more", async () => {
  const reached = new Set<number>();
  const { promise, resolve } = Promise.withResolvers<void>();
  let isKilled = false;
  operators.proxy.setRule(async ({ from, to, body }) => {
    // Until then, the nodes don't hear each other.
    if (from !== VRF_OPERATOR) return isKilled ? body : undefined;
    if (reached.add(to).size === nodes.length) resolve();
    return body;
  });
  const answer = call("coinflip");
  await promise;
  await vrf.stop("SIGKILL");
  isKilled = true;
  await endAfter(
    async () => (vrf = await startNode(operators.vrf)),
    async () => expect(await answer).toMatchObject({ reports: [{}] }),
  );
});

test.each(Object.keys(PRESET_STEPS) as (keyof typeof PRESET_STEPS)[])(
  "a node that is needed and killed when %s goes on, and contradicts nothing",
  async (step) => {
    const reached = watchPresetStep(operators, { silent: LIAR, node: VICTIM, step });
    const answer = call("coinflip");
    answer.catch(() => {});
    await reached;
    await nodes[VICTIM]!.stop("SIGKILL");
    operators.proxy.setRule(async ({ from, body }) => (from === LIAR ? undefined : body));
    nodes[VICTIM] = await startNode(operators.nodes[VICTIM]!);
    expect(await answer).toMatchObject({ reports: [{}] });
    expect(await Promise.all([0, 2].map((index) => evidenceOf(index)))).toEqual([[], []]);
  },
);

test("evidence against a node that signs two results of a batch is kept by the others", async () => {
  const fault = await endorseTwice({ chain, operators, wrong: LIAR });
  await endAfter(fault, () =>
    expect
      .poll(async () => {
        await call("coinflip");
        return evidenceOf(0);
      }, WAIT)
      .not.toEqual([]),
  );
  const file = path.join(operators.folder, "evidence.json");
  writeFileSync(file, JSON.stringify({ evidence: await evidenceOf(0) }));
  const { code, output } = await operators.run(["oracle", "evidence", file, "--rpc-url", chain.httpUrl]);
  expect(code).toBe(0);
  expect(output).toContain("reports of stage 0");
});

test("whatever happened, each batch has one report", async () => {
  const batches = await readPresets(operators, chain);
  expect(new Set(batches.map(({ reports }) => reports.length))).toEqual(new Set([1]));
});
