import type { Hex } from "viem";
import { functionsRouterAbi } from "../chainlink/contracts/abi.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import { COORDINATOR_READS, type VrfSubscription } from "../chainlink/vrfCoordinator.ts";
import type { ChainClient } from "../evm/client.ts";
import type { StoredSubscription } from "../store/chainRecords.ts";
import { askContract, readOf } from "../chainlink/contractRead.ts";

/** Balances of a dapp's subscriptions. */
export interface SubscriptionBalances {
  readonly vrfJuels: bigint;
  /** Coin on the subscription for random words; 0 before VRF v2.5. */
  readonly vrfWei: bigint;
  readonly functionsJuels: bigint;
}

/** The consumers of a dapp's two subscriptions, including PresetConsumer. */
export interface ConsumerLists {
  readonly vrf: readonly Hex[];
  readonly functions: readonly Hex[];
}

/** Read access to the dapps' subscriptions on one network. */
export interface SubscriptionReader {
  /** Returns the dapp's subscriptions if they exist. */
  find(dappId: string): StoredSubscription | undefined;
  /** Returns the subscriptions of every dapp that has any. */
  list(): readonly StoredSubscription[];
  readBalances(subscription: StoredSubscription): Promise<SubscriptionBalances>;
  /** Reads the consumers of a dapp's two subscriptions from the chain's own lists. Checksummed addresses. */
  readConsumers(subscription: StoredSubscription): Promise<ConsumerLists>;
}

/** Chain reads about one dapp's subscriptions. */
export interface SubscriptionReads extends Pick<SubscriptionReader, "readBalances" | "readConsumers"> {
  /** Reads the subscription for random words from the coordinator. */
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

  const readVrf = ({ vrfSubscriptionId: id }: StoredSubscription): Promise<VrfSubscription> =>
    askContract(client, contracts.vrfCoordinator, COORDINATOR_READS[vrfVersion].subscription(id));
  const readFunctions = ({ functionsSubscriptionId: id }: StoredSubscription) =>
    askContract(client, contracts.functionsRouter, readOf(functionsRouterAbi, "getSubscription", [id]));

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
