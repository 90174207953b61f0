import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { suggestedFees, type SuggestedFeesOptions } from "../../../src/evm/fees.ts";
import { checkNetwork } from "../../../src/networks/external/checkNetwork.ts";
import { readContractsFile } from "../../../src/networks/external/contractsFile.ts";
import { profileOf } from "../../../src/networks/profiles.ts";
import { startTestChain, testAccount, type TestChain } from "../../support/anvil.ts";
import { runTyche } from "../../support/tyche.ts";

/** Nobody listens on this port. */
const DEAD_URL = "http://127.0.0.1:1";
const NAME = "mychain";
const OPERATOR = testAccount(1).address;

let chain: TestChain;
let folder: string;
beforeAll(async () => {
  chain = await startTestChain({ chainId: 31_337 });
  folder = mkdtempSync(path.join(tmpdir(), "tyche-check-"));
});
afterAll(async () => {
  await chain.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Checks the chain before it has any contracts. */
async function check(
  fees: Partial<SuggestedFeesOptions> = {},
  { presetVrfKeys, ...more }: { readonly finalityDepth?: number; readonly presetVrfKeys?: number } = {},
): Promise<readonly string[]> {
  const lines: string[] = [];
  const isFine = await checkNetwork({
    profile: profileOf({ name: NAME, chainId: 31_337, ...more }),
    rpcUrls: [chain.rpcUrl],
    presetVrfKeys,
    readContracts: () =>
      readContractsFile(path.join(folder, "none.json"), { network: NAME, chainId: 31_337 }),
    fees: suggestedFees({ repriceAfterMs: 1_000, ...fees }),
    operator: async () => OPERATOR,
    onFinding: ({ isOk, text, remedy = "" }) =>
      void lines.push(`${isOk ? "✓" : "✗"} ${text} ${remedy}`.trim()),
  });
  expect(isFine).toBe(false);
  return lines;
}

test("before the deployment nodes, gas and the operator are looked at, and what is missing is named", async () => {
  const lines = await check();
  expect(lines[0]).toMatch(/^✓ node 1 \(http\): block \d+/);
  expect(lines).toContainEqual(expect.stringMatching(/^✓ gas costs /));
  expect(lines).toContainEqual(
    expect.stringMatching(/^✗ contracts: .* is not there; run `tyche network deploy mychain` first/),
  );
  expect(lines).toContainEqual(expect.stringContaining(`✓ the operator ${OPERATOR} holds`));
});

test("a finality depth that is an estimate is told as one, until the operator names a depth", async () => {
  const estimate =
    "✓ transactions count as final after 96 blocks, which is an estimate (the chain is unknown; as on Ethereum); finalityDepth sets it";
  expect(await check()).toContain(estimate);
  expect(await check({}, { finalityDepth: 12 })).toContain("✓ transactions count as final after 12 blocks");
});

test("funds last for fewer presets where each joins the words of several keys", async () => {
  const presetsFor = async (presetVrfKeys: number): Promise<number> =>
    Number(
      /operator .* about (\d+) presets/.exec(
        (await check({ minTipWei: 1n }, { presetVrfKeys })).join("\n"),
      )?.[1],
    );
  expect((await presetsFor(1)) / (await presetsFor(4))).toBeGreaterThan(3);
});

test("gas above the operator's cap is amiss", async () => {
  const lines = await check({ maxFeeWei: 1n, minTipWei: 2n });
  expect(lines).toContainEqual(
    expect.stringMatching(/^✗ gas costs .* at most 0\.000000001 gwei are paid requests wait/),
  );
});

test("a node that nobody runs is a finding, and the command ends with exit code 1", async () => {
  const file = path.join(folder, "tyche.json");
  const network = { chainId: 31_337, rpcUrls: [DEAD_URL], contracts: "none.json" };
  writeFileSync(file, JSON.stringify({ networks: { [NAME]: network } }));
  const { code, output } = await runTyche(["network", "check", NAME, "--config", file], {
    TYCHE_DATA_DIR: path.join(folder, "data"),
  });
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringContaining("✗ no node can be used"),
  });
});
