import { InvalidArgumentError } from "commander";

/** Parses how many entries of a list to show. Throws commander's own error for anything else. */
export function parseLimit(text: string): number {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 100) throw new InvalidArgumentError("It must be a whole number from 1 to 100.");
  return limit;
}
