/**
 * Controls except tab and line feed, format characters, lone surrogates, line and paragraph separators, and what else is drawn as nothing,
 * such as fillers; but not the joiner between two pictures, which makes one emoji of them, nor what chooses how a picture is drawn.
 */
const HIDDEN =
  /((?!(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d\p{Extended_Pictographic})(?!(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f\u20e3)(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800])/u;

/**
 * Splits text of unknown origin at characters that would hide or reorder what follows, such as the bidirectional controls of "Trojan
 * Source" (CVE-2021-42574). Parts at odd positions are names of such characters (`U+202E`); the others are unchanged text.
 */
export function splitAtHidden(text: string): string[] {
  return text.split(HIDDEN).map((part, i) => (i % 2 === 0 ? part : nameCharacter(part)));
}

/** Names a character by its code point: `U+202E`. */
export function nameCharacter(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Returns a text of unknown origin for places that accept no markup, with the names of such characters in brackets. */
export function plainText(text: string): string {
  return splitAtHidden(text)
    .map((part, i) => (i % 2 === 0 ? part : `[${part}]`))
    .join("");
}

/** What text doesn't have: characters that control a device, and those that take the place of bytes that are none. */
const NO_TEXT = /[^\P{Cc}\t\r\n]|\uFFFD/u;

/** Whether what was decoded from bytes is a text; bytes that are none are shown in hex. */
export function isText(parsedResult: string): boolean {
  return !NO_TEXT.test(parsedResult);
}
