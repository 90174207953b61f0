import { Verification } from "../../api/verification.ts";
import type { Verifier } from "../../verify/verifier.ts";
import { whileConnected, type HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

/** `GET /api/verify`: checks a result from chain data alone. */
export function verifyOperation(deps: HttpDeps, verifier: Verifier): Operation {
  return createOperations(deps, { tag: "Requests" })({
    id: "verifyTransaction",
    path: "/api/verify",
    summary: "Check a result",
    description:
      "Checks the results of a transaction from chain data alone: transactions and blocks by their hashes, the VRF proof for the hash " +
      "of the request's block, the batch and its source that were fixed before the word, the signatures of the report, and the source's result " +
      "by running it again. Takes the transaction of a request, of a VRF proof (`vrfv2Hash`) or of a report (`url`), and follows each " +
      "request in it to both ends. A result that is not valid is an answer: 200 with `valid: false` and the step in `failed`; `verdict` also tells " +
      "apart what is not confirmed, because its source could not give it again, and what has no result yet. " +
      "`trust` says what no check can show. To verify without trusting this service, run `tyche verify` against a node of your own.",
    request: "verify",
    answer: Verification,
    errors: ["not_found", "chain_unavailable"],
    run: ({ ctx, dapp, values }) =>
      whileConnected(ctx, (signal) => verifier.verify({ ...values, caller: dapp.id, signal })),
  });
}
