import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createChainClient } from "../../src/evm/client.ts";
import { startFaultyNode } from "../support/faultyNode.ts";
import { publishedBy, startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { linkUserContract, readContractRequests } from "./support/consumer.ts";
import { NODE_FAULTS, type FaultyPair } from "./support/faults.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

/** Like the keys in providers' URLs: whoever has it can use the node at its owner's expense. */
const URL_KEY = "k3yOfTheProvider";
/** Blocks of logs that the nodes serve at once after a restart. */
const LOG_RANGE = 3;
/** Blocks mined while the oracle is down, more than it reads one by one. */
const BLOCKS_AWAY = 40;

let chain: StrangersChain;
let nodes: FaultyPair;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;
/** Everything sent on this chain that must be delivered exactly once. */
const ids: string[] = [];
/** Output of processes that have ended. */
const outputs: string[] = [];

beforeAll(async () => {
  chain = await startIntervalAnvil();
  const line = { rpcUrl: chain.httpUrl, client: createChainClient(chain.httpUrl) };
  nodes = { first: await startFaultyNode(line), second: await startFaultyNode(line) };
  const { first, second } = nodes;
  parties = prepareParties(chain, {
    serviceUrls: [`${first.wsUrl}/v3/${URL_KEY}`, `${second.httpUrl}/v3/${URL_KEY}`],
    oracleUrls: [`${first.httpUrl}/v3/${URL_KEY}`, `${second.httpUrl}/v3/${URL_KEY}`],
    network: { vrf: "v2.5", nativePayment: true, laneMaxGasGwei: "500" },
  });
  outputs.push(await deployByCommands(parties));
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService(parties)]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop("SIGKILL"), oracle?.stop("SIGKILL")]);
  await Promise.all([nodes?.first.close(), nodes?.second.close()]);
  await chain?.close();
  parties?.remove();
});

describe("VRF v2.5 on a stranger's chain", () => {
  test("presets and random words are answered, and verified from the RPC URL alone", async () => {
    const [preset, words] = await Promise.all([
      tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=range`, {
        body: { min: "1", max: "6" },
      }),
      tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}&numWords=2&confirmations=2`),
    ]);
    ids.push(preset.headers.get("tyche-request-id")!);
    expect(preset.data).toMatchObject({ success: true, err: "0x" });
    expect(words.data).toMatchObject({
      success: true,
      randomNumber: [expect.any(String), expect.any(String)],
    });
    const { code, output } = await parties.run(
      [
        "verify",
        NETWORK,
        preset.data.url.slice(-66),
        "--rpc-url",
        chain.httpUrl,
        "--contracts",
        await publishedBy(tyche),
      ],
      { TYCHE_DATA_DIR: path.join(parties.service["TYCHE_DATA_DIR"]!, "..", "nowhere") },
    );
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/^valid: 1 request/m) });
    const checked = await tyche.call(
      "GET",
      `/api/verify?network=${NETWORK}&tx=${words.data.transactionHash}`,
    );
    expect(checked).toMatchObject({ status: 200, data: { verdict: "valid" } });
  });

  test("a consumer on Chainlink's VRFConsumerBaseV2Plus is linked and gets its word", async () => {
    const consumer = await linkUserContract({ chain, parties, tyche, vrf: "v2.5" });
    await expect.poll(() => consumer.word(), { timeout: 60_000, interval: 250 }).not.toBe(0n);
    // Anvil has a block's state before it finds the block's logs.
    await expect
      .poll(() => readContractRequests(tyche))
      .toMatchObject([{ kind: "random", state: "fulfilled", words: [String(await consumer.word())] }]);
  });

  test("the check of the network finds nothing amiss", async () => {
    const { code, output } = await parties.run(["network", "check", NETWORK]);
    outputs.push(output);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining("✗") });
    expect(output).toContain("random words are paid for in coin");
    expect(output).toContain("the gas lane takes proofs up to 500 gwei");
  });
});

test.each(Object.keys(NODE_FAULTS))("presets are answered in spite of %s", async (name) => {
  const fault = NODE_FAULTS[name]!(nodes);
  let waves = 0;
  try {
    const answer = async (): Promise<number> => {
      waves += 1;
      const wave = await sendWave(tyche, `${name} ${waves}`, 1);
      ids.push(...wave);
      await expectFulfilled(tyche, wave);
      return fault.count();
    };
    // A node that has just failed is left alone for a while.
    await expect.poll(answer, { timeout: 240_000 }).toBeGreaterThan(0);
  } finally {
    fault.end();
  }
});

test("after kill -9 of service and oracle, nodes that answer few logs at once lose nothing", async () => {
  ids.push(...(await sendWave(tyche, "before the service's end", 3)));
  outputs.push(tyche.output());
  await tyche.stop("SIGKILL");
  tyche = await startService(parties);
  ids.push(...(await sendWave(tyche, "before the oracle's end", 3)));
  outputs.push(oracle.output());
  await chain.slowDown();
  await oracle.stop("SIGKILL");
  ids.push(...(await sendWave(tyche, "without an oracle", 3)));
  let refusals = 0;
  const ends = [nodes.first, nodes.second].map((node) =>
    node.inject(({ method, params }) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string };
      if (method !== "eth_getLogs" || fromBlock === undefined || toBlock === undefined) return undefined;
      if (BigInt(toBlock) - BigInt(fromBlock) < LOG_RANGE) return undefined;
      refusals += 1;
      return { error: { code: -32_005, message: "query returned more than 10000 results" } };
    }),
  );
  await chain.mine(BLOCKS_AWAY);
  oracle = await startOracleProcess(parties.oracle);
  await expectFulfilled(tyche, ids);
  for (const end of ends) end();
  expect(refusals).toBeGreaterThan(0);
});

test("each preset was sent once and delivered once, and no output holds a node's URL", async () => {
  expect(await countDeliveries(chain, parties)).toEqual({ sent: ids.length, delivered: ids.length });
  const pages = [
    `${tyche.url}/readyz`,
    `${tyche.url}/metrics`,
    `${oracle.url}/readyz`,
    `${oracle.url}/metrics`,
  ];
  const answers = await Promise.all(pages.map(async (page) => (await fetch(page)).text()));
  const records = await Promise.all(ids.map((id) => tyche.call("GET", `/api/requests/${id}`)));
  const shown = [...outputs, tyche.output(), oracle.output(), ...answers, JSON.stringify(records)].join("\n");
  const ports = [nodes.first, nodes.second].map(({ httpUrl }) => new URL(httpUrl).host);
  for (const secret of [URL_KEY, ...ports]) expect(shown).not.toContain(secret);
});
