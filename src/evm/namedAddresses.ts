import type { Hex } from "viem";

/** Hex digits before the first argument: `0x` and a selector; of a call within a call's bytes, another selector follows. */
const STARTS = [10, 18] as const;
const WORD_DIGITS = 64;
/** Zeros before the address in a word. Where 8 more follow, it is a small number. */
const PADDING = "0".repeat(24);
const NUMBER = "0".repeat(32);
/** Addresses taken of one call, which may be nothing but addresses. */
const MAX_NAMED = 64;

/**
 * Returns the addresses that a call names in its arguments, lower case: words that are no small numbers and begin with 12 zero bytes. A proof or a
 * report names so the contracts that it is for, whose callbacks may leave no other trace.
 */
export function namedAddresses(input: Hex): ReadonlySet<Hex> {
  const named = new Set<Hex>();
  for (const start of STARTS)
    for (let at = start; at + WORD_DIGITS <= input.length; at += WORD_DIGITS) {
      if (named.size === MAX_NAMED) return named;
      if (input.startsWith(PADDING, at) && !input.startsWith(NUMBER, at))
        named.add(`0x${input.slice(at + PADDING.length, at + WORD_DIGITS).toLowerCase()}`);
    }
  return named;
}
