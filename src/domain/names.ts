import { nameCharacter } from "../lib/hiddenCharacters.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { once } from "../lib/memo.ts";

/** Longest name, in characters (Unicode code points). */
export const MAX_NAME_CHARACTERS = 60;

/**
 * What can't be seen: controls, format characters such as joiners and bidirectional controls, unpaired surrogates, fillers, and blanks that
 * are no white space. Such characters move a terminal's cursor, reorder the text around a name, or make one name look like another.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Emoji, the only place where joiners and selectors belong. Made for the first name that needs it: parsing it takes 30 ms. */
const emoji = once(() => new RegExp(String.raw`\p{RGI_Emoji}`, "gv"));
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
  const unseen = UNSEEN.test(name) ? UNSEEN.exec(name.replaceAll(emoji(), ""))?.[0] : undefined;
  if (unseen !== undefined)
    throw violation(
      `must not hold control characters or others that can't be seen; got ${nameCharacter(unseen)}`,
    );
  if (foldName(name).startsWith(ID_PREFIX))
    throw violation('must not begin with "dapp_", as the ids of dapps do');
  return name;
}

/** Parses a name that may be empty, such as a key's. */
export function parseOptionalName(text: string): string {
  return text.trim() === "" ? "" : parseName(text);
}

/** Case, compatibility forms and what can't be seen don't distinguish names; upper case first, so that ß is SS. */
export function foldName(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toUpperCase()
    .toLowerCase();
}
