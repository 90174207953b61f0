import { InvalidArgumentError } from "commander";

/** Parses a block's number; an empty text is none. */
export function parseBlock(text: string): bigint {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a block number.");
  return BigInt(text);
}
