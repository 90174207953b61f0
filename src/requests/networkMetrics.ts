import { Gauge, type Registry } from "prom-client";
import type { ServiceNetwork } from "./serviceNetwork.ts";
import type { NetworkReadiness } from "./views.ts";

type Read = (readiness: NetworkReadiness) => number | string | boolean | undefined;

const JUELS = 1e18;
const WEI = 1e18;

/** Registers the state of the networks, what `/readyz` says in numbers; a value that isn't known is absent. */
export function registerNetworkMetrics(
  registry: Registry,
  networks: ReadonlyMap<string, ServiceNetwork>,
): void {
  /** `rows` gives the values by the gauge's second label, or one without any. */
  const gauge = (
    name: string,
    help: string,
    rows: (readiness: NetworkReadiness) => Readonly<Record<string, ReturnType<Read>>>,
    label?: string,
  ): void => {
    const metric: Gauge = new Gauge({
      name,
      help,
      labelNames: ["network", ...(label === undefined ? [] : [label])],
      registers: [registry],
      async collect() {
        // Everybody gets the same reading, so all gauges of one answer belong together.
        const readings = await Promise.all(
          [...networks].map(async ([network, one]) => [network, await one.readiness()] as const),
        );
        metric.reset();
        for (const [network, readiness] of readings)
          for (const [value, number] of Object.entries(rows(readiness)))
            if (number !== undefined)
              metric.set({ network, ...(label === undefined ? {} : { [label]: value }) }, Number(number));
      },
    });
  };
  const one = (name: string, help: string, read: Read): void =>
    gauge(name, help, (readiness) => ({ value: read(readiness) }));

  one("tyche_network_ready", "Whether a network serves: 1 or 0.", ({ ready }) => ready);
  one(
    "tyche_rpc_reachable",
    "Whether the network's node answers: 1 or 0.",
    ({ rpcReachable }) => rpcReachable ?? false,
  );
  one("tyche_rpc_latency_seconds", "Time of the last answer of the network's node.", (readiness) =>
    over(readiness.rpcLatencyMs, 1000),
  );
  one("tyche_chain_head_block", "Number of the newest block seen.", ({ blockNumber }) => blockNumber);
  one(
    "tyche_chain_head_age_seconds",
    "Time since the newest block was first seen; an embedded chain stands still while nobody uses it.",
    ({ headAgeMs }) => over(headAgeMs, 1000),
  );
  one(
    "tyche_dispatch_queue_requests",
    "Requests that no transaction carries yet.",
    ({ queuedRequests }) => queuedRequests,
  );
  one(
    "tyche_damaged_requests",
    "Requests met whose rows in the database are not what was written.",
    ({ damagedRequests }) => damagedRequests,
  );
  one(
    "tyche_oracle_lag_seconds",
    "Time since the oracle saw its oldest unanswered request; 0 when there is none.",
    ({ oracleLagMs }) => over(oracleLagMs, 1000),
  );
  one("tyche_oracle_blocks_behind", "Blocks that the oracle has still to read.", ({ blockNumber, oracle }) =>
    blockNumber === undefined || oracle?.blockNumber === undefined
      ? undefined
      : Math.max(0, blockNumber - oracle.blockNumber),
  );
  gauge(
    "tyche_oracle_pending_requests",
    "Requests that the oracle has seen and not answered: words or functions.",
    ({ oracle }) => ({ words: oracle?.pendingWords, functions: oracle?.pendingFunctions }),
    "kind",
  );
  gauge(
    "tyche_account_balance_coins",
    "Coin of the accounts that pay for gas; of several with one role the lowest.",
    ({ operatorBalanceWei, oracle }) => ({
      operator: over(operatorBalanceWei, WEI),
      ...Object.fromEntries(
        Object.entries(oracle?.lowestAccounts ?? {}).map(([role, { balanceWei }]) => [
          role,
          over(balanceWei, WEI),
        ]),
      ),
    }),
    "account",
  );
  gauge(
    "tyche_subscription_lowest_balance_link",
    "LINK of the dapp's subscription that holds least.",
    ({ subscriptions }) => ({
      vrf: over(subscriptions?.lowestVrfJuels, JUELS),
      functions: over(subscriptions?.lowestFunctionsJuels, JUELS),
    }),
    "facility",
  );
  one("tyche_funding_reserve_link", "LINK left of what subscriptions are funded from.", ({ subscriptions }) =>
    over(subscriptions?.reserveJuels, JUELS),
  );
}

function over(value: number | string | undefined, unit: number): number | undefined {
  return value === undefined ? undefined : Number(value) / unit;
}
