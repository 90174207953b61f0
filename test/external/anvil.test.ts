import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOracleProcess, startTycheProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { deployUserContract } from "./support/consumer.ts";
import { deployByCommands, NETWORK, prepareParties, type TwoParties } from "./support/world.ts";

let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;
let deployment: string;

beforeAll(async () => {
  chain = await startIntervalAnvil();
  parties = prepareParties(chain);
  deployment = await deployByCommands(parties);
  const { TYCHE_DATA_DIR, ...env } = parties.service;
  [oracle, tyche] = await Promise.all([
    startOracleProcess(parties.oracle),
    startTycheProcess({ dataDir: TYCHE_DATA_DIR!, env, timeoutMs: 240_000 }),
  ]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop(), oracle?.stop()]);
  await chain?.close();
  parties?.remove();
});

const preset = (name: string, body: object = {}) =>
  tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=${name}`, { body });

test("default: a preset is answered, and verified from the chain's RPC URL alone", async () => {
  const { status, data } = await preset("range", { min: "1", max: "6" });
  expect({ status, data }).toMatchObject({ status: 200, data: { success: true, err: "0x" } });
  const transaction = data.url.slice(-66);
  const { code, output } = await parties.run(["verify", NETWORK, transaction, "--rpc-url", chain.httpUrl], {
    TYCHE_DATA_DIR: path.join(parties.service["TYCHE_DATA_DIR"]!, "..", "nowhere"),
  });
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("valid: 1 request") });
});

test("behaviour: the service holds no key of the oracle, and shows no URL of a node", async () => {
  const readiness = await (await fetch(`${tyche.url}/readyz`)).text();
  expect(JSON.parse(readiness)).toMatchObject({ ready: true, networks: { [NETWORK]: { ready: true } } });
  expect(readiness).not.toContain('"oracle"');
  const { data } = await tyche.call("GET", "/api/networks");
  expect(data.items).toMatchObject([{ name: NETWORK, title: "My chain", chainId: 31_337, embedded: false }]);
  expect(data.items[0]).not.toHaveProperty("rpcUrl");
  expect(readiness + JSON.stringify(data) + tyche.output()).not.toContain(chain.wsUrl);
});

test("behaviour: the oracle's process tells its own state", async () => {
  const readiness = await fetch(`${oracle.url}/readyz`);
  expect(readiness.status).toBe(200);
  expect(await readiness.json()).toMatchObject({ networks: { [NETWORK]: { ready: true, caughtUp: true } } });
  const metrics = await (await fetch(`${oracle.url}/metrics`)).text();
  expect(metrics).toContain(`tyche_network_ready{network="${NETWORK}"} 1`);
});

test("behaviour: a function of the caller's and random words are answered", async () => {
  const [run, words] = await Promise.all([
    tyche.call("POST", "/api/oracleFunctions/runFunction", {
      body: { network: NETWORK, source: "return Functions.encodeString(args[0] + '!')", args: ["hello"] },
    }),
    tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}&numWords=2&confirmations=2`),
  ]);
  expect(run.data).toMatchObject({ success: true, parsedResult: "hello!" });
  expect(words.data).toMatchObject({ success: true, randomNumber: [expect.any(String), expect.any(String)] });
});

test("behaviour: a consumer of the caller's own is linked and gets its word", async () => {
  const vars = await parties.run(["dapp", "config", "--json"]);
  const { dappId, networks } = JSON.parse(vars.output);
  const { contracts, keyHash, vrfSubscriptionId } = networks.find(
    ({ network }: { network: string }) => network === NETWORK,
  );
  const consumer = await deployUserContract(chain.httpUrl, contracts.vrfCoordinator);
  const query = `dappId=${dappId}&network=${NETWORK}&consumer=${consumer.address}`;
  const { data } = await tyche.call("POST", `/api/vrfv2/addConsumer?${query}`);
  expect(data).toMatchObject({ success: true });
  await consumer.roll(keyHash, BigInt(vrfSubscriptionId));
  await expect.poll(() => consumer.word(), { interval: 250 }).not.toBe(0n);
});

test("behaviour: deploying again sends nothing, and the check finds nothing amiss", async () => {
  expect(deployment).toContain("19/19");
  const again = await parties.run(["network", "deploy", NETWORK, "--oracle", parties.identityFile, "--yes"]);
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining("is deployed already") });
  const { code, output } = await parties.run(["network", "check", NETWORK]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining("✗") });
  expect(output).toContain("the configuration digest is that of the oracle's 4 signers");
});

test("behaviour: block explorers get the compilers' input and each contract's constructor arguments", () => {
  const folder = parties.contractsFile.replace(/\.json$/, ".sources");
  const contracts = JSON.parse(readFileSync(path.join(folder, "contracts.json"), "utf8"));
  expect(contracts.map(({ contract }: { contract: string }) => contract.split(":")[1])).toContain(
    "VRFCoordinatorV2",
  );
  for (const { input, contract } of contracts) {
    const { sources } = JSON.parse(readFileSync(path.join(folder, input), "utf8"));
    expect(sources).toHaveProperty([contract.split(":")[0]]);
  }
  expect(existsSync(`${parties.contractsFile}.journal`)).toBe(false);
});
