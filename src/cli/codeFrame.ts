/** Lines shown before and after the line in question. */
const CONTEXT_LINES = 2;
/** Longest part of a line to show: sources can be one line of 30 KB. */
const MAX_WIDTH = 120;

/**
 * Formats the position of an error in a source: the line with two more before and after it, numbered, and a caret under the
 * column. Line and column are 1-based; a column past the end of the line is shown at its end, and without one there is no caret.
 * Returns `""` if there is no such line.
 */
export function formatCodeFrame(
  source: string,
  { line, column }: { readonly line: number; readonly column?: number | undefined },
): string {
  const lines = source.split(/\r\n|\n|\r/);
  if (line < 1 || line > lines.length) return "";
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const numberWidth = String(last).length;
  // All lines are cut at the same position, so that the column stays visible.
  const start = Math.max(0, (column ?? 1) - Math.ceil(MAX_WIDTH / 2));
  const frame: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const text = lines[number - 1] as string;
    const shown = text.slice(start, start + MAX_WIDTH);
    frame.push(`${number === line ? ">" : " "} ${String(number).padStart(numberWidth)} | ${shown}`.trimEnd());
    if (number !== line || column === undefined) continue;
    // Keeps tabs, so that the caret is below its character whatever their width.
    const before = shown.slice(0, Math.min(column - 1, text.length) - start).replaceAll(/[^\t]/g, " ");
    frame.push(`  ${" ".repeat(numberWidth)} | ${before}^`);
  }
  return frame.join("\n");
}
