import { DryRunPage, DryRunView, RequestPage, RequestView } from "../../api/requests.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";
import type { Responder } from "../responder.ts";
import { wantsEvents } from "../waitPreference.ts";

/** The requests of the key's dapp, and its calls that became none. */
export function requestOperations(deps: HttpDeps, responder: Responder): readonly Operation[] {
  const operation = createOperations(deps, { tag: "Requests" });
  return [
    operation({
      id: "getRequest",
      path: "/api/requests/:id",
      summary: "Read a request",
      description:
        "State, timeline and, once it has ended, outcome of a request of the key's dapp. With `Accept: text/event-stream` the " +
        "states are streamed as they come: events `state` with their `seq` as id, then `result` (or `failure`) with what the endpoint " +
        "would have answered. `Last-Event-ID` resumes after that state.",
      answer: RequestView,
      async run({ ctx, dapp, param }) {
        const record = await deps.service.getRequest(dapp, param("id"));
        if (!wantsEvents(ctx)) return responder.view(ctx, record);
        responder.follow(ctx, record);
        return undefined;
      },
    }),
    operation({
      id: "listRequests",
      path: "/api/requests",
      summary: "List requests",
      description: "The requests of the key's dapp, newest first, page by page.",
      request: "list",
      answer: RequestPage,
      async run({ ctx, dapp, values }) {
        const { items, nextCursor } = await deps.service.listRequests(dapp, values);
        return { items: items.map((record) => responder.view(ctx, record)), nextCursor };
      },
    }),
    operation({
      id: "listDryRuns",
      path: "/api/dryRuns",
      summary: "List dry runs and refused calls",
      description:
        "The last 100 dry runs and refused calls of the key's dapp, newest first, page by page. None of them became a request.",
      request: "dryRuns",
      answer: DryRunPage,
      run: ({ dapp, values }) => deps.service.listDryRuns(dapp, values),
    }),
    operation({
      id: "getDryRun",
      path: "/api/dryRuns/:id",
      summary: "Read a dry run or a refused call",
      description:
        "What came of it and, of a refused call, what it asked for: its source and arguments, or a preset's parameters. Of dry runs that were " +
        "requested, the source is not kept, except its first line.",
      answer: DryRunView,
      run: ({ dapp, param }) => deps.service.getDryRun(dapp, param("id")),
    }),
  ];
}
