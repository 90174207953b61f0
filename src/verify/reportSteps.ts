import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatHex, keccak256, type Hex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { FULFILL_RESULTS } from "../chain/events.ts";
import { fromHexText, toHexText } from "../lib/hex.ts";
import { decodeTransmission, type Transmission } from "./calldata.ts";
import { findSignerSet, readLatestConfig } from "./signerSet.ts";
import type { FunctionsStory, StoryMeans } from "./stories.ts";
import {
  compareStep,
  failedStep,
  notApplicableStep,
  type Comparison,
  type VerificationStep,
} from "./verification.ts";

/** What a report was found to deliver for a request. */
export interface CheckedReport {
  readonly steps: readonly VerificationStep[];
  /** Of the signed report; `undefined` without one. */
  readonly delivered: { readonly result: Hex; readonly error: Hex } | undefined;
}

/**
 * Checks the report of a function request: that nodes of the coordinator's configuration signed it, as many as it wants, and that
 * the router processed what they signed.
 */
export async function checkReport(
  story: FunctionsStory,
  means: StoryMeans & { readonly chainId: number },
): Promise<CheckedReport> {
  const { processed, request, requestId } = story;
  if (processed === undefined)
    return {
      steps: [notApplicableStep("delivery", "there is no report on chain yet")],
      delivered: undefined,
    };
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
  // A callback of the caller's own contract may fail; the result was delivered.
  const isCallbackOnly = FULFILL_RESULTS[processed.resultCode] === "USER_CALLBACK_ERROR";
  const delivery = compareStep(
    "delivery",
    isCallbackOnly
      ? "the router delivered what the nodes signed; the consumer's own callback failed"
      : "the router delivered what the nodes signed",
    isCallbackOnly ? compared.slice(0, -1) : compared,
  );
  return { steps: [...signed, delivery], delivered: item };
}

async function checkSignatures(
  { context, report, signatures }: Transmission,
  coordinator: Hex,
  { facts, chainId }: StoryMeans & { readonly chainId: number },
): Promise<readonly VerificationStep[]> {
  const [configDigest] = context;
  // OCR2Base `transmit`: there is no Ethereum message prefix.
  const digest = keccak256(concatHex([keccak256(report), ...context]));
  const recovered = signatures.map((signature) => recover(digest, signature));
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
  const { signers, faulty } = set;
  const wanted = Math.floor((signers.length + faulty) / 2) + 1;
  const distinct = new Set(recovered.filter((address) => address !== undefined && signers.includes(address)));
  return [
    compareStep("signers", `the coordinator takes reports of the nodes ${signers.join(", ")}`, [
      { what: "config digest", expected: set.digest, found: configDigest },
    ]),
    compareStep("signatures", `${wanted} of ${signers.length} nodes signed this report`, [
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

/** Address whose key signed the digest; `undefined` where the values are no signature. */
function recover(digest: Hex, { r, s, recoveryId }: Transmission["signatures"][number]): Hex | undefined {
  try {
    const bytes = Buffer.concat([Uint8Array.of(recoveryId), fromHexText(r), fromHexText(s)]);
    const key = secp256k1.recoverPublicKey(bytes, fromHexText(digest), { prehash: false });
    return publicKeyToAddress(toHexText(secp256k1.Point.fromBytes(key).toBytes(false)));
  } catch {
    return undefined;
  }
}
