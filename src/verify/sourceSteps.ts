import type { VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import { decodeSubmission } from "../chainlink/calldata.ts";
import { PRESET_CONSUMER_READS } from "../chainlink/presetConsumerReads.ts";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { EVENT_TOPICS, decodeLog } from "../chainlink/events.ts";
import { fromHexText } from "../lib/hex.ts";
import { RpcError, type RawLog } from "../lib/nodeAnswers.ts";
import { toWord } from "../lib/uint256.ts";
import { hashOf, senderOf } from "./encodeBlock.ts";
import { eventsIn, pick, type RequestPartsMeans } from "./randomnessParts.ts";
import type { PresetParts } from "./requestParts.ts";
import { compareStep, failedStep, notApplicableStep } from "./verification.ts";

/** A preset's source: whether it was stored before the request, and its bytes if there is one. */
interface CheckedSource {
  readonly steps: readonly VerificationStep[];
  readonly source?: Hex;
}

/**
 * Checks that the batch, which was logged with the request for its words, names a source that was on chain before. An id may be requested
 * before anything is stored under it, so whoever learns the word first could otherwise still choose the source.
 */
export async function checkPresetSource(
  { requested, items, item }: PresetParts,
  means: RequestPartsMeans,
): Promise<CheckedSource> {
  // The step `proof` says that the request is missing.
  if (requested === undefined) return { steps: [] };
  const preset = items[item];
  if (preset === undefined)
    return {
      steps: [failedStep("source", "the batch that was requested is malformed, so nobody can answer it")],
    };
  const { sourceId } = preset;
  return await means.facts.once(`source ${sourceId} ${requested.log.blockNumber}`, () =>
    check(sourceId, requested.log, means),
  );
}

async function check(
  sourceId: number,
  requested: RawLog,
  { facts }: RequestPartsMeans,
): Promise<CheckedSource> {
  const { data, decode } = PRESET_CONSUMER_READS.source(sourceId);
  const answer = await facts
    .call(requested.address, data, requested.blockNumber - 1n)
    .catch((error: unknown) => {
      if (error instanceof RpcError && error.data !== undefined) return undefined;
      throw error;
    });
  if (answer === undefined) return { steps: [failedStep("source", `there is no source ${sourceId}`)] };
  const source = decode(answer.data);
  const sourceHash = hashOf(fromHexText(source));
  const holds = `the request fixed the arguments and the source ${sourceId}; that this is the source with the hash ${sourceHash}, and was on chain before, is the node's word`;
  if (answer.state === "block") return { steps: [compareStep("source", holds, [])], source };
  const topics = [EVENT_TOPICS.SourceStored, toWord(BigInt(sourceId))];
  const search = { address: requested.address, topics };
  // A service stores its presets when it starts, which on its own chain is near the beginning.
  const stored =
    (await facts.findLogAfter(search, 0n)) ??
    (await facts.findLogBefore(search, requested.blockNumber)) ??
    (await facts.findLogAfter(search, requested.blockNumber));
  const event = stored === undefined ? undefined : decodeLog(stored);
  if (stored === undefined || event?.name !== "SourceStored") {
    const detail = "the node no longer has the log nor the state that tell when the source was stored";
    return { steps: [notApplicableStep("source", detail)], source };
  }
  const isBefore =
    stored.blockNumber < requested.blockNumber ||
    (stored.blockNumber === requested.blockNumber && stored.logIndex < requested.logIndex);
  const { compared } = await facts.getTransaction(stored.transactionHash);
  const step = compareStep("source", holds, [
    ...compared,
    { what: "keccak256 of the stored source", expected: event.sourceHash, found: sourceHash },
    {
      what: `stored in block ${stored.blockNumber}, before the request`,
      expected: "true",
      found: String(isBefore),
    },
  ]);
  return { steps: [step], source };
}

/**
 * Checks that a function request carries the data of the request transaction, and that this was sent by whom the request's id names. No step if
 * the caller's own contract passed it on for them.
 *
 * Nothing but this ties a function request to its transaction, as a proof does a request for words: its logs may be another
 * request's, in a block that a node makes up, and its transaction a stranger's, with any label.
 */
export async function checkFunctionSource(
  request: OracleEventOf<"OracleRequest">,
  means: RequestPartsMeans,
): Promise<readonly VerificationStep[]> {
  const hash = request.log.transactionHash;
  const { input, to, signed } = await means.facts.getTransaction(hash);
  const sender = {
    what: "sender of the request transaction",
    expected: request.requestInitiator,
    found: senderOf(signed)?.toLowerCase() ?? "none",
  };
  if (sender.found !== sender.expected)
    return [failedStep("source", "the request transaction is not of the account that asked", [sender])];
  if (to !== request.requestingContract || to !== means.book.known().presetConsumer) return [];
  const call = decodeSubmission(input);
  const accepted = pick(await eventsIn(hash, means), "Accepted", request.requestId);
  // Entries are counted across the three lists, presets first.
  const data = call?.functions[(accepted?.index ?? Infinity) - call.presets.length]?.data;
  if (data === undefined)
    return [failedStep("source", "the calldata of the request transaction hold no such function request")];
  return [
    compareStep("source", "source and arguments are those of the request transaction, byte for byte", [
      sender,
      {
        what: "keccak256 of the function request",
        expected: hashOf(fromHexText(data)),
        found: hashOf(fromHexText(request.data)),
      },
    ]),
  ];
}
