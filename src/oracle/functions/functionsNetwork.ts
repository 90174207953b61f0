import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Receipt } from "../../lib/nodeAnswers.ts";
import type { BeaconRounds } from "../../beacon/beaconRounds.ts";
import { aggregate, type Observation } from "../aggregateObservations.ts";
import type { Answerer } from "../answerer.ts";
import { observe, RUNNING_FUNCTIONS, type OpenSecrets, type SourceRunner } from "./execute.ts";
import { createRequestSet, type Entry, type RequestSet } from "../requestSet.ts";
import { createRequestWork, type RequestWork } from "../requestWork.ts";
import type { OracleLog } from "../log.ts";
import { createCoordinatorReader, sendReport, type FunctionsContracts } from "./coordinator.ts";
import type { FunctionsOutcome, OracleRequest } from "./oracleRequest.ts";
import { askContract } from "../../chainlink/contractRead.ts";
import { functionsReportGas } from "../../chainlink/gas.ts";
import { LATEST_CONFIG } from "../../chainlink/nodeConfig.ts";
import { faultyNodesOf, signaturesOf } from "../../chainlink/quorum.ts";
import { decodeRevertReason, type RevertReason } from "../../chainlink/revertReason.ts";
import type { Sender } from "../../evm/sender.ts";
import { ACTIVE_MS, gatherDelayMs } from "../../evm/gatherDelay.ts";
import { messageOf } from "../../lib/errors.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import { createGroupCommit, type CommitPipelining } from "../groupCommit.ts";
import { encodeTransmission, type ReportItem } from "./report.ts";
import type { ReportSigner } from "../signer.ts";

export interface FunctionsNetworkOptions extends FunctionsContracts {
  readonly client: Pick<ChainClient, "call" | "getHead" | "request">;
  /** All nodes of the coordinator's configuration. */
  readonly nodes: readonly FunctionsNode[];
  readonly runner: SourceRunner;
  readonly beaconRounds: BeaconRounds;
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
  const { nodes, signal } = options;
  const requestSet = createRequestSet<OracleRequest>({ onDue: () => work.review(), signal });
  const observed = new WeakMap<OracleRequest, Observation>();
  const work: RequestWork = createRequestWork({
    ...options,
    kind: "functions",
    requests: requestSet,
    places: RUNNING_FUNCTIONS,
    read: (logs) => readLogs(logs),
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
          const observations = await observe(request, { ...options, beacons, nodes: nodes.length });
          observed.set(request, aggregate(observations));
          if (requestSet.isOpen(entry)) delivery.push(entry);
        },
      };
    },
  });
  const { beacons } = work;
  const delivery = createFunctionsDelivery({
    ...options,
    requestSet,
    resultOf: (request) => ({
      observation: observed.get(request)!,
      beaconSignature: beacons.signatureOf(request),
    }),
  });

  const readLogs = createCoordinatorReader({
    contracts: options,
    requests: requestSet,
    onConfigSet: () => delivery.forgetConfig(),
  });

  return {
    addresses: [options.coordinator, options.router],
    onBlock: work.onBlock,
    onReorg: (firstReplaced) => requestSet.onReorg(firstReplaced),
    pending: () => requestSet.pending("functions"),
  };
}

/** Maximum items in one report: the coordinator copies the whole calldata for each, so its gas grows faster than linearly. */
const MAX_REPORT_ITEMS = 14;
/** Mask of a report's epoch. */
const EPOCH_MASK = 0xffffffn;

/** One of the network's nodes. No other part of the process uses its keys. */
export interface FunctionsNode {
  readonly signer: ReportSigner;
  readonly transmitter: Sender;
}

type FunctionsEntry = Entry<OracleRequest>;

interface FunctionsDeliveryOptions extends FunctionsNetworkOptions {
  readonly requestSet: RequestSet<OracleRequest>;
  /** Returns what the nodes agreed on for a request that is delivered. */
  readonly resultOf: (request: OracleRequest) => Pick<ReportItem, "observation" | "beaconSignature">;
}

/**
 * Creates the delivery of reports for one process that holds all keys. As many nodes sign a report as the coordinator requires; their
 * accounts take turns.
 */
function createFunctionsDelivery(options: FunctionsDeliveryOptions) {
  const { client, coordinator, nodes, requestSet, log, signal } = options;
  const signaturesWanted = signaturesOf(nodes.length, faultyNodesOf(nodes.length));
  let configDigest: Hex | undefined;

  const group = createGroupCommit<FunctionsEntry, number>({
    lanes: nodes.map((_, index) => index),
    pipelining: options.pipelining,
    signal,
    isAlone: (entry) => entry.alone,
    fits: (entries) => functionsReportGas(entries) <= options.pipelining.maxTransactionGas,
    most: MAX_REPORT_ITEMS,
    gatherDelayMs: (queued) => gatherDelayMs(requestSet.openSince(performance.now() - ACTIVE_MS) - queued),
    commit: report,
    onError(error, items) {
      log.error({ err: error, requests: items.length }, "functions: report was not sent");
      const why = `the report could not be sent: ${messageOf(error)}`;
      for (const entry of items) requestSet.postpone(entry, why, LONGEST_FREE_PAUSE_MS);
    },
  });

  /** Returns the leader and the nodes after it, so that all take turns. */
  function signersOf(leader: number): ReportSigner[] {
    return Array.from(
      { length: signaturesWanted },
      (_, index) => nodes[(leader + index) % nodes.length]!.signer,
    );
  }

  async function report(items: readonly FunctionsEntry[], leader: number): Promise<void> {
    const open = items.filter((entry) => requestSet.isOpen(entry));
    if (open.length === 0) return;
    const { receipt, outcomes, findReason } = await transmit(open, leader);
    if (!receipt.succeeded) {
      configDigest = undefined;
      return onRevert(open, receipt.transactionHash, await findReason());
    }
    for (const entry of open) settle(entry, outcomes.get(entry.request.requestId), receipt, options);
  }

  /** Sends a report through the leader's account. */
  async function transmit(entries: readonly FunctionsEntry[], leader: number) {
    configDigest ??= (await askContract(client, coordinator, LATEST_CONFIG)).configDigest;
    const items = entries.map(({ request }) => ({ ...request, ...options.resultOf(request) }));
    const epoch = Number(requestSet.head() & EPOCH_MASK);
    const data = encodeTransmission(items, { configDigest, epoch }, signersOf(leader));
    const { transmitter } = nodes[leader]!;
    return await sendReport(data, { entries, contracts: options, transmitter, client });
  }

  /** A report that reverts takes all its items with it: each goes alone next time. */
  function onRevert(items: readonly FunctionsEntry[], transactionHash: Hex, reason: RevertReason): void {
    log.error(
      { transactionHash, requests: items.length, reason: reason.text },
      "functions: the coordinator refused a report",
    );
    for (const entry of items) {
      entry.alone = true;
      if (reason.name === "OutOfGas") requestSet.raiseGas(entry);
      requestSet.postpone(entry, `the coordinator refused the report: ${reason.text}`);
    }
  }

  return {
    /** Sends an entry's result in the next report. The entry is finished, dropped or postponed by that. */
    push(entry: FunctionsEntry): void {
      entry.state = "working";
      entry.why = "in the next report";
      group.push(entry);
    },
    /** Must be called when the coordinator's configuration changed: it is reread before the next report. */
    forgetConfig(): void {
      configDigest = undefined;
    },
  };
}

/** Finishes, drops or postpones an entry by what its report says of it. */
function settle(
  entry: FunctionsEntry,
  outcome: FunctionsOutcome | undefined,
  receipt: Receipt,
  { requestSet, log }: Pick<FunctionsDeliveryOptions, "requestSet" | "log">,
): void {
  const { request } = entry;
  const { requestId, subscriptionId } = request;
  const fields = { requestId, transactionHash: receipt.transactionHash, result: outcome?.result };
  const refuse = (why: string): void => {
    log.warn(fields, "functions: the router did not process an item");
    requestSet.postpone(entry, why);
  };
  switch (outcome?.result) {
    case "FULFILLED":
      log.info(fields, "functions: answered");
      return requestSet.finish(request, receipt.blockNumber);
    case "USER_CALLBACK_ERROR":
      log.warn(
        {
          ...fields,
          consumer: request.client,
          reason: decodeRevertReason(outcome.callbackReturnData).text,
        },
        "functions: answered, but the consumer's callback reverted; the router never calls it again",
      );
      return requestSet.finish(request, receipt.blockNumber);
  }
  // A reorg may have replaced the entry; the new one must not be affected by this outcome.
  if (!requestSet.isOpen(entry)) return;
  switch (outcome?.result) {
    case undefined:
      // The coordinator emits nothing for requests that others have answered, and some RPC nodes omit events from receipts. The chain's
      // logs will show an answer or a timeout.
      log.info(fields, "functions: a report did not include a request");
      return requestSet.postpone(entry, `the report ${receipt.transactionHash} did not include it`);
    case "INVALID_REQUEST_ID":
      log.info(fields, "functions: request is gone, answered or timed out by others");
      return requestSet.drop(requestId);
    case "INVALID_COMMITMENT":
      log.error(fields, "functions: the router has a different commitment for the request; giving up");
      return requestSet.drop(requestId);
    case "INSUFFICIENT_GAS_PROVIDED":
      requestSet.raiseGas(entry);
      return refuse("the report left too little gas for the callback; it is sent again with more");
    case "SUBSCRIPTION_BALANCE_INVARIANT_VIOLATION":
      entry.underfunded = true;
      return refuse(
        `Functions subscription ${subscriptionId} holds too little LINK for this request; fund it`,
      );
    case "COST_EXCEEDS_COMMITMENT":
      return refuse("the gas price is above what the request was priced at; waiting for it to fall");
  }
}
