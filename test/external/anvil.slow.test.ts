import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishedBy, startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { linkUserContract, readContractRequests } from "./support/consumer.ts";
import { countDeliveries, expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

/** Requests sent before each kill. */
const WAVE = 4;

let chain: StrangersChain;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;
let deployment: string;

beforeAll(async () => {
  chain = await startIntervalAnvil();
  parties = prepareParties(chain);
  deployment = await deployByCommands(parties);
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService(parties)]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop(), oracle?.stop()]);
  await chain?.close();
  parties?.remove();
});

const preset = (name: string, body: object = {}) =>
  tyche.call("POST", `/api/vrfv2/presets?network=${NETWORK}&preset=${name}`, { body });

test("a preset is answered, and verified from the chain's RPC URL alone", async () => {
  const { status, data } = await preset("range", { min: "1", max: "6", label: "the first" });
  expect({ status, data }).toMatchObject({ status: 200, data: { success: true, err: "0x" } });
  const transaction = data.url.slice(-66);
  const verify = (...flags: readonly string[]) =>
    parties.run(["verify", NETWORK, transaction, "--rpc-url", chain.httpUrl, ...flags], {
      TYCHE_DATA_DIR: path.join(parties.service["TYCHE_DATA_DIR"]!, "..", "nowhere"),
    });
  const published = await verify("--contracts", await publishedBy(tyche), "--expect", "label=the first");
  expect(published).toMatchObject({ code: 0, output: expect.stringMatching(/^valid: 1 request/m) });
  const { data: found } = await tyche.call("GET", `/api/verify?network=${NETWORK}&tx=${transaction}`);
  // Its headers are not read: the search begins with the contracts.
  const { searched } = found.requests[0].label;
  expect(searched).toMatchObject({ from: searched.codeFrom, isWhole: true, provenFrom: null });
  expect(Number(searched.codeFrom)).toBeGreaterThan(0);
  expect(await verify()).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^valid, if these contracts are the operator's: 1 request/m),
  });
});

test("the service holds no key of the oracle, and shows no URL of a node", async () => {
  const readiness = await (await fetch(`${tyche.url}/readyz`)).text();
  expect(JSON.parse(readiness)).toMatchObject({ ready: true, networks: { [NETWORK]: { ready: true } } });
  expect(readiness).not.toContain('"oracle"');
  const { data } = await tyche.call("GET", "/api/networks");
  expect(data.items).toMatchObject([{ name: NETWORK, title: "My chain", chainId: 31_337, embedded: false }]);
  expect(data.items[0]).not.toHaveProperty("rpcUrl");
  expect(readiness + JSON.stringify(data) + tyche.output()).not.toContain(chain.wsUrl);
});

test("the oracle's process tells its own state", async () => {
  const readiness = await fetch(`${oracle.url}/readyz`);
  expect(readiness.status).toBe(200);
  expect(await readiness.json()).toMatchObject({ networks: { [NETWORK]: { ready: true, caughtUp: true } } });
  const metrics = await (await fetch(`${oracle.url}/metrics`)).text();
  expect(metrics).toContain(`tyche_network_ready{network="${NETWORK}"} 1`);
});

test("a function of the caller's and random words are answered", async () => {
  const [run, words] = await Promise.all([
    tyche.call("POST", "/api/oracleFunctions/runFunction", {
      body: { network: NETWORK, source: "return Functions.encodeString(args[0] + '!')", args: ["hello"] },
    }),
    tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}&numWords=2&confirmations=2`),
  ]);
  expect(run.data).toMatchObject({ success: true, parsedResult: "hello!" });
  expect(words.data).toMatchObject({ success: true, randomNumber: [expect.any(String), expect.any(String)] });
});

test("a schedule's ticks are a block and 30 s apart", async () => {
  const body = { name: "often", network: NETWORK, every: "30s", action: { random: {} } };
  const { status, data } = await tyche.call("POST", "/api/schedules", { body });
  expect(status).toBe(400);
  expect(data.err).toMatch(/at least [\d.]+ s apart, 30 s and a block of [\d.]+ s; these are 30 s apart/);
});

test("a consumer of the caller's own is linked and gets its word", async () => {
  const consumer = await linkUserContract({ chain, parties, tyche });
  await expect.poll(() => consumer.word(), { timeout: 60_000, interval: 250 }).not.toBe(0n);
  // Anvil has a block's state before it finds the block's logs.
  await expect
    .poll(() => readContractRequests(tyche))
    .toMatchObject([{ kind: "random", state: "fulfilled", words: [String(await consumer.word())] }]);
});

test("deploying again sends nothing, and the check finds nothing amiss", async () => {
  expect(deployment).toContain("20/20");
  const again = await parties.run(["network", "deploy", NETWORK, "--oracle", parties.identityFile, "--yes"]);
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining("is deployed already") });
  const { code, output } = await parties.run(["network", "check", NETWORK]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining("✗") });
  expect(output).toContain("the configuration digest is that of the oracle's 4 signers");
});

test("what calls cost is told at the network's gas price, and a preset's LINK at the price of the chain's feed", async () => {
  const { code, output } = await parties.run(["network", "cost", NETWORK, "--usd", "2000"]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("gwei on") });
  const [, gwei] = /gas costs (\S+) gwei/.exec(output)!;
  const [, gas, cost] = /a coinflip alone +(\d+) gas {2}(\S+) /.exec(output)!;
  expect(Number(cost) / ((Number(gas) * Number(gwei)) / 1e9)).toBeCloseTo(1, 2);
  const [, link, dollars] = /takes about (\S+) LINK \(\$(\S+)\) from .*, for your own oracle\.$/m.exec(
    output,
  )!;
  // The feed that was deployed says 0.005 coins.
  expect(Number(dollars) / (Number(link) * 0.005 * 2000)).toBeCloseTo(1, 1);
});

test("block explorers get the compilers' input and each contract's constructor arguments", () => {
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

test("kill -9 of service and oracle under load loses no request, and doubles none", async () => {
  const before = await countDeliveries(chain, parties);
  const ids = await sendWave(tyche, "service", WAVE);
  await tyche.stop("SIGKILL");
  tyche = await startService(parties);
  ids.push(...(await sendWave(tyche, "oracle", WAVE)));
  await chain.slowDown();
  await oracle.stop("SIGKILL");
  ids.push(...(await sendWave(tyche, "alone", WAVE)));
  oracle = await startOracleProcess(parties.oracle);
  await expectFulfilled(tyche, ids);
  expect(await countDeliveries(chain, parties)).toEqual({
    sent: before.sent + ids.length,
    delivered: before.delivered + ids.length,
  });
});
