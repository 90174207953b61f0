/** Whether a text is the id of a dapp, of this service or another. */
export function isDappId(text: string): boolean {
  return /^dapp_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
