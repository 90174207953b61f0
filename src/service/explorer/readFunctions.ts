import { decodeAbiParameters, decodeFunctionData, hexToBytes, recoverAddress, type Hex } from "viem";
import { FULFILL_RESULTS } from "../../chain/events.ts";
import type { EncodedLog } from "../../chain/events.ts";
import { decodeFunctionsRequest } from "../../chain/functionsRequest.ts";
import { functionsCoordinatorAbi } from "../../contracts/abi.ts";
import { decodeResult } from "../../lib/decodeResult.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import type { ContractBook } from "./contractBook.ts";
import { tryDecode } from "./readRandomness.ts";
import type {
  FunctionRequestView,
  FunctionResultView,
  ProgramView,
  ReadingsView,
  ReportView,
} from "./views.ts";

/** Reads the requests of functions that a transaction made. */
export function readFunctionRequests(
  logs: readonly EncodedLog[],
  book: ContractBook,
): Omit<FunctionRequestView, "answeredBy">[] {
  const events = logs.map(tryDecode);
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

/** Reads the answers that a transaction brought; their programs are in the logs of the requests. */
export function readFunctionResults(logs: readonly EncodedLog[], book: ContractBook): Answer[] {
  return logs.map(tryDecode).flatMap((event): Answer[] => {
    if (event?.name === "RequestProcessed") {
      return [
        {
          requestId: event.requestId,
          outcome: FULFILL_RESULTS[event.resultCode] ?? `code ${event.resultCode}`,
          response: event.response,
          readings: event.err === "0x" ? readResponse(event.response) : {},
          err: Buffer.from(fromHexText(event.err)).toString("utf8"),
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

type Answer = Omit<FunctionResultView, "program" | "requestedBy">;

/** Reads a request's CBOR data; `null` where it is no request that a node could run. */
export function readProgram(data: Hex): ProgramView | null {
  try {
    const { source, args, bytesArgs } = decodeFunctionsRequest(fromHexText(data));
    return { source, args, bytesArgs };
  } catch {
    return null;
  }
}

/** Reads the report out of the calldata of FunctionsCoordinator `transmit`; `null` for other calldata. */
export async function readReport(input: Hex, book: ContractBook): Promise<ReportView | null> {
  const transmission = decodeTransmission(input);
  if (transmission === undefined) return null;
  const { context, report, rs, ss, rawVs, requestIds } = transmission;
  const digest = keccak256(
    Buffer.concat([keccak256(fromHexText(report)), ...context.map((word) => fromHexText(word))]),
  );
  const recoveryIds = hexToBytes(rawVs);
  const [configDigest, epochAndRound] = context;
  return {
    configDigest,
    // OCR2Base: 27 bytes of padding, 4 of epoch, 1 of round.
    epoch: Number((BigInt(epochAndRound) >> 8n) & 0xffff_ffffn),
    round: Number(BigInt(epochAndRound) & 0xffn),
    requestIds,
    digest: toHexText(digest),
    signatures: await Promise.all(
      rs.map(async (r, i) => {
        const s = ss[i] ?? "0x";
        const recoveryId = recoveryIds[i] ?? 0;
        const signer = await recover(toHexText(digest), r, s, recoveryId);
        return { r, s, recoveryId, signer: signer === undefined ? null : book.party(signer) };
      }),
    ),
  };
}

function decodeTransmission(input: Hex) {
  try {
    const { functionName, args } = decodeFunctionData({ abi: functionsCoordinatorAbi, data: input });
    if (functionName !== "transmit") return undefined;
    const [context, report, rs, ss, rawVs] = args;
    const [requestIds] = decodeAbiParameters(
      [
        { type: "bytes32[]" },
        { type: "bytes[]" },
        { type: "bytes[]" },
        { type: "bytes[]" },
        { type: "bytes[]" },
      ],
      report,
    );
    return { context, report, rs, ss, rawVs, requestIds };
  } catch {
    return undefined;
  }
}

async function recover(hash: Hex, r: Hex, s: Hex, yParity: number): Promise<Hex | undefined> {
  try {
    return await recoverAddress({ hash, signature: { r, s, yParity } });
  } catch {
    return undefined;
  }
}

function readResponse(response: Hex): ReadingsView {
  const bytes = fromHexText(response);
  const text = decodeResult(bytes, "string");
  const isText = bytes.length > 0 && !/[\p{Cc}\uFFFD]/u.test(text.replaceAll(/[\n\t]/g, ""));
  const isNumber = bytes.length > 0 && bytes.length <= 32;
  return {
    ...(isText ? { text } : {}),
    ...(isNumber ? { uint256: decodeResult(bytes, "uint256"), int256: decodeResult(bytes, "int256") } : {}),
  };
}
