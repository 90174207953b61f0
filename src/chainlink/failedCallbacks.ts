import { encodeFunctionData, parseAbi, type Hex } from "viem";
import type { ChainClient } from "../evm/client.ts";
import { type RawLog, toQuantity } from "../lib/nodeAnswers.ts";
import { fromHexText } from "../lib/hex.ts";
import { toWord } from "../lib/uint256.ts";
import { keyHash, outputOf, requestIdOf } from "../vrf/randomWords.ts";
import { decodeFulfilments, decodeTransmission } from "./calldata.ts";
import { addressOf, uint, word } from "./eventData.ts";
import { FULFILL_RESULTS, findEvent, type EncodedLog } from "./events.ts";
import { deriveWords } from "./fulfilmentWords.ts";
import { decodeRevertReason, type RevertReason } from "./revertReason.ts";
import { simulateCall } from "./findRevertReason.ts";

/** VRFConsumerBaseV2, VRFConsumerBaseV2Plus and FunctionsClient. */
const consumerAbi = parseAbi([
  "function rawFulfillRandomWords(uint256 requestId, uint256[] randomWords)",
  "function handleOracleFulfillment(bytes32 requestId, bytes response, bytes err)",
]);
/** Said of a callback that nobody can explain. */
export const UNKNOWN_REASON = "no reason is known";
/** FunctionsResponse.Commitment. */
const COMMITMENT_BYTES = 11 * 32;
/** A contract chooses its error text, which is stored and shown. */
const MAX_REASON_CHARACTERS = 300;

/** A consumer contract's callback that failed although its transaction succeeded. */
interface FailedCallback {
  readonly requestId: Hex;
  readonly subscriptionId: bigint;
  /** The contract that made the call: VRF coordinator or Functions router. */
  readonly caller: Hex;
  readonly consumer: Hex;
  /** Calldata of the call. */
  readonly data: Hex;
  /** Callback gas limit of the request. */
  readonly gasLimit: number;
  /** Revert data as logged by the router, at most 132 bytes; the coordinator logs none. */
  readonly returned?: Hex;
}

/** Why a callback failed, as found when it did: nodes soon forget the state that it can be found from. */
export interface RecordedCallback {
  readonly requestId: string;
  readonly transactionHash: string;
  readonly reason: string;
}

/** Where the reasons of failed callbacks are looked for. */
export interface CallbackSources {
  readonly client: Pick<ChainClient, "request">;
  /** Returns the calldata of a transaction; `undefined` if it is unknown. */
  readonly findInput: (transactionHash: Hex) => Promise<Hex | undefined>;
  /** Returns what is recorded of requests. Default: nothing is. */
  readonly findRecorded?: ((requestIds: readonly Hex[]) => Promise<readonly RecordedCallback[]>) | undefined;
  /** Whether a subscription's callbacks are of interest. Default: all are. */
  readonly isWanted?: (subscriptionId: bigint) => boolean;
}

/** Why a callback failed. */
export interface CallbackReason {
  readonly transactionHash: Hex;
  readonly reason: string;
  /** Whether it is from a record instead of the node. */
  readonly isRecorded: boolean;
}

/**
 * Explains, by request id, why consumers' callbacks failed, for those of the logs that say so; the caller must check which contracts emitted
 * them. A reason comes from the revert data that was logged, from a record, from the node's trace of the transaction, or from repeating the
 * call with the gas it had, on the state after its block and on the one before. Rejects only if `findInput` or `findRecorded` does. A callback
 * is absent if nobody can tell: the node may have no traces, and no state that old.
 */
export async function explainFailedCallbacks(
  logs: readonly RawLog[],
  sources: CallbackSources,
): Promise<ReadonlyMap<Hex, CallbackReason>> {
  const failed = logs.filter(isFailure);
  if (failed.length === 0) return new Map();
  const hashOf = new Map(failed.map((log) => [log.topics[1]!, log.transactionHash]));
  const recorded = (await sources.findRecorded?.([...hashOf.keys()])) ?? [];
  const found = new Map(
    recorded.flatMap(({ requestId, transactionHash, reason }): [Hex, CallbackReason][] => {
      const hash = hashOf.get(requestId as Hex);
      // A reorg may have moved the callback to another transaction, where it failed differently.
      return hash === transactionHash
        ? [[requestId as Hex, { transactionHash: hash, reason, isRecorded: true }]]
        : [];
    }),
  );
  const left = failed.filter(({ topics }) => !found.has(topics[1]!));
  for (const transactionHash of new Set(left.map((log) => log.transactionHash))) {
    const ofTransaction = left.filter((log) => log.transactionHash === transactionHash);
    const input = await sources.findInput(transactionHash);
    if (input === undefined) continue;
    const callbacks = listFailedCallbacks(input, ofTransaction).filter(
      ({ subscriptionId }) => sources.isWanted?.(subscriptionId) ?? true,
    );
    const transaction = { hash: transactionHash, blockNumber: ofTransaction[0]!.blockNumber };
    for (const [requestId, reason] of await findReasons(sources.client, transaction, callbacks))
      found.set(requestId, { transactionHash, reason, isRecorded: false });
  }
  return found;
}

/** Describes a failed callback of a consumer contract, with the reason if it is known. */
export function describeFailedCallback(reason: string | undefined): string {
  return `the contract's callback failed: ${reason ?? UNKNOWN_REASON}`;
}

/** Whether the router delivered a result but the consumer's own callback failed. */
export function isCallbackFailure({ resultCode }: { readonly resultCode: number }): boolean {
  return FULFILL_RESULTS[resultCode] === "USER_CALLBACK_ERROR";
}

function isFailure(log: EncodedLog): boolean {
  const event = findEvent(log);
  if (event?.name === "RandomWordsFulfilled") return !event.success;
  return event?.name === "RequestProcessed" && isCallbackFailure(event);
}

/**
 * Lists the failed callbacks of a transaction with proofs or a report. Empty if the calldata is none that Tyche knows, such as a call through
 * an unknown contract.
 */
function listFailedCallbacks(input: Hex, failed: readonly RawLog[]): FailedCallback[] {
  const logs = new Map(failed.map((log) => [log.topics[1]!, log]));
  const words = decodeFulfilments(input).flatMap((fulfilment): FailedCallback[] => {
    const { subId, sender, callbackGasLimit } = fulfilment.commitment;
    const requestId = toWord(requestIdOf(keyHash(fulfilment.proof.publicKey), fulfilment.proof.preSeed));
    const log = logs.get(requestId);
    const event = log && findEvent(log);
    // A batch may hold further, false proofs for the request.
    const isAccepted =
      event?.name === "RandomWordsFulfilled" && event.outputSeed === outputOf(fulfilment.proof.gamma);
    if (log === undefined || !isAccepted) return [];
    const words = deriveWords(event.outputSeed, fulfilment.commitment.numWords);
    const call = { abi: consumerAbi, functionName: "rawFulfillRandomWords" } as const;
    return [
      {
        requestId,
        subscriptionId: subId,
        caller: log.address,
        consumer: sender,
        data: encodeFunctionData({ ...call, args: [BigInt(requestId), words] }),
        gasLimit: callbackGasLimit,
      },
    ];
  });
  const items = decodeTransmission(input)?.items ?? [];
  const results = items.flatMap(({ requestId, result, error, commitment }): FailedCallback[] => {
    const log = logs.get(requestId);
    const event = log && findEvent(log);
    const isWhole = commitment.length === 2 + 2 * COMMITMENT_BYTES;
    if (log === undefined || event?.name !== "RequestProcessed" || !isWhole) return [];
    const call = { abi: consumerAbi, functionName: "handleOracleFulfillment" } as const;
    // FunctionsResponse.Commitment: client, subscriptionId and callbackGasLimit are its words 3 to 5.
    return [
      {
        requestId,
        subscriptionId: uint(commitment, 4),
        caller: log.address,
        consumer: addressOf(word(commitment, 3)),
        data: encodeFunctionData({ ...call, args: [requestId, result, error] }),
        gasLimit: Number(uint(commitment, 5)),
        returned: event.callbackReturnData,
      },
    ];
  });
  return [...words, ...results];
}

/** Finds out, by request id, why callbacks of one transaction failed. Never rejects. */
async function findReasons(
  client: Pick<ChainClient, "request">,
  { hash, blockNumber }: { readonly hash: Hex; readonly blockNumber: bigint },
  callbacks: readonly FailedCallback[],
): Promise<ReadonlyMap<Hex, string>> {
  let trace: Promise<readonly Frame[]> | undefined;
  const found = await Promise.all(
    callbacks.map(async (callback) => {
      const { requestId, returned = "0x" } = callback;
      const logged = decodeRevertReason(returned);
      if (logged.name !== undefined) return [requestId, logged] as const;
      trace ??= traceCalls(client, hash);
      const reason =
        readTrace(await trace, callback) ??
        (await simulate(client, callback, blockNumber)) ??
        (await simulate(client, callback, blockNumber - 1n)) ??
        (await findAbsence(client, callback, blockNumber)) ??
        (returned === "0x" ? undefined : logged);
      return [requestId, reason] as const;
    }),
  );
  return new Map(found.flatMap(([id, reason]) => (reason === undefined ? [] : [[id, shorten(reason.text)]])));
}

function shorten(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_REASON_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_REASON_CHARACTERS).join("")}…`;
}

/** One call of Geth's `callTracer`, as far as it is read here. */
interface Frame {
  readonly from?: unknown;
  readonly to?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly calls?: unknown;
}

/** Returns all calls of a transaction; none if the node has no traces. */
async function traceCalls(client: Pick<ChainClient, "request">, hash: Hex): Promise<readonly Frame[]> {
  const answer = await client
    .request("debug_traceTransaction", [hash, { tracer: "callTracer" }])
    .catch(() => undefined);
  return typeof answer === "object" && answer !== null ? withInner(answer) : [];
}

/** Returns a call and those that it made, at any depth. */
function withInner(outer: Frame): readonly Frame[] {
  const frames = [outer];
  for (const frame of frames)
    if (Array.isArray(frame.calls))
      for (const inner of frame.calls as readonly unknown[])
        if (typeof inner === "object" && inner !== null) frames.push(inner);
  return frames;
}

function readTrace(
  frames: readonly Frame[],
  { caller, consumer, data, gasLimit }: FailedCallback,
): RevertReason | undefined {
  const is = (found: unknown, wanted: Hex): boolean =>
    typeof found === "string" && found.toLowerCase() === wanted.toLowerCase();
  const call = frames.find(({ from, to, input }) => is(from, caller) && is(to, consumer) && is(input, data));
  if (typeof call?.error !== "string") return undefined;
  const { output } = call;
  if (typeof output === "string" && /^0x(?:[0-9a-f]{2})+$/i.test(output))
    return decodeRevertReason(output as Hex);
  if (isOutOfGas(call)) return allGasUsed(gasLimit);
  if (withInner(call).some(isOutOfGas)) return tooLittleGas(gasLimit);
  return /revert/i.test(call.error)
    ? decodeRevertReason("0x")
    : { name: undefined, text: "it ran into an invalid instruction" };
}

function isOutOfGas({ error }: Frame): boolean {
  return typeof error === "string" && /out ?of ?gas/i.test(error);
}

async function simulate(
  client: Pick<ChainClient, "request">,
  { caller: from, consumer: to, data, gasLimit }: FailedCallback,
  blockNumber: bigint,
): Promise<RevertReason | undefined> {
  const block = toQuantity(blockNumber);
  const gas = toQuantity(intrinsicGas(data) + BigInt(gasLimit));
  const answer = await simulateCall(client, { from, to, data, gas }, block);
  if (answer === "unknown" || answer === "works") return undefined;
  if (answer !== "halts" && answer !== "0x") return decodeRevertReason(answer);
  // A node that lacks state that old answers with an error, too.
  if (answer === "halts" && (await findCode(client, to, block)) === undefined) return undefined;
  if ((await simulateCall(client, { from, to, data }, block)) === "works") return tooLittleGas(gasLimit);
  return answer === "halts" ? allGasUsed(gasLimit) : decodeRevertReason("0x");
}

function allGasUsed(gasLimit: number): RevertReason {
  return { name: "OutOfGas", text: `out of gas: all of its ${gasLimit} gas was used` };
}

function tooLittleGas(gasLimit: number): RevertReason {
  return { name: "OutOfGas", text: `out of gas: its ${gasLimit} gas is too little` };
}

/** Says so if there is no contract to call: the router counts that as a failed callback. */
async function findAbsence(
  client: Pick<ChainClient, "request">,
  { consumer }: FailedCallback,
  blockNumber: bigint,
): Promise<RevertReason | undefined> {
  const code = await findCode(client, consumer, toQuantity(blockNumber));
  return code === "0x" ? { name: undefined, text: `there is no contract at ${consumer}` } : undefined;
}

/** Returns a contract's code; `undefined` if the node has no state that old. */
async function findCode(client: Pick<ChainClient, "request">, address: Hex, block: string): Promise<unknown> {
  return await client.request("eth_getCode", [address, block]).catch(() => undefined);
}

/** Returns the gas that a transaction with this calldata pays before it runs (EIP-2028). */
function intrinsicGas(data: Hex): bigint {
  return fromHexText(data).reduce((sum, byte) => sum + (byte === 0 ? 4n : 16n), 21_000n);
}
