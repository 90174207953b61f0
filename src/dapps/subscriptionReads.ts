import { decodeFunctionResult, encodeFunctionData } from "viem";
import type { Hex } from "viem";
import { functionsRouterAbi } from "../chainlink/contracts/abi.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../chainlink/vrfCoordinator.ts";
import type { VrfSubscription } from "../chainlink/vrfCoordinator.ts";
import type { ChainClient } from "../evm/client.ts";
import type { StoredSubscription } from "../store/chainRecords.ts";

/** What a dapp's subscriptions hold. */
export interface SubscriptionBalances {
  readonly vrfJuels: bigint;
  /** Coin on the subscription for random words; none before VRF v2.5. */
  readonly vrfWei: bigint;
  readonly functionsJuels: bigint;
}

/** The contracts on a dapp's two subscriptions, PresetConsumer among them. */
export interface ConsumerLists {
  readonly vrf: readonly Hex[];
  readonly functions: readonly Hex[];
}

/** The dapps' subscriptions on one network, for whoever only looks. */
export interface SubscriptionReader {
  /** The dapp's subscriptions if they are there. */
  find(dappId: string): StoredSubscription | undefined;
  /** Those of every dapp that has any. */
  list(): readonly StoredSubscription[];
  readBalances(subscription: StoredSubscription): Promise<SubscriptionBalances>;
  /** Contracts that may use both subscriptions of a dapp, by the chain's own lists. Checksummed addresses. */
  readConsumers(subscription: StoredSubscription): Promise<ConsumerLists>;
}

/** What is asked of the chain about one dapp's subscriptions. */
export interface SubscriptionReads extends Pick<SubscriptionReader, "readBalances" | "readConsumers"> {
  /** What the coordinator says of the subscription for random words. */
  readVrf(subscription: StoredSubscription): Promise<VrfSubscription>;
}

/** Creates the reads of one network. */
export function createSubscriptionReads({
  client,
  contracts,
}: {
  readonly client: Pick<ChainClient, "call">;
  readonly contracts: StackAddresses;
}): SubscriptionReads {
  const { vrfVersion = "v2" } = contracts;

  const readVrf = async ({ vrfSubscriptionId }: StoredSubscription): Promise<VrfSubscription> => {
    const { data, decode } = COORDINATOR_READS[vrfVersion].subscription(vrfSubscriptionId);
    return decode(await client.call({ to: contracts.vrfCoordinator, data }));
  };
  const readFunctions = async ({ functionsSubscriptionId }: StoredSubscription) => {
    const call = { abi: functionsRouterAbi, functionName: "getSubscription" } as const;
    const args = [functionsSubscriptionId] as const;
    const data = await client.call({
      to: contracts.functionsRouter,
      data: encodeFunctionData({ ...call, args }),
    });
    return decodeFunctionResult({ ...call, data });
  };

  const readBalances = async (subscription: StoredSubscription): Promise<SubscriptionBalances> => {
    const [vrf, functions] = await Promise.all([readVrf(subscription), readFunctions(subscription)]);
    return {
      vrfJuels: vrf.balanceJuels,
      vrfWei: vrf.balanceWei,
      functionsJuels: functions.balance - functions.blockedBalance,
    };
  };
  const readConsumers = async (subscription: StoredSubscription): Promise<ConsumerLists> => {
    const [vrf, functions] = await Promise.all([readVrf(subscription), readFunctions(subscription)]);
    return { vrf: vrf.consumers, functions: functions.consumers };
  };

  return { readVrf, readBalances, readConsumers };
}
