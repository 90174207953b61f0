import { Verification } from "../../api/verification.ts";
import type { Verifier } from "../../verify/verifier.ts";
import { getDapp, whileConnected, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";

/** `GET /api/verify`: checks a result from chain data alone. */
export function verifyOperation(deps: HttpDeps, verifier: Verifier): Operation {
  return {
    id: "verifyTransaction",
    method: "get",
    path: "/api/verify",
    tag: "Requests",
    summary: "Check a result",
    description:
      "Checks the results of a transaction from chain data alone: transactions and blocks by their hashes, the VRF proof for the hash " +
      "of the request's block, the batch and its source that were fixed before the word, the signatures of the report, and the source's result " +
      "by running it again. Takes the transaction of a request, of a VRF proof (`vrfv2Hash`) or of a report (`url`), and follows each " +
      "request in it to both ends. A result that is not valid is an answer: 200 with `valid: false` and the step in `failed`; `verdict` also tells " +
      "apart what is not confirmed, because its source could not give it again, and what has no result yet. " +
      "`trust` says what no check can show. To verify without trusting this service, run `tyche verify` against a node of your own.",
    request: "verify",
    placement: "query",
    answer: Verification,
    isAsync: false,
    errors: ["not_found", "chain_unavailable"],
    async handle(ctx) {
      const values = parseRequest(readQuery(ctx), deps.schemas().validate.verify);
      const data = await whileConnected(ctx, (signal) =>
        verifier.verify({ ...values, caller: getDapp(ctx).id, signal }),
      );
      if (data !== undefined) sendJson(ctx, 200, { data });
    },
  };
}
