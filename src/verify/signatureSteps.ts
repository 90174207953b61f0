import type { VerificationStep } from "../api/types.ts";
import type { Hex } from "viem";
import { signaturesOf } from "../chainlink/quorum.ts";
import type { SignerSet } from "./signerSet.ts";
import { compareStep } from "./verification.ts";

/**
 * Compares a report's signatures with a configuration: it takes exactly as many as the coordinator requires, by different nodes of it.
 *
 * @param recovered address of each signature's key; `undefined` for values that are no signature
 * @param namedDigest digest that the chain names
 */
export function compareSignatures(
  { signers, faulty, urls, digest }: SignerSet,
  recovered: readonly (Hex | undefined)[],
  namedDigest: Hex,
): readonly VerificationStep[] {
  const wanted = signaturesOf(signers.length, faulty);
  const distinct = new Set(recovered.filter((address) => address !== undefined && signers.includes(address)));
  // Nodes of different operators are identified by their URLs.
  const named =
    urls === undefined ? "" : `: ${[...distinct].map((one) => urls[signers.indexOf(one!)]).join(", ")}`;
  return [
    compareStep(
      "signers",
      `the report is for the configuration with the nodes ${signers.join(", ")}; that the coordinator has it is the node's word`,
      [{ what: "config digest", expected: digest, found: namedDigest }],
    ),
    compareStep("signatures", `${wanted} of ${signers.length} nodes signed this report${named}`, [
      {
        what: "signatures of different registered nodes",
        expected: String(wanted),
        found: String(distinct.size),
      },
      { what: "signatures", expected: String(wanted), found: String(recovered.length) },
      {
        what: "signed by",
        expected: [...distinct].join(", "),
        found: recovered.map((address) => address ?? "none").join(", "),
      },
    ]),
  ];
}
