import type { FaultReport } from "./injector.ts";

const HEADINGS = [
  "Fault",
  "Accepted",
  "Fulfilled",
  "Failed with a reason",
  "Accepts again after",
  "Slowest `/readyz`",
  "Invariants",
];

/** Formats fault reports as a Markdown table, one row each. */
export function formatReports(reports: readonly FaultReport[]): string {
  const rows = reports.map(({ fault, accepted, fulfilled, failed, recoveredMs, slowestReadyzMs, breaches }) =>
    row([
      fault,
      accepted,
      fulfilled,
      failed,
      `${(recoveredMs / 1000).toFixed(1)} s`,
      slowestReadyzMs === 0 ? "–" : `${(slowestReadyzMs / 1000).toFixed(2)} s`,
      breaches.length === 0 ? "held" : `**${breaches.length} broken**`,
    ]),
  );
  return [row(HEADINGS), row(HEADINGS.map(() => "---")), ...rows].join("\n");
}

/** Formats a row of a Markdown table. */
export function row(cells: readonly (string | number)[]): string {
  return `| ${cells.join(" | ")} |`;
}
