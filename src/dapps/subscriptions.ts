import {
  encodeFunctionData,
  isAddressEqual,
  keccak256,
  parseSignature,
  serializeSignature,
  toHex,
  zeroAddress,
  type Hex,
} from "viem";
import type { ChainClient } from "../evm/client.ts";
import type { StackAddresses } from "../chainlink/stackPlan.ts";
import type { Sender } from "../evm/sender.ts";
import { linkTokenAbi, vrfCoordinatorV2PlusAbi } from "../chainlink/contracts/abi.ts";
import { askContract, readOf, tryContract, type ContractRead } from "../chainlink/contractRead.ts";
import { consentMessage, isConsent, type SecretsConsent } from "../chainlink/secretsConsent.ts";
import { SUBSCRIPTION_OWNER_ABIS } from "../chainlink/vrfVersion.ts";
import { shareByKey } from "../lib/memo.ts";
import { saveSubscription, type StoredSubscription } from "../store/chainRecords.ts";
import { listDapps } from "../store/dapps.ts";
import type { Store } from "../store/store.ts";
import { createHoldOff } from "../lib/holdOff.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { Payload } from "../store/transactionContents.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import type { TycheError } from "../lib/errors.ts";
import { parseQuantity } from "../lib/nodeAnswers.ts";
import { BudgetSpentError, type DailyBudget } from "./dailyBudget.ts";
import { isShortage, LinkShortageError, CoinShortageError } from "./shortage.ts";
import { createSubscriptionReads, type SubscriptionReader } from "./subscriptionReads.ts";

const PROVISION_GAS = 1_500_000n;
const FUND_GAS = 400_000n;
/** Twice what naming an account for the first time uses: its consent is stored. */
const SIGNER_GAS = 450_000n;
/** Divisor of the allowance: a subscription with less than this part may be unable to pay for everything sent at once. */
const LOW_PART = 4n;

/** The dapps' subscriptions on one network, separate for each dapp: created, funded and topped up by the service. */
export interface Subscriptions extends SubscriptionReader {
  /** Returns the dapp's subscriptions, creating them on first use. */
  ensure(dappId: string): Promise<StoredSubscription>;
  /**
   * Holds back a dapp's requests for random words, or its function requests, while the subscription that pays for them is nearly empty and
   * there is nothing to top it up with: a request sent then fails on chain, or waits there until it expires. Decides by what the last
   * {@link topUp} saw.
   *
   * @throws {LinkShortageError}
   * @throws {CoinShortageError}
   * @throws {BudgetSpentError}
   */
  assertFunded(dappId: string, payer: Payer): void;
  /** Returns the length of the dapp's longer consumer list, cached until {@link consumersChanged}. */
  countConsumers(dappId: string): Promise<number>;
  consumersChanged(dappId: string): void;
  /**
   * Refills every subscription that was used since the last call and has fallen below half its allowance, as far as its dapp's daily budget
   * goes. Those of deleted dapps get nothing.
   */
  topUp(): Promise<void>;
  /**
   * Names the account that may upload secrets for a dapp's subscription, or the zero address; returns the transaction, or `null` if it is
   * named already. Throws `invalid_parameter` with the message to sign unless the account has signed it, and `chain_unavailable`.
   */
  setSecretsSigner(dappId: string, signer: Hex, signature?: Hex): Promise<Hex | null>;
  /** Marks a dapp's subscriptions as used: a request of its is about to be sent, or one was charged, see {@link createCharges}. */
  used(dappId: string): void;
  /** Call when the chain may have lost the transactions that created them: each dapp's are looked up again before their next use. */
  doubt(): void;
}

/** Which of a dapp's subscriptions pays for a request. */
export type Payer = "vrf" | "functions";

export interface SubscriptionsOptions {
  readonly network: string;
  readonly chainId: number;
  readonly store: Store;
  readonly client: ChainClient;
  readonly sender: Sender<Payload>;
  readonly contracts: StackAddresses;
  /** Allowance of each of a dapp's two subscriptions, in juels. */
  readonly allowanceJuels: bigint;
  /** Symbol of the network's coin, for messages. */
  readonly coin: string;
  /** Coin allowance of the one for random words, in addition; absent if words are paid for in LINK. */
  readonly coinAllowanceWei?: bigint | undefined;
  readonly budget: DailyBudget;
  readonly known: readonly StoredSubscription[];
}

/** Creates the manager of one network's subscriptions. */
export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { network, chainId, store, client, sender, contracts, allowanceJuels, budget } = options;
  const { vrfVersion = "v2" } = contracts;
  const subscriptionOwnerAbi = SUBSCRIPTION_OWNER_ABIS[vrfVersion];
  const reads = createSubscriptionReads({ client, contracts });
  const coin = createCoinFunding({
    network,
    client,
    sender,
    contracts,
    symbol: options.coin,
    allowanceWei: options.coinAllowanceWei ?? 0n,
    budget,
  });
  const known = new Map(options.known.map((one) => [one.dappId, one]));
  const making = new Map<string, Promise<StoredSubscription>>();
  const used = new Set<string>();
  const doubted = new Set<string>();
  // Checking whether LINK is still missing costs only a read.
  const holdOff = createHoldOff({ isFree: isShortage });
  /** Dapps with subscriptions that hold less than a request may need, and can't be topped up now. */
  const short = new Map<string, { readonly payers: readonly Payer[]; readonly error: TycheError }>();
  const consumerCounts = new Map<string, Promise<number>>();

  /** Returns the subscriptions that the contract has for a dapp; an id is never 0. */
  const findOnChain = async (dappId: string): Promise<StoredSubscription | undefined> => {
    const { subscriptionOwner: owner } = contracts;
    const read = readOf(subscriptionOwnerAbi, "subscriptionsOf", [dappKey(dappId)]);
    const [vrfSubscriptionId, functionsSubscriptionId] = await askContract(client, owner, read);
    return vrfSubscriptionId === 0n
      ? undefined
      : { dappId, network, vrfSubscriptionId, functionsSubscriptionId };
  };

  /** Checks first, because a transaction that reverts for lack of LINK costs gas and doesn't say why. */
  const assertReserve = async (neededJuels: bigint, purpose: string): Promise<void> => {
    const { link, subscriptionOwner: reserve } = contracts;
    const heldJuels = await askContract(client, link, readOf(linkTokenAbi, "balanceOf", [reserve]));
    if (heldJuels < neededJuels)
      throw new LinkShortageError({ network, reserve, purpose, neededJuels, heldJuels });
  };

  const provision = async (dappId: string): Promise<StoredSubscription> => {
    // After a crash, the subscriptions of the first attempt may already exist.
    let subscription = await findOnChain(dappId);
    const isNew = subscription === undefined;
    if (isNew) {
      await assertReserve(2n * allowanceJuels, "creating a dapp's subscriptions");
      const data = encodeFunctionData({
        abi: subscriptionOwnerAbi,
        functionName: "provision",
        args: [dappKey(dappId), allowanceJuels, allowanceJuels, contracts.presetConsumer],
      });
      const receipt = await sender.send(
        { to: contracts.subscriptionOwner, data, gas: PROVISION_GAS },
        { kind: "upkeep", entries: [] },
      );
      if (!receipt.succeeded)
        throw new ChainUnavailableError(network, "creating the dapp's subscriptions reverted");
      subscription = await findOnChain(dappId);
    }
    if (subscription === undefined)
      throw new ChainUnavailableError(network, "the dapp's subscriptions are not visible on the chain yet");
    const { balanceWei } = await reads.readVrf(subscription);
    // What one that there was lacks has been spent, so that it counts against the budget.
    await coin
      .fill(subscription.vrfSubscriptionId, balanceWei, isNew ? undefined : dappId)
      .catch((error: unknown) => {
        if (!(error instanceof BudgetSpentError)) throw error;
        used.add(dappId);
      });
    await store.writeSoon((db) => saveSubscription(db, subscription));
    known.set(dappId, subscription);
    doubted.delete(dappId);
    return subscription;
  };

  const topUpOne = async (dappId: string): Promise<void> => {
    // The contract decides: whoever can write the database must not choose whom the reserve pays.
    const subscription = await findOnChain(dappId);
    if (subscription === undefined) return;
    const { vrfJuels, vrfWei, functionsJuels } = await reads.readBalances(subscription);
    const hold = (payers: readonly Payer[]) => (error: unknown) => {
      if (payers.length > 0 && isShortage(error)) short.set(dappId, { payers, error });
      throw error;
    };
    await coin
      .fill(subscription.vrfSubscriptionId, vrfWei, dappId)
      .catch(hold(coin.isLow(vrfWei) ? ["vrf"] : []));
    const missing = (have: bigint): bigint => (have < allowanceJuels / 2n ? allowanceJuels - have : 0n);
    const [missingVrf, missingFunctions] = [missing(vrfJuels), missing(functionsJuels)];
    if (missingVrf === 0n && missingFunctions === 0n) return void short.delete(dappId);
    const low = Object.entries({ vrf: vrfJuels, functions: functionsJuels }).flatMap(([payer, juels]) =>
      juels < allowanceJuels / LOW_PART ? [payer as Payer] : [],
    );
    const juels = await budget.allow(dappId, "juels", missingVrf + missingFunctions).catch(hold(low));
    await assertReserve(juels, "topping up a dapp's subscriptions").catch(hold(low));
    short.delete(dappId);
    const vrf = missingVrf < juels ? missingVrf : juels;
    const functions = juels - vrf;
    const data = encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "fund",
      args: [subscription.vrfSubscriptionId, vrf, subscription.functionsSubscriptionId, functions],
    });
    const receipt = await sender.send(
      { to: contracts.subscriptionOwner, data, gas: FUND_GAS },
      { kind: "upkeep", entries: [], topUp: { dappId, juels: String(juels), wei: "0" } },
    );
    if (!receipt.succeeded)
      throw new ChainUnavailableError(
        network,
        "funding a dapp's subscriptions reverted; is the owner contract out of LINK?",
      );
  };

  const setSecretsSigner = async (dappId: string, signer: Hex, signature?: Hex): Promise<Hex | null> => {
    const subscription = await findOnChain(dappId);
    if (subscription === undefined)
      throw new ChainUnavailableError(network, "the dapp's subscriptions are being created; try again");
    const { functionsSubscriptionId: subscriptionId } = subscription;
    const { subscriptionOwner } = contracts;
    const ask = <Value>(read: ContractRead<Value>) => tryContract(client, subscriptionOwner, read);
    const [current, number] = await Promise.all([
      ask(readOf(subscriptionOwnerAbi, "secretsConsentOf", [subscriptionId], ([named]) => named)),
      ask(readOf(subscriptionOwnerAbi, "nextConsentOf", [subscriptionId, signer])),
    ]);
    if (current === undefined || number === undefined)
      throw new ChainUnavailableError(
        network,
        "its contracts are of a version that has no signers of secrets; a new chain has",
      );
    if (isAddressEqual(current, signer)) return null;
    const consent = { chainId, subscriptionOwner, subscriptionId, signer, number };
    const data = encodeFunctionData({
      abi: subscriptionOwnerAbi,
      functionName: "setSecretsSigner",
      args: [subscriptionId, signer, signer === zeroAddress ? "0x" : await checkConsent(consent, signature)],
    });
    const call = { to: subscriptionOwner, data, gas: SIGNER_GAS };
    const receipt = await sender.send(call, { kind: "upkeep", entries: [] });
    if (!receipt.succeeded) throw new ChainUnavailableError(network, "naming the signer of secrets reverted");
    return receipt.transactionHash;
  };

  return {
    setSecretsSigner,
    async ensure(dappId) {
      const found = known.get(dappId);
      if (found !== undefined && !doubted.has(dappId)) return found;
      return await shareByKey(making, dappId, () =>
        holdOff(`provision ${dappId}`, () => provision(dappId)).finally(() => making.delete(dappId)),
      );
    },
    assertFunded(dappId, payer) {
      const shortage = short.get(dappId);
      if (shortage?.payers.includes(payer) === true) throw shortage.error;
    },
    find: (dappId) => known.get(dappId),
    list: () => [...known.values()],
    ...reads,
    async countConsumers(dappId) {
      const subscription = known.get(dappId);
      if (subscription === undefined) return 1;
      return await shareByKey(consumerCounts, dappId, async () => {
        const { vrf, functions } = await reads.readConsumers(subscription);
        return Math.max(vrf.length, functions.length);
      });
    },
    consumersChanged: (dappId) => void consumerCounts.delete(dappId),
    async topUp() {
      if (used.size === 0) return;
      // A deleted dapp's contracts may go on spending what its subscriptions hold, and no more.
      const kept = new Set((await listDapps(store.db)).map(({ id }) => id));
      const dappIds = [...used].filter((dappId) => known.has(dappId) && kept.has(dappId));
      used.clear();
      const errors: unknown[] = [];
      for (const dappId of dappIds) {
        try {
          await holdOff(`top up ${dappId}`, () => topUpOne(dappId));
        } catch (error) {
          used.add(dappId);
          // The dapp's own doing; the readiness reports it.
          if (!(error instanceof BudgetSpentError)) errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
    doubt() {
      for (const dappId of known.keys()) doubted.add(dappId);
      consumerCounts.clear();
    },
    used: (dappId) => void used.add(dappId),
  };
}

/** Returns a signature of consent as the contract takes it: some wallets end theirs in 0 or 1 instead of 27 or 28. */
async function checkConsent(consent: SecretsConsent, signature: Hex = "0x"): Promise<Hex> {
  if (await isConsent(consent, signature)) return serializeSignature(parseSignature(signature));
  const message = `must be the account's signature of this personal message: ${consentMessage(consent)}`;
  throw new InvalidParameterError([{ path: "/signature", message }]);
}

/** Returns a dapp's name on chain: the hash of its id, so that nothing of ours is visible there. */
function dappKey(dappId: string): Hex {
  return keccak256(toHex(dappId));
}

/** Gas limit for VRFCoordinatorV2_5 `fundSubscriptionWithNative`, twice what it uses. */
const FUND_COIN_GAS = 120_000n;
/** Gas that the operator must still be able to pay for after giving coin away: a few hundred requests of its own. */
const KEPT_GAS = 30_000_000n;
/** Creates the funding of one network's subscriptions for words that are paid for in coin, from the sender's own account. */
function createCoinFunding(options: {
  readonly network: string;
  readonly client: Pick<ChainClient, "getBalanceWei" | "request">;
  readonly sender: Sender<Payload>;
  readonly contracts: Pick<StackAddresses, "vrfCoordinator">;
  /** Symbol of the coin, for messages. */
  readonly symbol: string;
  /** 0: words are paid for in LINK. */
  readonly allowanceWei: bigint;
  readonly budget: Pick<DailyBudget, "allow">;
}) {
  const { network, client, sender, contracts, symbol, allowanceWei, budget } = options;
  return {
    /** Whether a balance is so low that it may not cover everything sent at once. */
    isLow: (heldWei: bigint): boolean => heldWei < allowanceWei / LOW_PART,
    /**
     * Refills a subscription to its allowance if it has fallen below half of it.
     *
     * @param dappId the dapp whose budget the coin counts against. Default: it counts against none.
     * @throws {CoinShortageError} when the operator has too little to give.
     * @throws {BudgetSpentError} when nothing is left of the budget.
     */
    async fill(vrfSubscriptionId: bigint, heldWei: bigint, dappId?: string): Promise<void> {
      if (heldWei >= allowanceWei / 2n) return;
      const missingWei = allowanceWei - heldWei;
      const valueWei = dappId === undefined ? missingWei : await budget.allow(dappId, "wei", missingWei);
      const keptWei = KEPT_GAS * parseQuantity(await client.request("eth_gasPrice"), "gas price");
      const holdsWei = await client.getBalanceWei(sender.address);
      if (holdsWei < valueWei + keptWei)
        throw new CoinShortageError({
          network,
          operator: sender.address,
          symbol,
          neededWei: valueWei + keptWei,
          heldWei: holdsWei,
        });
      const fund = { abi: vrfCoordinatorV2PlusAbi, functionName: "fundSubscriptionWithNative" } as const;
      const data = encodeFunctionData({ ...fund, args: [vrfSubscriptionId] });
      const receipt = await sender.send(
        { to: contracts.vrfCoordinator, data, gas: FUND_COIN_GAS, valueWei },
        {
          kind: "upkeep",
          entries: [],
          ...(dappId !== undefined && { topUp: { dappId, juels: "0", wei: String(valueWei) } }),
        },
      );
      if (!receipt.succeeded)
        throw new ChainUnavailableError(network, "sending coin to a dapp's subscription reverted");
    },
  };
}
