import { NetworkView, PresetView } from "../../api/catalogue.ts";
import { listOf } from "../../api/common.ts";
import type { HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readQuery } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";

/** `GET /api/presets` and `GET /api/networks`: the presets and networks that the service offers. */
export function catalogueOperations(deps: HttpDeps): readonly Operation[] {
  const shared = {
    access: "anybody",
    method: "get",
    tag: "Catalogue",
    request: "none",
    placement: "query",
    isAsync: false,
    errors: [],
  } as const;
  return [
    {
      ...shared,
      id: "listPresets",
      path: "/api/presets",
      summary: "List presets",
      description: "The presets that are installed, with the JSON Schemas of their parameters.",
      answer: listOf(PresetView),
      async handle(ctx) {
        parseRequest(readQuery(ctx), deps.schemas().validate.none);
        sendJson(ctx, 200, { data: { items: deps.service.presets() } });
      },
    },
    {
      ...shared,
      id: "listNetworks",
      path: "/api/networks",
      summary: "List networks",
      description:
        "The networks served, with their limits, contract addresses and status, and the oracle's nodes where several operators run them.",
      answer: listOf(NetworkView),
      async handle(ctx) {
        parseRequest(readQuery(ctx), deps.schemas().validate.none);
        sendJson(ctx, 200, { data: { items: await deps.service.networksWithNodes() } });
      },
    },
  ];
}
