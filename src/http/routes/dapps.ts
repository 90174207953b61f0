import { DappDeletion } from "../../requests/results.ts";
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
      "Deletes the dapp of the key, for good. All of its keys stop at once, the one of this call too, and its consumer contracts are " +
      "unlinked. Requests in work end as they would. Shared results stay where they are, and so do the operator's sums of usage. " +
      "A dapp that is not the key's is 404.",
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
