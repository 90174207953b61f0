import { Type } from "typebox";
import { LOG_CONFIDENCES, SKIP_REASONS } from "../domain/vocabulary.ts";
import { address, hexBytes, nullable, pageOf, time } from "./common.ts";
import { TriggerRun } from "./schedules.ts";

/** Requests that are made when contracts emit events. */
export const LogTriggerView = Type.Object({
  id: Type.String({ description: "Identifier: `trg_` and 26 characters." }),
  name: Type.String({ description: "Its owner's name for it." }),
  network: Type.String({ description: "Network whose logs it acts on." }),
  addresses: Type.Array(address("Address of a contract, in lower case.")),
  event: nullable(Type.String(), "Human-readable ABI of the event; `null` if `topics` were given."),
  filters: Type.Record(Type.String(), Type.Unknown(), {
    description: "Wanted values of indexed arguments, by name.",
  }),
  topics: Type.Array(nullable(Type.Array(hexBytes("A topic.", 32))), {
    description: "Wanted topics by position, from `event` and `filters` or as given; `null` is any.",
  }),
  confidence: Type.Enum([...LOG_CONFIDENCES], {
    description:
      "Which blocks it acts on: `latest` each new one; `safe` and `finalized` those that the node calls so.",
  }),
  action: Type.Record(Type.String(), Type.Unknown(), {
    description: 'As given: `{"event": "name"}` stands for a value of the log.',
  }),
  actionNetwork: Type.String({ description: "Network of its requests." }),
  fromBlock: Type.Integer({ description: "First block whose logs it acts on." }),
  readTo: nullable(Type.Integer(), "Last block whose logs it has been shown; `null` before the first."),
  pausedAt: nullable(time("When it was paused; `null` while it is active.")),
  createdAt: time("When it was created."),
  keyId: nullable(
    Type.String(),
    "API key that created or last changed it, with which it acts; `null` if that was a person or the operator.",
  ),
});

const { requestId, requestState, result, error } = TriggerRun.properties;

/** A log that a trigger wants, and its request. */
export const LogRun = Type.Object({
  id: Type.String({ description: "`run_` and 26 characters, ordered by when it was recorded." }),
  at: time("When the log was read."),
  state: Type.Enum(["seen", "due", "requested", "skipped"], {
    description:
      "`seen`: its block is not as certain as `confidence` wants; `due`: it waits; `requested`: `requestId` is its request; `skipped`: " +
      "it has none.",
  }),
  reason: nullable(
    Type.Enum([...SKIP_REASONS]),
    "Why it was skipped. `limit`: too many of the dapp's runs wait, so neither this log nor the trigger's next ones make requests; " +
      "`refused`: the request was refused; `key`: its API key is revoked or has expired; `reverted`: a reorg removed the log first.",
  ),
  detail: nullable(Type.String(), "The reason in a sentence, or what a run without a request waits for."),
  requestId,
  requestState,
  result,
  error,
  log: Type.Object({
    blockNumber: Type.Integer(),
    blockHash: hexBytes("Hash of the block.", 32),
    transactionHash: hexBytes("Hash of the transaction.", 32),
    logIndex: Type.Integer({ description: "Position in the block." }),
    values: Type.Record(Type.String(), Type.String(), {
      description: "The event's arguments and the values of each log (`$blockNumber` …), by name, as text.",
    }),
    url: nullable(Type.String(), "The transaction in the explorer; `null` while the network is not served."),
  }),
  revertedAt: nullable(time("When a reorg removed the log; `null`: it did not.")),
});

/** A page of a log trigger's runs. */
export const LogRunPage = pageOf(LogRun);
