import type { Logger } from "pino";
import type { SandboxPool } from "../../../sandbox/index.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Fees } from "../../evm/fees.ts";
import type { Pipelining } from "../../evm/pipelining.ts";
import { createSender, type Sender, observeSender } from "../../evm/sender.ts";
import type { Account } from "../../evm/account.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import { MAX_RESPONSE_BYTES } from "../../lib/sourceLimit.ts";
import type { BeaconTerms } from "../../lib/drand.ts";
import type { OpenSecrets } from "../../oracle/functions/execute.ts";
import { createOracle, type Oracle, type OracleOptions } from "../../oracle/oracle.ts";
import type { MinedTransaction } from "../../requests/observe/transactionMetrics.ts";
import type { OracleKeys } from "./networkKeys.ts";
import { countAnswers } from "./oracleHealth.ts";

/** What a network's oracle needs, whichever part of it runs in this process. */
export interface NetworkOracleOptions {
  readonly network: string;
  readonly chainId: number;
  readonly client: ChainClient;
  readonly watcher: ChainWatcher;
  readonly contracts: StackAddresses;
  readonly fees: Fees;
  /** Default: one transaction at a time per account. */
  readonly pipelining?: Pipelining;
  /** First block that may hold an unanswered request. Default: 86,400 blocks before the newest. */
  readonly fromBlock?: bigint | undefined;
  readonly beacon: BeaconTerms | undefined;
  readonly localBeacon?: BeaconTerms | undefined;
  readonly openSecrets?: OpenSecrets | undefined;
  readonly pool: SandboxPool;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onTransaction: (transaction: MinedTransaction) => void;
  readonly onError: (error: unknown) => void;
}

/** The parts of an oracle that run in this process. */
export type OracleParts = Pick<OracleOptions, "vrf" | "functions" | "node" | "proofsFor">;

/** Creates the sender for one of the oracle's accounts. */
export type SenderOf = (account: Account, purpose: "words" | "report") => Sender;

/** Creates one network's oracle with all of its nodes in this process; it shares nothing with the service but the chain. */
export function createNetworkOracle({
  keys,
  ...options
}: NetworkOracleOptions & { readonly keys: OracleKeys }): Oracle {
  return createPartialOracle(options, (senderOf) => ({
    vrf: keys.vrf.map(({ provingKey, vrfAccount }) => ({
      key: provingKey,
      sender: senderOf(vrfAccount, "words"),
    })),
    functions: {
      nodes: keys.signers.map((signer, i) => ({
        signer,
        transmitter: senderOf(keys.transmitters[i]!, "report"),
      })),
      maxResponseBytes: MAX_RESPONSE_BYTES,
      openSecrets: options.openSecrets,
    },
  }));
}

/** Creates the part of one network's oracle that runs in this process. */
export function createPartialOracle(
  options: NetworkOracleOptions,
  partsOf: (senderOf: SenderOf) => OracleParts,
): Oracle {
  const { network, chainId, client, watcher, contracts, fees, pipelining, signal, onError } = options;
  const maxInFlight = pipelining?.maxInFlight ?? 1;
  const senderOf: SenderOf = (account, purpose) =>
    observeSender(createSender({ client, account, chainId, fees, signal, onError, maxInFlight }), (receipt) =>
      options.onTransaction({ network, purpose, requests: countAnswers(receipt), receipt }),
    );
  return createOracle({
    runner: options.pool,
    log: options.log,
    signal,
    name: network,
    chainId,
    client,
    watcher,
    contracts,
    pipelining,
    beacon: options.beacon,
    localBeacon: options.localBeacon,
    ...(options.fromBlock === undefined ? {} : { fromBlock: options.fromBlock }),
    ...partsOf(senderOf),
  });
}
