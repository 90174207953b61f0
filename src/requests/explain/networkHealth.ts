import { askContract, readOf } from "../../chainlink/contractRead.ts";
import type { NetworkReadiness } from "../../api/types.ts";
import { keepReading, remember } from "../../lib/memo.ts";
import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { ChainWatcher, SeenHead } from "../../evm/watcher.ts";
import { functionsRouterAbi, linkTokenAbi } from "../../chainlink/contracts/abi.ts";
import { DeadlineError, withDeadline } from "../../lib/deadline.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Subscriptions } from "../../dapps/subscriptions.ts";

/**
 * Anyone may query the readiness; the chain is queried for it at most this often. Whoever asks again within `staleMs` is answered with what
 * is known, even if the process or the node is slow.
 */
const READING = { freshMs: 1_000, staleMs: 5_000 };
/** Likewise for the balances, which take two calls per dapp. */
const BALANCES_FRESH_MS = 15_000;
/** Readiness is reported within two seconds, whatever hangs. */
const DEADLINE_MS = 1_500;
/** Subscriptions read concurrently. */
const SUBSCRIPTIONS_AT_ONCE = 16;
/** An account that holds less coin than this, 0.1, should be topped up. */
const LOW_BALANCE_WEI = 10n ** 17n;
/** The oracle should have answered by then: even on the slowest network, confirmations take less. */
const LONG_LAG_MS = 120_000;

const PAUSED_WARNING =
  "the Functions router is paused: function requests fail until its owner calls unpause()";

/** State of the oracle that serves a network, as reported by whoever runs it. */
export interface OracleHealth {
  /** Time since it saw its oldest unanswered request; 0 when there is none. */
  readonly lagMs: number;
  /** What that request waits for. */
  readonly waitsFor?: string;
  readonly pendingWords: number;
  readonly pendingFunctions: number;
  /** `undefined` before the first block. */
  readonly blockNumber: number | undefined;
  /** Whether it has read all blocks from before its start. */
  readonly caughtUp: boolean;
  /** Its account with the lowest balance, by role; absent until it was read. */
  readonly lowestAccounts: Readonly<Record<string, { readonly address: Hex; readonly balanceWei: bigint }>>;
}

export interface NetworkHealthOptions {
  readonly client: Pick<ChainClient, "getBalanceWei" | "call">;
  readonly watcher: Pick<ChainWatcher, "head">;
  readonly operator: Hex;
  /** LINK token, and the contract that funds subscriptions. */
  readonly link: Hex;
  readonly subscriptionOwner: Hex;
  /** Accepts neither requests nor results while its owner has paused it. */
  readonly functionsRouter: Hex;
  /** Says in words why nothing more is sent to the chain; returns `undefined` while everything is. */
  readonly chainPause?: (() => string | undefined) | undefined;
  /** Anything else on this chain that an operator should attend to. */
  readonly chainWarnings?: () => Promise<readonly string[]>;
  readonly subscriptions: Pick<Subscriptions, "list" | "readBalances">;
  /** Returns the ids of the dapps whose daily budget is used up. */
  readonly spentBudgets: () => Promise<readonly string[]>;
  /** A subscription with less than this counts as low: top-ups should have prevented it. */
  readonly lowSubscriptionJuels: bigint;
  /** Number of open requests, and of those that no transaction carries yet. */
  readonly openRequests: () => number;
  readonly queuedRequests: () => number;
  /** Number of requests whose database rows can't be read. */
  readonly damagedRequests: () => number;
  /** Absent if somebody else runs the oracle. */
  readonly oracle?: () => OracleHealth;
}

/** Creates the function that reads the health of a serving network. It never rejects: an unreachable node is part of the health. */
export function createNetworkHealth(options: NetworkHealthOptions): () => Promise<NetworkReadiness> {
  const { client, watcher, subscriptions } = options;

  const readReserve = async (): Promise<bigint> => {
    const read = readOf(linkTokenAbi, "balanceOf", [options.subscriptionOwner]);
    return await askContract(client, options.link, read);
  };
  const readPaused = async (): Promise<boolean> => {
    return await askContract(client, options.functionsRouter, readOf(functionsRouterAbi, "paused", []));
  };
  const readSubscriptions = remember(BALANCES_FRESH_MS, async (): Promise<Balances> => {
    const all = subscriptions.list();
    let vrfJuels: bigint | undefined;
    let functionsJuels: bigint | undefined;
    for (let at = 0; at < all.length; at += SUBSCRIPTIONS_AT_ONCE) {
      const some = all.slice(at, at + SUBSCRIPTIONS_AT_ONCE);
      for (const balances of await Promise.all(some.map((one) => subscriptions.readBalances(one)))) {
        vrfJuels = lower(vrfJuels, balances.vrfJuels);
        functionsJuels = lower(functionsJuels, balances.functionsJuels);
      }
    }
    return { count: all.length, vrfJuels, functionsJuels, reserveJuels: await readReserve() };
  });

  let lastBalances: Balances | undefined;
  let lastOperatorWei: bigint | undefined;
  const describePause = (): string | undefined => {
    const pause = options.chainPause?.();
    return pause === undefined ? undefined : `the chain is paused: ${pause}`;
  };

  return keepReading(async (): Promise<NetworkReadiness> => {
    const head = watcher.head();
    const pendingRequests = options.openRequests();
    const queuedRequests = options.queuedRequests();
    const damagedRequests = options.damagedRequests();
    const oracle = options.oracle?.();
    const known = { pendingRequests, queuedRequests, damagedRequests, ...(oracle && describeOracle(oracle)) };
    try {
      const beganMs = performance.now();
      let rpcLatencyMs = 0;
      const reachChain = async (): Promise<bigint> => {
        const balanceWei = await client.getBalanceWei(options.operator);
        rpcLatencyMs = performance.now() - beganMs;
        lastOperatorWei = balanceWei;
        return balanceWei;
      };
      const inTime = <T>(work: Promise<T>): Promise<T> => withDeadline(work, DEADLINE_MS);
      const [operatorWei, balances, isPaused, spentBudgets, chainWarnings] = await Promise.all([
        inTime(reachChain()),
        inTime(readSubscriptions()).then(
          (read) => (lastBalances = read),
          (error: unknown) => {
            // The balances of thousands of dapps take longer: use the last ones.
            if (error instanceof DeadlineError) return lastBalances;
            throw error;
          },
        ),
        inTime(readPaused()),
        inTime(options.spentBudgets()),
        inTime(options.chainWarnings?.() ?? Promise.resolve([])),
      ]);
      const { vrfJuels, functionsJuels } = balances ?? {};
      const why = head === undefined ? "no block has been seen yet" : describePause();
      const warnings = [
        ...lowAccount("the operator", { address: options.operator, balanceWei: operatorWei }),
        ...Object.entries(oracle?.lowestAccounts ?? {}).flatMap(([role, account]) =>
          lowAccount(`the oracle's account (${role})`, account),
        ),
        ...lowSubscription("VRF", vrfJuels, options.lowSubscriptionJuels),
        ...lowSubscription("Functions", functionsJuels, options.lowSubscriptionJuels),
        ...lagging(oracle),
        ...damaged(damagedRequests),
        ...(isPaused ? [PAUSED_WARNING] : []),
        ...spent(spentBudgets),
        ...chainWarnings,
      ];
      return {
        ready: why === undefined,
        ...(why === undefined ? {} : { why }),
        rpcReachable: true,
        rpcLatencyMs: Math.round(rpcLatencyMs * 100) / 100,
        ...describeHead(head),
        operatorBalanceWei: operatorWei.toString(),
        ...(balances === undefined ? {} : { subscriptions: describeSubscriptions(balances) }),
        ...known,
        warnings,
      };
    } catch (error) {
      return {
        ready: false,
        why: describePause() ?? `the chain can't be reached: ${messageOf(error)}`,
        rpcReachable: false,
        ...describeHead(head),
        ...(lastOperatorWei === undefined ? {} : { operatorBalanceWei: lastOperatorWei.toString() }),
        ...known,
        warnings: [...lagging(oracle), ...damaged(damagedRequests)],
      };
    }
  }, READING);
}

function describeHead(head: SeenHead | undefined): Partial<NetworkReadiness> {
  if (head === undefined) return {};
  const { number, firstSeenAtMs } = head;
  return { blockNumber: Number(number), headAgeMs: Math.round(performance.now() - firstSeenAtMs) };
}

/** Lowest LINK balances among the subscriptions, and the reserve left to fund them. */
interface Balances {
  readonly count: number;
  readonly vrfJuels: bigint | undefined;
  readonly functionsJuels: bigint | undefined;
  readonly reserveJuels: bigint;
}

function describeSubscriptions({
  count,
  vrfJuels,
  functionsJuels,
  reserveJuels,
}: Balances): NonNullable<NetworkReadiness["subscriptions"]> {
  return {
    count,
    ...(vrfJuels === undefined ? {} : { lowestVrfJuels: vrfJuels.toString() }),
    ...(functionsJuels === undefined ? {} : { lowestFunctionsJuels: functionsJuels.toString() }),
    reserveJuels: reserveJuels.toString(),
  };
}

function describeOracle(oracle: OracleHealth): Partial<NetworkReadiness> {
  const { lagMs, waitsFor, pendingWords, pendingFunctions, blockNumber, caughtUp } = oracle;
  return {
    oracleLagMs: lagMs,
    oracle: {
      caughtUp,
      ...(blockNumber === undefined ? {} : { blockNumber }),
      pendingWords,
      pendingFunctions,
      ...(waitsFor === undefined ? {} : { waitsFor }),
      lowestAccounts: Object.fromEntries(
        Object.entries(oracle.lowestAccounts).map(([role, { address, balanceWei }]) => [
          role,
          { address, balanceWei: balanceWei.toString() },
        ]),
      ),
    },
  };
}

function lowAccount(
  who: string,
  { address, balanceWei }: { readonly address: Hex; readonly balanceWei: bigint },
): string[] {
  if (balanceWei >= LOW_BALANCE_WEI) return [];
  return [`${who} ${address} holds ${balanceWei} wei, less than ${LOW_BALANCE_WEI}; send it coin`];
}

function lowSubscription(which: string, juels: bigint | undefined, lowJuels: bigint): string[] {
  if (juels === undefined || juels >= lowJuels) return [];
  return [`a ${which} subscription holds ${juels} juels, less than ${lowJuels}; top-ups don't arrive`];
}

function damaged(count: number): string[] {
  if (count === 0) return [];
  return [
    `${count} ${count === 1 ? "request is" : "requests are"} damaged in the database and skipped; the log names each one; restore the database from a backup`,
  ];
}

function spent(dappIds: readonly string[]): string[] {
  const [first, ...others] = dappIds;
  if (first === undefined) return [];
  const whose = others.length === 0 ? `${first} has` : `${first} and ${others.length} more dapps have`;
  return [`${whose} used up the daily budget: no top-ups until 00:00 UTC; see linkPerDay and coinPerDay`];
}

function lagging(oracle: OracleHealth | undefined): string[] {
  if (oracle === undefined) return [];
  if (!oracle.caughtUp) return ["the oracle is still reading the blocks from before its start"];
  if (oracle.lagMs < LONG_LAG_MS) return [];
  const seconds = Math.round(oracle.lagMs / 1000);
  return [`the oracle has not answered a request for ${seconds} s: ${oracle.waitsFor ?? "no reason known"}`];
}

function lower(a: bigint | undefined, b: bigint): bigint {
  return a === undefined || b < a ? b : a;
}
