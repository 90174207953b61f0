import { Readiness } from "../../api/catalogue.ts";
import { listOf } from "../../api/common.ts";
import { Activity, PresetProblem } from "../../api/operator.ts";
import { formatTime } from "../../lib/time.ts";
import { MAX_COUNTED } from "../../requests/read/activity.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

/** The service's readiness and its recent activity. */
export function statusOperations(deps: HttpDeps): readonly Operation[] {
  const { service } = deps;
  const operation = createOperations(deps, { tag: "Operator", access: "operator" });

  return [
    operation({
      id: "getActivity",
      path: "/api/activity",
      summary: "Count requests",
      description: "The requests of all dapps in each of the last 24 hours.",
      answer: Activity,
      run: async () => ({
        hours: (await service.activity()).map(({ from, requests, failed }) => ({
          from: formatTime(from),
          requests,
          failed,
        })),
        maxCounted: MAX_COUNTED,
      }),
    }),
    operation({
      id: "getReadiness",
      path: "/api/readiness",
      summary: "Read the service's readiness",
      description: "The answer of `/readyz`, with status 200 even if the service is not ready.",
      answer: Readiness,
      run: () => service.readiness(),
    }),
    operation({
      id: "listPresetProblems",
      path: "/api/presetProblems",
      summary: "List broken presets",
      description: "The problems that keep presets from being served, each with its location.",
      answer: listOf(PresetProblem),
      run: () => ({ items: service.presetProblems() }),
    }),
  ];
}
