import { InvalidParameterError } from "../lib/invalidParameter.ts";

/** Longest name, in characters (Unicode code points). */
export const MAX_NAME_CHARACTERS = 60;

/**
 * Control characters, those of writing direction, line separators and unpaired surrogates: they move the cursor of a terminal, or
 * turn the text around in which a name is shown.
 */
const NOT_SHOWN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/**
 * Parses the name of something that a person names: 1 to 60 characters, blanks at its ends left out.
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
  if (NOT_SHOWN.test(name)) throw violation("must not hold control characters");
  return name;
}
