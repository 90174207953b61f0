import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSourceRunner } from "../../src/app/runSource.ts";
import type { Verification } from "../../src/verify/verification.ts";
import type { BrowserVerification } from "./support/browserEntry.ts";
import { startVerifyWorld, wordsSentIn, type VerifyWorld } from "./support/world.ts";

let world: VerifyWorld;
let verifyInBrowser: (options: BrowserVerification) => Promise<string>;
beforeAll(async () => {
  world = await startVerifyWorld();
  verifyInBrowser = await loadInBrowser();
});
afterAll(() => world.close());

/** Runs the bundle in a context that has the globals of a page as far as they are needed, and nothing of Node. */
async function loadInBrowser(): Promise<typeof verifyInBrowser> {
  const { outputFiles } = await build({
    entryPoints: [new URL("support/browserEntry.ts", import.meta.url).pathname],
    bundle: true,
    platform: "browser",
    format: "iife",
    globalName: "page",
    write: false,
  });
  const pageGlobals = ["AbortSignal", "crypto", "fetch", "TextDecoder", "TextEncoder", "URL"] as const;
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
  return [await world.verify(hash), JSON.parse(inBrowser) as Verification];
};

test("default: a bundle for a browser finds the same as Node, without one global of Node", async () => {
  const { report } = await world.runPreset();
  const [inNode, inBrowser] = await verifyBoth(report.transactionHash);
  expect(inBrowser.valid).toBe(true);
  expect(inBrowser).toEqual(JSON.parse(JSON.stringify(inNode)));
});

test("behaviour: it finds a wrong result wrong, at the same step", async () => {
  const { report } = await world.runFunction("return Functions.encodeUint256(Number(args[0]))", "0x08");
  const [inNode, inBrowser] = await verifyBoth(report.transactionHash);
  expect(inBrowser).toMatchObject({ valid: false, requests: [{ failed: "execution" }] });
  expect(inBrowser).toEqual(JSON.parse(JSON.stringify(inNode)));
});

test("behaviour: random words are checked too", async () => {
  const request = await world.submit({ randoms: [{ vrfSubId: world.dapp.vrfSubId, numWords: 3 }] });
  const [inNode, inBrowser] = await verifyBoth(request.transactionHash);
  expect(inBrowser.requests).toMatchObject([{ kind: "random", verdict: "incomplete" }]);
  expect(inBrowser).toEqual(JSON.parse(JSON.stringify(inNode)));
});

test("behaviour: preset words in one proof are the ones sent on chain", async () => {
  const { proof } = await world.runPreset();
  const [, inBrowser] = await verifyBoth(proof.transactionHash);
  expect(inBrowser.requests[0]?.randomNumber).toEqual(
    wordsSentIn(proof).map((word) => BigInt(word).toString()),
  );
});
