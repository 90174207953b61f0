/** Returns the pattern of the ids that `createId` makes with a prefix. */
export function idPattern(prefix: string): string {
  return `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`;
}

/** Whether a text has the form of an id with this prefix, of this service or another. */
export function isId(prefix: string, text: string): boolean {
  return new RegExp(idPattern(prefix)).test(text);
}
