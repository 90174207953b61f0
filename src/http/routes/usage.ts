import { UsageReport } from "../../api/usage.ts";
import { writeUsageCsv } from "../../requests/read/usageReport.ts";
import type { HttpContext, HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";

/** `GET /api/usage`: what the key's dapp has used and spent. */
export function usageOperation(deps: HttpDeps): Operation {
  return createOperations(deps, { tag: "Usage" })({
    id: "getUsage",
    path: "/api/usage",
    summary: "Read usage and spend",
    description:
      "Requests, results, words, gas and LINK of the key's dapp by day (UTC) and network. Each request counts once, on the day it was " +
      "accepted; its cost is added once it has ended. Requests that the dapp's own contracts make on chain are not included, but what they spend is " +
      "topped up: `toppedUpJuels` and `toppedUpWei` count that.",
    request: "usage",
    answer: UsageReport,
    async run({ ctx, dapp, values: { format, ...query } }) {
      const report = await deps.service.readUsage(dapp, query);
      if (format === "json" && !wantsCsv(ctx)) return report;
      ctx.status = 200;
      ctx.set("Content-Type", "text/csv; charset=utf-8; header=present");
      ctx.set("Content-Disposition", `attachment; filename="usage-${report.from}-${report.to}.csv"`);
      ctx.body = writeUsageCsv(report);
      return undefined;
    },
  });
}

/** Whether the caller asks for CSV by name. */
function wantsCsv(ctx: HttpContext): boolean {
  return /(?:^|,) *text\/csv *(?:[;,]|$)/i.test(ctx.get("Accept"));
}
