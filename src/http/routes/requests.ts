import { RequestPage, RequestView } from "../../api/requests.ts";
import { getDapp, type HttpContext, type HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import { wantsEvents } from "../waitPreference.ts";
import type { Responder } from "../responder.ts";

/** `GET /api/requests/{id}`: an earlier request, its state and timeline. */
export function requestOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "getRequest",
    method: "get",
    path: "/api/requests/:id",
    tag: "Requests",
    summary: "Read a request",
    description:
      "State, timeline and, once it has ended, outcome of a request of the key's dapp. With `Accept: text/event-stream` the " +
      "states are streamed as they come: events `state` with their `seq` as id, then `result` (or `failure`) with what the endpoint " +
      "would have answered. `Last-Event-ID` resumes after that state.",
    request: "none",
    placement: "query",
    answer: RequestView,
    isAsync: false,
    errors: ["not_found"],
    async handle(ctx) {
      parseRequest(readQuery(ctx), deps.schemas().validate.none);
      const record = await deps.service.getRequest(getDapp(ctx), idOf(ctx));
      if (wantsEvents(ctx)) return responder.follow(ctx, record);
      return sendJson(ctx, 200, { data: responder.view(ctx, record) });
    },
  };
}

/** `GET /api/requests`: the requests of the key's dapp, newest first. */
export function requestsOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "listRequests",
    method: "get",
    path: "/api/requests",
    tag: "Requests",
    summary: "List requests",
    description: "The requests of the key's dapp, newest first, page by page.",
    request: "list",
    placement: "query",
    answer: RequestPage,
    isAsync: false,
    errors: [],
    async handle(ctx) {
      const values = parseRequest(readQuery(ctx), deps.schemas().validate.list);
      const page = await deps.service.listRequests(getDapp(ctx), values);
      sendJson(ctx, 200, {
        data: {
          items: page.items.map((record) => responder.view(ctx, record)),
          nextCursor: page.nextCursor,
        },
      });
    },
  };
}

function idOf(ctx: HttpContext): string {
  const params = ctx["params"] as Readonly<Record<string, string>>;
  return params["id"] ?? "";
}
