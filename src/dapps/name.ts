import { InvalidParameterError } from "../lib/invalidParameter.ts";

/** Longest name, in characters (Unicode code points). */
export const MAX_NAME_CHARACTERS = 60;

/**
 * Control characters, bidirectional controls, line separators and unpaired surrogates: they move a terminal's cursor, or reorder the text
 * around a name.
 */
const NOT_SHOWN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** A character that leaves a mark: no white space, no blank of Braille or Hangul, nothing that only joins or formats others. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Parses a name that a person chose: 1 to 60 characters, with surrounding white space trimmed.
 *
 * @throws InvalidParameterError for any other text.
 */
export function parseName(text: string): string {
  const name = text.trim();
  const { length } = Array.from(name);
  const violation = (message: string): InvalidParameterError =>
    new InvalidParameterError([{ path: "/name", message }]);
  if (length === 0) throw violation(`must be 1 to ${MAX_NAME_CHARACTERS} characters; got none`);
  if (length > MAX_NAME_CHARACTERS)
    throw violation(`must be 1 to ${MAX_NAME_CHARACTERS} characters; got ${length}`);
  if (!VISIBLE.test(name)) throw violation("must hold a visible character");
  if (NOT_SHOWN.test(name)) throw violation("must not hold control characters");
  return name;
}
