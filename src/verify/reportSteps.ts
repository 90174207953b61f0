import type { Hex } from "viem";
import type { OracleEventOf } from "../chainlink/contractBook.ts";
import { EVENT_TOPICS, FULFILL_RESULTS, decodeLog } from "../chainlink/events.ts";
import { decodeTransmission, type Transmission } from "../chainlink/calldata.ts";
import { signaturesOf } from "../chainlink/quorum.ts";
import { findSigner, reportDigest } from "../chainlink/reportSigners.ts";
import { decodeRevertReason } from "../chainlink/revertReason.ts";
import { findSignerSet, readLatestConfig } from "./signerSet.ts";
import type { FunctionsParts } from "./requestParts.ts";
import type { RequestPartsMeans } from "./randomnessParts.ts";
import {
  compareStep,
  failedStep,
  notApplicableStep,
  type Comparison,
  type VerificationStep,
} from "./verification.ts";

/** The result of checking a request's report. */
export interface CheckedReport {
  readonly steps: readonly VerificationStep[];
  /** From the signed report; `undefined` without one. */
  readonly delivered: { readonly result: Hex; readonly error: Hex } | undefined;
}

/**
 * Checks a function request's report: that enough nodes of the coordinator's configuration signed it, and that the router
 * processed what they signed.
 */
export async function checkReport(
  parts: FunctionsParts,
  means: RequestPartsMeans & { readonly chainId: number },
): Promise<CheckedReport> {
  const { processed, request, requestId } = parts;
  if (processed === undefined) {
    const why = request === undefined ? "" : `: ${await explainMissing(request, means)}`;
    const step = notApplicableStep("delivery", `there is no report on chain yet${why}`);
    return { steps: [step], delivered: undefined };
  }
  const { input, to } = await means.facts.getTransaction(processed.log.transactionHash);
  const transmission = decodeTransmission(input);
  const item = transmission?.items.find((one) => one.requestId === requestId);
  if (transmission === undefined || item === undefined) {
    const detail = "the calldata of the transaction hold no report with this request";
    return { steps: [failedStep("signatures", detail)], delivered: undefined };
  }
  const coordinator = means.book.get("functionsCoordinator");
  const signed = await means.facts.once(`signatures ${processed.log.transactionHash}`, () =>
    checkSignatures(transmission, coordinator, means),
  );
  const compared: Comparison[] = [
    { what: "contract that took the report", expected: coordinator, found: to ?? "none" },
    { what: "result", expected: item.result, found: processed.response },
    { what: "error", expected: item.error, found: processed.err },
    ...(request === undefined
      ? []
      : [{ what: "commitment of the request", expected: request.commitment, found: item.commitment }]),
    { what: "outcome", expected: "FULFILLED", found: FULFILL_RESULTS[processed.resultCode] ?? "unknown" },
  ];
  // The callback of a caller's own contract may fail; the result was still delivered.
  const isCallbackOnly = FULFILL_RESULTS[processed.resultCode] === "USER_CALLBACK_ERROR";
  const delivery = compareStep(
    "delivery",
    isCallbackOnly
      ? `the router delivered what the nodes signed; the consumer's own callback failed: ${decodeRevertReason(processed.callbackReturnData).text}`
      : "the router delivered what the nodes signed",
    isCallbackOnly ? compared.slice(0, -1) : compared,
  );
  return { steps: [...signed, delivery], delivered: item };
}

/** Says why a function request has no report. */
async function explainMissing(
  request: OracleEventOf<"OracleRequest">,
  { facts, book, pending }: RequestPartsMeans,
): Promise<string> {
  const address = book.get("functionsRouter");
  const find = (topic: Hex) =>
    facts.findLogAfter({ address, topics: [topic, request.requestId] }, request.log.blockNumber);
  if ((await find(EVENT_TOPICS.RequestTimedOut)) !== undefined)
    return "it timed out and was removed without a result";
  const log = await find(EVENT_TOPICS.RequestNotProcessed);
  const refusal = log === undefined ? undefined : decodeLog(log);
  return await pending.ofFunction(request, refusal?.name === "RequestNotProcessed" ? refusal : undefined);
}

async function checkSignatures(
  transmission: Transmission,
  coordinator: Hex,
  { facts, chainId }: RequestPartsMeans & { readonly chainId: number },
): Promise<readonly VerificationStep[]> {
  const { context, signatures } = transmission;
  const [configDigest] = context;
  const digest = reportDigest(transmission);
  const recovered = signatures.map((signature) => findSigner(digest, signature));
  const listed = recovered.map((address) => address ?? "none").join(", ");
  const set = await findSignerSet({ coordinator, chainId, configDigest }, facts);
  if (set === undefined) {
    const latest = await readLatestConfig(coordinator, facts);
    const digests = [{ what: "config digest", expected: latest.configDigest, found: configDigest }];
    return [
      latest.configDigest === configDigest
        ? notApplicableStep(
            "signers",
            "the node no longer has the list of signers that the coordinator's digest is of",
            digests,
          )
        : failedStep(
            "signers",
            "the report is for a configuration that the coordinator is not known to have had",
            digests,
          ),
      notApplicableStep("signatures", `the report is signed by ${listed}`),
    ];
  }
  const { signers, faulty, urls } = set;
  const wanted = signaturesOf(signers.length, faulty);
  const distinct = new Set(recovered.filter((address) => address !== undefined && signers.includes(address)));
  // Nodes of different operators are identified by their URLs.
  const named =
    urls === undefined ? "" : `: ${[...distinct].map((one) => urls[signers.indexOf(one!)]).join(", ")}`;
  return [
    compareStep(
      "signers",
      `the report is for the configuration with the nodes ${signers.join(", ")}; that the coordinator has it is the node's word`,
      [{ what: "config digest", expected: set.digest, found: configDigest }],
    ),
    compareStep("signatures", `${wanted} of ${signers.length} nodes signed this report${named}`, [
      {
        what: "signatures of different registered nodes",
        expected: String(wanted),
        found: String(distinct.size),
      },
      { what: "signatures", expected: String(wanted), found: String(signatures.length) },
      { what: "signed by", expected: [...distinct].join(", "), found: listed },
    ]),
  ];
}
