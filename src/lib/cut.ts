/** Cuts a text to at most `maxCharacters` UTF-16 code units; `…` takes the place of what is cut off. */
export function cut(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…`.toWellFormed() : text;
}
