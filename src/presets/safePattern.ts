const ATOM = String.raw`(?:[A-Za-z0-9 _:;,@#%&=~<>!"'/-]|\\[dwsDWS.\\/^$*+?()[\]{}|-]|\[\^?(?:[^\\\]]|\\[dwsDWS.\\/^$*+?()[\]{}|-])+\])`;
const SAFE_PATTERN = new RegExp(
  String.raw`^\^(?:${ATOM}(?:\{[0-9]{1,5}\})?)*(?:${ATOM}(?:[*+?]|\{[0-9]{1,5},[0-9]{0,5}\}))?(?:${ATOM}(?:\{[0-9]{1,5}\})?)*\$?$`,
);

/** A part of variable length, or a character of a class or an escape that looks like one. */
const VARIABLE = /[*+?]|,[0-9]*\}/;
/** Most characters of fixed number beside a part of variable length: each is compared once for every length that the part may have. */
const MAX_FIXED = 200;

/**
 * Whether a regular expression takes linear time on any input: anchored, a sequence of characters and classes without groups,
 * alternatives or references, at most one of them of variable length. Never throws.
 */
export function isSafePattern(pattern: string): boolean {
  if (!SAFE_PATTERN.test(pattern)) return false;
  const counts = [...pattern.matchAll(/\{([0-9]+)\}/g)].map(([, count]) => Number(count));
  const fixed = counts.reduce((sum, count) => sum + count, 0);
  if (fixed > MAX_FIXED && VARIABLE.test(pattern)) return false;
  try {
    return RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
