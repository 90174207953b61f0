/**
 * Formats rows as CSV (RFC 4180), the first of them the header. Lines end with CR LF; fields are quoted where necessary. Text that a spreadsheet
 * would take for a formula begins with an apostrophe: names are chosen by others than the reader.
 */
export function writeCsv(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

function field(value: string | number | null): string {
  const text = String(value ?? "").replace(/^(?=[=+@\t\r]|-(?![0-9.]+$))/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
