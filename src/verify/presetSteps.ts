import type { VerificationStep } from "../api/types.ts";
import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { EVENT_TOPICS, decodeLog } from "../chainlink/events.ts";
import {
  decodeFunctionsRequest,
  encodePresetRequest,
  type FunctionsRequest,
} from "../chainlink/functionsRequest.ts";
import { decodeBatchItems } from "../chainlink/calldata.ts";
import { presetConsumerAbi } from "../chainlink/contracts/abi.ts";
import { messageOf } from "../lib/errors.ts";
import { toWord } from "../lib/uint256.ts";
import { fromHexText } from "../lib/hex.ts";
import type { CallAnswer } from "./chainFacts.ts";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { hashOf } from "./encodeBlock.ts";
import { findFunctionCall, findPresetCall, type RequestParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import { compareStep, failedStep, notApplicableStep } from "./verification.ts";

/**
 * Checks the handover on chain: a preset's function request carries the word of its place in the batch and, besides that, only the
 * arguments of the request transaction and a source that was stored before.
 */
export async function checkPreset(
  parts: RequestParts,
  words: readonly bigint[] | undefined,
  means: RequestPartsMeans,
): Promise<VerificationStep[]> {
  const { functions, randomness, item = 0 } = parts;
  const [sent, requested] = [functions?.request, randomness?.request];
  if (sent === undefined || requested === undefined) return [];
  if (words === undefined)
    return [notApplicableStep("word", "without a valid proof there is no word to compare with")];
  const word = words[item];
  if (word === undefined) return [failedStep("word", `the batch has no word for preset ${item}`)];
  const data = fromHexText(sent.data);
  let decoded: FunctionsRequest;
  try {
    decoded = decodeFunctionsRequest(data);
  } catch (error) {
    return [failedStep("word", messageOf(error))];
  }
  const wordStep = compareStep(
    "word",
    `the function request carries word ${item} of the proof and no other`,
    [{ what: "bytesArgs", expected: toWord(word), found: decoded.bytesArgs.join(", ") }],
  );
  const batch = await findPresetCall(requested, means);
  const preset = batch === undefined ? undefined : decodeBatchItems(batch.batch)[item];
  if (preset === undefined)
    return [wordStep, failedStep("source", "the request transaction's calldata hold no such preset")];

  const { prefix } = await readSource(preset.sourceId, requested, means);
  const expected = encodePresetRequest(fromHexText(prefix), preset.args, fromHexText(toWord(word)));
  const sourceStep = compareStep(
    "source",
    `the function request is source ${preset.sourceId} with the arguments that the request transaction fixed, byte for byte; which source has this id is the node's word`,
    [
      { what: "keccak256 of the function request", expected: hashOf(expected), found: hashOf(data) },
      {
        what: "bytes of the function request",
        expected: String(expected.length),
        found: String(data.length),
      },
    ],
  );
  return [wordStep, sourceStep, await checkStored(preset.sourceId, requested, means)];
}

/** Checks that a function request carries the data of the request transaction, if the service itself sent it. */
export async function checkFunction(
  request: OracleEventOf<"OracleRequest">,
  means: RequestPartsMeans,
): Promise<VerificationStep[]> {
  const data = await findFunctionCall(request, means);
  if (data === undefined) return [];
  return [
    compareStep("source", "source and arguments are those of the request transaction, byte for byte", [
      {
        what: "keccak256 of the function request",
        expected: hashOf(fromHexText(data)),
        found: hashOf(fromHexText(request.data)),
      },
    ]),
  ];
}

/** Returns the stored bytes of a source, from before the request's block if the node still knows. */
async function readSource(
  sourceId: number,
  requested: OracleEventOf<"RandomWordsRequested">,
  { facts }: Pick<RequestPartsMeans, "facts">,
): Promise<{ readonly prefix: Hex; readonly state: CallAnswer["state"] }> {
  const call = { abi: presetConsumerAbi, functionName: "sourceOf", args: [sourceId] } as const;
  const before = requested.log.blockNumber - 1n;
  const { data, state } = await facts.call(requested.sender, encodeFunctionData(call), before);
  return { prefix: decodeFunctionResult({ ...call, data }), state };
}

/**
 * Checks that a source was stored before the request. An id may be requested before anything is stored under it, so whoever learns the
 * word first could otherwise still choose the source.
 */
async function checkStored(
  sourceId: number,
  requested: OracleEventOf<"RandomWordsRequested">,
  { facts }: Pick<RequestPartsMeans, "facts">,
): Promise<VerificationStep> {
  const { log, sender } = requested;
  const { prefix, state } = await readSource(sourceId, requested, { facts });
  const prefixHash = hashOf(fromHexText(prefix));
  const holds = `the source with the hash ${prefixHash} was on chain before the request, by the node's word`;
  if (state === "block") return compareStep("stored", holds, []);
  const pattern = { address: sender, topics: [EVENT_TOPICS.SourceStored, toWord(BigInt(sourceId))] };
  // A service stores its presets when it starts, which on its own chain is near the beginning.
  const stored =
    (await facts.findLogAfter(pattern, 0n)) ??
    (await facts.findLogBefore(pattern, log.blockNumber)) ??
    (await facts.findLogAfter(pattern, log.blockNumber));
  const event = stored === undefined ? undefined : decodeLog(stored);
  if (stored === undefined || event?.name !== "SourceStored")
    return notApplicableStep(
      "stored",
      "the node no longer has the log nor the state that tell when the source was stored",
    );
  const isBefore =
    stored.blockNumber < log.blockNumber ||
    (stored.blockNumber === log.blockNumber && stored.logIndex < log.logIndex);
  const { compared } = await facts.getTransaction(stored.transactionHash);
  return compareStep("stored", holds, [
    ...compared,
    { what: "keccak256 of the stored source", expected: event.prefixHash, found: prefixHash },
    {
      what: `stored in block ${stored.blockNumber}, before the request`,
      expected: "true",
      found: String(isBefore),
    },
  ]);
}
