/** Quotes a text for a POSIX shell: in single quotes it takes every character literally except the quote. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
