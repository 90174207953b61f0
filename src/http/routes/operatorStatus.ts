import { Readiness } from "../../api/catalogue.ts";
import { listOf } from "../../api/common.ts";
import { Activity, FundedAccount, PresetProblem, ServiceInfo } from "../../api/operator.ts";
import { version } from "../../lib/version.ts";
import { MAX_COUNTED } from "../../requests/read/activity.ts";
import type { HttpDeps } from "../context.ts";
import type { Operation } from "../operation.ts";
import { createReading } from "./operatorReading.ts";
import { fundedAccounts } from "./operatorViews.ts";

/** The service's readiness, its recent activity, and its version. */
export function operatorStatusOperations(deps: Pick<HttpDeps, "service" | "schemas">): readonly Operation[] {
  const { service } = deps;
  const reading = createReading(deps);

  return [
    reading({
      id: "getActivity",
      path: "/api/activity",
      access: "operator",
      summary: "Count requests",
      description: "The requests of all dapps in each of the last 24 hours.",
      answer: Activity,
      read: async () => ({
        hours: (await service.activity()).map(({ from, requests, failed }) => ({
          from: new Date(from).toISOString(),
          requests,
          failed,
        })),
        maxCounted: MAX_COUNTED,
      }),
    }),
    reading({
      id: "getReadiness",
      path: "/api/readiness",
      access: "operator",
      summary: "Read the service's readiness",
      description: "The answer of `/readyz`, with status 200 even if the service is not ready.",
      answer: Readiness,
      read: () => service.readiness(),
    }),
    reading({
      id: "listPresetProblems",
      path: "/api/presetProblems",
      access: "operator",
      summary: "List broken presets",
      description: "The problems that keep presets from being served, each with its location.",
      answer: listOf(PresetProblem),
      read: () => ({ items: service.presetProblems() }),
    }),
    reading({
      id: "listFundedAccounts",
      path: "/api/faucet/accounts",
      access: "anybody",
      tag: "Catalogue",
      summary: "List funded accounts",
      description:
        "Accounts that hold coin on every embedded chain from its first block on. Their keys are public.",
      answer: listOf(FundedAccount),
      read: () => ({ items: fundedAccounts }),
    }),
    reading({
      id: "getInfo",
      path: "/api/info",
      access: "anybody",
      tag: "Catalogue",
      summary: "Read the version",
      description: "Version of the service.",
      answer: ServiceInfo,
      read: () => ({ version }),
    }),
  ];
}
