import type { Hex } from "viem";
import type { ChainClient, RawLog, Receipt } from "../evm/client.ts";
import { decodeLog, logsOf } from "../chainlink/events.ts";
import { decodeRevertReason, type RevertReason } from "../chainlink/revertReason.ts";
import type { BeaconRounds } from "../lib/beaconRounds.ts";
import { messageOf } from "../lib/errors.ts";
import { batchDelayMs, ACTIVE_MS } from "../lib/batchDelay.ts";
import type { Answerer } from "./answerer.ts";
import { aggregate, type Observation } from "./aggregateObservations.ts";
import { LONGEST_FREE_PAUSE_MS } from "./backoff.ts";
import { observe, RUNNING_FUNCTIONS, type OpenSecrets, type SourceRunner } from "./execute.ts";
import { createGroupCommit, lanesOf, type CommitPipelining } from "./groupCommit.ts";
import { createRequestRounds } from "./requestRounds.ts";
import { createRequestSet, type Entry } from "./requestSet.ts";
import type { OracleLog } from "./log.ts";
import {
  readFunctionsOutcomes,
  toOracleRequest,
  type FunctionsOutcome,
  type OracleRequest,
} from "./oracleRequest.ts";
import { createQuota } from "./quota.ts";
import { ORACLE_TOPICS } from "./topics.ts";
import { gasOfReport, measureReport } from "./reportGas.ts";
import { createReportTransmitter, type FunctionsNode } from "./transmit.ts";

/** Mask of a report's epoch. */
const EPOCH_MASK = 0xffffffn;

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

type FunctionsEntry = Entry<OracleRequest>;

/**
 * Creates the oracle network of one coordinator, all its nodes in one process: it answers requests to run a source with signed reports.
 *
 * Each node runs the source on its own; (n + f) / 2 + 1 nodes sign the aggregated answer. Trust rests with the operator, who holds all
 * the keys. Restarts and second instances are harmless: the coordinator takes the first answer and ignores the rest.
 */
export function createFunctionsNetwork(options: FunctionsNetworkOptions): Answerer {
  const { client, coordinator, router, nodes, runner, maxResponseBytes, log, signal } = options;
  const requestSet = createRequestSet<OracleRequest>({ onDue: () => review(), signal });
  const observed = new WeakMap<OracleRequest, Observation>();
  const rounds = createRequestRounds({ ...options, onRound: () => review() });
  const quota = createQuota<bigint>(RUNNING_FUNCTIONS);
  const transmitter = createReportTransmitter({ client, coordinator, nodes });
  let live = false;

  const { maxInFlight, paceMs, maxTransactionGas } = options.pipelining;
  const group = createGroupCommit<FunctionsEntry, number>({
    lanes: lanesOf(
      nodes.map((_, index) => index),
      maxInFlight,
    ),
    paceMs,
    signal,
    measure: (queue) => measureReport(queue, maxTransactionGas),
    batchDelayMs: (queued) => batchDelayMs(requestSet.openSince(performance.now() - ACTIVE_MS) - queued),
    commit: report,
    onError(error, items) {
      if (signal.aborted) return;
      log.error({ err: error, requests: items.length }, "functions: report was not sent");
      const why = `the report could not be sent: ${messageOf(error)}`;
      for (const entry of items) requestSet.postpone(entry, why, LONGEST_FREE_PAUSE_MS);
    },
  });

  /** Starts what can start now: executions while there is room, and reports of observed results. */
  function review(): void {
    if (!live || signal.aborted) return;
    for (const entry of requestSet.open()) {
      if (entry.state === "working" || entry.underfunded || requestSet.isPaused(entry)) continue;
      if (observed.has(entry.request)) {
        enqueue(entry);
      } else {
        const unknown = rounds.findUnknown(entry.request);
        if (unknown !== undefined) entry.why = unknown;
        else if (quota.take(entry.request.subscriptionId)) void execute(entry);
        else entry.why = "waiting for a place to run";
      }
    }
  }

  async function execute(entry: FunctionsEntry): Promise<void> {
    const { request } = entry;
    entry.state = "working";
    entry.why = `running on ${nodes.length} nodes`;
    try {
      const observations = await observe(request, {
        runner,
        router,
        openSecrets: options.openSecrets,
        rounds,
        nodes: nodes.length,
        maxResponseBytes,
        signal,
      });
      observed.set(request, aggregate(observations));
      if (requestSet.isOpen(entry)) enqueue(entry);
    } catch (error) {
      if (!signal.aborted) {
        log.warn({ err: error, requestId: request.requestId }, "functions: the source could not be run now");
        requestSet.postpone(
          entry,
          `the source could not be run yet: ${messageOf(error)}`,
          LONGEST_FREE_PAUSE_MS,
        );
      }
    } finally {
      quota.leave(request.subscriptionId);
      review();
    }
  }

  function enqueue(entry: FunctionsEntry): void {
    entry.state = "working";
    entry.why = "in the next report";
    group.push(entry);
  }

  async function report(items: readonly FunctionsEntry[], leader: number): Promise<void> {
    const open = items.filter((entry) => requestSet.isOpen(entry));
    if (open.length === 0) return;
    const { receipt, revertReason } = await transmitter.transmit({
      items: open.map(({ request }) => ({
        ...request,
        observation: observed.get(request)!,
        roundSignature: rounds.signatureOf(request),
      })),
      leader,
      epoch: Number(requestSet.head() & EPOCH_MASK),
      gas: gasOfReport(open),
    });
    if (revertReason !== undefined) return onRevert(open, receipt.transactionHash, revertReason);
    const outcomes = readFunctionsOutcomes(logsOf(receipt.logs, [router]));
    for (const entry of open) settle(entry, outcomes.get(entry.request.requestId), receipt);
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

  function settle(entry: FunctionsEntry, outcome: FunctionsOutcome | undefined, receipt: Receipt): void {
    const { request } = entry;
    const { requestId, subscriptionId } = request;
    const fields = { requestId, transactionHash: receipt.transactionHash, result: outcome?.result };
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
        return refuse(
          entry,
          fields,
          "the report left too little gas for the callback; it is sent again with more",
        );
      case "SUBSCRIPTION_BALANCE_INVARIANT_VIOLATION":
        entry.underfunded = true;
        return refuse(
          entry,
          fields,
          `Functions subscription ${subscriptionId} holds too little LINK for this request; fund it`,
        );
      case "COST_EXCEEDS_COMMITMENT":
        return refuse(
          entry,
          fields,
          "the gas price is above what the request was priced at; waiting for it to fall",
        );
    }
  }

  function refuse(entry: FunctionsEntry, fields: object, why: string): void {
    log.warn(fields, "functions: the router did not process an item");
    requestSet.postpone(entry, why);
  }

  function readCoordinator(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name === "OracleRequest") requestSet.add(toOracleRequest(event, eventLog.blockNumber));
    else if (eventLog.topics[0] === ORACLE_TOPICS.CommitmentDeleted) requestSet.drop(eventLog.data);
    else if (eventLog.topics[0] === ORACLE_TOPICS.ConfigSet) transmitter.forgetConfig();
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
      live = isLive;
      requestSet.onHead(block.number);
      for (const eventLog of block.logs) {
        if (eventLog.address === coordinator) readCoordinator(eventLog);
        else if (eventLog.address === router) readRouter(eventLog);
      }
      review();
    },
    onReorg: (firstReplaced) => requestSet.onReorg(firstReplaced),
    pending: () => requestSet.pending("functions"),
  };
}
