import { PresetResult } from "../../api/results.ts";
import type { HttpDeps } from "../context.ts";
import type { Operation } from "../operation.ts";
import { readParameters } from "../parameters.ts";
import { parsePresetRequest } from "../presetRequest.ts";
import type { Responder } from "../responder.ts";

/** `POST /api/vrfv2/presets`: draws a random word and runs a preset's function with it. */
export function presetOperation(deps: HttpDeps, responder: Responder): Operation {
  return {
    id: "runPreset",
    method: "post",
    path: "/api/vrfv2/presets",
    tag: "Randomness",
    summary: "Run a preset",
    description:
      "Obtains a verifiable random number and feeds it into the preset's function, both on chain.\n\n" +
      "Parameters may be in the query or in the JSON body. If one is in both, the values must be equal: neither place has precedence. " +
      "Numbers are decimal strings; a JSON integer is accepted as the same value.\n\n" +
      "A function that fails on the oracle network is an answer: 200 with `success: false`, the reason in `err` and its `code`.",
    request: "preset",
    placement: "presets",
    answer: PresetResult,
    isAsync: true,
    errors: ["function_failed", "label_taken", "beacon_late", "beacon_missed"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      const command = parsePresetRequest(given, { schemas: deps.schemas(), service: deps.service });
      await responder.run(ctx, command);
    },
  };
}
