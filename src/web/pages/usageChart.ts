import type { UsageDay, UsageReport } from "../../requests/usageReport.ts";
import { barChart } from "../barChart.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";

const DAY_MS = 86_400_000;

/** Draws the requests of each day as a bar. */
export function usageChart({ from, to, items }: UsageReport): Html {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const bars = Array.from({ length: days }, (_, i) => {
    const day = new Date(Date.parse(from) + i * DAY_MS).toISOString().slice(0, 10);
    const ofDay = items.filter((one) => one.day === day);
    const requests = ofDay.reduce((sum, one) => sum + requestsOf(one), 0);
    const failed = ofDay.reduce((sum, one) => sum + one.failed, 0);
    return { title: `${day}: ${count(requests, "request")}, ${failed} failed`, requests, failed };
  });
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const total = bars.reduce((sum, { requests }) => sum + requests, 0);
  return html`${barChart(bars, `${count(total, "request")} from ${from} to ${to}, at most ${most} a day`)}<p class="chart-axis note"><span>${from}</span><span>at most ${count(most, "request")} a day</span><span>${to}</span></p>`;
}

/** Requests of all kinds. */
export function requestsOf({ requests }: UsageDay): number {
  return Object.values(requests).reduce((sum, value) => sum + value, 0);
}
