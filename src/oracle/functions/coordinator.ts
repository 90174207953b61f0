import type { Hex } from "viem";
import { decodeLog, logsOf, type ChainEventOf } from "../../chainlink/events.ts";
import { functionsReportGas } from "../../chainlink/gas.ts";
import { findRevertReason } from "../../chainlink/findRevertReason.ts";
import type { RevertReason } from "../../chainlink/revertReason.ts";
import type { ChainClient } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import type { RawLog, Receipt } from "../../lib/nodeAnswers.ts";
import { tellAnswers } from "../../lib/spans.ts";
import type { Entry, RequestSet } from "../requestSet.ts";
import { ORACLE_TOPICS } from "../topics.ts";
import {
  readFunctionsOutcomes,
  toOracleRequest,
  type FunctionsOutcome,
  type OracleRequest,
} from "./oracleRequest.ts";

/** FunctionsCoordinator and FunctionsRouter, lower case. */
export interface FunctionsContracts {
  readonly coordinator: Hex;
  readonly router: Hex;
}

/** Returns a function that reads a block's logs of coordinator and router into the open requests. */
export function createCoordinatorReader(options: {
  readonly contracts: FunctionsContracts;
  readonly requests: RequestSet<OracleRequest>;
  /** Called with the coordinator's log of another configuration, before the logs that follow it are read. */
  readonly onConfigSet: (eventLog: RawLog) => void;
  /** Called with the answer to a request that was open. Default: nothing. */
  readonly onAnswered?: (event: ChainEventOf<"RequestProcessed">, eventLog: RawLog) => void;
}): (logs: readonly RawLog[]) => void {
  const { contracts, requests, onConfigSet, onAnswered } = options;

  function readCoordinator(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name === "OracleRequest") requests.add(toOracleRequest(event, eventLog.blockNumber));
    else if (eventLog.topics[0] === ORACLE_TOPICS.CommitmentDeleted) requests.drop(eventLog.data);
    else if (eventLog.topics[0] === ORACLE_TOPICS.ConfigSet) onConfigSet(eventLog);
  }

  function readRouter(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name === "RequestProcessed") {
      const entry = requests.find(event.requestId);
      if (entry === undefined) return;
      requests.finish(entry.request, eventLog.blockNumber);
      onAnswered?.(event, eventLog);
    } else if (eventLog.topics[0] === ORACLE_TOPICS.SubscriptionFunded) {
      requests.fund(BigInt(eventLog.topics[1]!));
    }
  }

  return (logs) => {
    for (const eventLog of logs) {
      if (eventLog.address === contracts.coordinator) readCoordinator(eventLog);
      else if (eventLog.address === contracts.router) readRouter(eventLog);
    }
  };
}

/** A report's transaction, and what became of its items. */
interface SentReport {
  readonly receipt: Receipt;
  readonly outcomes: ReadonlyMap<Hex, FunctionsOutcome>;
  /** Finds out why the transaction reverted. */
  readonly findReason: () => Promise<RevertReason>;
}

/** Sends a report on some requests to the coordinator. */
export async function sendReport(
  data: Hex,
  options: {
    readonly entries: readonly Entry<OracleRequest>[];
    readonly contracts: FunctionsContracts;
    readonly transmitter: Sender;
    readonly client: Pick<ChainClient, "call" | "request">;
  },
): Promise<SentReport> {
  const { entries, contracts, transmitter, client } = options;
  // The router refuses items whose gas costs more than when they were requested.
  const call = { to: contracts.coordinator, data, gas: functionsReportGas(entries), avoidsPeaks: true };
  const startMs = Date.now();
  const receipt = await transmitter.send(call, undefined);
  const requestIds = entries.map(({ request }) => request.requestId);
  tellAnswers("report", requestIds, { startMs, receipt });
  return {
    receipt,
    outcomes: readFunctionsOutcomes(logsOf(receipt.logs, [contracts.router])),
    findReason: () => findRevertReason(client, { ...call, from: transmitter.address }, receipt),
  };
}
