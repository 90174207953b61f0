import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parseEnv } from "node:util";
import type { AddressInfo } from "node:net";
import {
  type Hex,
  keccak256,
  concatHex,
  numberToHex,
  stringToHex,
  toEventSelector,
  toFunctionSelector,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeProof, PROOF_BYTES } from "../../src/vrf/proof.ts";
import {
  makeDataDir,
  publishedBy,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";
import { randomValueFromVrfProof } from "../vrf/support/vrfSol.ts";

const NETWORKS = ["polygon_mumbai", "sepolia", "fuji", "fantom_testnet"];

let tyche: TycheProcess;
const rpcUrls = new Map<string, string>();
beforeAll(async () => {
  tyche = await startTycheProcess();
  const { data } = await tyche.call("GET", "/api/networks");
  for (const { name, rpcUrl } of data.items) rpcUrls.set(name, rpcUrl);
});
afterAll(async () => {
  await tyche.stop();
});

const verify = async (network: string, tx: string, requestId?: string) => {
  const query = new URLSearchParams({ network, tx, ...(requestId === undefined ? {} : { requestId }) });
  return await tyche.call("GET", `/api/verify?${query.toString()}`);
};
const hashIn = (url: string): string => url.slice(url.lastIndexOf("/") + 1);
const coinflip = async (network: string) =>
  (await tyche.call("POST", `/api/vrfv2/presets?network=${network}&preset=coinflip`, { body: {} })).data;

describe.each(NETWORKS)("on %s", (network) => {
  test.each([
    { preset: "coinflip" },
    { preset: "range", min: "-5", max: "1000000" },
    { preset: "lotto", numberOfWinners: "2", list: ["ann", "bob", "cleo", "dän"] },
    { preset: "nDice", numFaces: "20", numDice: "10" },
  ])("$preset verifies from its proof and from its report", async (body) => {
    const { data } = await tyche.call("POST", `/api/vrfv2/presets?network=${network}`, { body });
    for (const hash of [data.vrfv2Hash, hashIn(data.url)]) {
      const checked = await verify(network, hash, data.requestId);
      expect(checked).toMatchObject({
        status: 200,
        data: {
          valid: true,
          requests: [{ kind: "preset", requestId: data.requestId, result: data.result, err: "0x" }],
        },
      });
      // No step stays open: the chain has all data of fresh transactions.
      expect(
        new Set(checked.data.requests[0].steps.map((step: { outcome: string }) => step.outcome)),
      ).toEqual(new Set(["ok"]));
    }
    await expectIndependentProof(network, data.vrfv2Hash);
  });

  test("a function verifies from its report", async () => {
    const body = {
      network,
      source: "return Functions.encodeUint256(BigInt(args[0]) ** 2n)",
      args: ["12"],
      returnType: "uint256",
    };
    const { data } = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
    const checked = await verify(network, hashIn(data.url), data.requestId);
    expect(checked.data).toMatchObject({
      valid: true,
      requests: [{ kind: "function", result: data.result }],
    });
  });

  test("random words verify from their proof", async () => {
    const { data } = await tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${network}&numWords=5`);
    const checked = await verify(network, data.transactionHash, data.requestId);
    expect(checked.data).toMatchObject({
      valid: true,
      requests: [{ kind: "random", requestId: data.requestId, randomNumber: data.randomNumber }],
    });
    await expectIndependentProof(network, data.transactionHash);
  });
});

test("`tyche dapp config --env` has everything that a contract is deployed with", async () => {
  const { output } = await runTyche(["dapp", "config", "--env"], { TYCHE_DATA_DIR: tyche.dataDir });
  const env = parseEnv(output);
  expect(env["TYCHE_API_KEY"]).toBe(tyche.apiKey);
  const { items } = (await tyche.call("GET", "/api/networks")).data;
  for (const { name, chainId, rpcUrl, contracts, vrf, functions } of items) {
    const prefix = `${name.toUpperCase()}_`;
    const own = Object.entries(env).filter(([key]) => key.startsWith(prefix));
    expect(Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]))).toEqual({
      CHAIN_ID: String(chainId),
      RPC_URL: rpcUrl,
      VRF_SUBSCRIPTION_ID: expect.stringMatching(/^[1-9]\d*$/),
      VRF_COORDINATOR: contracts.vrfCoordinator,
      VRF_KEY_HASH: vrf.keyHashes[0],
      FUNCTIONS_SUBSCRIPTION_ID: expect.stringMatching(/^[1-9]\d*$/),
      FUNCTIONS_ROUTER: contracts.functionsRouter,
      FUNCTIONS_DON_ID: functions.donId,
      FUNCTIONS_DON_ID_BYTES32: stringToHex(functions.donId, { size: 32 }),
      LINK_TOKEN: contracts.link,
    });
  }
});

test("results that shared proofs and reports verify, all of a transaction and each alone", async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => coinflip("fuji")));
  for (const hash of new Set(answers.map(({ vrfv2Hash }) => vrfv2Hash))) {
    const { data } = await verify("fuji", hash);
    expect(data.valid).toBe(true);
    const ids = answers.filter(({ vrfv2Hash }) => vrfv2Hash === hash).map(({ requestId }) => requestId);
    expect(data.requests.map(({ requestId }: { requestId: string }) => requestId)).toEqual(
      expect.arrayContaining(ids),
    );
    await expectIndependentProof("fuji", hash);
  }
  const [{ requestId, url }] = answers;
  expect((await verify("fuji", hashIn(url), requestId)).data.requests).toMatchObject([
    { requestId, verdict: "valid" },
  ]);
});

describe("tyche verify", () => {
  const run = (args: readonly string[]) => runTyche(["verify", ...args], { TYCHE_DATA_DIR: tyche.dataDir });

  test("shows each step, with the node and the contracts that the data directory knows", async () => {
    const { vrfv2Hash, requestId } = await coinflip("sepolia");
    const { code, output } = await run(["sepolia", vrfv2Hash, "--request-id", requestId]);
    expect(output).toContain("✓ proof");
    expect(output).toContain("✓ execution");
    expect(output).toMatch(/^valid: 1 request of 0x.*\n {2}coinflip {2}(?:Tails \(0\)|Heads \(1\))\n/);
    expect(code).toBe(0);
  });

  test("needs nothing but a node's URL, and then says whose the contracts have to be", async () => {
    const { url, requestId, result } = await coinflip("sepolia");
    const { code, output } = await runTyche(
      [
        "verify",
        "sepolia",
        hashIn(url),
        "--request-id",
        requestId,
        "--rpc-url",
        rpcUrls.get("sepolia")!,
        "--json",
      ],
      { TYCHE_DATA_DIR: "/nonexistent" },
    );
    expect(JSON.parse(output)).toMatchObject({
      valid: false,
      verdict: "conditional",
      requests: [{ requestId, result, failed: null }],
    });
    expect(code).toBe(1);
  });

  test.each([
    ["as the data directory says that the chain is embedded", []],
    ["with --blocks", ["--blocks"]],
  ])("recomputes the block hashes of an embedded fuji, %s", async (_, flags) => {
    const { vrfv2Hash, requestId } = await coinflip("fuji");
    const node =
      flags.length === 0 ? [] : ["--rpc-url", rpcUrls.get("fuji")!, "--contracts", await publishedBy(tyche)];
    const { code, output } = await run(["fuji", vrfv2Hash, "--request-id", requestId, ...node, ...flags]);
    expect(output).toContain("its block contains it");
    expect(code).toBe(0);
  });

  test.each([
    ["by default", "fuji", []],
    ["with --no-blocks", "sepolia", ["--no-blocks"]],
  ])("leaves out block hashes %s on a node of %s", async (_, network, flags) => {
    const { vrfv2Hash, requestId } = await coinflip(network);
    const node = ["--rpc-url", rpcUrls.get(network)!, "--contracts", await publishedBy(tyche)];
    const { code, output } = await run([network, vrfv2Hash, "--request-id", requestId, ...node, ...flags]);
    expect(output).toContain("✓ transactions");
    expect(output).not.toContain("its block contains it");
    expect(code).toBe(0);
  });

  test("refuses a node of another chain than that of the published addresses, whatever the network is called", async () => {
    const { url } = await coinflip("fuji");
    const { data } = await tyche.call("GET", "/api/networks");
    const sepolia = (data as { items: { name: string }[] }).items.find(({ name }) => name === "sepolia");
    const node = ["--rpc-url", rpcUrls.get("fuji")!, "--contracts", JSON.stringify(sepolia)];
    const { code, output } = await run(["mine", hashIn(url), ...node]);
    expect(output).toContain("The node serves the chain 43113, not 11155111 of mine");
    expect(code).toBe(1);
  });

  test("takes the answer of /api/networks as the published addresses, and makes no data directory", async () => {
    const { url, requestId } = await coinflip("sepolia");
    const folder = makeDataDir();
    try {
      const published = path.join(folder, "published.json");
      const data = path.join(folder, "data");
      mkdirSync(data);
      const answer = await tyche.call("GET", "/api/networks");
      writeFileSync(published, JSON.stringify({ data: answer.data }));
      const args = ["verify", "sepolia", hashIn(url), "--request-id", requestId];
      const env = { TYCHE_DATA_DIR: data };
      const node = ["--rpc-url", rpcUrls.get("sepolia")!];
      const { code, output } = await runTyche([...args, ...node, "--contracts", published], env);
      expect(output).toContain("✓ contracts");
      expect(code).toBe(0);
      expect((await runTyche(args, env)).output).toContain("name a node with --rpc-url");
      expect(readdirSync(data)).toEqual([]);
    } finally {
      removeDataDir(folder);
    }
  });

  test("a node that gives another result is found out, and the exit code is 1", async () => {
    // Too large to occur anywhere else by chance.
    const body = { preset: "range", min: "0", max: String(2n ** 200n) };
    const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia", { body });
    const { url, requestId, result } = data;
    const liar = await startLiar(rpcUrls.get("sepolia")!, result.slice(2), "07".repeat(32));
    try {
      const { code, output } = await run([
        "sepolia",
        hashIn(url),
        "--request-id",
        requestId,
        "--rpc-url",
        liar.url,
        "--contracts",
        await publishedBy(tyche),
      ]);
      expect(output).toContain("✗ transactions");
      expect(output).toContain("✗ signatures");
      expect(output).toContain("✗ delivery");
      expect(output).toMatch(/^not valid: /);
      expect(code).toBe(1);
    } finally {
      liar.server.close();
    }
  });

  test.each([
    [["sepolia", `0x${"12".repeat(32)}`], /no transaction 0x12/],
    [["sepolia", "0x12"], /64 hex digits/],
    [["mainnet", `0x${"12".repeat(32)}`], /mainnet was never started in .*--rpc-url/],
  ])("%j", async (args, says) => {
    const { code, output } = await run(args);
    expect(output).toMatch(says);
    expect(code).toBe(1);
  });
});

/** Starts a proxy that passes everything on to a node and replaces one text in receipts and calldata. */
async function startLiar(target: string, from: string, to: string): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    void text(request)
      .then(async (body) => {
        const answer = await fetch(target, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        const honest = await answer.text();
        const lies = /eth_getTransaction(ByHash|Receipt)/.test(body);
        response
          .setHeader("content-type", "application/json")
          .end(lies ? honest.replaceAll(from, to) : honest);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function rpc<T>(network: string, method: string, params: readonly unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(rpcUrls.get(network)!, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return ((await answer.json()) as { result: T }).result;
}

const FULFILLED = toEventSelector("RandomWordsFulfilled(uint256,uint256,uint96,bool)");

/**
 * Checks every proof in a transaction's calldata with the port of VRF.sol, which shares no code with the product's prover and verifier: the
 * output for the seed of the request's block must be the one that the coordinator logged.
 */
async function expectIndependentProof(network: string, hash: string): Promise<void> {
  const { input } = await rpc<{ input: Hex }>(network, "eth_getTransactionByHash", [hash]);
  const { logs } = await rpc<{ logs: { topics: Hex[]; data: Hex }[] }>(network, "eth_getTransactionReceipt", [
    hash,
  ]);
  const outputs = new Map(
    logs
      .filter(({ topics }) => topics[0] === FULFILLED)
      .map(({ topics, data }) => [topics[1], BigInt(data.slice(0, 66))]),
  );
  const whole = Buffer.from(input.slice(2), "hex");
  // deliver(bytes fulfilment, SignedReport[]): the offset of the fulfilment, which follows its length.
  const isDelivery = input.startsWith(toFunctionSelector("deliver(bytes,(bytes,bytes)[])"));
  const calldata = isDelivery ? whole.subarray(4 + 32 + Number(whole.readBigUInt64BE(4 + 24))) : whole;
  const word = (at: number): number => Number(calldata.readBigUInt64BE(at + 24));
  // fulfillRandomWords(Proof[], RequestCommitment[]): two offsets, then each list preceded by its length.
  const [proofs, commitments] = [4 + word(4), 4 + word(36)];
  const count = word(proofs);
  expect(count).toBe(outputs.size);
  for (let i = 0; i < count; i += 1) {
    const proof = decodeProof(calldata, proofs + 32 + i * PROOF_BYTES);
    const blockNumber = word(commitments + 32 + i * 5 * 32);
    const block = await rpc<{ hash: Hex }>(network, "eth_getBlockByNumber", [
      numberToHex(blockNumber),
      false,
    ]);
    const seed = BigInt(keccak256(concatHex([numberToHex(proof.preSeed, { size: 32 }), block.hash])));
    const { x, y } = proof.publicKey;
    const size = { size: 32 };
    const keyHash = keccak256(concatHex([numberToHex(x, size), numberToHex(y, size)]));
    const requestId = keccak256(concatHex([keyHash, numberToHex(proof.preSeed, size)]));
    expect(randomValueFromVrfProof(proof, seed)).toBe(outputs.get(requestId));
  }
}
