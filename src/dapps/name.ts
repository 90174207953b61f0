import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { foldName } from "../store/dapps.ts";

/** Longest name, in characters (Unicode code points). */
export const MAX_NAME_CHARACTERS = 60;

/**
 * What can't be seen: controls, format characters such as joiners and bidirectional controls, unpaired surrogates, fillers, and blanks that
 * are no white space. Such characters move a terminal's cursor, reorder the text around a name, or make one name look like another.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Emoji, the only place where joiners and selectors belong. */
const EMOJI = /\p{RGI_Emoji}/gv;
/** A dapp's id begins with this; where an id or a name can be given, one dapp must not be taken for another. */
const ID_PREFIX = "dapp_";

/**
 * Parses a name that a person chose: 1 to 60 characters, with surrounding white space trimmed. Characters that would hide, reorder or
 * move what stands around them are refused, and so is a name that looks like an id.
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
  const unseen = UNSEEN.exec(name.replaceAll(EMOJI, ""))?.[0];
  if (unseen !== undefined)
    throw violation(
      `must not hold control characters or others that can't be seen; got ${nameOfCharacter(unseen)}`,
    );
  if (foldName(name).startsWith(ID_PREFIX))
    throw violation('must not begin with "dapp_", as the ids of dapps do');
  return name;
}

function nameOfCharacter(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}
