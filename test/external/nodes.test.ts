import { afterAll, beforeAll, expect, test } from "vitest";
import { startTycheProcess, type OracleChild, type TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { prepareOperators, startLiar, startNode, type SeveralOperators } from "./support/nodes.ts";
import { NETWORK } from "./support/world.ts";

const LIAR = 3;
const PATIENCE_MS = 120_000;

let chain: StrangersChain;
let operators: SeveralOperators;
let tyche: TycheProcess;
let vrf: OracleChild;
const nodes: OracleChild[] = [];

beforeAll(async () => {
  chain = await startIntervalAnvil();
  operators = await prepareOperators(chain, 4);
  await operators.deploy();
  const { TYCHE_DATA_DIR, ...env } = operators.service;
  // One after the other: six starts at once are slower on two cores.
  for (const [index, node] of operators.nodes.entries())
    nodes.push(await (index === LIAR ? startLiar(node) : startNode(node)));
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

/** What a node tells of all nodes. */
async function peersOf(
  index: number,
): Promise<readonly { readonly transmissions: number; readonly isSelf: boolean }[]> {
  const readiness = await fetch(`${nodes[index]!.url}/readyz`);
  const { networks } = (await readiness.json()) as { networks: Record<string, { nodes?: never[] }> };
  return networks[NETWORK]!.nodes ?? [];
}

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
