import type { Hex } from "viem";
import { PRESET_CONSUMER_READS } from "../../chainlink/presetConsumerReads.ts";
import { decodeLog, logsOf, type ChainEvent } from "../../chainlink/events.ts";
import { encodeTimeouts } from "../../chainlink/functionsTimeout.ts";
import { decodeRevertReason } from "../../chainlink/revertReason.ts";
import type { StackAddresses } from "../../chainlink/stackPlan.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import type { ChainClient } from "../../evm/client.ts";
import { RpcError, toQuantity, type Receipt, parseHex, parseObject } from "../../lib/nodeAnswers.ts";
import type { ChainWatcher } from "../../evm/watcher.ts";
import type { OpenRequest } from "../openRequest.ts";
import { missingParts } from "./joinedParts.ts";
import type { Tracker } from "./tracker.ts";

/** How long a request must have waited for an answer before it is asked whether there is one, and again: an event may still be read. */
const LOOK_INTERVAL_MS = 30_000;
/** Requests looked at in one run, the oldest first: a call each while an oracle is late. */
const MAX_LOOKS = 3;

/** What a request waits for. */
export type Question = {
  /** Id of a VRF request, or of a function request. */
  readonly id: Hex;
  /** Block after which it had no answer. */
  readonly block: number;
} & (
  | { readonly of: "words" }
  /** The results of the VRF request's batch. */
  | { readonly of: "batch" }
  /** The result of a function request, with the router's commitment: 352 bytes. */
  | { readonly of: "function"; readonly commitment: Hex }
);

/** Finds answers whose events a node never shows, by the state of the contracts and by receipts. */
export interface OmittedAnswers {
  /** Whether the contracts were seen to have the answer that a request waits for. */
  isAnswered(request: OpenRequest): boolean;
  /** Looks once for the answers of requests that have waited, and processes the receipts of what it finds. */
  look(): Promise<void>;
}

export interface OmittedAnswersOptions {
  readonly client: Pick<ChainClient, "request" | "getReceipt">;
  readonly watcher: Pick<ChainWatcher, "head" | "watched" | "expect">;
  readonly contracts: Pick<
    StackAddresses,
    "vrfCoordinator" | "vrfVersion" | "functionsRouter" | "presetConsumer"
  >;
  readonly tracker: Pick<Tracker, "onReceipt" | "readTo">;
  /** Open requests that no component holds. */
  readonly requests: () => readonly OpenRequest[];
  readonly onError: (error: unknown) => void;
}

/** Creates the search of one network. */
export function createOmittedAnswers(options: OmittedAnswersOptions): OmittedAnswers {
  const { client, watcher, contracts, tracker, onError } = options;
  const { presetConsumer, vrfCoordinator, functionsRouter } = contracts;
  const addresses = [presetConsumer, vrfCoordinator, functionsRouter].map((one) => one.toLowerCase() as Hex);
  /** By id of the question: how long the head had been watched when it was looked at last, or first seen. */
  const lookedAt = new Map<Hex, number>();
  /** Questions that the contracts have answered, in transactions that are not found yet. */
  const answered = new Set<Hex>();

  const questionOf = async (request: OpenRequest): Promise<Question | undefined> => {
    const { functionsRequestId, vrfRequestId, acceptedBlock: block, wordBlock } = request.progress;
    if (block === undefined) return undefined;
    if (functionsRequestId !== undefined) {
      const commitment = await findCommitment(client, request);
      return commitment && { of: "function", id: functionsRequestId, block, commitment };
    }
    if (vrfRequestId === undefined) return undefined;
    // Word and results may be in one block.
    if (wordBlock !== undefined) return { of: "batch", id: vrfRequestId, block: wordBlock - 1 };
    return { of: "words", id: missingParts(request)[0]?.id ?? vrfRequestId, block };
  };

  /** Whether the contracts still wait for the answer, after a block. */
  const isOpen = async (question: Question, block: string): Promise<boolean> => {
    const ask = async (to: Hex, data: Hex): Promise<Hex> =>
      parseHex(await client.request("eth_call", [{ to, data }, block]), "call result");
    if (question.of === "words") {
      const { data, decode } = COORDINATOR_READS[contracts.vrfVersion ?? "v2"].commitment(question.id);
      return decode(await ask(contracts.vrfCoordinator, data)) !== 0n;
    }
    if (question.of === "batch") {
      const { data, decode } = PRESET_CONSUMER_READS.record(question.id);
      return decode(await ask(contracts.presetConsumer, data)) !== 0n;
    }
    try {
      await ask(contracts.functionsRouter, encodeTimeouts([question.commitment]));
      return true;
    } catch (error) {
      if (!(error instanceof RpcError) || error.data === undefined) throw error;
      // The router checks the commitment first, and deletes it with the answer.
      return decodeRevertReason(error.data).name !== "InvalidCalldata";
    }
  };

  /**
   * Finds the receipt of the transaction that brought the answer, in the first block after which the contracts don't wait for it. It has the
   * logs of these contracts only.
   */
  const findAnswer = async (question: Question, head: bigint): Promise<Receipt | undefined> => {
    let open = BigInt(question.block);
    let closed = head;
    while (closed - open > 1n) {
      const middle = (open + closed) / 2n;
      if (await isOpen(question, toQuantity(middle))) open = middle;
      else closed = middle;
    }
    const answer = await client.request("eth_getBlockByNumber", [toQuantity(closed), false]);
    const block = parseObject(answer, "block");
    for (const hash of Array.isArray(block["transactions"]) ? block["transactions"] : []) {
      const receipt = await client.getReceipt(parseHex(hash, "transaction hash"));
      const logs = logsOf(receipt?.logs ?? [], addresses);
      if (receipt && logs.some((log) => isAnswer(decodeLog(log), question))) return { ...receipt, logs };
    }
    return undefined;
  };

  const lookAt = async (request: OpenRequest, head: bigint): Promise<void> => {
    const question = await questionOf(request);
    if (question === undefined || (await isOpen(question, toQuantity(head)))) return;
    answered.add(idOfAwaited(request)!);
    const receipt = await findAnswer(question, head);
    if (receipt === undefined) return;
    onError(new OmittedAnswerError(receipt));
    await tracker.onReceipt(receipt);
    watcher.expect(receipt);
  };

  return {
    isAnswered(request) {
      const id = idOfAwaited(request);
      return id !== undefined && answered.has(id);
    },
    async look() {
      const head = watcher.head();
      if (head === undefined || (tracker.readTo() ?? -1n) < head.number) return;
      const { totalMs } = watcher.watched();
      const waiting = options.requests().flatMap((request) => {
        const id = idOfAwaited(request);
        return id === undefined ? [] : [{ id, request }];
      });
      const ids = new Set(waiting.map(({ id }) => id));
      for (const known of [lookedAt, answered])
        for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      for (const { id } of waiting) if (!lookedAt.has(id)) lookedAt.set(id, totalMs);
      const due = waiting.filter(({ id }) => totalMs - lookedAt.get(id)! >= LOOK_INTERVAL_MS);
      for (const { id, request } of due.slice(0, MAX_LOOKS)) {
        lookedAt.set(id, totalMs);
        await lookAt(request, head.number);
      }
    },
  };
}

/** Returns an id of what a request waits for on chain: another one for a preset's result than for its word; `undefined` unless it is on chain. */
export function idOfAwaited({ progress }: Pick<OpenRequest, "progress">): Hex | undefined {
  const { acceptedBlock, functionsRequestId, vrfRequestId, presetRequestId, wordBlock } = progress;
  if (acceptedBlock === undefined) return undefined;
  return functionsRequestId ?? (wordBlock === undefined ? vrfRequestId : presetRequestId);
}

/** Returns the router's commitment of a function request, from the receipt of the transaction that made it. */
export async function findCommitment(
  client: Pick<ChainClient, "getReceipt">,
  { progress }: OpenRequest,
): Promise<Hex | undefined> {
  const { functionsRequestId, transactionHashes = [] } = progress;
  for (const hash of transactionHashes) {
    for (const log of (await client.getReceipt(hash))?.logs ?? []) {
      const event = decodeLog(log);
      if (event?.name === "OracleRequest" && event.requestId === functionsRequestId) return event.commitment;
    }
  }
  return undefined;
}

function isAnswer(event: ChainEvent | undefined, { of, id }: Question): boolean {
  switch (event?.name) {
    case "RandomWordsFulfilled":
      return of === "words" && event.requestId === id;
    case "BatchReported":
      return of === "batch" && event.vrfRequestId === id;
    case "RequestProcessed":
    case "RequestTimedOut":
      return of === "function" && event.requestId === id;
    default:
      return false;
  }
}

/** A node doesn't show the events of a transaction whose receipt it has. */
class OmittedAnswerError extends Error {
  constructor({ transactionHash, blockNumber }: Receipt) {
    super(
      `a node omits logs of transaction ${transactionHash} in block ${blockNumber}; its receipt has them. Use another node`,
    );
  }
}
