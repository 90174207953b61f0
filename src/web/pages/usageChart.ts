import type { UsageDay, UsageReport } from "../../requests/usageReport.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";

const DAY_MS = 86_400_000;
/** Of the drawing, in its own units. */
const WIDTH = 720;
const HEIGHT = 120;

/** Draws the requests of each day as a bar, the part that failed in another colour at its foot. */
export function usageChart({ from, to, items }: UsageReport): Html {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const bars = Array.from({ length: days }, (_, i) => {
    const day = new Date(Date.parse(from) + i * DAY_MS).toISOString().slice(0, 10);
    const ofDay = items.filter((one) => one.day === day);
    const requests = ofDay.reduce((sum, one) => sum + requestsOf(one), 0);
    return { day, requests, failed: ofDay.reduce((sum, one) => sum + one.failed, 0) };
  });
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const total = bars.reduce((sum, { requests }) => sum + requests, 0);
  const step = WIDTH / days;
  const bar = (kind: string, x: number, part: number, height: number): Html | false =>
    height > 0 &&
    html`<rect class="${kind}" x="${x.toFixed(2)}" y="${(HEIGHT - part - height).toFixed(2)}" width="${(step * 0.8).toFixed(2)}" height="${height.toFixed(2)}"/>`;
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${count(total, "request")} from ${from} to ${to}, at most ${most} a day">${bars.map(
    ({ day, requests, failed }, i) => {
      const x = (i + 0.1) * step;
      const [bad, all] = [failed, requests].map((value) => (value / most) * HEIGHT) as [number, number];
      return html`<g><title>${day}: ${count(requests, "request")}, ${failed} failed</title>${bar("bad", x, 0, bad)}${bar("good", x, bad, all - bad)}</g>`;
    },
  )}</svg><p class="chart-axis note"><span>${from}</span><span>at most ${count(most, "request")} a day</span><span>${to}</span></p>`;
}

/** Requests of all kinds. */
export function requestsOf({ requests }: UsageDay): number {
  return Object.values(requests).reduce((sum, value) => sum + value, 0);
}
