import type { Attributes } from "@opentelemetry/api";
import { rootOf, tellRequest, tellStep } from "../../lib/spans.ts";
import type { OpenRequest } from "../openRequest.ts";
import type { RequestObserver } from "../requestBook.ts";
import { isEnded } from "../../lib/vocabulary.ts";

/**
 * Traces a request when it has ended, with a step for each state that it went through. Before, the on-chain id that names the
 * trace isn't known: that of the preset, the function or, for random numbers, the VRF request.
 */
export const traceRequest: RequestObserver = (request, { timeline, firstNew }) => {
  const end = timeline.at(-1);
  if (end === undefined || firstNew === timeline.length || !isEnded(end.state)) return;
  const { vrfRequestId, functionsRequestId, presetRequestId } = request.progress;
  const id = functionsRequestId ?? presetRequestId ?? vrfRequestId;
  if (id === undefined) return;
  tellRequest(id, {
    name: request.kind === "preset" ? `preset ${request.params.preset}` : request.kind,
    startMs: timeline[0]!.at,
    endMs: end.at,
    attributes: attributesOf(request),
    failure: request.error?.code ?? (end.state === "failed" ? "function_failed" : undefined),
    // Presets share a VRF request: the node that answered it traces it once, under its own id.
    links: vrfRequestId === undefined || vrfRequestId === id ? [] : [rootOf(vrfRequestId)],
  });
  for (const [index, { state, at, transactionHash }] of timeline.slice(0, -1).entries())
    tellStep(id, {
      name: state,
      startMs: at,
      endMs: timeline[index + 1]!.at,
      attributes: transactionHash === undefined ? {} : { "tyche.transaction": transactionHash },
    });
};

function attributesOf({ id, network, kind, progress, outcome }: OpenRequest): Attributes {
  const { vrfRequestId, functionsRequestId, presetRequestId } = progress;
  return {
    "tyche.request": id,
    "tyche.network": network,
    "tyche.kind": kind,
    ...(vrfRequestId === undefined ? {} : { "tyche.vrf_request": vrfRequestId }),
    ...(functionsRequestId === undefined ? {} : { "tyche.functions_request": functionsRequestId }),
    ...(presetRequestId === undefined ? {} : { "tyche.preset_request": presetRequestId }),
    ...(outcome === null ? {} : { "tyche.transaction": outcome.transactionHash }),
  };
}
