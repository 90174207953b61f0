import { encodeFunctionData, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkTokenAbi } from "../../src/chainlink/contracts/abi.ts";
import { readContractsFile } from "../../src/networks/external/contractsFile.ts";
import { startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { RICH_KEY, startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { expectFulfilled, sendWave } from "./support/waves.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

/** In wei; above the lane's 1,000 gwei. */
const DEAR_BASE_FEE = 5_000_000_000_000n;
const USUAL_BASE_FEE = 1_000_000_000n;
const WAIT = { timeout: 60_000, interval: 250 };

let chain: StrangersChain;
/** Owns the coordinator, and proves with a key of which we only know the hash: to us, it is Chainlink. */
let chainlink: TwoParties;
let node: OracleChild | undefined;
let parties: TwoParties;
let oracle: OracleChild;
let tyche: TycheProcess;
let coordinator: string;

beforeAll(async () => {
  chain = await startIntervalAnvil();
  chainlink = prepareParties(chain, { network: { vrf: "v2.5" } });
  await deployByCommands(chainlink);
  const theirs = readContractsFile(chainlink.contractsFile, { network: NETWORK, chainId: 31_337 });
  coordinator = theirs.contracts.vrfCoordinator;
  const vrf = { chainlink: true, coordinator, keyHash: theirs.keyHash };
  parties = prepareParties(chain, { network: { vrf, linkPerSubscription: "20" } });
  // LINK as from a faucet.
  const operator = privateKeyToAccount(RICH_KEY).address;
  const args = [operator, parseEther("100")] as const;
  const data = encodeFunctionData({ abi: linkTokenAbi, functionName: "mint", args });
  await chain.call("eth_sendTransaction", [{ from: operator, to: theirs.contracts.link, data }]);
  await chain.mine(1);
  await deployByCommands(parties);
  const funded = await parties.run(["network", "fund", NETWORK, "--link", "50"]);
  if (funded.code !== 0) throw new Error(funded.output);
  [oracle, tyche] = await Promise.all([startOracleProcess(parties.oracle), startService(parties)]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop("SIGKILL"), oracle?.stop("SIGKILL"), node?.stop("SIGKILL")]);
  await chain?.close();
  parties?.remove();
  chainlink?.remove();
});

test("no coordinator is deployed, and the check knows whose it is", async () => {
  const {
    contracts,
    existing,
    keyHash,
    oracle: own,
  } = readContractsFile(parties.contractsFile, {
    network: NETWORK,
    chainId: 31_337,
  });
  expect(contracts.vrfCoordinator).toBe(coordinator);
  expect(existing).toHaveProperty("vrfCoordinator", coordinator);
  expect(keyHash).not.toBe(own.vrf.keyHash);
  const { code, output } = await parties.run(["network", "check", NETWORK]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining("✗") });
  expect(output).toContain(`random words come from Chainlink's oracle: coordinator ${coordinator}`);
});

test("words that are late, and gas too dear for the lane, are told; then they come", async () => {
  const ids = await sendWave(tyche, "late", 1);
  const why = async (): Promise<string> =>
    String((await tyche.call("GET", `/api/requests/${ids[0]}`)).data.why);
  const setBaseFee = (wei: bigint) =>
    chain.call("anvil_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
  await expect.poll(why, WAIT).toContain("Chainlink's oracle has brought no random words for");
  // Each empty block's base fee is an eighth lower: every look is at a price that has just been raised.
  const whyWhenDear = () => setBaseFee(DEAR_BASE_FEE).then(why);
  await expect.poll(whyWhenDear, WAIT).toContain("gas lane too low");
  await setBaseFee(USUAL_BASE_FEE);
  node = await startOracleProcess(chainlink.oracle);
  await expectFulfilled(tyche, ids);
});

test("presets and words in time, whose check says whom to trust", async () => {
  const words = await tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}&numWords=2`);
  expect(words.data).toMatchObject({ success: true, randomNumber: [expect.any(String), expect.any(String)] });
  const { data } = await tyche.call("GET", `/api/verify?network=${NETWORK}&tx=${words.data.transactionHash}`);
  expect(data).toMatchObject({ verdict: "valid" });
  expect(data.trust).toContainEqual(
    expect.stringContaining("Chainlink's own oracle, which holds the VRF key"),
  );
});
