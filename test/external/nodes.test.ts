import { afterAll, beforeAll, expect, test } from "vitest";
import { startTycheProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { prepareOperators, startLiar, startNode, type SeveralOperators } from "./support/nodes.ts";
import { NETWORK } from "./support/world.ts";

const LIAR = 3;
/** In no set at first. */
const SPARE = 4;
const PATIENCE_MS = 120_000;

let chain: StrangersChain;
let operators: SeveralOperators;
let tyche: TycheProcess;
let vrf: OracleChild;
const nodes: OracleChild[] = [];

beforeAll(async () => {
  chain = await startIntervalAnvil();
  operators = await prepareOperators(chain, 5);
  await operators.deploy(SPARE);
  const { TYCHE_DATA_DIR, ...env } = operators.service;
  // One after the other: six starts at once are slower on two cores.
  for (const [index, node] of operators.nodes.entries())
    nodes.push(
      await (index === LIAR
        ? startLiar(node)
        : startNode(index === SPARE ? operators.tellCoordinatorAlone(SPARE) : node)),
    );
  vrf = await startNode(operators.vrf);
  tyche = await startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env, timeoutMs: PATIENCE_MS });
}, 300_000);
afterAll(async () => {
  await Promise.all([tyche, vrf, ...nodes].map((one) => one?.stop("SIGKILL")));
  await chain?.close();
  operators?.remove();
});

const runFunction = (word: string) =>
  tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: NETWORK, source: "return Functions.encodeString(args[0] + '!')", args: [word] },
  });

/** What a node tells of itself and of all nodes. */
async function stateOf(index: number): Promise<{ readonly nodes?: Peer[]; readonly warnings?: string[] }> {
  const readiness = await fetch(`${nodes[index]!.url}/readyz`);
  const { networks } = (await readiness.json()) as { networks: Record<string, object> };
  return networks[NETWORK]!;
}

interface Peer {
  readonly url: string;
  readonly transmissions: number;
  readonly agreement: { readonly same: number; readonly of: number };
}

const peersOf = async (index: number): Promise<readonly Peer[]> => (await stateOf(index)).nodes ?? [];

test(
  "behaviour: with one node that forges bytes, every function gets its own result",
  async () => {
    const words = ["one", "two", "three", "four"];
    const answers = await Promise.all(words.map((word) => runFunction(word)));
    expect(answers.map(({ data }) => data)).toMatchObject(
      words.map((word) => ({ success: true, parsedResult: `${word}!` })),
    );
    await expect
      .poll(async () => (await peersOf(0)).reduce((sum, { transmissions }) => sum + transmissions, 0))
      .toBe(words.length);
  },
  PATIENCE_MS,
);

test(
  "behaviour: a preset takes a word of the VRF operator and a result of the nodes, and its signers are named",
  async () => {
    const { data } = await tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=range`, {
      body: { min: "1", max: "6" },
    });
    expect(data).toMatchObject({ success: true });
    const verified = await operators.run([
      "verify",
      NETWORK,
      data.url.slice(-66),
      "--rpc-url",
      chain.httpUrl,
      "--json",
    ]);
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.output).toContain("3 of 4 nodes signed this report");
    expect(verified.output).toContain("2 of the 4 operators");
  },
  PATIENCE_MS,
);

test(
  "behaviour: the set changes under load: nodes that run follow, and each request is answered once",
  async () => {
    const isIdle = async (index: number): Promise<boolean> =>
      (await stateOf(index)).warnings?.some((text) => text.includes("not in the coordinator's")) ?? false;
    await expect.poll(() => isIdle(SPARE)).toBe(true);
    let isOver = false;
    const answers: { readonly word: string; readonly data: object }[] = [];
    const send = async (lane: number): Promise<void> => {
      for (let i = 0; !isOver; i += 1) {
        const word = `lane ${lane}, request ${i}`;
        answers.push({ word, ...(await runFunction(word)) });
      }
    };
    const lanes = Promise.all([0, 1, 2].map((lane) => send(lane)));
    await operators.reconfigure([0, 2, LIAR, SPARE]).finally(() => (isOver = true));
    await lanes;
    for (const { word, data } of answers)
      expect(data).toMatchObject({ success: true, parsedResult: `${word}!` });
    const urlOf = (index: number): string => `http://127.0.0.1:${operators.nodes[index]!["PORT"]}`;
    const urls = [0, 2, LIAR, SPARE].map((index) => urlOf(index));
    for (const index of [0, 2, SPARE])
      await expect.poll(async () => (await peersOf(index)).map(({ url }) => url)).toEqual(urls);
    await expect.poll(() => isIdle(1)).toBe(true);
    const counts = await operators.countAnswers();
    expect(new Set(counts.values())).toEqual(new Set([1]));
    await nodes[1]!.stop();
    await operators.run(["network", "fund", NETWORK, "--coin", "10"]);
  },
  PATIENCE_MS,
);

test(
  "behaviour: a node that was killed is missed by nobody, and goes on when it is started again",
  async () => {
    await nodes[LIAR]!.stop("SIGKILL");
    nodes[LIAR] = await startNode(operators.nodes[LIAR]!);
    await nodes[0]!.stop("SIGKILL");
    const { data } = await runFunction("without");
    expect(data).toMatchObject({ success: true, parsedResult: "without!" });
    nodes[0] = await startNode(operators.nodes[0]!);
    await expect.poll(async () => (await peersOf(0)).length, { timeout: 60_000 }).toBe(4);
  },
  PATIENCE_MS,
);
