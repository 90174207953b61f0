import type { Verification } from "../../src/api/types.ts";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSourceRunner } from "../../src/app/tools/runSource.ts";
import type { BrowserVerification } from "./support/browserEntry.ts";
import { startVerifyWorld, wordOf, type VerifyWorld } from "./support/world.ts";

let world: VerifyWorld;
let verifyInBrowser: (options: BrowserVerification) => Promise<string>;
beforeAll(async () => {
  world = await startVerifyWorld();
  verifyInBrowser = await loadInBrowser();
});
afterAll(() => world.close());

/** Runs the bundle in a context with the page globals that it needs, and nothing from Node. */
async function loadInBrowser(): Promise<typeof verifyInBrowser> {
  const { outputFiles } = await build({
    entryPoints: [new URL("support/browserEntry.ts", import.meta.url).pathname],
    bundle: true,
    platform: "browser",
    format: "iife",
    globalName: "page",
    write: false,
  });
  const pageGlobals = [
    "AbortController",
    "AbortSignal",
    "crypto",
    "fetch",
    "performance",
    "TextDecoder",
    "TextEncoder",
    "URL",
  ] as const;
  const context = createContext(Object.fromEntries(pageGlobals.map((name) => [name, globalThis[name]])));
  runInContext(outputFiles[0]!.text, context);
  expect(runInContext("[typeof process, typeof Buffer, typeof require]", context)).toEqual(
    Array.from({ length: 3 }, () => "undefined"),
  );
  return runInContext("page.verifyInBrowser", context) as typeof verifyInBrowser;
}

const verifyBoth = async (hash: `0x${string}`): Promise<[inNode: Verification, inBrowser: Verification]> => {
  const { rpcUrl, chainId, contracts } = world;
  const inBrowser = await verifyInBrowser({
    hash,
    rpcUrl,
    chainId,
    contracts,
    run: createSourceRunner(world.pool),
  });
  const { verification } = JSON.parse(inBrowser) as { verification: Verification };
  return [await world.verify(hash), verification];
};

/** Verifies on a page that gets the recorded chain data, modified by `tamper`. */
const verifyData = async (hash: `0x${string}`, tamper: (data: string) => string): Promise<Verification> => {
  const { rpcUrl, chainId, contracts } = world;
  const given = { hash, rpcUrl, chainId, contracts, run: createSourceRunner(world.pool) };
  const { data } = JSON.parse(await verifyInBrowser(given)) as { data: object };
  const found = await verifyInBrowser({
    ...given,
    rpcUrl: "http://192.0.2.1",
    data: tamper(JSON.stringify(data)),
  });
  return (JSON.parse(found) as { verification: Verification }).verification;
};

test("a bundle for a browser finds the same as Node, without one global of Node", async () => {
  const { report } = await world.runPreset();
  const [inNode, inBrowser] = await verifyBoth(report.transactionHash);
  expect(inBrowser.valid).toBe(true);
  expect(inBrowser).toEqual(JSON.parse(JSON.stringify(inNode)));
});

test("it finds a wrong result wrong, at the same step", async () => {
  const { report } = await world.runFunction("return Functions.encodeUint256(Number(args[0]))", "0x08");
  const [inNode, inBrowser] = await verifyBoth(report.transactionHash);
  expect(inBrowser).toMatchObject({ valid: false, requests: [{ failed: "execution" }] });
  expect(inBrowser).toEqual(JSON.parse(JSON.stringify(inNode)));
});

test("random words are checked too", async () => {
  const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 3 }] });
  const [inNode, inBrowser] = await verifyBoth(request.transactionHash);
  expect(inBrowser.requests).toMatchObject([{ kind: "random", verdict: "incomplete" }]);
  expect(inBrowser).toEqual(JSON.parse(JSON.stringify(inNode)));
});

test("chain data that was saved is checked without any node, and gives the same", async () => {
  const { report } = await world.runPreset();
  const [, byNode] = await verifyBoth(report.transactionHash);
  expect(await verifyData(report.transactionHash, (data) => data)).toEqual(byNode);
});

test("chain data that was changed is found out, wherever it was", async () => {
  const { request, report } = await world.runPreset();
  const hash = report.transactionHash;
  const word = wordOf(request).slice(2);
  const other = word.replace(/^../, (digits) => (digits === "00" ? "01" : "00"));
  // Replaces the word everywhere: in calldata and logs.
  expect(await verifyData(hash, (data) => data.replaceAll(word, other))).toMatchObject({ valid: false });
  // Changes a digit in the middle of each answer's longest hex, one answer at a time. No change may yield a different valid result.
  const { verification, data } = JSON.parse(
    await verifyInBrowser({
      hash,
      rpcUrl: world.rpcUrl,
      chainId: world.chainId,
      contracts: world.contracts,
      run: createSourceRunner(world.pool),
    }),
  ) as { verification: Verification; data: { answers: { method: string; result?: unknown }[] } };
  for (const [i, { method, result }] of data.answers.entries()) {
    if (!/^eth_get(Transaction|Block)/.test(method)) continue;
    const changed = structuredClone(data);
    changed.answers[i]!.result = JSON.parse(changeLongestHex(JSON.stringify(result)));
    const found = await verifyData(hash, () => JSON.stringify(changed)).catch((error: Error) => error);
    if (found instanceof Error || !found.valid) continue;
    const results = { method, results: found.requests.map((one) => one.result) };
    expect(results).toEqual({ method, results: verification.requests.map((one) => one.result) });
  }
});

function changeLongestHex(json: string): string {
  const longest = [...json.matchAll(/0x[0-9a-f]{64,}/g)]
    .map(([hex]) => hex)
    .toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) return json;
  const middle = longest.length >> 1;
  return json.replace(
    longest,
    `${longest.slice(0, middle)}${longest[middle] === "0" ? "1" : "0"}${longest.slice(middle + 1)}`,
  );
}
