const ATOM = String.raw`(?:[A-Za-z0-9 _:;,@#%&=~<>!"'/-]|\\[dwsDWS.\\/^$*+?()[\]{}|-]|\[\^?(?:[^\\\]]|\\[dwsDWS.\\/^$*+?()[\]{}|-])+\])`;
const SAFE_PATTERN = new RegExp(
  String.raw`^\^(?:${ATOM}(?:\{[0-9]{1,5}\})?)*(?:${ATOM}(?:[*+?]|\{[0-9]{1,5},[0-9]{0,5}\}))?(?:${ATOM}(?:\{[0-9]{1,5}\})?)*\$?$`,
);

/**
 * Whether a regular expression takes linear time on any input: anchored, a sequence of characters and classes without groups,
 * alternatives or references, at most one of them of variable length. Never throws.
 */
export function isSafePattern(pattern: string): boolean {
  if (!SAFE_PATTERN.test(pattern)) return false;
  try {
    return RegExp(pattern, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
