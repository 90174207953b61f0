import type { FunctionAnswer, FunctionRequestView, FunctionResultView, ReadingsView } from "../api/types.ts";
import { hexToString, type Hex } from "viem";
import type { AddressBook } from "../chainlink/addressBook.ts";
import { findEvent, FULFILL_RESULTS, type EncodedLog } from "../chainlink/events.ts";
import { UNKNOWN_REASON } from "../chainlink/failedCallbacks.ts";
import { decodeFunctionsRequest } from "../chainlink/functionsRequest.ts";
import { decodeResult } from "../domain/decodeResult.ts";
import { isText } from "../lib/hiddenCharacters.ts";
import { showRound, type DrandChain } from "../beacon/drand.ts";
import { fromHexText } from "../lib/hex.ts";

/** Reads the Functions requests that a transaction made. */
export function readFunctionRequests(
  logs: readonly EncodedLog[],
  book: AddressBook,
  drandChains: readonly DrandChain[] | undefined,
): Omit<FunctionRequestView, "answeredBy">[] {
  return logs.map(findEvent).flatMap((event) => {
    if (event?.name !== "OracleRequest") return [];
    return [
      {
        requestId: event.requestId,
        subscriptionId: event.subscriptionId.toString(),
        consumer: book.party(event.requestingContract),
        callbackGasLimit: event.callbackGasLimit,
        ...readAsked(event.data, drandChains),
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

type Answer = Omit<FunctionResultView, "program" | "beacon" | "requestedBy">;

/** Reads a request's CBOR data; `program` is `null` if no node could run it. */
export function readAsked(
  data: Hex,
  drandChains: readonly DrandChain[] | undefined,
): Pick<FunctionRequestView, "program" | "beacon"> {
  try {
    const { source, args, bytesArgs, beacon } = decodeFunctionsRequest(fromHexText(data));
    return {
      program: { source, args, bytesArgs },
      beacon: beacon === undefined ? null : showRound(beacon, drandChains).shown,
    };
  } catch {
    return { program: null, beacon: null };
  }
}

/** Returns the possible readings of a result's bytes. */
export function readResponse(response: Hex): ReadingsView {
  const bytes = fromHexText(response);
  const text = decodeResult(bytes, "string");
  const isNumber = bytes.length > 0 && bytes.length <= 32;
  return {
    ...(bytes.length > 0 && isText(text) ? { text } : {}),
    ...(isNumber ? { uint256: decodeResult(bytes, "uint256"), int256: decodeResult(bytes, "int256") } : {}),
  };
}
