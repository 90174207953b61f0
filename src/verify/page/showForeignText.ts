import { splitAtHidden } from "../../lib/hiddenCharacters.ts";

/** Longest error text that is shown, in UTF-16 units: a node may answer with megabytes. */
const MAX_ERROR_LENGTH = 500;

/** Replaces characters that would hide or reorder others by their names. */
export function showHidden(text: string): string {
  return splitAtHidden(text).join("");
}

/** Shortens an error text, which a node may have written, and shows its hidden characters. */
export function showErrorText(text: string): string {
  if (text.length <= MAX_ERROR_LENGTH) return showHidden(text);
  // A pair of surrogates is not split.
  const kept = text.slice(0, MAX_ERROR_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
  return `${showHidden(kept)} …`;
}
