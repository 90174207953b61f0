import { DappDeletion } from "../../api/results.ts";
import { getDapp, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";

/** `DELETE /api/dapps/{dappId}`: deletes the key's own dapp. */
export function deleteDappOperation(deps: HttpDeps): Operation {
  return {
    id: "deleteDapp",
    method: "delete",
    path: "/api/dapps/:dappId",
    tag: "Dapps",
    summary: "Delete a dapp",
    description:
      "Deletes the key's dapp permanently. All of its keys stop working at once, including this call's, and its consumer contracts are " +
      "unlinked. Requests in progress still complete. Shared results and the operator's usage totals remain. " +
      "A dapp other than the key's gets 404.",
    request: "none",
    placement: "query",
    answer: DappDeletion,
    isAsync: false,
    errors: ["not_found"],
    async handle(ctx) {
      parseRequest(readQuery(ctx), deps.schemas().validate.none);
      const { dappId = "" } = ctx["params"] as Readonly<Record<string, string>>;
      sendJson(ctx, 200, { data: await deps.service.deleteDapp(getDapp(ctx), dappId) });
    },
  };
}
