import type { Hex } from "viem";
import { TycheError } from "../../src/lib/errors.ts";
import type { Verifier } from "../../src/verify/verifier.ts";

/** The one transaction that {@link exampleVerifier} knows. */
export const KNOWN_TX: Hex = `0x${"7a".repeat(32)}`;

/** A verifier for tests of the HTTP layer alone. */
export const exampleVerifier: Verifier = {
  record: () => Promise.resolve({ format: "tyche-chain-data/1", answers: [] }),
  async verify({ network, tx, requestId }) {
    if (tx.toLowerCase() !== KNOWN_TX)
      throw new TycheError(`There is no transaction ${tx}`, { code: "not_found", blame: "caller" });
    return {
      network,
      chainId: 11155111,
      transactionHash: KNOWN_TX,
      valid: true,
      verdict: "valid",
      requests: [
        {
          kind: "random",
          requestId: requestId ?? KNOWN_TX,
          vrfRequestId: requestId ?? KNOWN_TX,
          verdict: "valid",
          failed: null,
          transactions: { request: KNOWN_TX, randomness: KNOWN_TX, report: null },
          result: null,
          err: null,
          randomNumber: ["7"],
          keyHashes: [KNOWN_TX],
          sourceHash: null,
          source: null,
          args: null,
          preset: null,
          beacon: null,
          requestedAt: "2026-12-24T18:00:00.000Z",
          deliveredAt: "2026-12-24T18:00:02.000Z",
          deliveredBy: `0x${"d1".repeat(20)}`,
          label: null,
          steps: [{ name: "proof", outcome: "ok", detail: "the proof is valid", compared: [] }],
        },
      ],
      contracts: {},
      trust: ["The operator's word."],
    };
  },
};
