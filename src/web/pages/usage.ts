import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { UsageDay, UsageReport } from "../../requests/usageReport.ts";
import { writeUsageCsv } from "../../requests/usageReport.ts";
import type { NetworkView } from "../../requests/views.ts";
import { coin, groupDigits, units } from "../format.ts";
import { html, type Html } from "../html.ts";
import { facts } from "../explorer/parts.ts";
import { getDapp, type Site } from "../site.ts";
import { dappPage } from "./dappFrame.ts";
import { formProblem } from "./parts.ts";
import { requestsOf, usageChart } from "./usageChart.ts";

type Asked = Partial<Record<"from" | "to" | "network", string>>;

/** Adds `/dapps/{dappId}/usage`, what a dapp has used by day and network, and the same as CSV. */
export function usageRoutes(site: Site): void {
  const { service } = site.deps;

  site.get("/dapps/:dappId/usage", async (ctx) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    let asked = readAsked(ctx.query);
    let problem: string | undefined;
    const report = await service.readUsage(dapp, asked).catch((error: unknown) => {
      if (!(error instanceof InvalidParameterError)) throw error;
      problem = error.message;
      ctx.status = 400;
      asked = {};
      return service.readUsage(dapp, asked);
    });
    const { from, to } = report;
    const query = new URLSearchParams({ ...asked, from, to }).toString();
    const body = html`${formProblem(problem)}${rangeForm(asked, report, service.networks())}
<section class="panel" aria-label="Requests a day">${usageChart(report)}${totals(report)}<p><a href="/dapps/${dapp.id}/usage.csv?${query}" download>Download as CSV</a></p></section>
<section class="panel"><h2>By day and network</h2>${usageTable(report.items)}
<p class="note">Days are in UTC; a request counts on the day on which it was accepted, and what it cost once it has ended. Gas is that of the service’s own transactions. What your own contracts request on chain is not counted here.</p></section>`;
    site.show(ctx, dappPage(dapp, "usage", body));
  });

  site.get("/dapps/:dappId/usage.csv", async (ctx) => {
    const dapp = await getDapp(site.deps, ctx.params["dappId"]!);
    const report = await service.readUsage(dapp, readAsked(ctx.query));
    ctx.set("Content-Type", "text/csv; charset=utf-8; header=present");
    ctx.set("Content-Disposition", `attachment; filename="usage-${report.from}-${report.to}.csv"`);
    ctx.set("Cache-Control", "no-store");
    ctx.body = writeUsageCsv(report);
  });
}

function readAsked(query: Readonly<Record<string, unknown>>): Asked {
  const names = ["from", "to", "network"] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query[name];
      return typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );
}

function rangeForm(asked: Asked, { from, to }: UsageReport, networks: readonly NetworkView[]): Html {
  const date = (name: string, label: string, value: string): Html =>
    html`<span><label for="${name}">${label}</label> <input type="date" id="${name}" name="${name}" value="${value}"></span>`;
  return html`<form method="get" class="filter">${date("from", "From", from)}${date("to", "To", to)}<span><label for="network">Network</label> <select id="network" name="network"><option value="">any</option>${networks.map(({ name }) => html`<option${asked.network === name && html` selected`}>${name}</option>`)}</select></span><button>Show</button></form>`;
}

function totals({ items }: UsageReport): Html {
  const sum = (of: (day: UsageDay) => number | string): string =>
    groupDigits(String(items.reduce((total, day) => total + BigInt(of(day)), 0n)));
  return facts([
    [
      "Requests",
      `${sum(requestsOf)}: ${sum((day) => day.fulfilled)} fulfilled, ${sum((day) => day.failed)} failed`,
    ],
    ["Random words", sum((day) => day.words)],
    ["Dry runs", `${sum((day) => day.dryRuns)}, and ${sum((day) => day.refused)} refused calls`],
    ["Gas", sum((day) => day.gasUsed)],
    ["LINK charged", units(String(items.reduce((total, day) => total + BigInt(day.linkJuels), 0n)), "LINK")],
  ]);
}

function usageTable(items: readonly UsageDay[]): Html {
  if (items.length === 0) return html`<p class="note">Nothing in these days.</p>`;
  const heads = [
    "Presets",
    "Functions",
    "Random",
    "Links",
    "Fulfilled",
    "Failed",
    "Refused",
    "Dry runs",
    "Words",
    "Gas",
    "Charged",
  ];
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Usage by day and network"><table class="list"><thead><tr><th>Day</th><th>Network</th>${heads.map((head) => html`<th class="number">${head}</th>`)}</tr></thead><tbody>${items
    .toReversed()
    .map(
      (day) =>
        html`<tr><td>${day.day}</td><td>${day.network ?? html`<span class="note">any</span>`}</td>${cells(day).map((cell) => html`<td class="number">${cell}</td>`)}</tr>`,
    )}</tbody></table></div>`;
}

function cells(day: UsageDay): string[] {
  const { requests, network, linkJuels, coinWei } = day;
  const counts = [
    requests.preset,
    requests.function,
    requests.random,
    requests.consumer + requests.unlink,
    day.fulfilled,
    day.failed,
    day.refused,
    day.dryRuns,
    day.words,
    day.gasUsed,
  ];
  const charged = [
    ...(linkJuels === "0" && coinWei !== "0" ? [] : [units(linkJuels, "LINK")]),
    ...(coinWei === "0" ? [] : [coin(coinWei, network ?? "")]),
  ];
  return [...counts.map((value) => groupDigits(String(value))), charged.join(" and ")];
}
