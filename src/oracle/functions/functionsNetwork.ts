import type { Hex } from "viem";
import type { ChainClient, RawLog } from "../../evm/client.ts";
import { decodeLog } from "../../chainlink/events.ts";
import type { BeaconRounds } from "../../lib/beaconRounds.ts";
import { aggregate, type Observation } from "../aggregateObservations.ts";
import type { Answerer } from "../answerer.ts";
import { observe, RUNNING_FUNCTIONS, type OpenSecrets, type SourceRunner } from "./execute.ts";
import { createFunctionsDelivery, type FunctionsNode } from "./functionsDelivery.ts";
import type { CommitPipelining } from "../groupCommit.ts";
import { createRequestSet } from "../requestSet.ts";
import { createRequestWork, type RequestWork } from "../requestWork.ts";
import type { OracleLog } from "../log.ts";
import { toOracleRequest, type OracleRequest } from "./oracleRequest.ts";
import { ORACLE_TOPICS } from "../topics.ts";

export interface FunctionsNetworkOptions {
  readonly client: Pick<ChainClient, "call" | "getHead" | "request">;
  /** FunctionsCoordinator and FunctionsRouter, lower case. */
  readonly coordinator: Hex;
  readonly router: Hex;
  /** All nodes of the coordinator's configuration. */
  readonly nodes: readonly FunctionsNode[];
  readonly runner: SourceRunner;
  readonly rounds: BeaconRounds;
  /** Absent: requests with secrets are answered with an error. */
  readonly openSecrets?: OpenSecrets | undefined;
  readonly maxResponseBytes: number;
  /** A single item may exceed `maxTransactionGas`. */
  readonly pipelining: CommitPipelining;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/**
 * Creates the oracle network of one coordinator, all its nodes in one process: it answers requests to run a source with signed reports.
 *
 * Each node runs the source on its own; (n + f) / 2 + 1 nodes sign the aggregated answer. Trust rests with the operator, who holds all
 * the keys. Restarts and second instances are harmless: the coordinator takes the first answer and ignores the rest.
 */
export function createFunctionsNetwork(options: FunctionsNetworkOptions): Answerer {
  const { coordinator, router, nodes, signal } = options;
  const requestSet = createRequestSet<OracleRequest>({ onDue: () => work.review(), signal });
  const observed = new WeakMap<OracleRequest, Observation>();
  const work: RequestWork = createRequestWork({
    ...options,
    kind: "functions",
    requests: requestSet,
    places: RUNNING_FUNCTIONS,
    next(entry) {
      const { request } = entry;
      if (entry.state === "working" || entry.underfunded || requestSet.isPaused(entry)) return undefined;
      if (observed.has(request)) {
        delivery.push(entry);
        return undefined;
      }
      return {
        why: `running on ${nodes.length} nodes`,
        async run() {
          const observations = await observe(request, { ...options, rounds, nodes: nodes.length });
          observed.set(request, aggregate(observations));
          if (requestSet.isOpen(entry)) delivery.push(entry);
        },
      };
    },
  });
  const { rounds } = work;
  const delivery = createFunctionsDelivery({
    ...options,
    requestSet,
    resultOf: (request) => ({
      observation: observed.get(request)!,
      roundSignature: rounds.signatureOf(request),
    }),
  });

  function readCoordinator(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name === "OracleRequest") requestSet.add(toOracleRequest(event, eventLog.blockNumber));
    else if (eventLog.topics[0] === ORACLE_TOPICS.CommitmentDeleted) requestSet.drop(eventLog.data);
    else if (eventLog.topics[0] === ORACLE_TOPICS.ConfigSet) delivery.forgetConfig();
  }

  function readRouter(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name === "RequestProcessed") {
      const entry = requestSet.find(event.requestId);
      if (entry) requestSet.finish(entry.request, eventLog.blockNumber);
    } else if (eventLog.topics[0] === ORACLE_TOPICS.SubscriptionFunded) {
      requestSet.fund(BigInt(eventLog.topics[1]!));
    }
  }

  return {
    addresses: [coordinator, router],
    onBlock(block, isLive) {
      work.isLive = isLive;
      requestSet.onHead(block.number);
      for (const eventLog of block.logs) {
        if (eventLog.address === coordinator) readCoordinator(eventLog);
        else if (eventLog.address === router) readRouter(eventLog);
      }
      work.review();
    },
    onReorg: (firstReplaced) => requestSet.onReorg(firstReplaced),
    pending: () => requestSet.pending("functions"),
  };
}
