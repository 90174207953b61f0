import { createExplorer } from "../../src/client/index.ts";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  publicActions,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { compileSolidity } from "../support/solidity.ts";
import { connectOperator } from "../support/signIn.ts";
import {
  makeDataDir,
  removeDataDir,
  runTyche,
  startTycheProcess,
  type TycheProcess,
} from "../support/tyche.ts";

/** A user's contract, based on Chainlink's own. */
const CONSUMER = `
pragma solidity ^0.8.19;
import {VRFConsumerBaseV2Plus} from "@chainlink/contracts/src/v0.8/vrf/dev/VRFConsumerBaseV2Plus.sol";
import {VRFV2PlusClient} from "@chainlink/contracts/src/v0.8/vrf/dev/libraries/VRFV2PlusClient.sol";

contract Dice is VRFConsumerBaseV2Plus {
  uint256 public word;

  constructor(address coordinator) VRFConsumerBaseV2Plus(coordinator) {}

  function roll(bytes32 keyHash, uint256 subId, bool nativePayment) external returns (uint256) {
    return s_vrfCoordinator.requestRandomWords(
      VRFV2PlusClient.RandomWordsRequest({
        keyHash: keyHash,
        subId: subId,
        requestConfirmations: 1,
        callbackGasLimit: 100000,
        numWords: 1,
        extraArgs: VRFV2PlusClient._argsToBytes(VRFV2PlusClient.ExtraArgsV1({nativePayment: nativePayment}))
      })
    );
  }

  function fulfillRandomWords(uint256, uint256[] calldata randomWords) internal override {
    word = randomWords[0];
  }
}`;

let dataDir: string;
let tyche: TycheProcess;
beforeAll(async () => {
  dataDir = makeDataDir();
  configure({ sepolia: { vrf: "v2.5" }, fuji: { vrf: "v2.5", nativePayment: true } });
  tyche = await start();
});
afterAll(async () => {
  await tyche.stop();
  removeDataDir(dataDir);
  rmSync(`${dataDir}.json`);
});

function configure(embedded: Readonly<Record<string, object>>): void {
  const networks = Object.fromEntries(
    Object.entries(embedded).map(([name, options]) => [name, { embedded: true, ...options }]),
  );
  writeFileSync(`${dataDir}.json`, JSON.stringify({ networks }));
}

const start = () => startTycheProcess({ dataDir, env: { TYCHE_CONFIG: `${dataDir}.json` } });

const findNetwork = async () =>
  (await tyche.call("GET", "/api/networks")).data.items.find(
    ({ name }: { name: string }) => name === "sepolia",
  );
const verify = async (tx: string) => (await tyche.call("GET", `/api/verify?network=sepolia&tx=${tx}`)).data;
const hashIn = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

describe("an embedded network with VRF v2.5", () => {
  test("says that it has v2.5", async () => {
    expect((await findNetwork()).vrf.version).toBe("v2.5");
  });

  test.each([{ preset: "coinflip" }, { preset: "nDice", numFaces: "6", numDice: "3" }])(
    "$preset is answered, and verifies from its proof and from its report",
    async (body) => {
      const answer = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia", { body });
      expect(answer).toMatchObject({ status: 200, data: { success: true, err: "0x" } });
      for (const hash of [answer.data.vrfv2Hash, hashIn(answer.data.url)]) {
        const { valid, requests } = await verify(hash);
        expect({ valid, result: requests[0].result }).toEqual({ valid: true, result: answer.data.result });
        expect(new Set(requests[0].steps.map((step: { outcome: string }) => step.outcome))).toEqual(
          new Set(["ok"]),
        );
      }
    },
  );

  test("random numbers are answered, verified, and shown by the explorer", async () => {
    const target = "/api/vrfv2/requestRandomNumber?network=sepolia&numWords=3&confirmations=2";
    const { data } = await tyche.call("POST", target);
    expect(await verify(data.transactionHash)).toMatchObject({
      valid: true,
      requests: [{ kind: "random", randomNumber: data.randomNumber }],
    });
    const view = await createExplorer({ baseUrl: tyche.url }).transaction("sepolia", data.transactionHash);
    expect(view).toMatchObject({
      to: { name: "BatchVRFCoordinatorV2Plus" },
      randomness: [{ commitment: { nativePayment: false }, words: data.randomNumber }],
    });
  });

  test("with nativePayment a preset's word is paid for in coin", async () => {
    const { data } = await tyche.call("POST", "/api/vrfv2/presets?network=fuji&preset=coinflip", {
      body: {},
    });
    expect(data).toMatchObject({ success: true, err: "0x" });
    const view = await createExplorer({ baseUrl: tyche.url }).transaction("fuji", data.vrfv2Hash);
    expect(view.randomness).toMatchObject([{ commitment: { nativePayment: true } }]);
  });

  test("coin is among the balances, where the network says that it pays in coin", async () => {
    const networks = await createExplorer({ baseUrl: tyche.url }).networks();
    expect(Object.fromEntries(networks.map(({ name, vrf }) => [name, vrf.nativePayment]))).toEqual({
      sepolia: false,
      fuji: true,
    });
    const operator = connectOperator(tyche);
    const [dapp] = await operator.dapps();
    const balances = await operator.balances(dapp!.id);
    const hasCoin = balances.map(({ network, vrfWei }) => [network, BigInt(vrfWei) > 0n]);
    expect(Object.fromEntries(hasCoin)).toEqual({ sepolia: false, fuji: true });
  });

  test("a contract on VRFConsumerBaseV2Plus gets words on the dapp's subscription, for LINK and for coin", async () => {
    const { rpcUrl, contracts, vrf } = await findNetwork();
    const { output } = await runTyche(["dapp", "config", "--json"], { TYCHE_DATA_DIR: dataDir });
    const { dappId, networks } = JSON.parse(output);
    const own = networks.find((one: { network: string }) => one.network === "sepolia");
    const subId = BigInt(own.vrfSubscriptionId);
    expect(subId).toBeGreaterThan(2n ** 128n);
    const account = privateKeyToAccount(`0x${"7a".repeat(32)}`);
    const wallet = createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 20 }).extend(
      publicActions,
    );
    await wallet.request({
      method: "anvil_setBalance",
      params: [account.address, "0x56bc75e2d63100000"],
    } as never);
    const { abi, bytecode } = compileSolidity("Dice", CONSUMER);
    const mined = async (call: { readonly to?: Hex; readonly data: Hex; readonly value?: bigint }) => {
      const hash = await wallet.sendTransaction({ chain: null, ...call });
      return await wallet.waitForTransactionReceipt({ hash });
    };
    const args = [contracts.vrfCoordinator];
    const { contractAddress: dice } = await mined({ data: encodeDeployData({ abi, bytecode, args }) });
    const query = new URLSearchParams({ dappId, network: "sepolia", consumer: dice! });
    expect(await tyche.call("POST", `/api/vrfv2/addConsumer?${query.toString()}`)).toMatchObject({
      status: 200,
    });
    await mined({
      to: contracts.vrfCoordinator,
      data: encodeFunctionData({
        abi: [
          {
            type: "function",
            name: "fundSubscriptionWithNative",
            stateMutability: "payable",
            inputs: [{ name: "subId", type: "uint256" }],
            outputs: [],
          },
        ],
        args: [subId],
      }),
      value: 10n ** 18n,
    });
    const readWord = () => wallet.readContract({ address: dice!, abi, functionName: "word" });
    let last: unknown = 0n;
    for (const nativePayment of [false, true]) {
      const roll = { abi, functionName: "roll", args: [vrf.keyHashes[0], subId, nativePayment] };
      const { transactionHash } = await mined({ to: dice!, data: encodeFunctionData(roll) });
      last = await vi.waitFor(async () => {
        const word = await readWord();
        expect(word).not.toBe(last);
        return word;
      });
      // Anvil has the contract's state a moment before the logs of that block.
      await expect
        .poll(() => verify(transactionHash))
        .toMatchObject({ valid: true, requests: [{ kind: "random", randomNumber: [String(last)] }] });
    }
  });

  test("a restart goes on with the chain, and refuses to take it for one of VRF v2", async () => {
    await tyche.stop();
    configure({ sepolia: { vrf: "v2" } });
    await expect(start()).rejects.toThrow("has the contracts of VRF v2.5, but the configuration says v2");
    configure({ sepolia: { vrf: "v2.5", nativePayment: true } });
    await expect(start()).rejects.toThrow(
      "has the contracts of nativePayment false, but the configuration says true",
    );
    configure({ sepolia: { vrf: "v2.5" } });
    tyche = await start();
    const { data } = await tyche.call("POST", "/api/vrfv2/requestRandomNumber?network=sepolia");
    expect(data.success).toBe(true);
    expect(readFileSync(path.join(dataDir, "api-key"), "utf8").trim()).toBe(tyche.apiKey);
  });
});
