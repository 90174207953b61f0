import { writeFileSync } from "node:fs";

/** Options that every bench takes. */
export interface ReportTarget {
  /** `undefined`: only a table; `true`: JSON on standard output instead; a path: JSON to that file, in addition to the table. */
  readonly json: string | true | undefined;
}

/** Reads `--json [FILE]` from the command line. */
export function parseReportTarget(args: readonly string[]): ReportTarget {
  const at = args.indexOf("--json");
  if (at < 0) return { json: undefined };
  const file = args[at + 1];
  return { json: file === undefined || file.startsWith("-") ? true : file };
}

/** Writes the text for people and the data for programs to where the command line says. */
export function writeReport(
  target: ReportTarget,
  report: { readonly text: string; readonly data: object },
): void {
  const json = `${JSON.stringify(report.data, undefined, 2)}\n`;
  if (target.json === true) {
    process.stdout.write(json);
    return;
  }
  process.stdout.write(`${report.text}\n`);
  if (target.json !== undefined) writeFileSync(target.json, json);
}

/** Formats rows as columns; the first is left-aligned, the others right-aligned. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join("  ")
      .trimEnd(),
  );
  return [lines[0]!, widths.map((width) => "─".repeat(width)).join("  "), ...lines.slice(1)].join("\n");
}
