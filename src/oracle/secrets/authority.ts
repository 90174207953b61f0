import { setTimeout as sleep } from "node:timers/promises";
import { isAddressEqual, type Hex } from "viem";
import { functionsRouterAbi, subscriptionOwnerAbi } from "../../chainlink/contracts/abi.ts";
import { askContract, readOf, tryContract } from "../../chainlink/contractRead.ts";
import { isConsent } from "../../chainlink/secretsConsent.ts";
import type { ChainClient } from "../../evm/client.ts";
import { remember } from "../../lib/memo.ts";

/** Subscriptions that one call reads. */
const PAGE = 100n;
/** Pause between two searches through all subscriptions. */
const SCAN_PAUSE_MS = 5_000;
/** How long the operator is remembered: anybody may claim to be it, and asking costs the operator a call of its node. */
const OPERATOR_MEMORY_MS = 10_000;

/** Who may upload secrets for which requests: what the chain says. */
export interface Authority {
  /**
   * Returns whose secrets a subscription's requests may name; `undefined` if nobody's. With `seenBlock`, never as of an older block: fails
   * where the node that is asked lags behind.
   */
  findUploader(subscriptionId: bigint, seenBlock?: bigint): Promise<Hex | undefined>;
  /**
   * Whether an account is the operator of the contract that owns a subscription: it uploads for all that the contract owns. `seenBlock` as in
   * {@link findUploader}.
   */
  isOperator(subscriptionId: bigint, account: Hex, seenBlock?: bigint): Promise<boolean>;
  /** Whether an account is the operator, whose service may use the network's vault. */
  isService(account: Hex): Promise<boolean>;
  /** Whether an account may upload secrets for any subscription that has LINK. */
  mayUpload(account: Hex): Promise<boolean>;
}

/**
 * Creates the authority of one network. A subscription that an account owns takes the secrets of that account, as on Chainlink's network.
 * One of SubscriptionOwner's takes those of an account that consents by its signature.
 */
export function createAuthority(options: {
  readonly client: Pick<ChainClient, "call" | "getHead">;
  readonly chainId: number;
  readonly router: Hex;
  readonly subscriptionOwner: Hex;
}): Authority {
  const { client, chainId, router, subscriptionOwner } = options;
  /** Returns the newest block, or `seenBlock` where the node that answers lags behind it. A read there shows what was withdrawn since. */
  async function newestBlock(seenBlock: bigint | undefined): Promise<bigint | undefined> {
    if (seenBlock === undefined) return undefined;
    const head = await client.getHead("latest");
    return head !== undefined && head.number > seenBlock ? head.number : seenBlock;
  }
  const findOwner = (subscriptionId: bigint, block: bigint | undefined): Promise<Hex | undefined> =>
    tryContract(
      client,
      router,
      readOf(
        functionsRouterAbi,
        "getSubscription",
        [subscriptionId],
        (one) => one.owner.toLowerCase() as Hex,
      ),
      block,
    );
  const readOperator = remember(OPERATOR_MEMORY_MS, () =>
    tryContract(client, subscriptionOwner, readOf(subscriptionOwnerAbi, "owner", [])),
  );
  async function isService(account: Hex): Promise<boolean> {
    const operator = await readOperator();
    return operator !== undefined && isAddressEqual(operator, account);
  }

  /** Returns who owns subscriptions that hold LINK, lower case. */
  async function scanOwners(): Promise<ReadonlySet<string>> {
    const owners = new Set<string>();
    const count = await askContract(
      client,
      router,
      readOf(functionsRouterAbi, "getSubscriptionCount", [], (n) => n),
    );
    for (let first = 1n; first <= count; first += PAGE) {
      const last = first + PAGE - 1n < count ? first + PAGE - 1n : count;
      const call = readOf(functionsRouterAbi, "getSubscriptionsInRange", [first, last], (page) => page);
      for (const { owner, balance } of await askContract(client, router, call))
        if (balance > 0n) owners.add(owner.toLowerCase());
    }
    return owners;
  }

  let scanning: Promise<unknown> = Promise.resolve();
  let nextScan: Promise<ReadonlySet<string>> | undefined;
  /** Scans for everybody who asks meanwhile, with a pause after each scan: anybody may make us scan. */
  function readOwners(): Promise<ReadonlySet<string>> {
    if (nextScan !== undefined) return nextScan;
    const scan = scanning.then(() => {
      nextScan = undefined;
      return scanOwners();
    });
    nextScan = scan;
    const ended = scan.then(() => {}).catch(() => {});
    scanning = ended.then(() => sleep(SCAN_PAUSE_MS, undefined, { ref: false }));
    return scan;
  }

  return {
    async findUploader(subscriptionId, seenBlock) {
      const block = await newestBlock(seenBlock);
      const owner = await findOwner(subscriptionId, block);
      // Any contract can own a subscription, and name an account that knows nothing of it.
      if (owner === undefined || !isAddressEqual(owner, subscriptionOwner)) return owner;
      const call = readOf(subscriptionOwnerAbi, "secretsConsentOf", [subscriptionId]);
      const consent = await tryContract(client, owner, call, block);
      if (consent === undefined) return undefined;
      const [signer, number, signature] = consent;
      // The operator deploys the contract, so what it has checked proves nothing.
      const isSigned = await isConsent(
        { chainId, subscriptionOwner, subscriptionId, signer, number },
        signature,
      );
      return isSigned ? (signer.toLowerCase() as Hex) : undefined;
    },
    async isOperator(subscriptionId, account, seenBlock) {
      const owner = await findOwner(subscriptionId, await newestBlock(seenBlock));
      return owner !== undefined && isAddressEqual(owner, subscriptionOwner) && (await isService(account));
    },
    isService,
    async mayUpload(account) {
      const call = readOf(subscriptionOwnerAbi, "signedFor", [account], (subscriptions) => subscriptions);
      if (((await tryContract(client, subscriptionOwner, call)) ?? 0n) > 0n) return true;
      return (await readOwners()).has(account.toLowerCase());
    },
  };
}
