import { DryRunPage } from "../../api/requests.ts";
import { getDapp, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";

/** `GET /api/dryRuns`: the dry runs and refused calls of the key's dapp. */
export function dryRunsOperation(deps: HttpDeps): Operation {
  return {
    id: "listDryRuns",
    method: "get",
    path: "/api/dryRuns",
    tag: "Requests",
    summary: "List dry runs and refused calls",
    description:
      "The last 100 dry runs and refused calls of the key's dapp, newest first, page by page. None of them became a request. Sources, arguments and " +
      "parameters are not kept, except the first line of a source.",
    request: "dryRuns",
    placement: "query",
    answer: DryRunPage,
    isAsync: false,
    errors: [],
    async handle(ctx) {
      const values = parseRequest(readQuery(ctx), deps.schemas().validate.dryRuns);
      sendJson(ctx, 200, { data: await deps.service.listDryRuns(getDapp(ctx), values) });
    },
  };
}
