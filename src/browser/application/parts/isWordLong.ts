/** `0x` and 32 bytes in hex. */
const WORD_CHARACTERS = 66;

/** Whether bytes in hex have the length of an EVM word: only then may they be an encoded number. */
export function isWordLong(bytes: string): boolean {
  return bytes.length === WORD_CHARACTERS;
}
