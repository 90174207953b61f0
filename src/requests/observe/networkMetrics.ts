import type { NetworkReadiness } from "../../api/types.ts";
import { Gauge, type Registry } from "prom-client";
import type { ServiceNetwork } from "../serviceNetwork.ts";

type Read = (readiness: NetworkReadiness) => number | string | boolean | undefined;

const JUELS = 1e18;
const WEI = 1e18;

/** Registers the networks' state, the numbers behind `/readyz`; unknown values are absent. */
export function registerNetworkMetrics(
  registry: Registry,
  networks: ReadonlyMap<string, ServiceNetwork>,
): void {
  /** `rows` returns the values by the gauge's second label, or a single value if it has none. */
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
        // The reading is shared, so that all gauges of one scrape are consistent.
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
    "Time since the newest block was first seen; an embedded chain mines no blocks while nobody uses it.",
    ({ headAgeMs, rpcReachable }) => (rpcReachable === false ? undefined : over(headAgeMs, 1000)),
  );
  one(
    "tyche_dispatch_queue_requests",
    "Requests that no transaction carries yet.",
    ({ queuedRequests }) => queuedRequests,
  );
  one(
    "tyche_damaged_requests",
    "Requests found whose database rows differ from what was written.",
    ({ damagedRequests }) => damagedRequests,
  );
  one(
    "tyche_oracle_lag_seconds",
    "Time since the oracle saw its oldest unanswered request; 0 when there is none.",
    ({ oracleLagMs }) => over(oracleLagMs, 1000),
  );
  one("tyche_oracle_blocks_behind", "Blocks that the oracle has not read yet.", ({ blockNumber, oracle }) =>
    blockNumber === undefined || oracle?.blockNumber === undefined
      ? undefined
      : Math.max(0, blockNumber - oracle.blockNumber),
  );
  gauge(
    "tyche_oracle_pending_requests",
    "Requests that the oracle has seen and not answered: words, or results of functions and batches of presets.",
    ({ oracle }) => ({ words: oracle?.pendingWords, functions: oracle?.pendingFunctions }),
    "kind",
  );
  gauge(
    "tyche_account_balance_coins",
    "Coin of the accounts that pay for gas; the lowest of several with the same role.",
    ({ operatorBalanceWei, rpcReachable, oracle }) => ({
      // What was read before the node went away says nothing of now.
      operator: rpcReachable === false ? undefined : over(operatorBalanceWei, WEI),
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
    "LINK of the dapp subscription with the lowest balance.",
    ({ subscriptions }) => ({
      vrf: over(subscriptions?.lowestVrfJuels, JUELS),
      functions: over(subscriptions?.lowestFunctionsJuels, JUELS),
    }),
    "facility",
  );
  one(
    "tyche_funding_reserve_link",
    "LINK left in the reserve that funds subscriptions.",
    ({ subscriptions }) => over(subscriptions?.reserveJuels, JUELS),
  );
}

function over(value: number | string | undefined, unit: number): number | undefined {
  return value === undefined ? undefined : Number(value) / unit;
}
