import type {
  FunctionAnswer,
  FunctionRequestView,
  FunctionResultView,
  ProgramView,
  ReadingsView,
  ReportView,
} from "../api/types.ts";
import { hexToString, type Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { decodeTransmission } from "../chainlink/calldata.ts";
import { findEvent, FULFILL_RESULTS } from "../chainlink/events.ts";
import type { EncodedLog } from "../chainlink/events.ts";
import { UNKNOWN_REASON } from "../chainlink/failedCallbacks.ts";
import { decodeFunctionsRequest } from "../chainlink/functionsRequest.ts";
import { findSigner, reportDigest } from "../chainlink/reportSigners.ts";
import { decodeResult } from "../lib/decodeResult.ts";
import { fromHexText } from "../lib/hex.ts";

/** Reads the Functions requests that a transaction made. */
export function readFunctionRequests(
  logs: readonly EncodedLog[],
  book: AddressBook,
): Omit<FunctionRequestView, "answeredBy">[] {
  const events = logs.map(findEvent);
  const words = new Map(
    events.flatMap((event) =>
      event?.name === "PresetSent"
        ? [[event.requestId, { vrfRequestId: event.vrfRequestId, item: event.item }] as const]
        : [],
    ),
  );
  return events.flatMap((event) => {
    if (event?.name !== "OracleRequest") return [];
    const word = words.get(event.requestId);
    return [
      {
        requestId: event.requestId,
        subscriptionId: event.subscriptionId.toString(),
        consumer: book.party(event.requestingContract),
        callbackGasLimit: event.callbackGasLimit,
        program: readProgram(event.data),
        ...(word === undefined ? {} : { word }),
      },
    ];
  });
}

/** Reads the responses that a transaction delivered; their programs are in the logs of the requests. */
export function readFunctionResults(logs: readonly EncodedLog[], book: AddressBook): Answer[] {
  return logs.map(findEvent).flatMap((event): Answer[] => {
    if (event?.name === "RequestProcessed") {
      return [
        {
          requestId: event.requestId,
          outcome: FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`,
          response: event.response,
          readings: event.err === "0x" ? readResponse(event.response) : {},
          err: hexToString(event.err),
          transmitter: book.party(event.transmitter),
          totalCostJuels: event.totalCostJuels.toString(),
        },
      ];
    }
    if (event?.name !== "RequestNotProcessed") return [];
    return [
      {
        requestId: event.requestId,
        outcome: FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`,
        response: "0x",
        readings: {},
        err: "",
        transmitter: book.party(event.transmitter),
      },
    ];
  });
}

/** Reads a request's response from its log, with the reason of its callback's failure if that is known. */
export function readAnswer(
  log: EncodedLog | undefined,
  book: AddressBook,
  reason: string | undefined,
): { readonly answer?: FunctionAnswer } {
  const [found] = log === undefined ? [] : readFunctionResults([log], book);
  if (found === undefined) return {};
  const { outcome, response, readings, err } = found;
  return { answer: { outcome, response, readings, err, ...callbackOf(found, reason) } };
}

/** Says why a result's callback failed, if it did. */
export function callbackOf(
  { outcome }: { readonly outcome: string },
  reason: string | undefined,
): { readonly callbackReason?: string } {
  return outcome === "USER_CALLBACK_ERROR" ? { callbackReason: reason ?? UNKNOWN_REASON } : {};
}

type Answer = Omit<FunctionResultView, "program" | "requestedBy">;

/** Reads a request's CBOR data; returns `null` if no node could run it. */
export function readProgram(data: Hex): ProgramView | null {
  try {
    const { source, args, bytesArgs } = decodeFunctionsRequest(fromHexText(data));
    return { source, args, bytesArgs };
  } catch {
    return null;
  }
}

/** Reads the report in the calldata of FunctionsCoordinator `transmit`; returns `null` for other calldata. */
export function readReport(input: Hex, book: AddressBook): ReportView | null {
  const transmission = decodeTransmission(input);
  if (transmission === undefined) return null;
  const { context, items, signatures } = transmission;
  const digest = reportDigest(transmission);
  const [configDigest, epochAndRound] = context;
  return {
    configDigest,
    // OCR2Base: 27 bytes of padding, 4 of epoch, 1 of round.
    epoch: Number((BigInt(epochAndRound) >> 8n) & 0xffff_ffffn),
    round: Number(BigInt(epochAndRound) & 0xffn),
    requestIds: items.map(({ requestId }) => requestId),
    digest,
    signatures: signatures.map((signature) => {
      const signer = findSigner(digest, signature);
      return { ...signature, signer: signer === undefined ? null : book.party(signer) };
    }),
  };
}

/** Returns the possible readings of a result's bytes. */
export function readResponse(response: Hex): ReadingsView {
  const bytes = fromHexText(response);
  const text = decodeResult(bytes, "string");
  const isText = bytes.length > 0 && !/[\p{Cc}\uFFFD]/u.test(text.replaceAll(/[\n\t]/g, ""));
  const isNumber = bytes.length > 0 && bytes.length <= 32;
  return {
    ...(isText ? { text } : {}),
    ...(isNumber ? { uint256: decodeResult(bytes, "uint256"), int256: decodeResult(bytes, "int256") } : {}),
  };
}
