import { afterAll, beforeAll, expect, test } from "vitest";
import { BAD_INPUTS, sendBadInput } from "../http/badInputs.ts";
import { runTyche, startTycheProcess } from "../support/tyche.ts";
import type { TycheProcess } from "../support/tyche.ts";

let tyche: TycheProcess;
let functionsOnly: string;
let readOnly: string;
let before: unknown;

/** Reads every network's newest block number: only a transaction produces a block. */
const readHeads = async () => {
  const { data } = await tyche.call("GET", "/api/networks");
  return await Promise.all(
    data.items.map(async ({ rpcUrl }: { rpcUrl: string }) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
      return (
        await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
      ).json();
    }),
  );
};

beforeAll(async () => {
  tyche = await startTycheProcess();
  const env = { TYCHE_DATA_DIR: tyche.dataDir };
  const { output } = await runTyche(["dapp", "create", "calc", "--facility", "functions", "--json"], env);
  const { dappId, apiKey } = JSON.parse(output);
  functionsOnly = apiKey;
  const reader = await runTyche(["dapp", "add-key", dappId, "--access", "read", "--json"], env);
  readOnly = JSON.parse(reader.output).apiKey;
  // The new dapp's subscriptions are transactions too, so wait for them first.
  for (let ready = false; !ready;) {
    const config = JSON.parse((await runTyche(["dapp", "config", dappId, "--json"], env)).output);
    ready = config.networks.every(
      (one: { vrfSubscriptionId?: string }) => one.vrfSubscriptionId !== undefined,
    );
  }
  before = await readHeads();
});
afterAll(async () => {
  await tyche.stop();
});

test.each(BAD_INPUTS.map((input) => [input.what, input] as const))("%s", async (_what, input) => {
  const reply = await sendBadInput(tyche.url, input, { good: tyche.apiKey, functionsOnly, readOnly });
  const { data } = (await reply.json()) as { data: { success: boolean; err: string; code: string } };
  expect({ status: reply.status, code: data.code, success: data.success }).toEqual({
    status: input.status,
    code: input.code,
    success: false,
  });
  expect(data.err.length).toBeLessThan(2_000);
});

test.each([
  ["return 5", /^Return bytes: Functions\.encodeUint256\(number\)/],
  [
    "const { error } = await Functions.makeHttpRequest({ url: 'http://10.0.0.1/' }); throw error;",
    /^Refused: 10\.0\.0\.1: private network\. /,
  ],
  ["await import('npm:one')", /the operator can allow it by adding "npm:one"/],
])("of %s both runFunction and simulate say what is behind it", async (source, message) => {
  const details = [{ path: "/source", message: expect.stringMatching(message) as string }];
  const body = { network: "sepolia", source };
  const refused = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
  expect(refused).toMatchObject({ status: 422, data: { success: false, code: "function_failed", details } });
  const simulated = await tyche.call("POST", "/api/oracleFunctions/simulate", { body });
  expect(simulated).toMatchObject({ status: 200, data: { success: false, err: refused.data.err, details } });
});

test("of a source that can't be parsed both runFunction and simulate say why and where", async () => {
  const body = { network: "sepolia", source: "import a from 'npm:a'; return a;" };
  const err = expect.stringMatching(
    /^syntax error in line 1, column 1: a static import isn't possible here: .*"npm:a"/,
  ) as string;
  const refused = await tyche.call("POST", "/api/oracleFunctions/runFunction", { body });
  expect(refused).toMatchObject({ status: 422, data: { success: false, code: "function_failed", err } });
  const simulated = await tyche.call("POST", "/api/oracleFunctions/simulate", { body });
  expect(simulated).toMatchObject({ status: 200, data: { success: false, err } });
});

test("none of them reached a chain", async () => {
  expect(await readHeads()).toEqual(before);
});
