import { createPublicClient, createWalletClient, http, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import type { VrfVersion } from "../../../src/domain/vocabulary.ts";
import { compileSolidity } from "../../support/solidity.ts";
import type { TycheProcess } from "../../support/tyche.ts";
import type { StrangersChain } from "./chain.ts";
import { NETWORK, type TwoParties } from "./world.ts";

/** The second account of Anvil's and Hardhat's mnemonic: a user's, unknown to the service. */
const USER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const SOURCE_V2 = `
pragma solidity ^0.8.19;
import {VRFConsumerBaseV2} from "@chainlink/contracts/src/v0.8/vrf/VRFConsumerBaseV2.sol";
import {VRFCoordinatorV2Interface} from "@chainlink/contracts/src/v0.8/vrf/interfaces/VRFCoordinatorV2Interface.sol";
contract Dice is VRFConsumerBaseV2 {
  VRFCoordinatorV2Interface private immutable coordinator;
  uint256 public word;
  constructor(address c) VRFConsumerBaseV2(c) { coordinator = VRFCoordinatorV2Interface(c); }
  function roll(bytes32 keyHash, uint64 subId) external { coordinator.requestRandomWords(keyHash, subId, 1, 100000, 1); }
  function fulfillRandomWords(uint256, uint256[] memory words) internal override { word = words[0]; }
}`;

const SOURCE_V2_PLUS = `
pragma solidity ^0.8.19;
import {VRFConsumerBaseV2Plus} from "@chainlink/contracts/src/v0.8/vrf/dev/VRFConsumerBaseV2Plus.sol";
import {VRFV2PlusClient} from "@chainlink/contracts/src/v0.8/vrf/dev/libraries/VRFV2PlusClient.sol";
contract Dice is VRFConsumerBaseV2Plus {
  uint256 public word;
  constructor(address c) VRFConsumerBaseV2Plus(c) {}
  function roll(bytes32 keyHash, uint256 subId) external {
    s_vrfCoordinator.requestRandomWords(VRFV2PlusClient.RandomWordsRequest(keyHash, subId, 1, 100000, 1, ""));
  }
  function fulfillRandomWords(uint256, uint256[] calldata words) internal override { word = words[0]; }
}`;

/** A user's own contract on a chain, created with the user's own tools. */
export interface UserContract {
  readonly address: Hex;
  /** Requests a word on a subscription; resolves when the transaction is mined. */
  roll(keyHash: Hex, subscriptionId: bigint): Promise<void>;
  /** Returns the last word; 0 until one has arrived. */
  word(): Promise<bigint>;
}

/** Deploys a consumer of random words as a user does, with only an RPC URL, on Chainlink's base contract of either version. */
async function deployUserContract(
  rpcUrl: string,
  { coordinator, vrf = "v2" }: { readonly coordinator: Hex; readonly vrf?: VrfVersion },
): Promise<UserContract> {
  const { abi, bytecode } = compileSolidity("Dice", vrf === "v2" ? SOURCE_V2 : SOURCE_V2_PLUS);
  const common = { chain: anvil, transport: http(rpcUrl), pollingInterval: 200 };
  const wallet = createWalletClient({ ...common, account: privateKeyToAccount(USER_KEY) });
  const reader = createPublicClient(common);
  const hash = await wallet.deployContract({ abi, bytecode, args: [coordinator] });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
  const address = contractAddress!;
  return {
    address,
    async roll(keyHash, subscriptionId) {
      const sent = await wallet.writeContract({
        address,
        abi,
        functionName: "roll",
        args: [keyHash, subscriptionId],
      });
      const { status } = await reader.waitForTransactionReceipt({ hash: sent });
      if (status !== "success") throw new Error(`the consumer's transaction ${sent} reverted`);
    },
    word: async () => (await reader.readContract({ address, abi, functionName: "word" })) as bigint,
  };
}

/** Deploys a consumer, links it to the default dapp's subscriptions, and requests a word. */
export async function linkUserContract({
  chain,
  parties,
  tyche,
  vrf = "v2",
}: {
  readonly chain: StrangersChain;
  readonly parties: TwoParties;
  readonly tyche: TycheProcess;
  readonly vrf?: VrfVersion;
}): Promise<UserContract> {
  const vars = await parties.run(["dapp", "config", "--json"]);
  const { dappId, networks } = JSON.parse(vars.output) as DappConfig;
  const { contracts, keyHash, vrfSubscriptionId } = networks.find(({ network }) => network === NETWORK)!;
  const consumer = await deployUserContract(chain.httpUrl, { coordinator: contracts.vrfCoordinator, vrf });
  const query = `dappId=${dappId}&network=${NETWORK}&consumer=${consumer.address}`;
  const { data } = await tyche.call("POST", `/api/vrfv2/addConsumer?${query}`);
  if (data.success !== true) throw new Error(`the consumer was not linked: ${JSON.stringify(data)}`);
  await consumer.roll(keyHash, BigInt(vrfSubscriptionId));
  return consumer;
}

/** Returns the requests that the default dapp's contracts made themselves, newest first. */
export async function readContractRequests(tyche: TycheProcess): Promise<readonly object[]> {
  const { status, data } = await tyche.call("GET", `/api/contractRequests?network=${NETWORK}`);
  if (status !== 200) throw new Error(`the requests were not listed: ${JSON.stringify(data)}`);
  return data.items as readonly object[];
}

interface DappConfig {
  readonly dappId: string;
  readonly networks: readonly {
    readonly network: string;
    readonly keyHash: Hex;
    readonly vrfSubscriptionId: string;
    readonly contracts: { readonly vrfCoordinator: Hex };
  }[];
}
