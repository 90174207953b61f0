import type { Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import type { Observation } from "../aggregateObservations.ts";
import type { OracleRequest } from "../functions/oracleRequest.ts";
import type { Endorsement } from "../protocol/message.ts";
import { joinSignature } from "../protocol/wire.ts";
import { encodeContext, encodeReport, encodeSignedTransmission, reportDigest } from "../functions/report.ts";
import type { ReportSignature, ReportSigner } from "../signer.ts";

/** Builds and signs the report of one request's result. */
export interface NodeReport {
  sign(
    rank: number,
    result: Observation,
    signer: ReportSigner,
  ): { readonly digest: Hex; readonly signature: Hex };
  /** Encodes the call of `transmit` with the endorsements' signatures. */
  encode(rank: number, result: Observation, endorsements: readonly Endorsement[]): Hex;
}

/**
 * Creates the report builder of one request; the rank becomes the epoch in the report's context.
 *
 * @param of.beaconSignature of the round of drand that the request waited for; absent if it waited for none
 */
export function createNodeReport(
  request: OracleRequest,
  of: { readonly configDigest: Hex; readonly beaconSignature: Uint8Array | undefined },
): NodeReport {
  const { configDigest, beaconSignature } = of;
  const build = (rank: number, observation: Observation) => ({
    report: encodeReport([{ ...request, observation, beaconSignature }]),
    context: encodeContext({ configDigest, epoch: rank }),
  });
  return {
    sign(rank, result, signer) {
      const { report, context } = build(rank, result);
      const digest = reportDigest(report, context);
      return { digest: toHexText(digest), signature: toHexText(joinSignature(signer.sign(digest))) };
    },
    encode(rank, result, endorsements) {
      const { report, context } = build(rank, result);
      const signatures = endorsements.map(({ signature }) => splitSignature(signature));
      return encodeSignedTransmission(report, context, signatures);
    },
  };
}

/** Splits r ‖ s ‖ recovery id. */
export function splitSignature(signature: Hex): ReportSignature {
  const bytes = fromHexText(signature);
  return { r: bytes.subarray(0, 32), s: bytes.subarray(32, 64), recoveryId: bytes[64]! };
}
